"""Text files of word vectors: layouts, policies, limits, and what is said about bad lines."""

import io

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lnmap.errors import InputError, OptionError, VectorFileError
from lnmap.io import POLICIES, ReadOptions, read
from lnmap.io.formats import parse
from lnmap.io.lines import BLOCK, OVERLONG, line_blocks
from lnmap.progress import Silent

PLAIN = b"the 1 2 3\ncat 4 5 6\ndog 7 8 9\n"
VECTORS = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.float32)


@pytest.fixture(params=["polars", "numpy"])
def parser(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(parse, "_polars", lambda: None)


def file(tmp_path, data: bytes):
    path = tmp_path / "words.vec"
    path.write_bytes(data)
    return path


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    "data",
    [
        PLAIN,
        b"3 3\n" + PLAIN,
        b"\xef\xbb\xbf3 3\n" + PLAIN,
        b"\xef\xbb\xbf" + PLAIN,
        PLAIN.replace(b"\n", b" \n"),
        b"3 3 \n" + PLAIN.replace(b"\n", b" \n"),
        b"3 3\r\n" + PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.replace(b"\n", b" \r\n"),
        b"3\t3\n" + PLAIN.replace(b" ", b"\t"),
        PLAIN.replace(b" 2 ", b"  2   "),
        PLAIN[:-1],
        b"3 3\n" + PLAIN[:-1],
    ],
)
def test_layouts(tmp_path, data):
    found = read(file(tmp_path, data))
    assert list(found.words) == ["the", "cat", "dog"]
    assert np.array_equal(found.vectors, VECTORS)
    assert found.origin["skipped"] == 0
    assert found.origin["format"] == "text"


@pytest.mark.usefixtures("parser")
def test_words_of_any_kind(tmp_path):
    words = [". . .", "new york", "a\xa0b", "\u2028", "\xa0", "7 up", '"', "nan", "x\x0by", "é", "日本", "a\rb", "x"]
    data = "".join(f"{word} 1 {row}\n" for row, word in enumerate(words)).encode()
    found = read(file(tmp_path, f"{len(words)} 2\n".encode() + data), policy="vecmap")
    assert list(found.words) == words
    assert found.vectors[:, 1].tolist() == list(range(len(words)))


@pytest.mark.usefixtures("parser")
def test_bytes_that_are_no_utf8_survive(tmp_path):
    found = read(file(tmp_path, b"caf\xe9 1 2\ncaf\xc3\xa9 3 4\n"))
    assert [word.encode("utf-8", "surrogateescape") for word in found.words] == [b"caf\xe9", b"caf\xc3\xa9"]


@pytest.mark.usefixtures("parser")
def test_skipped_lines_are_named(tmp_path):
    data = (
        b"5 2\na 1 2\nb 1\nc 1 x\nd nan 1\ne 1 inf\n 1 2\n\nf 1e39 1\ng 5 6\nh 7 8\ni 9 1\nj 1 1\nk 2 2\nl 3 3\nm 4 4\n"
    )
    progress = Silent()
    found = read(file(tmp_path, data), progress=progress)
    assert list(found.words) == list("aghijklm")
    assert found.origin["skipped"] == 7
    assert found.origin["skipped_samples"] == [
        [3, "wrong number of values: 1 instead of 2"],
        [4, "not a number: 'x'"],
        [5, "NaN or infinite value"],
        [6, "NaN or infinite value"],
        [7, "empty word"],
        [8, "empty line"],
        [9, "a value too large for float32"],
    ]
    assert any("7 of 15 lines skipped" in note for note in progress.notes)
    assert any("promises 5 words" in note for note in progress.notes)


def test_samples_are_few_however_many_lines_are_bad(tmp_path):
    data = b"2 2\n" + b"a%d 1 2\n" * 300 % tuple(range(300)) + b"bad\n" * 200
    found = read(file(tmp_path, data))
    assert found.origin["skipped"] == 200
    assert len(found.origin["skipped_samples"]) == 20


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b"\n \n", "only blanks"),
        (b"2 3\n", "ends after its header"),
        (b"0 3\n", "promises 0 words"),
        (b"3 0\na\n", "of 0 values"),
        (b"3 300\n" + PLAIN, "promises 300 values per word, but its lines hold 3"),
        (b"3 2\n" + PLAIN, "promises 2 values per word, but its lines hold 3"),
        (b"3 4\n" + PLAIN, "promises 4 values per word, but its lines hold 3"),
        (b"5 999999999\n" + PLAIN, "999,999,999 values"),
        (b"<!DOCTYPE html>\n<html>", "web page"),
        (b"  <html>\n", "web page"),
        (b"hello world\nthis is prose\n", "no word vectors"),
        (b"\x93NUMPY\x01\x00", "numpy array"),
        (b"\x80\x04\x95", "pickle"),
        (b"\xff\xfea\x00", "UTF-16"),
        (b"a 1 2\n" + b"prose\n" * 5, "is no file of word vectors"),
        (bytes(range(256)) * 4, "no word vectors"),
    ],
)
def test_what_is_no_vector_file(tmp_path, data, says):
    with pytest.raises(VectorFileError, match=says) as caught:
        read(file(tmp_path, data))
    assert "\n" not in str(caught.value)
    assert "words.vec" in str(caught.value)


def test_a_file_without_line_ends(tmp_path):
    with pytest.raises(VectorFileError, match="no line end"):
        read(file(tmp_path, b"x" * (3 << 20)))


def test_missing_folder_and_forbidden(tmp_path, monkeypatch):
    with pytest.raises(VectorFileError, match="there is no file"):
        read(tmp_path / "none.vec")
    with pytest.raises(VectorFileError, match="is no store"):
        read(tmp_path)
    with pytest.raises(VectorFileError, match="NUL"):
        read("a\0b")
    with pytest.raises(InputError, match="cannot read word vectors from int"):
        read(3)


def test_a_header_of_a_million_million_words_costs_nothing(tmp_path):
    progress = Silent()
    found = read(file(tmp_path, b"1000000000000 3\n" + PLAIN), progress=progress)
    assert len(found) == 3
    assert "1,000,000,000,000 words, the file holds 3" in found.origin["warning"]
    assert "cut short" in progress.notes[0]


def test_policies(tmp_path):
    path = file(tmp_path, b"The 1 2\nthe 3 4\nCat 0 0\ncat 5 6\nDog 7 8\n")
    muse = read(path, policy="muse")
    assert list(muse.words) == ["the", "cat", "dog"]
    assert muse["cat"].tolist() == [np.float32(0.01), 0]
    assert (muse.origin["duplicates"], muse.origin["zeros_patched"], muse.origin["policy"]) == (2, 1, "muse")
    vecmap = read(path, policy="vecmap")
    assert list(vecmap.words) == ["The", "the", "Cat", "cat", "Dog"]
    assert vecmap["Cat"].tolist() == [0, 0]
    assert list(read(path, policy="muse", limit=3).words) == ["the", "cat", "dog"]
    assert list(read(path, policy="vecmap", limit=3).words) == ["The", "the", "Cat"]
    own = read(path, policy=ReadOptions(lowercase=True, zero_policy="keep", limit=2, limit_counts="lines"))
    assert list(own.words) == ["the"]
    assert own.origin["policy"] == "custom"
    with pytest.raises(VectorFileError, match="more than once"):
        read(path, policy=ReadOptions(dedupe="error"))


def test_bad_options():
    with pytest.raises(OptionError, match="unknown reading policy"):
        read("x", policy="best")
    with pytest.raises(OptionError, match="limit of 0"):
        read("x", limit=0)
    with pytest.raises(OptionError, match="zero_policy"):
        ReadOptions(zero_policy="drop")


def test_a_limit_stops_reading(tmp_path):
    row = b" 0.125" * 100 + b"\n"
    path = file(tmp_path, b"60000 100\n" + b"".join(b"w%d" % number + row for number in range(60000)))
    found = read(path, limit=10, cache=False)
    assert len(found) == 10
    assert found.origin["bytes_read"] < 3 << 20 < path.stat().st_size
    assert "warning" not in found.origin


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(st.sampled_from(["a", "A", "b", "B", "c", "É", "é", "z z"]), min_size=1, max_size=12),
    zeros=st.integers(0, 4095),
    limit=st.one_of(st.none(), st.integers(1, 13)),
    policy=st.sampled_from(sorted(POLICIES)),
    block=st.sampled_from([5, 16, 1 << 20]),
)
def test_policies_against_a_plain_loop(tmp_path, monkeypatch, words, zeros, limit, policy, block):
    monkeypatch.setattr("lnmap.io.formats.text._SMALLEST_BLOCK", block)
    monkeypatch.setattr("lnmap.io.formats.text.BLOCK", block)
    rows = [[0.0, 0.0] if zeros >> row & 1 else [row + 1.0, -1.0] for row in range(len(words))]
    data = f"{len(words)} 2\n" + "".join(f"{word} {x} {y}\n" for word, (x, y) in zip(words, rows, strict=True))
    expected: dict[str, list[float]] = {}
    for line, (word, row) in enumerate(zip(words, rows, strict=True)):
        if limit is not None and (len(expected) if policy == "muse" else line) == limit:
            break
        if policy == "muse":
            word, row = word.lower(), row if any(row) else [0.01, 0.0]
        expected.setdefault(word, row)
    found = read(file(tmp_path, data.encode()), policy=policy, limit=limit)
    assert list(found.words) == list(expected)
    assert np.array_equal(found.vectors, np.array(list(expected.values()), np.float32))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=12).filter(lambda line: b"\n" not in line), max_size=20), st.integers(1, 40))
def test_blocks_are_the_lines(lines, size):
    data = b"".join(line + b"\n" for line in lines)
    found = list(line_blocks(io.BytesIO(data).readinto, lambda: size, 1000, b"head\n"))
    assert b"".join(block.removeprefix(b"head\n") for block in found) == data
    assert all(block.startswith(b"head\n") and block.endswith(b"\n") for block in found)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=12), st.integers(1, 40), st.booleans())
def test_long_lines_are_cut_and_the_others_whole(lengths, size, ended):
    lines = [bytes([97 + row]) * length for row, length in enumerate(lengths)]
    data = b"\n".join(lines) + b"\n" * ended
    found = b"".join(line_blocks(io.BytesIO(data).readinto, lambda: size, 20)).split(b"\n")[:-1]
    expected = data.split(b"\n")
    expected = expected[:-1] if not expected[-1] else expected
    assert len(found) == len(expected)
    for line, original in zip(found, expected, strict=True):
        cut = line.endswith(OVERLONG[:-1])
        assert cut or line == original
        assert not cut or len(original) > 20
        assert cut or len(original) <= 20 + size


def test_an_endless_line_is_dropped(tmp_path, monkeypatch):
    monkeypatch.setattr("lnmap.io.formats.text._LONGEST_WORD", 1000 - 2 * 64)
    monkeypatch.setattr("lnmap.io.formats.text.BLOCK", 500)
    data = b"a 1 2\nb 1 2\n" + b"endless 1 2 " + b"0 " * 5000 + b"\nc 3 4\nd 5 6\n"
    found = read(file(tmp_path, data))
    assert list(found.words) == ["a", "b", "c", "d"]
    assert found.origin["skipped_samples"] == [[3, "line too long"]]


def test_block_size_is_bounded():
    assert BLOCK <= 64 << 20
