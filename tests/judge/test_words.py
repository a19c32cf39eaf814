"""What words say about a pair: every feature against its definition, and which words may answer at all."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lnmap.direction import Side
from lnmap.judge import WordFacts
from lnmap.spelling import Letters

FREQUENCY = ("frequency", "rarer", "frequency apart")  # kept judges name their features
SPELLING = ("letters", "alike", "alike and rare", "alike but rarer", "length apart", "foreign")
SOURCE = ["the", "House", "sea", "Paris", "été"]
TARGET = ["le", "maison", "mer", "PARIS", "house", "paris", "Ete"]
WORDS = {Side.SOURCE: SOURCE, Side.TARGET: TARGET}
FOREIGN = {
    Side.SOURCE: torch.tensor([0.0, 0.1, 0.7, 0.2, 0.3]),
    Side.TARGET: torch.tensor([0, 0, 0, 0.1, 0.9, 0.69, 0]),
}


@pytest.fixture(scope="module")
def letters() -> Letters:
    return Letters.fit(["paris", "house", "water"], ["paris", "maison", "eau"])


@pytest.fixture
def facts(letters) -> WordFacts:
    return WordFacts(WORDS, letters, FOREIGN)


def frequency(row: int, size: int) -> float:
    """Log rank, as a share of the vocabulary; ten are added so that the first ranks differ little."""
    return math.log((row + 10) / (size + 10))


def same(a: str, b: str) -> float:
    return float(a.lower().replace("é", "e") == b.lower().replace("é", "e"))


def by_hand(facts: WordFacts, asked: Side, word: str, rank: int, row: int) -> list[float]:
    own, other = frequency(rank, len(WORDS[asked])), frequency(row, len(WORDS[asked.other]))
    answer = WORDS[asked.other][row]
    pair = ([word], [answer]) if asked is Side.SOURCE else ([answer], [word])
    odds = min(float(np.logaddexp(0, facts.letters.log_odds(*pair)[0])), 12.0)
    alike, apart = same(word, answer), abs(len(word) - len(answer)) / max(len(word), len(answer))
    foreign = float(facts.foreign[asked.other][row]) if facts.foreign else 0.0
    found = [other, max(other - own, 0), max(own - other, 0)]
    return [*found, odds, alike, alike * own, alike * (other - own), apart, foreign * alike]


@pytest.mark.parametrize("asked", Side)
def test_features_by_hand(facts, asked):
    rows = torch.tensor([3, 0, 4, 1])
    candidates = torch.tensor([[3, 0, 4], [1, 2, 0], [0, 4, 3], [1, 3, 4]])
    found = facts.describe(asked, rows, candidates)
    assert facts.names == FREQUENCY + SPELLING
    assert found.shape == (4, 3, len(facts.names))
    for i, rank in enumerate(rows.tolist()):
        for j, row in enumerate(candidates[i].tolist()):
            wanted = by_hand(facts, asked, WORDS[asked][rank], rank, row)
            assert found[i, j].tolist() == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("asked", Side)
def test_a_word_outside_is_rarer_than_all_and_compared_by_its_own_letters(facts, asked):
    spelt = ["Maison", "parís"]
    candidates = torch.tensor([[3, 1], [0, 3]])
    found = facts.describe(asked, torch.full((2,), -1), candidates, spelt)
    for i, word in enumerate(["maison", "paris"]):
        for j, row in enumerate(candidates[i].tolist()):
            wanted = by_hand(facts, asked, word, len(WORDS[asked]), row)
            assert found[i, j].tolist() == pytest.approx(wanted, abs=1e-5)


def test_no_letters_are_as_far_from_one_as_can_be(letters):
    facts = WordFacts({Side.SOURCE: ["a"], Side.TARGET: ["b", ""]}, letters, None)
    apart = facts.describe(Side.SOURCE, torch.full((1,), -1), torch.tensor([[0, 1]]), [""])[0, :, -2]
    assert apart.tolist() == [1, 0]


def test_frequency_alone_without_letters():
    facts = WordFacts(WORDS, None, None)
    found = facts.describe(Side.SOURCE, torch.tensor([2]), torch.tensor([[0, 6]]))
    assert facts.names == FREQUENCY
    assert found.shape == (1, 2, 3)
    own, others = frequency(2, 5), [frequency(0, 7), frequency(6, 7)]
    for j, other in enumerate(others):
        assert found[0, j].tolist() == pytest.approx([other, max(other - own, 0), max(own - other, 0)], abs=1e-5)
    assert facts.spelt_like(Side.SOURCE, torch.tensor([3, 0])).tolist() == [[-1], [-1]]


def test_no_foreign_words_known(letters):
    facts = WordFacts(WORDS, letters, None)
    candidates = torch.tensor([[4, 3]])
    assert facts.describe(Side.SOURCE, torch.tensor([1]), candidates)[0, :, -1].tolist() == [0, 0]
    assert facts.may_answer(Side.SOURCE, candidates).tolist() == [[True, True]]
    assert facts.native(torch.tensor([[2, 4], [0, 0]])).tolist() == [True, True]


def test_blocks_change_nothing(facts, monkeypatch):
    rows, candidates = torch.arange(5), torch.arange(10).reshape(5, 2) % 7
    whole = facts.describe(Side.SOURCE, rows, candidates)
    monkeypatch.setattr("lnmap.judge.words._BLOCK", 2)
    assert torch.allclose(facts.describe(Side.SOURCE, rows, candidates), whole, atol=1e-6)
    nothing = facts.describe(Side.SOURCE, rows[:0], candidates[:0])
    assert nothing.shape == (0, 2, len(facts.names))


def test_letters_speak_up_to_a_limit(letters):
    long = "internationalisation"
    facts = WordFacts({Side.SOURCE: [long], Side.TARGET: [long, "xyz"]}, letters, None)
    odds = facts.describe(Side.SOURCE, torch.tensor([0]), torch.tensor([[0, 1]]))[0, :, len(FREQUENCY)]
    assert odds[0] == 12
    assert 0 <= odds[1] < 1
    assert letters.log_odds([long], [long])[0] > 12


def test_the_most_frequent_word_that_is_spelt_alike(facts):
    assert facts.spelt_like(Side.SOURCE, torch.arange(5)).tolist() == [[-1], [4], [-1], [3], [6]]
    assert facts.spelt_like(Side.TARGET, torch.arange(7)).tolist() == [[-1], [-1], [-1], [3], [1], [3], [4]]
    new = ["Mer", "nowhere", "HOUSE", "the", "ÉTÉ"]
    assert facts.spelt_like(Side.SOURCE, torch.full((5,), -1), new).tolist() == [[2], [-1], [4], [-1], [6]]
    assert facts.spelt_like(Side.TARGET, torch.full((5,), -1), new).tolist() == [[-1], [-1], [1], [0], [4]]
    assert facts.spelt_like(Side.SOURCE, torch.arange(5)).tolist() == [[-1], [4], [-1], [3], [6]]


def test_the_most_frequent_of_many_whichever_thread_is_first(letters):
    """Thousands of words share a folded form each, more than one thread's part of an assignment."""
    forms = [f"{chr(97 + n // 676)}{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}e" for n in range(15_000)]
    words = [form for last in ("e", "é", "è") for form in (form[:3] + last for form in forms)]
    facts, threads = WordFacts({Side.SOURCE: forms, Side.TARGET: words}, letters, None), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert facts.spelt_like(Side.SOURCE, torch.arange(15_000))[:, 0].tolist() == list(range(15_000))
    finally:
        torch.set_num_threads(threads)


def test_the_very_first_word_is_found_too(letters):
    facts = WordFacts(WORDS, letters, None)
    assert facts.spelt_like(Side.SOURCE, torch.full((2,), -1), ["LE", "maison"]).tolist() == [[0], [1]]
    assert facts.describe(Side.SOURCE, torch.full((2,), -1), torch.tensor([[0], [0]]), ["LE", "maison"])[
        :, 0, 4
    ].tolist() == [1, 0]


def test_alike_without_having_looked_before(letters):
    """The order in which sides are asked changes nothing."""
    for first in Side:
        facts = WordFacts(WORDS, letters, None)
        facts.describe(first, torch.tensor([3]), torch.tensor([[3]]))
        assert facts.spelt_like(Side.TARGET, torch.tensor([5, 2])).tolist() == [[3], [-1]]
        assert facts.spelt_like(Side.SOURCE, torch.tensor([3, 0])).tolist() == [[3], [-1]]


def test_foreign_words_are_no_answers(facts):
    assert facts.may_answer(Side.SOURCE, torch.tensor([[0, 3, 4, 5]])).tolist() == [[True, True, False, True]]
    assert facts.may_answer(Side.TARGET, torch.tensor([[1, 2, 3]])).tolist() == [[True, False, True]]
    pairs = torch.tensor([[0, 0], [2, 0], [0, 4], [1, 5], [2, 4]])
    assert facts.native(pairs).tolist() == [True, False, False, True, False]


def test_one_side_may_be_all_its_own(letters):
    facts = WordFacts(WORDS, letters, {Side.TARGET: FOREIGN[Side.TARGET]})
    assert facts.may_answer(Side.TARGET, torch.tensor([[2]])).tolist() == [[True]]
    assert facts.native(torch.tensor([[2, 0], [2, 4]])).tolist() == [True, False]


def test_words_are_translated_by_words_and_signs_by_anything():
    words = {Side.SOURCE: ["and", "10", "été"], Side.TARGET: ["&", "et", "dix", "10"]}
    facts = WordFacts(words, None, None)
    rows, candidates = torch.tensor([0, 1]), torch.tensor([[0, 1], [2, 3]])
    assert facts.words_for_words(Side.SOURCE, rows, candidates).tolist() == [[False, True], [True, True]]
    unknown = torch.tensor([-1, -1])
    found = facts.words_for_words(Side.SOURCE, unknown, candidates[[1, 1]], ["neuf", "9"])
    assert found.tolist() == [[True, False], [True, True]]
    assert facts.words_for_words(Side.TARGET, torch.tensor([1]), torch.tensor([[0, 1, 2]])).tolist() == [
        [True, False, True]
    ]


def test_state_gives_the_same_again(facts):
    rows, candidates = torch.arange(5), torch.arange(10).reshape(5, 2) % 7
    values, tensors = facts.state()
    assert set(values) == {"letters"}
    assert {"foreign.source", "foreign.target", "letters.together", "letters.seen.source"} <= set(tensors)
    again = WordFacts.from_state(WORDS, values, tensors)
    assert torch.equal(again.describe(Side.SOURCE, rows, candidates), facts.describe(Side.SOURCE, rows, candidates))
    assert torch.equal(again.native(candidates[:, :2] % 5), facts.native(candidates[:, :2] % 5))
    plain = WordFacts(WORDS, None, None)
    assert plain.state() == ({}, {})
    assert WordFacts.from_state(WORDS, {}, {}).names == FREQUENCY


def test_other_pairs_teach_other_letters(facts):
    facts.spelt_like(Side.SOURCE, torch.arange(len(SOURCE)))
    taught = facts.taught(torch.tensor([[3, 3], [1, 4], [4, 6]]))
    assert taught.letters.state()[0] != facts.letters.state()[0]
    assert torch.equal(
        taught.spelt_like(Side.SOURCE, torch.arange(len(SOURCE))),
        facts.spelt_like(Side.SOURCE, torch.arange(len(SOURCE))),
    )
    assert torch.equal(taught.foreign[Side.TARGET], facts.foreign[Side.TARGET])
    bare = WordFacts(WORDS, None, None)
    assert bare.taught(torch.tensor([[0, 0]])) is bare
