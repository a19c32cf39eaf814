"""word2vec's binary format: both dialects, limits, and files that are cut short."""

import gzip

import numpy as np
import pytest

from lnmap.errors import VectorFileError
from lnmap.io import read
from lnmap.progress import Silent

rng = np.random.default_rng(5)
VECTORS = rng.standard_normal((50, 6)).astype(np.float32)
WORDS = [f"Wort{row}" for row in range(49)] + ["日本"]


def packed(words, vectors, end=b"\n", promised=None) -> bytes:
    rows = (word.encode() + b" " + row.tobytes() + end for word, row in zip(words, vectors, strict=True))
    return b"%d %d\n" % (promised or len(words), vectors.shape[1]) + b"".join(rows)


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_both_dialects(tmp_path, end, pack):
    path = tmp_path / "words.bin"
    path.write_bytes(pack(packed(WORDS, VECTORS, end)))
    found = read(path, policy="vecmap")
    assert list(found.words) == WORDS
    assert np.array_equal(found.vectors, VECTORS)
    assert found.origin["format"] == "word2vec-binary"


def test_limit_and_policy(tmp_path):
    path = tmp_path / "words.bin"
    path.write_bytes(packed(["A", "a", "b", "c"], VECTORS[:4]))
    assert list(read(path, limit=2).words) == ["a", "b"]
    assert list(read(path, limit=2, policy="vecmap").words) == ["A", "a"]


def test_values_that_are_not_finite_are_skipped(tmp_path):
    vectors = VECTORS.copy()
    vectors[3, 2], vectors[7, 0] = np.nan, np.inf
    path = tmp_path / "words.bin"
    path.write_bytes(packed(WORDS, vectors))
    found = read(path, policy="vecmap")
    assert len(found) == 48
    assert found.origin["skipped_samples"] == [[4, "NaN or infinite value"], [8, "NaN or infinite value"]]


@pytest.mark.parametrize("promised", [60, 10**12])
def test_fewer_words_than_promised(tmp_path, promised):
    path = tmp_path / "words.bin"
    path.write_bytes(packed(WORDS, VECTORS, promised=promised)[:-8])
    progress = Silent()
    found = read(path, policy="vecmap", progress=progress)
    assert len(found) == 49
    assert f"promises {promised:,} words, the file ends after 49" in found.origin["warning"]
    assert "cut short" in progress.notes[0]


def test_gensim_wrote_it(tmp_path):
    models = pytest.importorskip("gensim.models")
    keyed = models.KeyedVectors(6)
    keyed.add_vectors(WORDS, VECTORS)
    for binary in (True, False):
        path = tmp_path / f"words.{binary}"
        keyed.save_word2vec_format(str(path), binary=binary)
        found = read(path, policy="vecmap")
        assert list(found.words) == WORDS
        assert np.array_equal(found.vectors, VECTORS)


def test_a_word_that_never_ends(tmp_path):
    path = tmp_path / "words.bin"
    path.write_bytes(packed(WORDS, VECTORS, promised=99) + b"x" * 200_000)
    with pytest.raises(VectorFileError, match="breaks off"):
        read(path)
