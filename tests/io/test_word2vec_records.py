"""Records of word2vec's binary format: which bytes are taken for them, and how they are cut out of pieces."""

from __future__ import annotations

import numpy as np
import pytest

import lnmap
from lnmap.errors import VectorFileError
from lnmap.io.collect import Collector, Rows
from lnmap.io.formats import word2vec
from lnmap.io.formats.word2vec import Word2vecReader
from lnmap.io.policy import ReadOptions
from lnmap.io.source import ByteSource

WORDS = ["The", "b", "日本", "dd", "e", "the"]
VECTORS = np.random.default_rng(4).standard_normal((6, 3)).astype("<f4")
VECTORS[0, 0] = 1  # two of its bytes are zero, which no text holds


def packed(words=WORDS, vectors=VECTORS, end=b"\n", promised=None):
    rows = (word.encode() + b" " + row.tobytes() + end for word, row in zip(words, vectors, strict=True))
    return b"%d %d\n" % (promised or len(words), vectors.shape[1]) + b"".join(rows)


def recognised(path, data):
    path.write_bytes(data)
    with ByteSource(path) as source:
        return Word2vecReader.recognise(source)


def collected(path, data, **options):
    """Return the collector, the vectors, what is reported, and the number of bytes that were read."""
    rows = Rows()
    collector = Collector(ReadOptions(**options), rows.add)
    path.write_bytes(data)
    with ByteSource(path) as source:
        report = Word2vecReader.recognise(source).read(collector)
        return collector, rows.vectors, report, source.consumed


@pytest.fixture
def path(tmp_path):
    return tmp_path / "words.bin"


TEXTUAL = b"2 1\nx abcd"  # a value whose bytes are letters


@pytest.mark.parametrize(
    ("data", "binary"),
    [
        (packed(), True),
        (packed(end=b""), True),
        (packed(promised=100), True),
        (packed()[:-1], True),
        (packed()[:20], True),  # within the values of the first word
        (packed()[:8], False),  # before any value
        (b"1 1\nx \x00\x00\x80\x3f", True),
        (b"2 1\n\x00x 12", False),  # a strange byte in a word says nothing
        (b"3 3\na 1 2 3\nb 4 5 6\nc 7 8 9\n", False),
        (b"a 1 2 3\n", False),
        (b"prose without numbers \x01\n", False),
        (TEXTUAL + b"y efgh", True),  # all letters, but records end exactly where the file does
        (TEXTUAL + b"\ny efgh\n", True),
        (TEXTUAL + b"\ny efgh", True),
        (TEXTUAL + b"y efgh.", False),
        (TEXTUAL + b"y efg", False),
        (TEXTUAL, False),
        (TEXTUAL + b"\nyefgh", False),
        (TEXTUAL + b"\n efgh", True),
        (TEXTUAL + b"y efghz ijkl", False),
        (TEXTUAL + b"y ef\x02h", True),
        (TEXTUAL + b"y ef\x08h", True),
        (TEXTUAL + b"y ef\x00", True),  # cut short, but no text
        (TEXTUAL + b"y ef\x09h.", False),  # texts have tabs
        (TEXTUAL + b"y efgh\x00", False),  # beyond the promised records
        (TEXTUAL + b"y efghz \x01\x02\x03\x04", False),
        (b"1 1\n \x00\x00\x80\x3f", True),  # a word without letters
        (b"2 1\nx \x00\x00", True),
        (b"1 1\n \x00\x00", False),  # neither a word nor its values
        (b"2 1\n" + b"x" * 65535 + b" \x01\x02\x03\x04y efgh", True),
        (b"2 1\n" + b"x" * 65536 + b" \x01\x02\x03\x04y efgh", False),  # no word is that long
    ],
)
def test_what_is_taken_for_records(path, data, binary):
    assert (recognised(path, data) is not None) == binary


def test_records_beyond_what_is_looked_at(path):
    """All letters and too long to be seen whole: that may be text."""
    data = b"200000 1\n" + b"word abcd" * 200_000
    assert recognised(path, data) is None
    assert recognised(path, data[:-4] + b"\x01\x02\x03\x04") is None
    assert recognised(path, data[:100] + data[100:].replace(b"abcd", b"ab\x00d")) is not None


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("piece", [1, 2, 3, 7, 16, 17, 40, 1000])
def test_pieces_of_any_size(path, monkeypatch, piece, end):
    monkeypatch.setattr(word2vec, "BLOCK", piece)
    vectors = VECTORS.copy()
    vectors[3, 1] = np.nan
    words = [*WORDS[:4], "", WORDS[5]]
    collector, found, report, _ = collected(path, packed(words, vectors, end), lowercase=False)
    assert collector.words == ["The", "b", "日本", "the"]
    assert np.array_equal(found, vectors[[0, 1, 2, 5]])
    assert collector.samples == [[4, "NaN or infinite value"], [5, "empty word"]]
    assert report == {"lines": 6, "header_words": 6}


@pytest.mark.parametrize(
    ("options", "words", "lines"),
    [
        ({"limit": 2}, ["the", "b"], 2),
        ({"limit": 6}, ["the", "b", "日本", "dd", "e"], 6),
        ({"limit": 2, "limit_counts": "lines"}, ["the", "b"], 2),
        ({"limit": 4, "limit_counts": "lines"}, ["the", "b", "日本", "dd"], 4),
        ({"limit": 5, "limit_counts": "lines"}, ["the", "b", "日本", "dd", "e"], 5),
        ({"limit": 6, "limit_counts": "lines"}, ["the", "b", "日本", "dd", "e"], 6),
        ({"limit": 60, "limit_counts": "lines"}, ["the", "b", "日本", "dd", "e"], 6),
    ],
)
@pytest.mark.parametrize("piece", [17, 50])
def test_limits(path, monkeypatch, options, words, lines, piece):
    monkeypatch.setattr(word2vec, "_SMALLEST", 1)
    monkeypatch.setattr(word2vec, "BLOCK", piece)
    collector, _, report, _ = collected(path, packed(), **options)
    assert (collector.words, report) == (words, {"lines": lines, "header_words": 6})


def test_a_limit_reads_about_as_much_as_it_needs(path):
    """Ten words of 600 bytes lie in the first of many pieces."""
    many = np.ones((6000, 150), "<f4")
    data = packed([f"word{row}" for row in range(6000)], many)
    assert len(data) > 3 << 20
    for counts in ("words", "lines"):
        collector, _, report, consumed = collected(path, data, limit=10, limit_counts=counts)
        assert len(collector.words) == 10
        assert consumed <= (1 << 20) + (1 << 16)  # what was looked at to recognise it, and a piece
        assert "warning" not in report
    collector, _, _, consumed = collected(path, data, limit=3000)
    assert len(collector.words) == 3000
    assert consumed < 3e6 < len(data)


def test_few_words_are_not_read_in_small_pieces(path, monkeypatch):
    sizes, read = [], ByteSource.read
    monkeypatch.setattr(ByteSource, "read", lambda source, size: sizes.append(size) or read(source, size))
    collected(path, packed(), limit=1)
    assert sizes[-2] == len(b"6 3\n")  # the header, and then a piece
    assert sizes[-1] >= 1 << 16


def test_the_format_is_recorded(path):
    path.write_bytes(packed())
    assert lnmap.read(path).origin["format"] == "word2vec-binary"


def test_what_follows_the_promised_records_is_not_read(path):
    collector, _, report, _ = collected(path, packed(promised=4), lowercase=False)
    assert collector.words == WORDS[:4]
    assert report == {"lines": 4, "header_words": 4}


@pytest.mark.parametrize(("cut", "lines"), [(0, 6), (1, 6), (2, 5), (13, 5), (18, 5), (19, 4)])
def test_files_cut_short(path, cut, lines):
    data = packed(promised=9)
    collector, found, report, _ = collected(path, data[: len(data) - cut], lowercase=False)
    assert collector.words == WORDS[:lines]
    assert np.array_equal(found, VECTORS[:lines])
    says = f"the header promises 9 words, the file ends after {lines}; it may be cut short"
    assert report == {"lines": lines, "header_words": 9, "warning": says}


def test_a_limit_beyond_a_file_cut_short(path):
    _, _, report, _ = collected(path, packed(promised=9), limit=7, limit_counts="lines")
    assert "the file ends after 6" in report["warning"]
    _, _, report, _ = collected(path, packed(promised=9), limit=6, limit_counts="lines")
    assert "warning" not in report


def test_a_word_without_letters_before_many_others(path):
    many = np.ones((6000, 3), "<f4")
    collector, _, _, _ = collected(path, packed(["", *(f"word{row}" for row in range(5999))], many))
    assert len(collector.words) == 5999
    assert collector.samples == [[1, "empty word"]]


@pytest.mark.parametrize("length", [65536, 65537])
def test_a_word_that_never_ends(path, length):
    data = packed(end=b"", promised=9)
    body = len(data) - len(b"9 3\n")
    data += b"x" * length
    if length > 65536:
        with pytest.raises(VectorFileError, match=f"no blank ends the word after {body} bytes of a block; fetch it"):
            collected(path, data)
    else:
        assert "ends after 6" in collected(path, data)[2]["warning"]
