"""Means of some words at their edges: equal scores, no gold word, and words that are all alike."""

from __future__ import annotations

import pytest
import torch
from tests.search.test_some import K, vectors

from lnmap.search import some
from lnmap.search.near import means_of_both
from lnmap.search.some import SomeMeans


@pytest.mark.parametrize("gold", [[0], [60], [160], [160, 99], [7, 107]])
def test_ranks_among_equal_scores(gold, monkeypatch):
    """Each word is there twice, and the earlier one goes first."""
    monkeypatch.setattr(some, "_BATCH", 8)
    x, y = vectors(120, 0), vectors(100, 1).repeat(2, 1)
    cosines = (y @ x[3]).round(decimals=1)
    scores = cosines + means_of_both(x, y, K)[1] / -2
    best = scores[gold].max()
    first = min(row for row in gold if scores[row] == best)
    expected = sum(bool(one > best or (one == best and row < first)) for row, one in enumerate(scores))
    assert SomeMeans(y, x, K).rank(cosines, torch.tensor(gold)) == expected


def test_without_a_gold_word_all_come_before():
    x, y = vectors(50, 0), vectors(40, 1)
    assert SomeMeans(y, x, K).rank(y @ x[0], torch.tensor([], dtype=torch.long)) == 40


def test_the_bound_holds_where_it_is_the_mean():
    x, y = vectors(50, 0), vectors(1, 1).repeat(40, 1)
    found = SomeMeans(y, x, K)
    mean = found.of(torch.tensor([0]))
    assert (found.low <= mean).all()
    assert (found.low >= mean - 1e-5).all()


def test_a_bound_that_just_reaches_the_best_score_is_looked_at():
    x, y, gold = vectors(50, 0), vectors(40, 1), torch.tensor([7])
    found = SomeMeans(y, x, K)
    mean = found.of(gold)
    found.low[3] = -1.0  # no mean is below it
    cosines = torch.full((40,), -1.0)
    cosines[gold] = 0.6 + mean / 2
    cosines[3] = (cosines[gold] + mean / -2).item() - 0.5
    assert (cosines + found.low / -2)[3] == (cosines[gold] + mean / -2)
    assert found.rank(cosines, gold) == 0
