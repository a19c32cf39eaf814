"""`auto` with a large vocabulary on one side and a small one on the other."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import lnmap
from lnmap.direction import Direction
from lnmap.embeddings import Embeddings
from lnmap.methods.auto.notices import shared
from lnmap.methods.auto.start import own_words
from lnmap.methods.auto.systems import enough_words

SMALL, LARGE, SEED = 500, 20_000, 300


class Watched(list):
    """A list that counts how many of its words are looked at one after the other."""

    seen = 0

    def __iter__(self):
        for word in super().__iter__():
            self.seen += 1
            yield word


@pytest.fixture(scope="module")
def sides():
    rng = np.random.default_rng(0)
    large = (rng.normal(size=(LARGE, 30)) * np.linspace(1.5, 0.3, 30)).astype(np.float32)
    turn = np.linalg.qr(rng.normal(size=(30, 30)))[0].astype(np.float32)
    small = large[:SMALL] @ turn + 0.1 * rng.normal(size=(SMALL, 30)).astype(np.float32)
    letters = np.array(list("aeioubcdfgklmnprst"))
    spelt = [["".join(row) + str(i) for i, row in enumerate(rng.choice(letters, (n, 6)))] for n in (SMALL, LARGE)]
    return Embeddings.from_arrays(spelt[0], small), Embeddings.from_arrays(spelt[1], large)


def test_one_side_may_be_far_larger(sides):
    target, source = sides
    pairs = [(source.words[i], target.words[i]) for i in range(SEED)]
    model = lnmap.align(source, target, pairs, options={"rounds": 0}, device="cpu")
    words = target.words[SEED:]
    found = [one.words[0] for one in model.translate(words, 1, Direction.BACKWARD)]
    right = sum(one == other for one, other in zip(found, source.words[SEED:SMALL], strict=True))
    assert right > 0.9 * len(words)


def test_only_frequent_words_are_looked_at_where_no_others_count():
    words = Watched([f"w{'x' * (i % 7)}{i}" for i in range(LARGE)])
    assert shared(words, list(words)[:600]) > 0
    words.seen = 0
    shared(words, words[:600])
    assert words.seen <= 5000
    words.seen = 0
    assert len(own_words(words, ["mot"], LARGE)) == 10_000
    assert words.seen <= 10_000


def test_a_search_goes_as_far_as_the_seed(sides):
    seed = torch.stack([torch.arange(100), 150 * torch.arange(100)], dim=1)
    assert enough_words(seed, 500) == 13_366  # nine tenths of the target words are among these
    assert enough_words(seed, 18_000) == 18_000
    assert enough_words(10 * seed, 500) == 20_000
    assert enough_words(10 * seed, 30_000) == 30_000
    assert enough_words(seed[:0], 500) == 500
    target, source = sides
    pairs = [(source.words[i], target.words[i]) for i in range(SMALL)]
    model = lnmap.align(source, target, pairs, options={"rounds": 0, "queries": 100}, device="cpu")
    assert model.judges.among == 450
