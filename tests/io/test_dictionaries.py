"""Dictionaries."""

import gzip

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lnmap.errors import LexiconError, LnmapError, OutputError
from lnmap.io import read_lexicon, write_lexicon


def pairs(tmp_path, text: str | bytes):
    path = tmp_path / "pairs.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_lexicon(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b\nc d\n", [("a", "b"), ("c", "d")]),
        ("a b\na c\n", [("a", "b"), ("a", "c")]),
        ("a\tb\n", [("a", "b")]),
        ("a \t b\n", [("a", "b")]),
        ("a   b\n", [("a", "b")]),
        (" a b \n", [("a", "b")]),
        ("new york\tneu york\n", [("new york", "neu york")]),
        ("a\tb\t0.5\n", [("a", "b")]),
        ("a\tb\t0.5\tx\n", [("a", "b")]),
        ("\ufeffa b\r\nc d\r\n", [("a", "b"), ("c", "d")]),
        ("# a comment of words\n\n   \na b\n", [("a", "b")]),
        ("# x\n", [("#", "x")]),
        ("#\tx\n", [("#", "x")]),
        ("#aaa #aaa\n", [("#aaa", "#aaa")]),
        ("Paris Paris", [("Paris", "Paris")]),
        ("a\xa0b c\u2028d\n", [("a\xa0b", "c\u2028d")]),
        ("source\ttarget\tcsls\na\tb\t1\n", [("a", "b")]),
        ("source\ttarget\n", [("source", "target")]),
        (b"caf\xe9 b\n", [("caf\udce9", "b")]),
    ],
)
def test_lines(tmp_path, text, expected):
    found = pairs(tmp_path, text)
    assert list(found) == expected
    assert found.origin["skipped"] == []


def test_skipped_lines_are_named(tmp_path):
    found = pairs(tmp_path, "a b\nc\nd e f\n\tx\ny\t\nnew york\t\ng h\n")
    assert list(found) == [("a", "b"), ("g", "h")]
    assert found.origin["skipped"] == [
        [2, "1 word instead of two"],
        [3, "3 words instead of two"],
        [4, "an empty word"],
        [5, "an empty word"],
        [6, "an empty word"],
    ]
    assert found.origin["path"].endswith("pairs.txt")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("# only a comment\n", "only comments"),
        ("one\ntwo\n", "no word pairs"),
        (b"\x00\x01a b\n", "binary"),
        (b"\xff\xfea\x00", "1 word instead of two"),
        (b"\xff\xfea\x00b", "broken UTF-16"),
        ("<!DOCTYPE html><html>", "web page"),
        ("<html>\na b\n", "web page"),
    ],
)
def test_what_is_no_dictionary(tmp_path, text, says):
    with pytest.raises(LexiconError, match=says) as caught:
        pairs(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_missing_and_folder(tmp_path):
    with pytest.raises(LexiconError, match="there is no file"):
        read_lexicon(tmp_path / "none")
    with pytest.raises(LexiconError, match="is a folder"):
        read_lexicon(tmp_path)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=80), st.text("ab \t\n\r#\ufeff", max_size=40).map(str.encode)))
def test_any_bytes_give_pairs_or_one_error(tmp_path, data):
    found, refusal = [], ""
    try:
        found = pairs(tmp_path, data)
    except LnmapError as error:
        refusal = str(error)
    assert "\n" not in refusal
    assert all(source and target for source, target in found)


def test_written_rows_come_back(tmp_path):
    path = tmp_path / "out.tsv"
    rows = [("new york", "neu york", 0.25, 1), ("=1+1", "-x", 0.5, 2), ("#", "#", 1.0, 3)]
    write_lexicon(path, rows, ["source", "target", "csls", "rank"])
    assert path.read_text() == (
        "source\ttarget\tcsls\trank\nnew york\tneu york\t0.250000\t1\n =1+1\t -x\t0.500000\t2\n#\t#\t1.000000\t3\n"
    )
    assert list(read_lexicon(path)) == [(source, target) for source, target, *_ in rows]
    with pytest.raises(OutputError, match="tab"):
        write_lexicon(path, [("a\tb", "c")])
    assert len(read_lexicon(path)) == 3


def test_a_line_without_end_is_skipped_and_never_held(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(b"a b\n" + b"x" * 3_000_000 + b"\nc d\n")
    found = read_lexicon(path)
    assert list(found) == [("a", "b"), ("c", "d")]
    assert found.origin["skipped"] == [[2, "line too long"]]


def test_a_bomb_is_refused(tmp_path):
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(20):
            file.write(b"a b\n" * (1 << 18))
    with pytest.raises(LexiconError, match="unpacks to more than 100 times its size"):
        read_lexicon(path)


def test_no_cell_is_a_formula_and_the_words_come_back(tmp_path):
    words = ["=1+1", "+", "-2", "@sum(a1)", "|x", "%", "＝1", '"quoted', "plain"]
    path = tmp_path / "formulas.tsv"
    write_lexicon(path, [(word, word, -0.5) for word in words], ("source", "target", "csls"))
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    assert all(cell[0] in " p" for line in lines for cell in line.split("\t")[:2])
    assert lines[-1] == "plain\tplain\t-0.500000"
    assert list(read_lexicon(path)) == [(word, word) for word in words]
