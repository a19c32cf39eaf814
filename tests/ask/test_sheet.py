"""The answer sheet, and what spreadsheets and people do to it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import lnmap
from lnmap.ask import Question, next_words, read_sheet, write_sheet
from lnmap.direction import Direction
from lnmap.embeddings import Embeddings
from lnmap.errors import InputError
from lnmap.model.answers import Candidate


def cells(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def saved(path: Path, rows: list[list[str]], separator: str = ",", encoding: str = "utf-8") -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding))
    return path


@pytest.fixture
def sheet(model, tmp_path) -> Path:
    write_sheet(tmp_path / "sheet.csv", next_words(model, 6))
    return tmp_path / "sheet.csv"


def test_what_is_written(sheet, model):
    questions = next_words(model, 6)
    head, *rows = cells(sheet)
    assert head == ["source", "answer", "1", "2", "3", "4", "5", "why"]
    assert [row[0] for row in rows] == [question.word for question in questions]
    assert rows[0][2:7] == [one.word for one in questions[0].candidates]
    found = read_sheet(sheet, model)
    assert (found.direction, found.lines, found.empty, found.problems) == (Direction.FORWARD, [], 6, [])


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_as_spreadsheets_save_it(sheet, model, separator, encoding):
    rows = cells(sheet)
    rows[1][1], rows[2][1], rows[3][1] = "2", "été; 1", "0"
    found = read_sheet(saved(sheet, rows, separator, encoding), model)
    assert [(line.number, line.word) for line in found.lines] == [(2, rows[1][0]), (3, rows[2][0]), (4, rows[3][0])]
    assert found.lines[0].answers == [(rows[1][3], "right")]
    assert found.lines[1].answers == [("été", "added"), (rows[2][2], "right")]
    assert found.lines[2].answers == [(word, "wrong") for word in rows[3][2:7]]
    assert (found.empty, found.problems) == (3, [])


@pytest.mark.parametrize("decimals", [".0", ",0", ",00"])
def test_numbers_with_decimals(sheet, model, decimals):
    rows = cells(sheet)
    rows[1][1], rows[2][1] = f"2{decimals}", f"0{decimals}"
    found = read_sheet(saved(sheet, rows), model)
    assert [line.answers for line in found.lines] == [
        [(rows[1][3], "right")],
        [(word, "wrong") for word in rows[2][2:7]],
    ]


def test_names_of_columns_with_decimals(sheet, model):
    head, *rows = cells(sheet)
    rows[0][1] = "2"
    found = read_sheet(saved(sheet, [[f"{name}.0" if name.isdigit() else name for name in head], *rows]), model)
    assert [line.answers for line in found.lines] == [[(rows[0][3], "right")]]


@pytest.mark.parametrize(
    "answer", ["#NAME?", "#N/A", "#REF!", "#DIV/0!", "#BEZUG!", "3-Jan", "03. Mrz", "janv. 2003", "1-May-24", "Dec-05"]
)
def test_what_spreadsheets_make_of_answers(sheet, model, answer):
    head, *rows = cells(sheet)
    rows[0][1] = answer
    found = read_sheet(saved(sheet, [head, *rows]), model)
    assert not found.lines
    assert found.problems == [(2, f"{answer!r} is what the spreadsheet made of an answer; type it again, as text")]
    rows[0][4] = answer  # a candidate is a word, however odd
    assert read_sheet(saved(sheet, [head, *rows]), model).lines[0].answers == [(answer, "right")]


def test_answers_with_digits_and_signs_are_words(sheet, model):
    head, *rows = cells(sheet)
    words = ["#tag", "mp3", "covid-19", "1er mai", "C#"]
    for row, word in zip(rows, words, strict=False):
        row[1] = word
    assert [line.answers[0][0] for line in read_sheet(saved(sheet, [head, *rows]), model).lines] == words


def test_lines_and_columns_missing_or_in_another_order(sheet, model):
    head, *rows = cells(sheet)
    rows[4][1] = "1"
    order = [3, 7, 1, 0, 4]  # without the columns 1, 4 and 5
    edited = [[row[place] for place in order] for row in [head, rows[4], rows[1]]]
    found = read_sheet(saved(sheet, [["sep=,"], ["Please fill in"], *edited, ["", ""], []]), model)
    assert found.lines == []
    assert found.problems == [(4, "there is no candidate 1")]
    rows[4][1] = "2"
    edited = [[row[place] for place in order] for row in [head, rows[4], rows[1]]]
    found = read_sheet(saved(sheet, edited), model)
    assert [line.answers for line in found.lines] == [[(rows[4][3], "right")]]


def test_what_cannot_be_used_has_its_line(sheet, model):
    head, *rows = cells(sheet)
    rows[0][1], rows[1][1], rows[2][1], rows[3][1] = "9", "two\nlines", "1", "1"
    rows[2][0], rows[3][0] = "qqqqqq", ""
    rows[4] = [rows[4][0].upper() + " ", "1", *rows[4][2:]]
    found = read_sheet(saved(sheet, [head, *rows]), model)
    assert found.problems == [
        (2, "there is no candidate 9"),
        (5, "'qqqqqq' is not in the vocabulary"),
        (6, "there is an answer, but no word"),
    ]
    assert [line.number for line in found.lines] == [3, 7]
    assert [word for word, _ in found.lines[0].answers] == ["two", "lines"]
    assert found.lines[1].word == rows[4][0].strip().lower()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no answer sheet"),
        (b"dog,chien\n", "no answer sheet"),
        (b"source,target,answer\ndog,chien,1\n", "no answer sheet"),
        ("source;answer;1\ndog;été;x".encode("latin-1"), "not UTF-8"),
        (b'source,answer,1\nyear,"1,x\nday,2,y\n', "broken CSV at line 2"),
        (b"source,answer,1\nyear," + b"x" * 200_000 + b"\n", "broken CSV at line 2"),
        (b"PK\x03\x04\x00\x00" + bytes(range(256)), "not UTF-8"),
        (b"\xff\xfes\x00o\x00u", "not UTF-8"),
    ],
)
def test_what_is_no_sheet(tmp_path, model, data, words):
    (tmp_path / "x.csv").write_bytes(data)
    with pytest.raises(InputError, match=words):
        read_sheet(tmp_path / "x.csv", model)


def test_a_sheet_that_is_not_there(tmp_path, model):
    for path in (tmp_path / "nowhere.csv", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            read_sheet(path, model)


def test_odd_words_come_back(tmp_path):
    words = ["a\tb", '=1+"x"', "-elle", "'tis", "x,y;z", "e\u0301", "שלום", "plain"]
    vectors = np.eye(len(words), 8, dtype=np.float32)
    side = Embeddings(words, vectors)
    model = lnmap.align(side, side, "identical", method="procrustes")
    asked = [Question(word, (Candidate(word),), "far", 1) for word in words]
    write_sheet(tmp_path / "x.csv", asked, "backward")
    rows = cells(tmp_path / "x.csv")
    for row in rows[1:]:
        row[1] = "1"
    found = read_sheet(saved(tmp_path / "x.csv", rows), model)
    assert found.direction is Direction.BACKWARD
    assert [line.word for line in found.lines] == words
    assert [line.answers for line in found.lines] == [[(word, "right")] for word in words]
