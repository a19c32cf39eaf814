"""The kernel correction: its equation, what it finds where a linear map cannot, and when it stays away."""

import math

import pytest
import torch

import lnmap
from lnmap.direction import Direction
from lnmap.methods import make_method
from lnmap.methods.base import Run
from lnmap.methods.kernel import Correction, corrections, kernel, reciprocal_ranks
from lnmap.normalize import unit


@pytest.fixture(scope="module")
def bent():
    """Two vocabularies of 1 200 words; one is the other turned, and bent by the squares of its coordinates."""
    generator = torch.Generator().manual_seed(0)
    x = unit(torch.randn(1200, 20, generator=generator))
    turn = torch.linalg.qr(torch.randn(20, 20, generator=generator)).Q
    other = torch.randn(20, 20, generator=generator) / 20**0.5
    y = unit(x @ turn + 1.2 * (x.square() * 20**0.5) @ other)
    return x, y, torch.arange(600).repeat(2, 1).T


def found(alignment, x, y, words, direction=Direction.FORWARD):
    a, b = (unit(side) for side in (alignment.map_source(x, direction), alignment.map_target(y, direction)))
    a, b = (a, b) if direction is Direction.FORWARD else (b, a)
    return float(((a[words] @ b.T).argmax(dim=1) == words).float().mean())


def test_the_correction_solves_its_equation():
    a, b = unit(torch.randn(40, 6)), unit(torch.randn(40, 6))
    (one,) = corrections(a, b, 0.5, (2.0,))
    k = kernel(a, a, 0.5)
    torch.testing.assert_close(k, torch.exp((torch.cosine_similarity(a[:, None], a[None], dim=2) - 1) / 0.5))
    torch.testing.assert_close((k + 2 * torch.eye(40)) @ one.weights, b - a, atol=1e-4, rtol=0)
    torch.testing.assert_close(one.apply(a, 0.5), a + k @ one.weights, atol=1e-5, rtol=0)
    weak = next(corrections(a, b, 0.5, (1e9,)))
    torch.testing.assert_close(weak.apply(a, 0.5), a, atol=1e-6, rtol=0)
    assert Correction(a, one.weights).apply(a[:0], 0.5).shape == (0, 6)


@pytest.mark.parametrize("direction", Direction)
def test_it_finds_what_a_linear_map_does_not(bent, direction):
    x, y, pairs = bent
    words = torch.arange(600, 1200)
    straight = make_method("geomm", None, {"regularization": 1.0}).fit(x, y, pairs, Run())
    curved = make_method("kernel", None, {"regularization": 1.0}).fit(x, y, pairs, Run())
    assert found(curved, x, y, words, direction) > found(straight, x, y, words, direction) + 0.03


def test_it_stays_away_where_the_map_is_linear_or_words_are_few(planted):
    x, y = torch.from_numpy(planted.source.vectors), torch.from_numpy(planted.target.vectors)
    rows = torch.as_tensor(planted.lexicon.rows(planted.source, planted.target))
    assert set(make_method("kernel").fit(x, y, rows[:300], Run()).corrections.values()) == {None}
    assert set(make_method("kernel").fit(x, y, rows[:30], Run()).corrections.values()) == {None}
    fixed = make_method("kernel", None, {"ridge": 10.0}).fit(x, y, rows[:30], Run(one_way=True))
    assert list(fixed.corrections) == [Direction.FORWARD]
    assert fixed.corrections[Direction.FORWARD].weights.shape == (30, 20)


def test_ranks_are_those_of_csls():
    queries, candidates = unit(torch.randn(5, 8)), unit(torch.randn(30, 8))
    means, right = torch.rand(30), torch.zeros(5, 30, dtype=torch.bool)
    right[torch.arange(5), torch.tensor([3, 4, 5, 6, 7])] = True
    order = (2 * queries @ candidates.T - means).argsort(dim=1, descending=True)
    expected = [1 / (order[i].tolist().index(3 + i) + 1) for i in range(5)]
    assert reciprocal_ranks(queries, candidates, means, right).tolist() == pytest.approx(expected)


def test_real_words_lose_nothing(pair):
    source, target = pair.source.head(4000), pair.target.head(4000)
    scores = {
        name: lnmap.align(source, target, pair.train, method=name, one_way=True).evaluate(pair.test).precision()
        for name in ("geomm", "kernel")
    }
    assert scores["kernel"] > scores["geomm"] - 0.5
    assert math.isfinite(scores["kernel"])
