"""fastText models packed by hand: every field, and vectors by a plain loop."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest
from tests.io.ngrams import plain_ngrams

from lnmap.errors import VectorFileError
from lnmap.io import SubwordModel, read
from lnmap.io.collect import Collector, Rows
from lnmap.io.formats import fasttext
from lnmap.io.formats.fasttext import FasttextReader, ngram_hashes
from lnmap.io.policy import ReadOptions
from lnmap.io.source import ByteSource

WORDS = ["the", "</s>", "straße", "日本語", "a"]
DIM, BUCKET = 3, 11
BEFORE_NAMES = 8 + struct.calcsize("<12id") + struct.calcsize("<iiiqq")


def matrix(rows, dim=DIM):
    return np.random.default_rng(3).normal(size=(rows, dim)).astype("<f4")


def packed(
    words=WORDS,
    *,
    dim=DIM,
    bucket=BUCKET,
    minn=2,
    maxn=3,
    version=12,
    kind=1,
    pruned=-1,
    quantised=0,
    after=b"",
    **fields,
) -> bytes:
    """Pack a model; `fields` replace what follows from the words."""
    names = [(word.encode(), 0) for word in words]
    names[1:1] = fields.get("labels", [])
    counts = {"size": len(names), "nwords": len(words), "nlabels": len(names) - len(words)} | fields
    values = fields.get("matrix", matrix(len(words) + bucket, dim if dim > 0 else 1))
    shape = fields.get("shape", values.shape)
    return b"".join(
        [
            struct.pack("<ii", 793712314, version),
            struct.pack("<12id", dim, 5, 5, 1, 5, 1, 1, kind, bucket, minn, maxn, 100, 1e-4),
            struct.pack("<iiiqq", counts["size"], counts["nwords"], counts["nlabels"], 99, pruned),
            *(name + b"\0" + struct.pack("<qb", 7, sort) for name, sort in names),
            b"pppppppp" * max(pruned, 0),
            bytes([quantised]),
            struct.pack("<qq", *shape),
            values.tobytes(),
            after,
        ]
    )


@pytest.fixture
def file(tmp_path):
    def write(data: bytes):
        path = tmp_path / "model.bin"
        path.write_bytes(data)
        return path

    return write


def plain_vector(word, values, minn, maxn, bucket=BUCKET):
    rows = [len(WORDS) + one % bucket for one in plain_ngrams(word, minn, maxn)]
    rows = [] if word == "</s>" else rows
    rows = ([WORDS.index(word)] if word in WORDS else []) + rows
    return values[rows].astype(np.float64).mean(axis=0) if rows else np.zeros(values.shape[1])


@pytest.mark.parametrize(("minn", "maxn"), [(2, 3), (3, 6), (1, 1), (1, 4), (5, 5)])
def test_vectors_of_a_plain_loop(file, minn, maxn):
    path, values = file(packed(minn=minn, maxn=maxn)), matrix(len(WORDS) + BUCKET)
    model = SubwordModel(path)
    assert (len(model), model.dim, model.words) == (5, 3, WORDS)
    found = read(path, policy="vecmap")
    for word in [*WORDS, "", "katze", "日", "x"]:
        wanted = plain_vector(word, values, minn, maxn)
        np.testing.assert_allclose(model.vector(word), wanted, atol=1e-6)
        assert model.vector(word).dtype == np.float32
        assert (word in model) == (word in found) == (word in WORDS)
        if word in WORDS:
            np.testing.assert_allclose(found[word], wanted, atol=1e-6)


def test_hashes_come_in_the_order_of_the_words():
    words = ["cat", "", "é", "日本語の", "𝒳y", "a" * 40]
    for shortest, longest in [(3, 6), (1, 1), (2, 3), (0, 4), (6, 6)]:
        owner, hashes = ngram_hashes([word.encode() for word in words], shortest, longest)
        assert (np.diff(owner) >= 0).all()
        for row, word in enumerate(words):
            assert sorted(hashes[owner == row].tolist()) == sorted(plain_ngrams(word, shortest, longest))


@pytest.mark.parametrize(
    ("options", "subwords"),
    [
        ({"version": 12, "kind": 1}, True),
        ({"version": 11, "kind": 1}, True),
        ({"version": 12, "kind": 3}, True),
        ({"version": 11, "kind": 3}, False),  # supervised models of that version had no n-grams of characters
        ({"maxn": 0}, False),
        ({"maxn": 0, "minn": 0}, False),
        ({"maxn": 1, "minn": 1}, True),
        ({"pruned": 0}, False),
        ({"pruned": 2}, True),
        ({"bucket": 0}, False),
        ({"bucket": 1}, True),
    ],
)
def test_which_models_have_subwords(file, options, subwords):
    model = SubwordModel(file(packed(**options)))
    own = matrix(len(WORDS) + options.get("bucket", BUCKET))[0]
    assert np.array_equal(model.vector("the"), own) == (not subwords)
    assert model.vector("unknown").any() == subwords
    assert model.vector("unknown").shape == (3,)
    assert model.vector("unknown").dtype == np.float32


def test_unknown_words_that_are_no_utf8(file):
    assert SubwordModel(file(packed())).vector("caf\udce9").any()


def test_labels_are_no_words(file):
    found = read(file(packed(labels=[(b"__label__x", 1), (b"", 1)])), policy="vecmap")
    assert list(found.words) == WORDS
    np.testing.assert_allclose(found["a"], plain_vector("a", matrix(len(WORDS) + BUCKET), 2, 3), atol=1e-6)


def collected(path, **options):
    """Return what is read, what is reported, and the progress."""
    rows, steps = Rows(), []
    collector = Collector(ReadOptions(lowercase=False, **options), rows.add)
    with ByteSource(path) as source:
        source.advance = steps.append
        reader = FasttextReader.recognise(source)
        report = reader.read(collector)
    return collector, report, steps[1:]  # the first is the look at the magic number


@pytest.mark.parametrize(
    ("options", "lines", "words"),
    [
        ({}, 5, 5),
        ({"limit": 3}, 4, 3),
        ({"limit": 2}, 2, 2),
        ({"limit": 3, "limit_counts": "lines"}, 3, 3),
        ({"limit": 9, "limit_counts": "lines"}, 5, 5),
    ],
)
def test_blocks_and_limits(file, monkeypatch, options, lines, words):
    monkeypatch.setattr(fasttext, "_BLOCK", 2)
    path = file(packed())
    collector, report, steps = collected(path, **options)
    assert collector.words == WORDS[:words]
    assert report == {"lines": lines, "header_words": 5}
    wanted = min(5, options["limit"]) if options.get("limit_counts") else 5
    assert sum(steps) == pytest.approx(path.stat().st_size * lines / wanted)


def test_rows_that_are_not_finite_are_named(file, monkeypatch):
    monkeypatch.setattr(fasttext, "_BLOCK", 2)
    values = matrix(len(WORDS), DIM)
    values[3, 1] = np.nan
    collector, _, _ = collected(file(packed(bucket=0, maxn=0, matrix=values)))
    assert collector.words == [*WORDS[:3], "a"]
    assert collector.samples == [[4, "NaN or infinite value"]]


def test_the_format_is_recorded_and_no_hash_of_what_was_not_read_through(file):
    origin = read(file(packed())).origin
    assert origin["format"] == "fasttext"
    assert not {"bytes_read", "sha256_read"} & set(origin)


def test_what_is_packed_again_must_be_unpacked(tmp_path):
    path = tmp_path / "model.bin.gz"
    path.write_bytes(gzip.compress(packed()))
    with pytest.raises(VectorFileError, match=r"is a packed fastText model; unpack it and give the \.bin file"):
        read(path)


def test_other_files_are_left_to_other_readers(tmp_path):
    (tmp_path / "x").write_bytes(b"a 1 2\n")
    with ByteSource(tmp_path / "x") as source:
        assert FasttextReader.recognise(source) is None


@pytest.mark.parametrize("version", [10, 13])
def test_other_versions(file, version):
    with pytest.raises(VectorFileError, match=f"of version {version}; versions 11 and 12 can be read"):
        SubwordModel(file(packed(version=version)))
    with pytest.raises(VectorFileError, match="of version 12"):
        SubwordModel(file(b"XXXX" + packed()[4:]))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"dim": 0}, "cannot hold 5 words of 0 values"),
        ({"dim": -1}, "cannot hold 5 words of -1 values"),
        ({"dim": 100_001}, "cannot hold 5 words of 100001 values"),
        ({"bucket": -1, "matrix": matrix(5)}, "cannot hold"),
        ({"maxn": 1001}, "cannot hold"),
        ({"size": 6}, "cannot hold"),
        ({"size": 4}, "cannot hold"),
        ({"nlabels": -1, "size": 4}, "cannot hold"),
        ({"nwords": 0, "size": 0}, "cannot hold 0 words"),
        ({"nwords": -1, "nlabels": 1, "size": 0}, "cannot hold -1 words"),
        ({"nwords": 200, "size": 200}, "cannot hold 200 words"),
        ({"nwords": 1 << 30, "size": 1 << 30}, "cannot hold 1073741824 words"),
        ({"nwords": 4, "nlabels": 1}, "it promises 4 words and holds 5"),
        ({"nwords": 8, "size": 8}, "cut short in its dictionary|promises 8 words"),
        ({"pruned": 1 << 40, "after": b"x"}, "cut short before its matrix"),
        ({"shape": (0, 3)}, "promises 0 x 3 values"),
        ({"shape": (-1, 3)}, "promises -1 x 3 values"),
        ({"shape": (16, 0)}, "promises 16 x 0 values"),
        ({"shape": (16, -1)}, "promises 16 x -1 values"),
        ({"shape": (17, 3)}, "promises 17 x 3 values and is cut short after"),
        ({"shape": (1 << 62, 4)}, "is cut short after"),
        ({"shape": (15, 3)}, "its matrix is 15 x 3 for 5 words, 11 n-grams and 3 values"),
        ({"shape": (16, 2)}, "its matrix is 16 x 2"),
        ({"matrix": matrix(17)}, "its matrix is 17 x 3"),
        ({"matrix": matrix(4), "bucket": 0}, "its matrix is 4 x 3 for 5 words, 0 n-grams"),
    ],
)
def test_contradictions_are_refused(file, changes, says):
    if changes.get("pruned", 0) > 1000:
        data = bytearray(packed())
        struct.pack_into("<q", data, BEFORE_NAMES - 8, changes["pruned"])
    else:
        data = packed(**changes)
    with pytest.raises(VectorFileError, match=says) as caught:
        SubwordModel(file(bytes(data)))
    assert "model.bin" in str(caught.value)
    assert str(caught.value).endswith("; fetch it again")


def test_limits_that_just_hold(file):
    assert SubwordModel(file(packed(maxn=1000))).words == WORDS
    assert SubwordModel(file(packed(after=b"the other matrix"))).words == WORDS
    assert SubwordModel(file(packed(matrix=matrix(9), bucket=0))).words == WORDS  # rows that nothing refers to
    assert SubwordModel(file(packed(["a"], dim=1, bucket=0, matrix=np.ones((1, 1), "<f4")))).dim == 1
    wide = np.ones((1, 100_000), "<f4")
    assert SubwordModel(file(packed(["a"], dim=100_000, bucket=0, matrix=wide))).dim == 100_000


def test_every_truncation_is_refused_with_its_reason(file):
    data = packed()
    names = BEFORE_NAMES + sum(len(word.encode()) + 10 for word in WORDS)
    reasons = {"it is cut short;": 0, "in its dictionary": 0, "before its matrix": 0, "is cut short after": 0}
    for size in range(4, len(data)):
        with pytest.raises(VectorFileError) as caught:
            SubwordModel(file(data[:size]))
        (reason,) = [one for one in reasons if one in str(caught.value)]
        reasons[reason] += 1
        if size >= BEFORE_NAMES:
            wanted = "in its dictionary" if size < names else "before its matrix" if size == names else "cut short"
            assert wanted in str(caught.value)
    assert reasons["is cut short after"] == DIM * (len(WORDS) + BUCKET) * 4
    assert reasons["before its matrix"] == 1


def test_quantised(file):
    with pytest.raises(VectorFileError, match="is a quantised fastText model"):
        SubwordModel(file(packed(quantised=1)))


def test_missing(tmp_path):
    with pytest.raises(VectorFileError, match=r"cannot read the fastText model .*none\.bin: .*No such file"):
        SubwordModel(tmp_path / "none.bin")
