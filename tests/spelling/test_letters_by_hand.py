"""Letter correspondences against their definition: all ways to write two words, one by one, for short words."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from lnmap.direction import Side
from lnmap.spelling import Letters
from lnmap.spelling import letters as module

BEFORE = math.log(1 / 9)  # of ten pairs one is one word in two spellings, before their letters are seen


def every(alphabet: str, length: int) -> list[str]:
    return ["".join(one) for one in product(alphabet, repeat=length)]


def cipher(longest: int) -> tuple[list[str], list[str]]:
    """All words of two letters, and the same with others."""
    left = [word for length in range(1, longest + 1) for word in every("ab", length)]
    return left, [word.translate(str.maketrans("ab", "xy")) for word in left]


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 3), (2, 32), (5, 1), (32, 31)])
def test_letters_that_are_the_only_ones_say_nothing(n, m):
    letters = Letters.fit(["a", "aa"], ["b", "bbb"])
    assert letters.log_odds(["a" * n], ["b" * m])[0] == pytest.approx(BEFORE, abs=1e-5)


@pytest.mark.parametrize("longest", [1, 4])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 2), (2, 2), (3, 2), (3, 4)])
def test_odds_are_of_two_distributions(longest, n, m):
    """Over all pairs of words of two lengths, by how likely they are if unrelated, likelihood ratios have mean one.

    Both letters of each language are equally frequent here, and so are all words of a length.
    """
    letters = Letters.fit(*cipher(longest))
    left, right = zip(*product(every("ab", n), every("xy", m)), strict=True)
    ratios = np.exp(letters.log_odds(left, right).astype(float) - BEFORE)
    assert ratios.mean() == pytest.approx(1, abs=1e-5)
    assert ratios.std() > 1e-4
    if longest == 4 and n == m:
        assert left[int(ratios.argmax())].translate(str.maketrans("ab", "xy")) == right[int(ratios.argmax())]


def ways(left: str, right: str):
    """Yield all ways to write two words: lists of (letter or "", letter or "")."""
    if left and right:
        yield from ([(left[0], right[0]), *rest] for rest in ways(left[1:], right[1:]))
    if left:
        yield from ([(left[0], ""), *rest] for rest in ways(left[1:], right))
    if right:
        yield from ([("", right[0]), *rest] for rest in ways(left, right[1:]))
    if not left and not right:
        yield []


def test_letters_are_counted_by_how_likely_each_way_to_write_them_is():
    """What was learnt is what it says about the words it was learnt from: expected counts, way by way."""
    left = ["ab", "cab", "bca", "acb", "cc", "b", "abc", "bb", "ca"]
    right = ["xy", "zxy", "yz", "xzy", "zz", "xyz", "xyz", "y", "zx"]
    letters = Letters.fit(left, right)
    source, target = (letters.alphabets[side] for side in Side)
    weights = letters._weights(source, target)
    d, i = np.exp(weights.left), np.exp(weights.right)
    together, alone = np.zeros((3, 3)), np.zeros(3)
    share = 1 / (1 + np.exp(-letters.log_odds(left, right).astype(float)))
    for one, other, sure in zip(left, right, share, strict=True):
        found = []
        for way in ways(one, other):
            likely = 1.0
            for a, b in way:
                likely *= d[source.index(a)] if a else 1
                likely *= i[target.index(b)] if b else 1
                likely *= weights.ratios[source.index(a), target.index(b)] if a and b else 1
            found.append((likely, way))
        total = sum(likely for likely, _ in found)
        assert math.log(total) - weights.lengths[len(one), len(other)] + BEFORE == pytest.approx(
            float(letters.log_odds([one], [other])[0]), abs=1e-4
        )
        for likely, way in found:
            for a, b in way:
                if a and b:
                    together[source.index(a), target.index(b)] += sure * likely / total
                elif a:
                    alone[source.index(a)] += sure * likely / total
    assert letters.together == pytest.approx(together, rel=0.1, abs=0.01)
    assert letters.alone[Side.SOURCE] == pytest.approx(alone, rel=0.1, abs=0.01)
    assert letters.seen[Side.SOURCE].tolist() == [6, 8, 7]


def test_letters_of_one_romanisation_are_alike():
    found = module._likeness("жаz1", "zaя1ж-")
    wanted = [[0.3, 0, 0, 0, 1, 0], [0, 1, 0.3, 0, 0, 0], [1, 0, 0, 0, 0.3, 0], [0, 0, 0, 1, 0, 0]]
    assert found.tolist() == wanted


def test_what_is_written_beside_a_letter_before_any_pair_was_seen():
    """A sixth is written alone; the rest is with letters of its romanisation, or with any as they are frequent."""
    alike = np.array([[1.0, 0, 0], [0, 0, 0], [0.3, 1, 1], [0.3, 0, 0]])
    usual = np.array([0.5, 0.3, 0.2])
    found = module._written(alike, usual)
    assert found.sum(axis=1) == pytest.approx(0.85)
    assert found[1] == pytest.approx(0.85 * usual)
    assert found[0] == pytest.approx(0.7 * alike[0] + 0.15 * usual)
    assert found[3] == pytest.approx(0.21 * np.array([1, 0, 0]) + 0.64 * usual)
    assert found[2] == pytest.approx(0.7 * alike[2] / 2.3 + 0.15 * usual)


def test_only_the_first_letters_of_long_words_count():
    letters = Letters.fit(*cipher(4))
    long = "ab" * 16
    found = letters.log_odds([long, long + "b", long, long[:-1]], [long.upper()] * 2 + [long + "zz", long])
    assert found[0] == found[1] == found[2]
    assert found[3] != found[0]
    assert len(module._letters("жб" * 17, japanese=False)) == 32


def test_only_the_first_pairs_are_learnt_from():
    for before, learnt in ((4999, True), (5000, False)):
        letters = Letters.fit(["ab"] * before + ["cd"], ["xy"] * before + ["zw"])
        assert ("c" in letters.alphabets[Side.SOURCE]) == ("z" in letters.alphabets[Side.TARGET]) == learnt


def test_a_pair_counts_once():
    once, often = Letters.fit(["ab", "ba"], ["xy", "yx"]), Letters.fit(["ab", "AB", "ba"], ["xy", "xy", "yx"])
    assert np.array_equal(once.together, often.together)
    assert once.seen[Side.SOURCE].tolist() == often.seen[Side.SOURCE].tolist() == [2, 2]


RUSSIAN = {
    "paris": "париж", "moscow": "москва", "house": "дом", "water": "вода", "doctor": "доктор", "music": "музыка",
    "law": "закон", "telephone": "телефон", "2015": "2015", "sea": "море",
}  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right", "odds"),
    [
        ("doctor", "доктор", 10.736),
        ("opera", "опера", 9.267),
        ("opera", "закон", -7.101),
        ("zoo", "зоопарк", 1.264),
        ("theatre", "театр", 7.76),
        ("2016", "2016", 10.753),
        ("a", "а", -0.02),
        ("q", "q", 0.761),  # letters that were seen on neither side
        ("q", "w", -3.895),
        ("ж", "ж", 1.131),  # on one side
        ("qqq", "дом", -2.176),
        ("house", "ыыы", -2.398),
        ("", "a", -2.197),
    ],
)
def test_odds_are_the_same_as_ever(left, right, odds):
    """Kept judges have weights that were learnt with these numbers."""
    letters = Letters.fit(list(RUSSIAN), list(RUSSIAN.values()))
    assert letters.log_odds([left], [right])[0] == pytest.approx(odds, abs=2e-3)


@pytest.mark.parametrize(
    ("left", "right", "odds"), [("a", "a", 0.756), ("q", "w", -3.872), ("abc", "abd", 1.915), ("paris", "париж", 7.575)]
)
def test_odds_without_any_pair_are_the_same_as_ever(left, right, odds):
    assert Letters.fit([], []).log_odds([left], [right])[0] == pytest.approx(odds, abs=2e-3)
