"""Answers become marks, and are undone."""

from __future__ import annotations

import pytest

import lnmap
from lnmap.ask import Answers, Skipped, next_words
from lnmap.ask.answers import SKIPPED, chosen
from lnmap.direction import Direction
from lnmap.errors import InputError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", [("un", "right")]),
        (" 2 ", [("deux", "right")]),
        ("2, 1", [("deux", "right"), ("un", "right")]),
        ("trois", [("trois", "added")]),
        ("deux", [("deux", "right")]),
        ("1; pomme de\tterre", [("un", "right"), ("pomme de terre", "added")]),
        ("un، trois", [("un", "right"), ("trois", "added")]),
        ("0", [("un", "wrong"), ("deux", "wrong")]),
        ("٢", [("deux", "right")]),
        ("1.", [("1.", "added")]),
        ("mp3, 4-way", [("mp3", "added"), ("4-way", "added")]),
    ],
)
def test_what_an_answer_names(text, expected):
    assert chosen(text, ["un", "deux"]) == expected


def test_numbers_without_commas_are_no_word():
    for text in ("1.2", "1 2", "1/2", "un; 2024-01-03"):
        with pytest.raises(InputError, match="several candidates have commas between them: "):
            chosen(text, ["un", "deux"])
    assert chosen("24/7", ["24/7", "deux"]) == [("24/7", "right")]


def test_signs_by_which_people_mean_that_they_do_not_know_are_no_words():
    for text in ("?", "-", "—", "???", "1, ?", "(…)"):
        with pytest.raises(InputError, match="is no word; leave the answer open if nobody knows it"):
            chosen(text, ["un", "deux"])
    assert chosen("-", ["-", "deux"]) == [("-", "right")]
    assert chosen("$; c++", ["un"]) == [("$", "added"), ("c++", "added")]


@pytest.mark.parametrize("text", ["3", "9" * 5000, "1, 0", "", " ,; ", "\t"])
def test_what_is_no_answer(text):
    with pytest.raises(InputError):
        chosen(text, ["un", "deux"])


@pytest.mark.parametrize("direction", list(Direction))
def test_an_answer_counts_at_once(folder, model, direction):
    question = next_words(model, 1, direction)[0]
    answers = Answers(folder, direction)
    answers.answer(question, "2, tournesol")
    again = lnmap.load(folder).translate(question.word, 3, direction)[0]
    assert {(one.word, one.mark) for one in again.candidates[:2]} == {
        (question.candidates[1].word, "right"),
        ("tournesol", "added"),
    }


def test_undo_leaves_what_was_there_before(folder, model):
    first, second = next_words(model, 2)
    answers = Answers(folder)
    answers.record(first.word, [(first.candidates[0].word, "wrong")])
    before, skipped = dict(answers.marks), answers.skipped
    made = [answers.answer(first, "1"), answers.answer(second, "0"), answers.skip("dog")]
    assert answers.skipped == [first.word, second.word, "dog"]
    for one in reversed(made):
        answers.undo(one)
    assert {pair: mark.mark for pair, mark in answers.marks.items()} == {p: m.mark for p, m in before.items()}
    assert answers.skipped == skipped


def test_the_same_answer_twice_is_written_once(folder, model):
    question = next_words(model, 1)[0]
    answers = Answers(folder)
    assert answers.answer(question, "1").before
    size = (folder / "marks.jsonl").stat().st_size
    assert not answers.answer(question, "1").before
    assert (folder / "marks.jsonl").stat().st_size == size


def test_skipped_words_have_a_side_and_survive_spoilt_lines(tmp_path):
    skipped = Skipped(tmp_path)
    assert skipped.words("source") == []
    skipped.add("dog", "source")
    with (tmp_path / SKIPPED).open("ab") as file:
        file.write(b'\xff\n[]\n{"word": 3, "side": "source", "skipped": true}\n{"word": "x", "si')
    skipped.add("chien", "target")
    assert (skipped.words("source"), skipped.words("target")) == (["dog"], ["chien"])
    skipped.add("dog", "source", skipped=False)
    assert skipped.words("source") == []
    (tmp_path / SKIPPED).unlink()
    (tmp_path / SKIPPED).mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        skipped.words("source")
