"""Which words are chosen."""

from __future__ import annotations

from itertools import islice

import pytest
import torch

from lnmap.ask.choosing import choose, normalized, weights

NOBODY = torch.tensor([], dtype=torch.long)


def slow(x: torch.Tensor, known: list[int], free: list[int], count: int, weight: torch.Tensor) -> list[int]:
    """Choose by trying each word: the mean of x' A x over all words after adding it."""
    x, chosen = x.double(), []

    def mean(rows: list[int]) -> float:
        inverse = torch.linalg.inv(torch.eye(x.shape[1]).double() + x[rows].T @ x[rows])
        return float((((x @ inverse) * x).sum(dim=1) * weight).sum() / weight.sum())

    for _ in range(count):
        now = mean(known + chosen)
        gains = {row: now - mean([*known, *chosen, row]) for row in free if row not in chosen}
        chosen.append(max(gains, key=gains.__getitem__))
    return chosen


@pytest.mark.parametrize("weighted", [False, True])
def test_the_fast_way_chooses_as_the_slow_one(weighted):
    torch.manual_seed(0)
    x = normalized(torch.randn(60, 8) * torch.linspace(2, 0.2, 8))
    weight = weights(60) if weighted else torch.ones(60)
    free = torch.ones(60, dtype=torch.bool)
    free[[1, 2, 3]] = False
    expected = slow(x, [1, 2], free.nonzero()[:, 0].tolist(), 12, weight)
    assert list(islice(choose(x, torch.tensor([1, 2]), free, weight), 12)) == expected


def test_a_crowd_that_nobody_knows_comes_first():
    crowd, few = torch.eye(4)[0] + 0.01 * torch.randn(30, 4), torch.eye(4)[1] + 0.01 * torch.randn(5, 4)
    x, free = torch.cat([crowd, few]), torch.ones(35, dtype=torch.bool)
    assert next(choose(x, NOBODY, free, torch.ones(35))) < 30
    assert next(choose(x, torch.arange(20), free, torch.ones(35))) >= 30


def test_no_more_than_there_are():
    x, free = normalized(torch.randn(10, 3)), torch.zeros(10, dtype=torch.bool)
    assert list(choose(x, NOBODY, free, torch.ones(10))) == []
    free[[4, 7]] = True
    before = free.clone()
    assert sorted(choose(x, NOBODY, free, torch.ones(10))) == [4, 7]
    assert torch.equal(free, before)
