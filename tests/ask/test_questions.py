"""The next words to ask about."""

from __future__ import annotations

import numpy as np
import pytest

import lnmap
from lnmap.ask import WHY, Answers, next_words
from lnmap.direction import Direction
from lnmap.embeddings import is_word
from lnmap.errors import OptionError


@pytest.mark.parametrize("direction", list(Direction))
def test_questions_have_words_candidates_and_reasons(model, direction):
    found = next_words(model, 20, direction, candidates=4)
    said, asked = model.given(direction), model.side(direction.asked)
    assert len({question.word for question in found}) == 20
    for question in found:
        assert is_word(question.word)
        assert not said.of(question.word)
        assert len(question.candidates) == 4
        assert [one.word for one in question.candidates] == model.translate(question.word, 4, direction)[0].words
        assert asked.words[question.rank - 1] == question.word
        assert question.why in WHY


def test_the_same_model_asks_the_same(model, folder):
    assert next_words(model, 10) == next_words(lnmap.load(folder), 10)
    assert [one.word for one in next_words(model, 3)] == [one.word for one in next_words(model, 10)[:3]]


def test_answered_skipped_and_rare_words_are_not_asked_again(model, folder):
    first, second, third, *_ = next_words(model, 5)
    answers = Answers(folder)
    answers.answer(first, "1")
    answers.answer(second, "machin")
    answers.skip(third.word)
    model.marks = answers.marks
    again = [question.word for question in next_words(model, 50, skip=answers.skipped)]
    assert not {first.word, second.word, third.word} & set(again)
    assert all(question.rank <= 300 for question in next_words(model, 50, max_rank=300))


def test_candidates_marked_wrong_are_not_offered(model, folder):
    question = next_words(model, 1)[0]
    answers = Answers(folder)
    answers.record(question.word, [(question.candidates[0].word, "wrong"), ("x", "added")])
    answers.record(question.word, [("x", "wrong")])
    model.marks = answers.marks
    asked = {one.word: one for one in next_words(model, 1500)}
    assert question.candidates[0].word not in [one.word for one in asked[question.word].candidates]


def test_nothing_is_left(model):
    assert next_words(model, 5, skip=model.source.words) == []
    assert len(next_words(model, 10_000)) < 1500


def test_numbers_that_leave_nothing(model):
    for name in ("count", "candidates", "max_rank"):
        with pytest.raises(OptionError, match=name):
            next_words(model, **{name: 0})


def test_a_model_that_nobody_gave_pairs():
    rng = np.random.default_rng(0)
    words = [f"w{'abcdefghij'[row % 10]}{row}" for row in range(40)]
    sides = [(words, rng.normal(size=(40, 6))) for _ in range(2)]
    model = lnmap.align(*sides, "identical", method="procrustes")
    assert len(next_words(model, 5)) == 5


def test_words_that_the_model_is_sure_of_come_last(model):
    sure = [question.candidates[0].confidence >= 0.9 for question in next_words(model, 10_000)]
    assert 20 < sum(sure) < len(sure) - 20
    assert sure == sorted(sure)
    assert [one.word for one in next_words(model, 5)] == [one.word for one in next_words(model, 10_000)[:5]]


def test_names_come_after_other_words(model):
    """A name has names for candidates, which both languages have."""

    def group(question) -> int:
        shared = [one.word in model.source for one in question.candidates]
        return 2 if question.candidates[0].confidence >= 0.9 else int(sum(shared) >= 3)

    groups = [group(question) for question in next_words(model, 10_000)]
    assert groups == sorted(groups)
    assert groups.count(1) > 10
    assert group(next_words(model, 1)[0]) == 0


def test_words_with_digits_come_last():
    rng = np.random.default_rng(0)
    letters = [f"{a}{b}" for a in "abcdefghij" for b in "abcd"]
    sides = [([f"{stem}{one}" for one in letters], rng.normal(size=(40, 6))) for stem in "wv"]
    sides[0][0][20] = "next1"
    model = lnmap.align(*sides, [(f"w{one}", f"v{one}") for one in letters[:10]], method="procrustes")
    assert next_words(model, 100)[-1].word == "next1"


def test_where_nearly_everything_is_sure_that_is_asked_about_all_the_same(model):
    doubted = [one.word for one in next_words(model, 10_000) if one.candidates[0].confidence < 0.9]
    asked = next_words(model, 5, skip=doubted)
    assert len(asked) == 5
    assert all(question.candidates[0].confidence >= 0.9 for question in asked)


def test_words_of_the_other_language_are_not_asked_about():
    rng = np.random.default_rng(0)
    x, rotation = rng.normal(size=(400, 12)), np.linalg.qr(rng.normal(size=(12, 12)))[0]
    own, other = ([f"{stem}{'abcdefghij'[row % 10]}{row}" for row in range(400)] for stem in "wv")
    strays = rng.normal(size=12) + 0.05 * rng.normal(size=(15, 12))  # the first words of the other language, rare here
    source = [*own, *other[:15]], np.concatenate([x, strays])
    seed = list(zip(own[:40], other[:40], strict=True))
    model = lnmap.align(source, (other, x @ rotation), seed, method="procrustes")
    assert {one.word for one in next_words(model, 1000)} == {*own[40:]}
