"""P@k and coverage against the way MUSE and VecMap count, on the same dictionaries, to the last digit they print."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.differential import naive

import lnmap
from lnmap.embeddings import Embeddings
from lnmap.evaluate import Evaluation, evaluate
from lnmap.lexicon import Lexicon
from lnmap.retrieve import BilingualSpace


def check(found: Evaluation, expected: np.ndarray, source, target, pairs) -> None:
    """Both scorers print what lnmap computes."""
    assert {k: f"{found.precision(k):.5f}" for k in (1, 5, 10)} == naive.muse(expected, source, target, pairs)
    printed = f"{found.coverage / 100:7.2%}", f"{found.precision(1) / 100:7.2%}"
    assert printed == naive.vecmap(expected, source, target, pairs)


def dictionary(seed: int, source: list[str], target: list[str]) -> list[tuple[str, str]]:
    """Pairs with many translations, repeated lines, and words on either side that are not in the vocabularies."""
    rng = np.random.default_rng(seed)
    source, target = source + [f"only{i}" for i in range(9)], target + [f"nur{i}" for i in range(9)]
    lines = rng.integers(20, 200)
    return [(source[rng.integers(len(source))], target[rng.integers(len(target))]) for _ in range(lines)]


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "ties"])
def test_random_dictionaries(seed, ties, compared):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(20, 60, 2)
    draw = (lambda rows: rng.choice([-0.25, 0.25], (rows, 16))) if ties else (lambda rows: rng.normal(size=(rows, 16)))
    x, y = draw(n), draw(m)
    source, target = [f"s{i}" for i in range(n)], [f"t{i}" for i in range(m)]
    pairs = dictionary(seed, source, target)
    space = BilingualSpace(torch.from_numpy(x), torch.from_numpy(y), neighbours=8)
    sides = Embeddings.from_arrays(source, x), Embeddings.from_arrays(target, y)
    found = evaluate(space, *sides, Lexicon.from_pairs(pairs))
    check(found, naive.scores(x, y, "csls", k=8), source, target, pairs)
    compared(f"counting of MUSE and VecMap, random dictionaries{', exact ties' if ties else ''}: figures", 5)


@pytest.fixture(scope="module")
def model(pair):
    source, target = pair.source.head(2000), pair.target.head(2000)
    return lnmap.align(source, target, pair.train, method="procrustes")


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("part", ["train", "test"])
def test_real_dictionaries(model, pair, part, direction, compared):
    gold = getattr(pair, part)
    sides = ["source", "target"]
    if direction == "backward":
        gold, sides = gold.reversed(), sides[::-1]
    source, target = (model.aligned(side, direction) for side in sides)
    found = model.evaluate(gold, direction=direction)
    check(found, naive.scores(source.vectors, target.vectors, "csls"), source.words, target.words, list(gold))
    compared("counting of MUSE and VecMap, English-French dictionaries: figures", 5)


def test_capitals_are_the_one_difference():
    """A dictionary's capitals that the vocabulary does not have are looked up in lower case; VecMap leaves them out."""
    x = np.eye(4)
    source, target = ["may", "paris", "dog", "cat"], ["mai", "paris", "hund", "katze"]
    pairs = [("May", "mai"), ("Paris", "Paris"), ("dog", "hund"), ("bird", "vogel")]
    sides = Embeddings.from_arrays(source, x), Embeddings.from_arrays(target, x)
    found = evaluate(BilingualSpace(torch.eye(4), torch.eye(4)), *sides, Lexicon.from_pairs(pairs))
    lower = [(s.lower(), t.lower()) for s, t in pairs]
    expected = naive.scores(x, x, "csls")
    check(found, expected, source, target, lower)
    assert naive.vecmap(expected, source, target, pairs)[0] == " 25.00%"
    assert found.coverage == 75
