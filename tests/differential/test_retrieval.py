"""CSLS, the other criteria, P@k and induction against NumPy in float64, on random and on real vectors, with ties."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.differential import naive

import lnmap
from lnmap.embeddings import Embeddings
from lnmap.evaluate import evaluate
from lnmap.induce import MODES, induce
from lnmap.lexicon import Lexicon
from lnmap.retrieve import CRITERIA, BilingualSpace

CUTS = (1, 2, 5, 10, 100)
WORDS = 1500  # of the bundled pair, per language


def signs(n: int, d: int, seed: int) -> np.ndarray:
    """Rows of +-1/sqrt(d), d a power of four: length one, and every product exact in float32. Full of ties."""
    return np.random.default_rng(seed).choice([-1.0, 1.0], (n, d)).astype(np.float32) / np.float32(d**0.5)


def normal(n: int, d: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


def gold_of(n: int, m: int, seed: int) -> list[list[int]]:
    """One to four distinct gold columns for each row."""
    rng = np.random.default_rng(seed)
    return [sorted(rng.choice(m, rng.integers(1, 5), replace=False).tolist()) for _ in range(n)]


def padded(gold: list[list[int]]) -> torch.Tensor:
    width = max(map(len, gold))
    return torch.tensor([row + [-1] * (width - len(row)) for row in gold])


def space_of(source, target, k=10, memory=1 << 16) -> BilingualSpace:
    """A space searched in blocks of a few rows."""
    return BilingualSpace(torch.from_numpy(source), torch.from_numpy(target), neighbours=k, memory=memory)


@pytest.fixture(scope="module")
def real(pair) -> tuple[np.ndarray, np.ndarray]:
    """The bundled vectors after Procrustes, both languages."""
    source, target = pair.source.head(WORDS), pair.target.head(WORDS)
    model = lnmap.align(source, target, pair.train, method="procrustes")
    return model.aligned("source").vectors, model.aligned("target").vectors


@pytest.mark.parametrize("d", [4, 16, 64])
@pytest.mark.parametrize(("n", "m"), [(40, 70), (300, 290), (130, 2700)])
@pytest.mark.parametrize("criterion", ["csls", "cosine"])
def test_exact_with_ties(n, m, d, criterion, compared):
    """Every number is exact in float32 (eight neighbours: a mean is a shift), so every bit and every rank is equal."""
    source, target = signs(n, d, 1), signs(m, d, 2)
    expected = naive.scores(source, target, criterion, k=8)
    assert len(np.unique(expected)) < expected.size / 5, "there must be ties"
    space = space_of(source, target, 8)
    everything = torch.arange(m).expand(n, m)
    assert np.array_equal(space.score(torch.arange(n), everything, criterion).scores.numpy(), expected)
    gold = gold_of(n, m, 3)
    assert space.ranks(torch.arange(n), padded(gold), criterion).tolist() == naive.ranks(expected, gold)
    hits = space.search(torch.arange(n), 10, criterion)
    best = -np.sort(-expected, axis=1)[:, :10]
    assert np.array_equal(hits.scores.numpy(), best)
    assert np.array_equal(np.take_along_axis(expected, hits.rows.numpy(), 1), best)
    compared(f"{criterion}, random vectors, exact ties: scores, bit for bit", n * m)
    compared(f"{criterion}, random vectors, exact ties: rank of the best gold word", n)


def check_close(space, expected, gold, criterion, tolerance) -> None:
    """Scores are equal within rounding; ranks are equal but for candidates that rounding could exchange."""
    n = len(expected)
    hits = space.search(torch.arange(n), 10, criterion)
    best = -np.sort(-expected, axis=1)[:, :10]
    np.testing.assert_allclose(hits.scores.numpy(), best, atol=tolerance, rtol=0)
    np.testing.assert_allclose(np.take_along_axis(expected, hits.rows.numpy(), 1), best, atol=tolerance, rtol=0)
    found = space.ranks(torch.arange(n), padded(gold), criterion).tolist()
    for row, (rank, right) in enumerate(zip(found, gold, strict=True)):
        top = expected[row, right].max()
        assert (expected[row] > top + tolerance).sum() <= rank <= (expected[row] > top - tolerance).sum()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("criterion", CRITERIA)
def test_random_vectors(criterion, seed, compared):
    n, m, d = [(50, 60, 5), (200, 90, 20), (90, 1200, 50), (120, 130, 300)][seed % 4]
    source, target = normal(n, d, seed), normal(m, d, seed + 100)
    expected, gold = naive.scores(source, target, criterion), gold_of(n, m, seed)
    check_close(space_of(source, target), expected, gold, criterion, 3e-6)
    double = space_of(source.astype(np.float64), target.astype(np.float64))
    assert double.ranks(torch.arange(n), padded(gold), criterion).tolist() == naive.ranks(expected, gold)
    compared(f"{criterion}, random vectors: rank of the best gold word", n)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_real_vectors(real, criterion, compared):
    expected, gold = naive.scores(*real, criterion), gold_of(WORDS, WORDS, 5)
    gold = [[*right, row] for row, right in enumerate(gold)]
    check_close(space_of(*real), expected, gold, criterion, 3e-6)
    double = space_of(*(side.astype(np.float64) for side in real))
    assert double.ranks(torch.arange(WORDS), padded(gold), criterion).tolist() == naive.ranks(expected, gold)
    compared(f"{criterion}, English-French: rank of the best gold word", WORDS)


@pytest.mark.parametrize("d", [16, 64])
@pytest.mark.parametrize("criterion", ["csls", "cosine"])
def test_real_vectors_with_ties(real, criterion, d, compared):
    """Only the signs of the first coordinates are kept: many words get the same vector."""
    source, target = (np.where(side[:, :d] < 0, -1, 1).astype(np.float32) / np.float32(d**0.5) for side in real)
    expected, gold = naive.scores(source, target, criterion, k=8), gold_of(WORDS, WORDS, 6)
    space = space_of(source, target, 8)
    assert space.ranks(torch.arange(WORDS), padded(gold), criterion).tolist() == naive.ranks(expected, gold)
    compared(f"{criterion}, English-French, exact ties: rank of the best gold word", WORDS)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "ties"])
def test_precision(ties, seed, compared):
    """P@k and the mean reciprocal rank of a whole evaluation, to the last digit."""
    n, m, d = 60 + 7 * seed, 80 + 11 * seed, 16
    make = signs if ties else normal
    source, target = make(n, d, seed), make(m, d, seed + 50)
    gold = gold_of(n, m, seed)
    places = naive.ranks(naive.scores(source, target, "csls", k=8), gold)
    words = [[f"{side}{row}" for row in range(count)] for side, count in (("s", n), ("t", m))]
    sides = [Embeddings.from_arrays(names, x) for names, x in zip(words, (source, target), strict=True)]
    pairs = [(words[0][row], words[1][column]) for row, right in enumerate(gold) for column in right]
    space = space_of(*(x if ties else x.astype(np.float64) for x in (source, target)), 8)
    found = evaluate(space, *sides, Lexicon.from_pairs(pairs))
    assert [found.precision(k) for k in CUTS] == [100 * sum(p < k for p in places) / n for k in CUTS]
    assert found.mrr == pytest.approx(100 * sum(1 / (1 + p) for p in places) / n, rel=1e-12)
    compared(f"P@k, random dictionaries{', exact ties' if ties else ''}: k = 1, 2, 5, 10, 100", len(CUTS))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(4))
def test_induction(mode, seed, compared):
    n, m, d = [(30, 20, 4), (200, 260, 10), (500, 400, 40), (90, 900, 8)][seed]
    source, target = normal(n, d, seed).astype(np.float64), normal(m, d, seed + 9).astype(np.float64)
    found = induce(torch.from_numpy(source), torch.from_numpy(target), mode=mode, memory=1 << 16)
    expected = naive.scores(source, target, "csls")
    assert {tuple(row) for row in found.rows.tolist()} == naive.induced(expected, mode)
    np.testing.assert_allclose(found.csls, expected[found.rows[:, 0], found.rows[:, 1]], atol=1e-12)
    compared(f"induction, {mode}, random vectors: pairs", len(found))


@pytest.mark.parametrize("mode", MODES)
def test_induction_of_real_words(real, mode, compared):
    found = induce(*(torch.from_numpy(side.astype(np.float64)) for side in real), mode=mode)
    assert {tuple(row) for row in found.rows.tolist()} == naive.induced(naive.scores(*real, "csls"), mode)
    compared(f"induction, {mode}, English-French: pairs", len(found))
