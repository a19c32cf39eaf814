"""The reader of text files: how it finds the number of values, when it stops, and when it gives up."""

from __future__ import annotations

import numpy as np
import pytest

from lnmap.errors import VectorFileError
from lnmap.io import reading
from lnmap.io.collect import Collector, Rows
from lnmap.io.formats import text
from lnmap.io.formats.text import TextReader
from lnmap.io.policy import ReadOptions
from lnmap.io.source import ByteSource


@pytest.fixture
def path(tmp_path):
    return tmp_path / "words.vec"


def lines(count, first=0):
    return b"".join(b"word%03d 1 %d\n" % (row, row) for row in range(first, first + count))


def opened(path, data, **options):
    """Return a reader of a file and a collector, with the source still open."""
    path.write_bytes(data)
    source = ByteSource(path)
    return TextReader.recognise(source), Collector(ReadOptions(**options), Rows().add)


def collected(path, data, **options):
    reader, collector = opened(path, data, **options)
    with reader.source:
        return collector, reader.read(collector)


@pytest.mark.parametrize(
    ("data", "rows", "dim", "start"),
    [
        (b"a 1 2\nb 3 4\n", None, 2, 0),
        (b"2 2\na 1 2\nb 3 4\n", 2, 2, 4),
        (b"\xef\xbb\xbf2 2\na 1 2\n", 2, 2, 7),
        (b"a b 1\nc 1 2\nd 3 4 5\ne 1 2 \n", None, 2, 0),  # the usual number
        (b"a x\nb  1   2\n", None, 2, 0),
        (b"9 2\na b c 1 2\n", 9, 2, 4),  # only the header tells where the word ends
        (b"9 3\na 1 2\nb 1 2 3\n", 9, 3, 4),
        (b"a nan inf\nb -Infinity 2\n", None, 2, 0),
    ],
)
def test_the_number_of_values(path, data, rows, dim, start):
    reader, _ = opened(path, data)
    with reader.source:
        assert (reader.rows, reader.dim, reader.start) == (rows, dim, start)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"p" * 50 + b" r o s e\nand more\n", f"its numbers, found '{'p' * 40}'$"),
        (b"p\xff rose\n", "found 'p\ufffd rose'$"),
        (b"3 3\na 1 2\nb 1 2\nc 1\n", "promises 3 values per word, but its lines hold 2; correct the header"),
        (b"w" + b" 1" * 100_001 + b"\n", "has 100,001 values on a line; at most 100,000 are expected"),
    ],
)
def test_files_that_are_refused_at_once(path, data, says):
    with pytest.raises(VectorFileError, match=says):
        opened(path, data)


def test_as_many_values_as_are_expected_at_most(path):
    reader, _ = opened(path, b"w" + b" 1" * 100_000 + b"\n")
    with reader.source:
        assert reader.dim == 100_000


@pytest.mark.parametrize("counts", ["words", "lines"])
@pytest.mark.parametrize("block", [4, 30, 1 << 20])
@pytest.mark.parametrize("limit", [1, 2, 3, 8, 9, 19, 20, 21])
def test_limits(path, monkeypatch, block, limit, counts):
    monkeypatch.setattr(text, "BLOCK", block)
    monkeypatch.setattr(text, "_SMALLEST_BLOCK", 1)
    collector, report = collected(path, b"20 2\n" + lines(20), limit=limit, limit_counts=counts)
    assert collector.words == [f"word{row:03d}" for row in range(min(limit, 20))]
    assert report["header_words"] == 20
    assert "warning" not in report
    if counts == "lines":
        assert report["lines"] == min(limit, 20)


@pytest.mark.parametrize("counts", ["words", "lines"])
def test_nothing_is_read_beyond_a_limit(path, counts):
    reader, collector = opened(path, lines(1000) * 300, limit=10, limit_counts=counts)
    with reader.source:
        reader.read(collector)
        assert reader.source.consumed < 2 << 20 < path.stat().st_size


@pytest.mark.parametrize(("promised", "hint"), [(21, "; it may be cut short"), (19, ""), (20, None)])
def test_headers_that_are_wrong(path, promised, hint):
    _, report = collected(path, b"%d 2\n" % promised + lines(20))
    says = f"the header promises {promised} words, the file holds 20 lines{hint}"
    assert report == {"lines": 20, "header_words": promised} | ({} if hint is None else {"warning": says})
    assert "warning" not in collected(path, b"21 2\n" + lines(20), limit=20, limit_counts="lines")[1]
    assert "warning" not in collected(path, b"21 2\n" + lines(20), limit=20)[1]
    assert "warning" in collected(path, b"22 2\n" + lines(20), limit=21)[1]
    assert collected(path, lines(20))[1] == {"lines": 20, "header_words": None}


@pytest.mark.parametrize("header", [b"", b"9 2\n"])
@pytest.mark.parametrize("block", [5, 1 << 20])
def test_bad_lines_are_numbered_as_an_editor_does(path, monkeypatch, header, block):
    monkeypatch.setattr(text, "BLOCK", block)
    collector, report = collected(path, header + lines(3) + b"bad\n" + lines(2, 3) + b"bad x y\n" + lines(2, 5))
    first = len(header) > 0
    assert [place for place, _ in collector.samples] == [4 + first, 7 + first]
    assert report["lines"] == 9
    assert len(collector.words) == 7


@pytest.mark.parametrize("bad", [3, 4])
def test_half_of_the_lines_may_be_bad(path, bad):
    data = lines(3) + b"bad\n" * bad
    if bad == 3:
        assert len(collected(path, data)[0].words) == 3
    else:
        says = r"4 of 7 lines do not hold a word and 2 numbers \(line 4: wrong number of values: 0 instead of 2\)"
        with pytest.raises(VectorFileError, match=says):
            collected(path, data)


@pytest.mark.parametrize("bad", [8, 9])
def test_patience_ends_before_the_file(path, monkeypatch, bad):
    """A gigabyte of something else is not read to its end."""
    monkeypatch.setattr(text, "_PATIENCE", 5)
    monkeypatch.setattr(text, "BLOCK", 4)
    data = lines(3) + b"bad\n" * bad + lines(100, 3)
    if bad == 8:
        assert len(collected(path, data)[0].words) == 103
    else:
        with pytest.raises(VectorFileError, match="9 of 12 lines"):
            collected(path, data)


def test_a_thousand_bad_lines_more_than_good_ones_are_borne(path, monkeypatch):
    monkeypatch.setattr(text, "BLOCK", 4)
    with pytest.raises(VectorFileError, match="1,002 of 1,003 lines"):
        collected(path, lines(1) + b"bad\n" * 1500)


@pytest.mark.parametrize("counts", ["words", "lines"])
def test_a_block_holds_what_the_limit_is_likely_to_need(path, monkeypatch, counts):
    monkeypatch.setattr(text, "_SMALLEST_BLOCK", 1)
    each = len(lines(1))
    data = b"".join(b"word%03d 1 %d\n" % (row, row % 10) for row in range(500))
    for limit in (100, 300):
        reader, collector = opened(path, data, limit=limit, limit_counts=counts)
        with reader.source:
            size = reader._block_bytes(collector)
            assert limit * each <= size <= 1.2 * (limit + 1) * each
            collector.words, reader.lines = ["x"] * 90, 40
            left = limit - (90 if counts == "words" else 40)
            assert left * each <= reader._block_bytes(collector) <= 1.2 * (left + 1) * each
            monkeypatch.setattr(text, "_SMALLEST_BLOCK", 1 << 15)
            assert reader._block_bytes(collector) == 1 << 15
            monkeypatch.setattr(text, "_SMALLEST_BLOCK", 1)
            monkeypatch.setattr(text, "BLOCK", 100)
            assert reader._block_bytes(collector) == 100
            monkeypatch.undo()
            monkeypatch.setattr(text, "_SMALLEST_BLOCK", 1)
    reader, collector = opened(path, data)
    with reader.source:
        assert reader._block_bytes(collector) == text.BLOCK


def test_a_word_and_its_numbers_may_be_long(path):
    """A word of a megabyte and numbers of 64 bytes are read; what is longer is no line of vectors."""
    number = b"0." + b"1" * 61
    fits = b"w" * ((1 << 20) + 64 - len(number) - 2)
    data = lines(2).replace(b" 1 ", b" ") + fits + b" " + number + b"\n" + lines(1, 2).replace(b" 1 ", b" ")
    collector, _ = collected(path, data)
    assert len(collector.words) == 4
    assert collector.skipped == 0


@pytest.mark.parametrize("more", [0, 1])
def test_a_line_that_is_longer_is_not_held(path, monkeypatch, more):
    line = b"w" * ((1 << 20) + 64 - len(b" 1") + more) + b" 1\n"
    monkeypatch.setattr(text, "BLOCK", len(line) - 1)  # the first block is the line without its end
    path.write_bytes(line + b"a 1\nb 1\n")
    collector = Collector(ReadOptions(), Rows().add)
    with ByteSource(path) as source:
        TextReader(source, None, 1, 0, len(line)).read(collector)
    assert (len(collector.words), collector.skipped) == (3 - more, more)
    assert collector.words[-2:] == ["a", "b"]


def test_few_words_are_not_read_in_small_pieces(path):
    reader, collector = opened(path, lines(10), limit=1)
    with reader.source:
        assert reader._block_bytes(collector) >= 1 << 16


def test_the_format_is_recorded_and_the_words_are_kept(path, tmp_path, monkeypatch):
    monkeypatch.setenv("LNMAP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(reading, "SMALLEST_CACHED", 1)
    path.write_bytes(lines(3))
    assert reading.read(path).origin["format"] == "text"
    assert len(list(tmp_path.glob("cache/vectors/entries/*"))) == 1


def test_line_sizes_are_estimated_from_the_first_lines(path):
    reader, _ = opened(path, b"ab 1\n" * 10)
    with reader.source:
        assert reader.line_bytes == 5
    reader, _ = opened(path, b"a 1\nbbb 1\n")
    with reader.source:
        assert reader.line_bytes == 5
        assert np.isscalar(reader.line_bytes)
