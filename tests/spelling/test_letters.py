"""Letter correspondences: a planted cipher is found, a few pairs leave what romanisation says."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
import torch

from lnmap.direction import Side
from lnmap.errors import InputError
from lnmap.spelling import Letters
from lnmap.spelling import letters as module

LATIN, OTHER = "abcdefghijklmnopqrstuvwxyz", "ღიჯუბწცხდესმნჩპჰყგთფვქლოკრ"  # in no order that means anything
CIPHER = str.maketrans(LATIN, OTHER)


def words(number: int, seed: int) -> list[str]:
    generator = random.Random(seed)
    weights = [1 / (rank + 2) for rank in range(26)]
    return ["".join(generator.choices(LATIN, weights, k=generator.randint(3, 10))) for _ in range(number)]


def planted(number: int, share: float) -> tuple[list[str], list[str]]:
    """Pairs of which a share are one word in two alphabets, the others any two words."""
    left, other = words(number, 1), words(number, 2)
    kept = random.Random(3)
    right = [(one if kept.random() < share else two).translate(CIPHER) for one, two in zip(left, other, strict=True)]
    return left, right


@pytest.mark.parametrize(("number", "share"), [(150, 1.0), (300, 0.5), (1000, 0.2)])
def test_planted_cipher_is_found(number, share):
    letters = Letters.fit(*planted(number, share))
    new, wrong = words(200, 7), words(200, 8)
    right = letters.log_odds(new, [word.translate(CIPHER) for word in new])
    other = letters.log_odds(new, [word.translate(CIPHER) for word in wrong])
    assert (right[:, None] > other).mean() > 0.98
    source, target = letters.alphabets[Side.SOURCE], letters.alphabets[Side.TARGET]
    frequent = [letter for letter in "abcdefgh" if letter in source]
    found = [target[int(letters.together[source.index(letter)].argmax())] for letter in frequent]
    assert found == [letter.translate(CIPHER) for letter in frequent]


def test_dropped_vowels_are_learnt():
    left = words(400, 1)
    letters = Letters.fit(
        left, [word.translate(CIPHER | {ord(vowel): "" for vowel in "aeiou"}) or "-" for word in left]
    )
    source = letters.alphabets[Side.SOURCE]
    alone = letters.alone[Side.SOURCE] / (letters.alone[Side.SOURCE] + letters.together.sum(axis=1))
    assert min(alone[source.index(vowel)] for vowel in "aei") > 0.8
    assert max(alone[source.index(other)] for other in "bcd") < 0.2


@pytest.mark.parametrize("pairs", [[], [("house", "σπίτι"), ("law", "νόμος"), ("athens", "αθήνα")]])
def test_few_pairs_leave_what_romanisation_says(pairs):
    letters = Letters.fit([left for left, _ in pairs], [right for _, right in pairs])
    right = letters.log_odds(["europe", "paris", "zebra", "2015"], ["ευρώπη", "paris", "ζέμπρα", "2015"])
    wrong = letters.log_odds(["europe", "paris", "zebra", "2015"], ["νομικός", "london", "κράτος", "1874"])
    assert (right > wrong + 2).all()


def test_pairs_do_not_depend_on_their_company():
    letters = Letters.fit(*planted(100, 0.5))
    left, right = ["abc", "zzz", "été", "π", "", "x" * 90], ["ღიჯ", "კ", "ete", "p", "a", "x" * 80]
    together = letters.log_odds(left, right)
    assert np.isfinite(together).all()
    single = [letters.log_odds([a], [b])[0] for a, b in zip(left, right, strict=True)]
    assert together.tolist() == pytest.approx(single, abs=1e-5)
    assert together.dtype == np.float32


def test_order_and_blocks_change_nothing(monkeypatch):
    letters = Letters.fit(*planted(100, 0.5))
    left, right = planted(50, 0.5)
    whole = letters.log_odds(left, right)
    assert letters.log_odds(left[::-1], right[::-1])[::-1].tolist() == pytest.approx(whole.tolist(), abs=1e-5)
    monkeypatch.setattr("lnmap.spelling.letters._BLOCK", 7)
    assert letters.log_odds(left, right).tolist() == pytest.approx(whole.tolist(), abs=1e-5)


def test_both_directions_agree():
    left, right = planted(300, 0.5)
    forth, back = Letters.fit(left, right), Letters.fit(right, left)
    assert forth.log_odds(left, right).tolist() == pytest.approx(back.log_odds(right, left).tolist(), abs=0.05)


def test_both_directions_agree_on_letters_that_were_not_seen():
    left = words(400, 1)
    right = [word.translate(CIPHER | {ord(vowel): "" for vowel in "aeiou"}) or "-" for word in left]
    forth, back = Letters.fit(left, right), Letters.fit(right, left)
    one, other = ["жук", "abc", "éßç", "bcd", "abc"], ["ღიჯ", "xyz", "жук", "ღжჯ", "ж"]
    assert forth.log_odds(one, other).tolist() == pytest.approx(back.log_odds(other, one).tolist(), abs=1e-4)


def test_learning_ends_where_a_round_gains_little(monkeypatch):
    gains, odds = [], module._odds

    def watched(*args):
        found = odds(*args)
        gains.append(np.log1p(np.exp(found)).mean())
        return found

    monkeypatch.setattr(module, "_odds", watched)
    Letters.fit(*planted(100, 0.5))
    steps = np.diff(gains)
    assert (steps[:-1] >= 1e-3).all()
    assert steps[-1] < 1e-3
    gains.clear()
    monkeypatch.setattr(module, "_SETTLED", -np.inf)
    Letters.fit(*planted(100, 0.5))
    assert len(gains) == 30


def test_state_gives_the_same_again():
    left, right = planted(200, 0.5)
    letters = Letters.fit(left, right)
    values, tensors = letters.state()
    again = Letters.from_state(json.loads(json.dumps(values)), tensors)
    assert np.array_equal(letters.log_odds(left, right), again.log_odds(left, right))
    assert np.array_equal(letters.log_odds(left, right), Letters.fit(left, right).log_odds(left, right))


def test_one_language_twice():
    """Nothing is ever written alone there; numbers must stay finite, also for very long words."""
    left = words(3000, 1)
    letters = Letters.fit(left, left)
    found = letters.log_odds(["abcdefg", "abcdefg", "z" * 99, "qz" * 20], ["abcdefg", "hijklmn", "z" * 99, "qz" * 20])
    assert np.isfinite(found).all()
    assert found[0] > 10 > 0 > found[1]
    assert found[2] > 10 < found[3]
    weights = letters._weights(*letters.alphabets.values())
    assert np.exp(weights.left) == pytest.approx(0.02 / 1.04, rel=0.01)  # a fiftieth is taken to be alone, on each side


def test_learning_needs_no_gradients_around_it():
    pairs = planted(100, 1.0)
    with torch.no_grad():
        quiet = Letters.fit(*pairs)
    assert np.array_equal(quiet.together, Letters.fit(*pairs).together)


def test_sizes_and_nothing():
    letters = Letters.fit([], [])
    assert letters.log_odds([], []).shape == (0,)
    with pytest.raises(InputError, match="pairs are needed"):
        Letters.fit(["a"], [])
    with pytest.raises(InputError, match="pairs are needed"):
        letters.log_odds(["a"], [])


@pytest.mark.parametrize("others", [["ab", "ba"], ["", ""]])
def test_nothing_is_learnt_from_empty_words(others):
    left, right = ["paris", "abc", "q"], ["paris", "xyz", "w"]
    forth, back = Letters.fit(["", ""], others), Letters.fit(others, ["", ""])
    assert not forth.together.any()
    assert forth.log_odds(left, right).tolist() == pytest.approx(back.log_odds(right, left).tolist(), abs=1e-5)
    assert forth.log_odds(["q"], ["w"]) == Letters.fit([], []).log_odds(["q"], ["w"])


def test_chinese_characters_are_read_in_chinese_only():
    chinese, japanese = Letters.fit(["water"], ["水"]), Letters.fit(["water", "paris"], ["水", "パリ"])
    assert chinese.log_odds(["obama"], ["奥巴马"])[0] > chinese.log_odds(["water"], ["奥巴马"])[0] + 3
    assert chinese.log_odds(["beijing"], ["北京"])[0] > 5
    assert japanese.log_odds(["beijing"], ["背景"])[0] < 0
    assert japanese.log_odds(["hotel"], ["ホテル"])[0] > 2


def test_pairs_given_by_rows_have_the_odds_of_their_words():
    left, right = ["paris", "water", "москва"], ["париж", "вода", "moscow", "wasser"]
    letters = Letters.fit(left, right[:3])
    rows, others = torch.tensor([2, 0, 0, 1, 2]), torch.tensor([2, 0, 3, 1, 0])
    words = [left[row] for row in rows], [right[row] for row in others]
    assert letters.log_odds_of(left, right, rows, others).tolist() == letters.log_odds(*words).tolist()
    assert letters.log_odds_of(left, right, rows[:0], others[:0]).shape == (0,)
