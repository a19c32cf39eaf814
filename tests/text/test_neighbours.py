"""The neighbours of words become numbers: counted by hand, and joined so that subwords know them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.text.writing import NOUNS, VERBS, sentences, write_text

import lnmap
from lnmap.progress import Silent
from lnmap.text import TrainingOptions, make_vectors, neighbours

pytest.importorskip("gensim")
csr_matrix = pytest.importorskip("scipy.sparse").csr_matrix
SMALL = TrainingOptions(dim=8, epochs=2, min_count=2, neighbours=4)


@pytest.fixture
def task():
    with Silent().task("counting", None) as task:
        yield task


def cosine(one, other) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def test_counts_by_hand(task):
    lines = [["a", "b", "c", "a"], ["rare", "a", "b"]]
    found = neighbours._counts(lines, ["a", "b", "c"], task).toarray()
    left = [[0, 0.5, 1], [2, 0, 0], [0.5, 1, 0]]  # of a: c stands just before it, b two words before
    right = [[0, 2, 0.5], [0.5, 0, 1], [1, 0, 0]]
    assert found.tolist() == [one + other for one, other in zip(left, right, strict=True)]


def test_blocks_do_not_matter(task, monkeypatch):
    lines = [["a", "b", "c"] * 5, ["c"], ["b", "a"]] * 20
    whole = neighbours._counts(lines, ["a", "b", "c"], task).toarray()
    monkeypatch.setattr(neighbours, "_BLOCK", 7)
    assert (neighbours._counts(lines, ["a", "b", "c"], task).toarray() == whole).all()


def test_rare_words_are_no_neighbours(task, monkeypatch):
    monkeypatch.setattr(neighbours, "_CONTEXTS", 2)
    found = neighbours._counts([["a", "b", "c"]], ["a", "b", "c"], task)
    assert found.toarray().tolist() == [[0, 0, 0, 1], [1, 0, 0, 0], [0.5, 1, 0, 0]]


def test_positive_information_by_hand(task):
    counts = neighbours._counts([["a", "b"]] * 9 + [["a", "c"]], ["a", "b", "c"], task)
    every = 10**0.75 + 9**0.75 + 1
    found = neighbours._positive_information(counts).toarray()
    assert found[0, 5] == pytest.approx(np.log(every / 10))  # c, once, of the ten to the right of a
    assert found[0, 4] == pytest.approx(np.log(9 * every / (10 * 9**0.75)))
    assert found[1, 0] == pytest.approx(np.log(9 * every / (9 * 10**0.75)))
    assert np.count_nonzero(found) == 4


def test_words_that_stand_in_the_same_places_are_near(task):
    """Left and right are told apart: nouns are near nouns, not the verbs that stand just behind them."""
    lines = [sentence.lower().split() for sentence in sentences(400)]
    counts = neighbours._counts(lines, [*NOUNS, *VERBS, "the"], task)
    found = neighbours._reduced_counts(neighbours._positive_information(counts))
    near = np.array([[cosine(one, other) for other in found[:-1]] for one in found[: len(NOUNS)]])
    assert near[:, : len(NOUNS)].mean() > near[:, len(NOUNS) :].max() + 0.2


def test_few_numbers_keep_what_counts_say(task):
    draw = np.random.default_rng(1)
    information = csr_matrix(draw.random((300, 12)) @ draw.random((12, 400)))
    found = neighbours._reduced_counts(information)
    left, values, _ = np.linalg.svd(information.toarray())
    assert found.shape == (300, 100)
    assert found @ found.T == pytest.approx((left[:, :300] * values) @ left[:, :300].T, rel=1e-4, abs=1e-3)


def test_subwords_know_them(tmp_path):
    write_text(tmp_path / "text.txt")
    make_vectors(tmp_path / "text.txt", tmp_path / "xx.vec", options=SMALL)
    found, subwords = lnmap.read(tmp_path / "xx.vec"), lnmap.io.SubwordModel(tmp_path / "xx.bin")
    assert np.stack([subwords.vector(word) for word in found.words]) == pytest.approx(found.vectors, abs=1e-5)
    assert cosine(subwords.vector("mountains")[8:], found["mountain"][8:]) > 0.5


def test_fewer_words_than_numbers(tmp_path):
    write_text(tmp_path / "text.txt")
    made = make_vectors(tmp_path / "text.txt", tmp_path / "xx.vec", options=replace(SMALL, neighbours=10_000))
    assert 8 < made.dim < 10_000
    assert np.isfinite(lnmap.read(tmp_path / "xx.vec").vectors).all()


def test_words_that_never_stand_together(task):
    outputs = [np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)]
    found = neighbours.neighbour_vectors([["a"], ["b"], ["c"]], ["a", "b", "c"], outputs, 2, task)
    assert found.shape == (3, 2)
    assert np.isfinite(found).all()
