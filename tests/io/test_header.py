"""The first bytes of a file of words: what is taken for a header, which lines are looked at, what is refused."""

from __future__ import annotations

import pytest

from lnmap.errors import VectorFileError
from lnmap.io.formats.header import is_number, is_web_page, read_header
from lnmap.io.formats.reader import HEAD
from lnmap.io.source import ByteSource


@pytest.fixture
def header(tmp_path):
    def read(data: bytes):
        (tmp_path / "words").write_bytes(data)
        with ByteSource(tmp_path / "words") as source:
            return read_header(source)

    return read


@pytest.mark.parametrize(
    ("data", "rows", "dim", "start"),
    [
        (b"3 2\na 1 2\n", 3, 2, 4),
        (b"1 1\na 1\n", 1, 1, 4),
        (b" \t3\t 2\t\r\na 1 2\n", 3, 2, 9),
        (b"\xef\xbb\xbf3 2\na 1 2\n", 3, 2, 7),
        (b"\xef\xbb\xbfa 1 2\n", None, None, 3),
        (b"a 1 2\n", None, None, 0),
        (b"3 2 1\na 1 2\n", None, None, 0),  # a word and two numbers
        (b"3 2x\na 1 2\n", None, None, 0),
        (b"3\na 1 2\n", None, None, 0),
        (b"999999999999999999 100000\na 1\n", 10**18 - 1, 100_000, 26),
        (b"1000000000000000000 2\na 1 2\n", None, None, 0),  # no number of words has nineteen digits
        (b"2 1000000000000000000\na 1 2\n", None, None, 0),
        (b"a 1 2", None, None, 0),  # a single line without an end is all there is
    ],
)
def test_what_is_taken_for_a_header(header, data, rows, dim, start):
    found = header(data)
    assert (found.rows, found.dim, found.start, found.body, found.whole) == (rows, dim, start, data[start:], True)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "words is empty; expected lines of a word and its numbers$"),
        (b" \t\r\n\0" * 3, "words holds only blanks; expected lines"),
        (b"0 2\na 1 2\n", "promises 0 words of 2 values; there is nothing to read"),
        (b"2 0\na 1 2\n", "promises 2 words of 0 values; there is nothing to read"),
        (b"1 100001\na 1\n", "promises 100,001 values per word; at most 100,000 are expected: check"),
        (b"7 2\n", "words ends after its header, which promises 7 words; fetch it again"),
        (b"7 2", "words ends after its header, which promises 7 words; fetch it again"),
        (b"\x93NUMPY\x01", "is a numpy array without words; save words and vectors together as .npz, or pass"),
        (b"\x80\x04", "is a pickle, which is never loaded; load it with gensim and pass the KeyedVectors object"),
        (b"\xff\xfea\0", "is UTF-16 text; convert it to UTF-8"),
        (b"\xfe\xff\0a", "is UTF-16 text; convert it to UTF-8"),
        (b"\x28\xb5\x2f\xfd\0", "is zstandard-compressed; unpack it first"),
        (b"\x89HDF\r", "is an HDF5 file; export word vectors as text first"),
        (b"%PDF-1.7", "is a PDF document; give a file of word vectors"),
        (b"<!DOCTYPE html>\n", "is a web page, not word vectors; the download went wrong: fetch it again"),
    ],
)
def test_other_files_are_refused(header, data, says):
    with pytest.raises(VectorFileError, match=says):
        header(data)


def test_a_first_line_that_does_not_end(header):
    assert header(b"a" * (HEAD - 1) + b"\n" + b"b" * 9).body[-2:] == b"a\n"
    with pytest.raises(VectorFileError, match="has no line end in its first 1,048,576 bytes; this is no file"):
        header(b"a" * HEAD + b"\nb 1\n")


def test_a_header_and_more_than_is_looked_at(header):
    found = header(b"3 1\n" + b"word 1\n" * HEAD)
    assert (found.rows, found.dim, found.start, found.whole) == (3, 1, 4, False)
    assert len(found.body) == HEAD - 4


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"a 1\nb 2\n", [b"a 1", b"b 2"]),
        (b"a 1\nb 2", [b"a 1", b"b 2"]),  # the file ends there
        (b"a\t1 \r\n \n\r\nb 2\n", [b"a 1", b"b 2"]),
        (b"\x01\n \n", [b"\x01"]),
        (b"1 1\n \n", [b""]),
        (b"".join(b"w 1%d\n" % row for row in range(60)), [b"w 1%d" % row for row in range(50)]),
        (b"".join(b"w 1%d\n" % row for row in range(50)), [b"w 1%d" % row for row in range(50)]),
        (b"\n".join(b"w 1%d" % row for row in range(50)), [b"w 1%d" % row for row in range(50)]),
    ],
)
def test_the_lines_that_are_looked_at(header, data, lines):
    assert header(data).lines == lines


def test_a_line_that_is_cut_off_is_not_looked_at(header):
    found = header(b"a 1\n" + b"b" * HEAD)
    assert found.lines == [b"a 1"]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"1 2\na 1 2\n", True),
        (b"1 2\na  b  1 2\n", True),
        (b"1 2\na 1\nb 1 -inf\n", True),
        (b"1 2\n1 2\n", False),  # no word is left
        (b"1 2\na 1 x\n", False),
        (b"1 2\na x 1\n", False),
        (b"1 1\na x 1\n", True),
        (b"a 1 2\n", False),  # nothing is promised
    ],
)
def test_rows_of_text(header, data, text):
    assert header(data).has_text_rows is text


@pytest.mark.parametrize(
    ("head", "page"),
    [
        (b"<html>", True),
        (b"\xef\xbb\xbf \n<!DOCTYPE html", True),
        (b"<HTML lang=en>", True),
        (b"<!doctyp", False),
        (b"x<html>", False),
    ],
)
def test_web_pages(head, page):
    assert is_web_page(head) is page


@pytest.mark.parametrize(
    ("field", "number"),
    [
        (b"1", True),
        (b"-.5e3", True),
        (b"NaN", True),
        (b"+Infinity", True),
        (b"1x", False),
        (b"", False),
        (b"in", False),
    ],
)
def test_numbers(field, number):
    assert is_number(field) is number
