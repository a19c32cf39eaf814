"""Vectors that are in memory already, and numpy archives."""

import numpy as np
import pytest

from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, MissingExtraError, VectorFileError
from lnmap.io import read, to_gensim

ARRAY = np.arange(1, 9, dtype=np.float64).reshape(4, 2)
WORDS = ["The", "the", "Cat", "dog"]


def test_tuple():
    found = read((WORDS, ARRAY))
    assert list(found.words) == ["the", "cat", "dog"]
    assert found.origin["duplicates"] == 1
    assert list(read((WORDS, ARRAY), limit=2).words) == ["the", "cat"]
    assert list(read((np.array(WORDS), ARRAY), limit=2, policy="vecmap").words) == ["The", "the"]
    found = read((WORDS, [[1, 2], [np.nan, 1], [1e300, 1], [0, 0]]), policy="muse")
    assert list(found.words) == ["the", "dog"]
    assert found.origin["skipped"] == 2


@pytest.mark.parametrize(
    ("words", "vectors"),
    [
        (WORDS, ARRAY[:2]),
        (WORDS, ARRAY.ravel()),
        (WORDS, [["a", "b"]] * 4),
        (WORDS, [[1], [1, 2], [3], [4]]),
        ([1, 2, 3, 4], ARRAY),
        (np.array([1.0, 2, 3, 4]), ARRAY),
        ([], np.empty((0, 2))),
        (WORDS, np.empty((4, 0))),
        (WORDS, ARRAY.astype(object)),
        (WORDS, ARRAY * np.nan),
    ],
)
def test_bad_tuples(words, vectors):
    with pytest.raises(InputError):
        read((words, vectors))


def test_embeddings_pass_without_a_copy():
    given = Embeddings.from_arrays(["a", "b"], np.eye(2), path="x")
    found = read(given)
    assert np.shares_memory(found.vectors, given.vectors)
    assert found.origin["path"] == "x"
    assert found.origin["policy"] == "muse"
    zero = Embeddings.from_arrays(["a", "b"], [[0, 0], [1, 1]])
    assert read(zero)["a"][0] == np.float32(0.01)
    assert not zero["a"].any()


def test_gensim_both_ways():
    pytest.importorskip("gensim")
    given = Embeddings.from_arrays(["a", "B b", "c"], np.random.default_rng(0).standard_normal((3, 4)))
    keyed = to_gensim(given)
    assert keyed.most_similar("a", topn=2)[0][0] in ("B b", "c")
    found = read(keyed, policy="vecmap")
    assert list(found.words) == list(given.words)
    assert np.array_equal(found.vectors, given.vectors)
    assert found.origin["format"] == "KeyedVectors"


def test_gensim_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "gensim.models", None)
    with pytest.raises(MissingExtraError, match=r"lnmap\[gensim\]"):
        to_gensim(Embeddings.from_arrays(["a"], [[1.0]]))


def test_npz(tmp_path):
    path = tmp_path / "words.npz"
    np.savez_compressed(path, words=np.array(WORDS), vectors=ARRAY)
    assert list(read(path, policy="vecmap").words) == WORDS
    np.savez(path, words=np.array([b"a", b"\xff"]), vectors=ARRAY[:2])
    assert list(read(path, policy="vecmap").words) == ["a", "\udcff"]
    np.savez(path, words=np.array(WORDS))
    with pytest.raises(VectorFileError, match="expected 'words' and 'vectors'"):
        read(path)
    np.savez(path, words=np.array(WORDS, dtype=object), vectors=ARRAY)
    with pytest.raises(VectorFileError, match="numpy archive"):
        read(path)
    np.savez(path, words=np.array(WORDS), vectors=ARRAY[:3])
    with pytest.raises(VectorFileError, match="4 words but 3 vectors"):
        read(path)
