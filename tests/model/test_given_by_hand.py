"""What people said of four words and five answers: what counts, in which order, and what a further mark changes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lnmap.embeddings import Embeddings
from lnmap.lexicon import Lexicon
from lnmap.model.answers import Candidate, Translation
from lnmap.model.given import GivenPairs, descending
from lnmap.retrieve import BilingualSpace

ASKED = {"one": (1, 0, 0), "two": (0, 1, 0), "three": (0, 0, 1), "four": (1, 1, 1)}
ANSWERING = {"un": (1, 0, 0), "deux": (0, 1, 0), "trois": (0, 0, 1), "quatre": (1, 1, 1), "une": (4, 1, 0)}


def words(vectors: dict[str, tuple[int, int, int]]) -> Embeddings:
    return Embeddings.from_arrays(list(vectors), np.array(list(vectors.values()), dtype=np.float32))


def pairs(*said: tuple[str, str], given: bool = True) -> GivenPairs:
    lexicon = Lexicon(said, {} if given else {"seed": "identical"})
    return GivenPairs(lexicon, words(ASKED), words(ANSWERING))


def marked(given: GivenPairs, *said: str) -> GivenPairs:
    """Mark pairs, each written as 'word answer judgement'."""
    parts = [one.split() for one in said]
    return given.marked([((word, answer), mark) for word, answer, mark in parts])


@pytest.fixture(scope="module")
def space() -> BilingualSpace:
    return BilingualSpace(*(torch.from_numpy(np.array(words(side).vectors)) for side in (ASKED, ANSWERING)))


@pytest.fixture
def seed() -> GivenPairs:
    return pairs(("two", "deux"), ("one", "une"), ("one", "un"), ("six", "six"))


def test_the_seed(seed):
    assert list(seed) == [("two", "deux"), ("one", "une"), ("one", "un"), ("six", "six")]
    assert seed.of("one") == ("une", "un")
    assert seed.of("three") == seed.wrong("three") == ()
    assert seed.mark("one", "un") is None
    assert seed.marked_rows() == []
    assert seed.most_wrong(["one"]) == 0
    assert list(pairs(("one", "un"), given=False)) == []


def test_letter_case():
    given = pairs(("ONE", "UN"), ("four", "Quatre"), ("SIX", "Six"))
    assert list(given) == [("one", "un"), ("four", "quatre"), ("six", "Six")]
    assert given.of("FOUR") == ("quatre",)
    assert given.of("Six") == ("Six",)
    assert marked(given, "One UN wrong").wrong("ONE") == ("un",)


def test_accents_of_a_word_without_a_vector():
    """Composed or not, it is the same word."""
    given = pairs(("e\u0301cru", "un"))
    assert given.of("écru") == given.of("E\u0301CRU") == ("un",)


def test_marks_count_more_than_the_seed(seed):
    given = marked(seed, "one un wrong", "two quatre added", "two deux right", "three trois right")
    assert given.of("one") == ("une",)
    assert given.wrong("one") == ("un",)
    assert given.of("two") == ("quatre", "deux")
    assert [given.mark("two", answer) for answer in given.of("two")] == ["added", "right"]
    assert list(given.words()) == ["two", "one", "six", "three"]
    assert sorted(given.marked_rows()) == [0, 1, 2]
    assert seed.of("one") == ("une", "un")  # as it was
    assert marked(given, "one un added").wrong("one") == ()
    assert marked(given, "one un added").of("one") == ("une", "un")
    assert marked(given, "seven sept added").marked_rows() == given.marked_rows()


def test_a_mark_that_is_taken_back_leaves_the_seed(seed):
    given = marked(seed, "one un wrong", "one une wrong", "two quatre added")
    assert marked(given, "one un none").of("one") == ("un",)
    assert marked(given, "one un none").wrong("one") == ("une",)
    back = marked(given, "one un none", "one une none")
    assert back.of("one") == ("une", "un")
    assert back.marked_rows() == [1]
    assert marked(given, "two quatre none").of("two") == ("deux",)
    assert marked(pairs(), "one un right", "one un none").of("one") == ()
    assert marked(pairs(), "one un right", "one un wrong", "one une added").of("one") == ("une",)


def test_marks_keep_the_place_of_the_first():
    given = marked(pairs(), "one un right", "two deux right", "one une right", "one un wrong", "one un added")
    assert given.of("one") == ("un", "une")
    assert list(given.words()) == ["one", "two"]
    later = marked(given, "one un none", "one une none", "one un right")
    assert list(later.words()) == ["two", "one"]
    assert marked(marked(pairs(), "two deux right"), "one un right").words() == {"two": None, "one": None}


def test_two_spellings_of_an_answer_are_one():
    given = marked(pairs(), "one UN right", "one un wrong")
    assert given.of("one") == ()
    assert given.wrong("one") == ("un",)
    assert marked(given, "one un none").of("one") == ("un",)
    assert marked(pairs(), "one un wrong", "one UN added").wrong("one") == ()


def test_what_has_changed(seed):
    before = marked(seed, "one un wrong", "two deux right")
    after = marked(before, "one un wrong", "two deux wrong", "three trois added", "six Six none")
    assert after.changed(before, ["one", "TWO", "three", "Two", "six"]) == ["two", "three"]
    assert marked(before, "one un wrong", "one une wrong").wrong("one") == ("un", "une")
    assert after.changed(after, ["one", "two", "three"]) == []
    assert marked(before, "two deux wrong", "two deux right").changed(before, ["two"]) == ["two"]
    assert marked(before, "one un none").changed(before, ["one"]) == ["one"]


def test_what_is_best_comes_first(seed):
    assert seed.first_of("one") == ["une", "un"]
    assert marked(seed, "one trois right").first_of("one") == ["trois"]
    assert marked(seed, "one onze right", "one douze right").first_of("one") == ["onze"]
    assert marked(seed, "one onze right", "one quatre right").first_of("one") == ["quatre"]
    assert seed.first_of("six") == ["six"]


def test_rows(seed):
    given = marked(seed, "one un wrong", "one quatre wrong", "one onze wrong", "two deux wrong", "nine un wrong")
    assert given.rows("one", "onze") is given.rows("nine", "un") is None
    assert given.rows("FOUR", "Quatre") == (3, 3)
    assert given.wrong_rows() == {0: {0, 3}, 1: {1}}
    assert given.wrong_rows(["two", "three"]) == {1: {1}}
    assert given.most_wrong(["two", "one"]) == 3
    assert given.most_wrong([]) == 0


def test_what_was_marked_wrong_is_dropped(seed):
    found = [Candidate(word, 1.0) for word in ("un", "deux", "une", "trois")]
    kept, dropped = marked(seed, "one un wrong", "one trois wrong").drop("one", found, 1)
    assert [one.word for one in kept] == ["deux"]
    assert [(one.word, one.mark) for one in dropped] == [("un", "wrong"), ("trois", "wrong")]


def test_given_answers_come_before_the_models_own(seed, space):
    given = marked(seed, "one trois right", "one onze added")
    own = [Candidate("un", 0.9, 0.8, confidence=0.7, rank=1), Candidate("deux", 0.5), Candidate("quatre", 0.4)]
    found = {"one": Translation("one", tuple(own), ("on",), (Candidate("une", 0.3), Candidate("zéro", 0.2)))}
    made = given.put_first({**found, "three": Translation("three", ())}, ["one", "six"], 5, lambda: space, "csls")
    answers = made["one"].candidates
    assert [one.word for one in answers] == ["trois", "onze", "un", "une", "deux"]
    assert [one.mark for one in answers] == ["right", "added", None, None, None]
    assert [one.given for one in answers] == [True, True, True, True, False]
    assert answers[2] == Candidate("un", 0.9, 0.8, given=True, rank=1)
    assert answers[1].score is None
    assert answers[0].rank == space.ranks(torch.tensor([0]), torch.tensor([[2]]), "csls").item() + 1
    assert answers[0].cosine == 0
    assert [one.word for one in made["one"].withheld] == ["zéro"]
    assert made["one"].spellings == ()
    assert made["three"] == Translation("three", ())
    assert made["six"] == Translation("six", (Candidate("six", given=True),))
    short = given.put_first(found, ["one"], 2, lambda: space, "csls")["one"]
    assert [one.word for one in short.candidates] == ["trois", "onze", "un", "une"]


def test_no_space_is_made_for_answers_that_the_model_has_scored(seed):
    found = {"two": Translation("two", (Candidate("deux", 1.0),))}
    made = seed.put_first(found, ["two"], 3, lambda: pytest.fail("not needed"), "csls")
    assert [one.word for one in made["two"].candidates] == ["deux"]


@pytest.mark.parametrize("criterion", ["csls", "cosine"])
def test_scores_and_ranks_are_those_of_the_model(seed, space, criterion):
    made = seed.put_first({}, ["one"], 1, lambda: space, criterion)["one"].candidates
    scores = {word: one for word, one in zip(ANSWERING, _scores(space, criterion), strict=True)}
    assert [one.word for one in made] == sorted(("un", "une"), key=scores.__getitem__, reverse=True)
    for one in made:
        assert one.score == pytest.approx(scores[one.word])
        assert one.rank == 1 + sum(score > scores[one.word] for score in scores.values())


def _scores(space: BilingualSpace, criterion: str) -> list[float]:
    rows = torch.arange(len(ANSWERING))[None]
    return space.score(torch.tensor([0]), rows, criterion).scores[0].tolist()


def test_entries(seed, space):
    given = marked(seed, "three deux added", "four quatre right")
    found = given.entries(space, "cosine")
    assert [entry.source for entry in found][-1] == "six"
    cosines = [entry.cosine for entry in found[:-1]]
    assert cosines == sorted(cosines, reverse=True)
    assert found[-1].csls is found[-1].cosine is None
    assert {(one.source, one.target): one.mark for one in found if one.mark} == {
        ("three", "deux"): "added",
        ("four", "quatre"): "right",
    }
    assert all(entry.given for entry in found)
    by_cosine = {(one.source, one.target): one.cosine for one in found}
    assert by_cosine["two", "deux"] == pytest.approx(1)
    assert by_cosine["three", "deux"] == pytest.approx(0)
    csls = [entry.csls for entry in given.entries(space)[:-1]]
    assert csls == sorted(csls, reverse=True)
    assert given.entries(space, "confidence") == given.entries(space)


def test_entries_among_frequent_words(seed, space):
    given = marked(seed, "three deux added", "four un right")
    named = {n: [(one.source, one.target) for one in given.entries(space, max_rank=n)] for n in (0, 1, 2, 3)}
    assert named[0] == []
    assert named[1] == [("one", "un")]
    assert sorted(named[2]) == [("one", "un"), ("two", "deux")]
    assert sorted(named[3]) == [("one", "un"), ("three", "deux"), ("two", "deux")]
    assert given.entries(space, max_rank=9)[-1].source != "six"


def test_the_best_score_comes_first_and_none_last():
    assert sorted([0.1, None, 0.5, -1.0], key=descending) == [0.5, 0.1, -1.0, None]
