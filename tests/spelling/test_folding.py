"""Words of every script in Latin letters."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnmap.spelling import fold, folding, lacks_romanisation

LATIN = [
    "Éthnographie",
    "naïve",
    "señor",
    "l'été",
    "e-mail",
    "Ångström",
    "İstanbul",
    "žena",
    "1990",
    "a.b",
    "C++",
    "ﬁn",
]


def strip(word: str) -> str:
    """What became of Latin words before there was a library."""
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", word).lower())
    return "".join(part for part in parts if not 0x300 <= ord(part) < 0x370)


@pytest.mark.parametrize("word", LATIN)
def test_latin_words_lose_their_accents_and_nothing_else(word):
    assert fold(word) == strip(word)


@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("москва", "moskva"),
        ("объект", "obekt"),
        ("αθήνα", "athina"),
        ("コンピュータ", "konpiyuta"),
        ("がくせい", "gakusei"),
        ("서울", "seoul"),
        ("北京", "北京"),
        ("食べる", "食beru"),
        ("ירושלים", "yrvslym"),
        ("אמא", "m"),
        ("محمد", "mhmd"),
        ("हिन्दी", "hindi"),
        ("தமிழ்", "tmil"),
        ("กรุงเทพ", "krungethph"),
        ("თბილისი", "tbilisi"),
        ("٣", "3"),
        ("straße", "strasse"),
        ("œuvre", "oeuvre"),
    ],
)
def test_other_scripts_are_romanised(word, folded):
    assert fold(word) == folded


@given(st.text(max_size=12))
def test_folding_keeps_something_and_is_done_once(word):
    folded = fold(word)
    assert bool(folded) == bool(word)
    assert fold(folded) == folded or not folded.isascii()


def test_marks_that_say_nothing_are_kept_where_nothing_else_is_left():
    assert fold("ь") == "ь"
    assert fold("…") == "..."
    assert fold("—") == "—"


def test_without_the_library_accents_go_and_scripts_stay():
    program = """
import sys
sys.modules["anyascii"] = None
from lnmap.spelling import Letters, Spelling, fold, lacks_romanisation
assert lacks_romanisation(["москва", "и", "a"]) and not lacks_romanisation(["été", "—", "œuf", "a"])
print(fold("Éte"), fold("москва́"), Letters.fit(["a"], ["a"]).log_odds(["a"], ["a"]).shape)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert found.stdout.split() == ["ete", "москва", "(1,)"], found.stderr
    assert not lacks_romanisation(["москва"])


@pytest.fixture
def without_library(monkeypatch):
    monkeypatch.setattr(folding, "anyascii", None)
    monkeypatch.setattr(folding, "_FOLDED", folding._Folded())


def test_words_that_stay_in_their_script_are_told_by_the_first_thousand(without_library):
    assert fold("Éte") == "ete"
    assert fold("москва́") == "москва"
    assert lacks_romanisation(["и", "и", "a"])
    assert not lacks_romanisation(["и", "a"])
    assert not lacks_romanisation([])
    assert lacks_romanisation(["и"] * 501 + ["a"] * 5000)
    assert not lacks_romanisation(["и"] * 500 + ["a"] * 500 + ["и"] * 5000)
    assert not lacks_romanisation(["a"] * 500 + ["и"] * 500 + ["и"] * 5000)


def test_letters_and_their_accents():
    assert folding.plain("é") == "e"
    assert folding.plain("ё") == "е"
    assert folding.plain("ή") == "η"
    assert folding.plain("\u0300") == folding.plain("\u036f") == ""
    assert folding.plain("\u02ff") == "\u02ff"
    assert folding.plain("\u0370") == "\u0370"  # the first letter after the accents
    assert folding.plain("が") == "が"  # the mark of a Japanese sound is no accent, and stays with its letter
    assert folding.plain("각") == "각"


def test_only_letters_signs_and_digits_are_romanised():
    assert folding.romanise("жук—٣!") == "zhuk—3!"
    assert folding.romanise("ABC") == "ABC"
    assert folding.romanise("Жʼ") == "zh"  # the sign of a glottal stop is a letter, of which nothing stays


def test_what_became_of_a_character_is_kept():
    fold("ж")
    assert folding._FOLDED[ord("ж")] == "zh"
    assert dict.__contains__(folding._FOLDED, ord("ж"))
