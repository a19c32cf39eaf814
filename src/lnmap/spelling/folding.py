"""Folding: words of every script in plain Latin letters, so that their spellings can be compared.

Romanisation is done by the package `anyascii`. Where it is not installed only accents are dropped, and words of
different scripts have nothing in common.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

try:
    from anyascii import anyascii
except ModuleNotFoundError:  # a machine that has the core's packages only
    anyascii = None  # type: ignore[assignment]

_SAMPLE = 1000  # words that show a vocabulary's script


def fold(word: str) -> str:
    """Return the form that words are compared in: lower-case Latin letters without accents, where that can be told.

    Chinese characters stay: they are read differently in each language.
    """
    if word.isascii():  # most words of many vocabularies, and the rest would change nothing
        return word.lower()
    return unicodedata.normalize("NFKC", word).lower().translate(_FOLDED) or word


def lacks_romanisation(words: Sequence[str]) -> bool:
    """Return whether words are in another script than Latin and stay in it, because the package is not installed."""
    some = words[:_SAMPLE]
    return anyascii is None and 2 * sum(fold(word).isascii() for word in some) < len(some)


def plain(character: str) -> str:
    """Return a character without the accents of Latin, Greek and Cyrillic letters."""
    parts = unicodedata.normalize("NFKD", character)
    return unicodedata.normalize("NFC", "".join(part for part in parts if not 0x300 <= ord(part) < 0x370))


def romanise(text: str) -> str:
    """Return letters, vowel signs and digits in ASCII; signs of glottal stops and the like go, punctuation stays."""
    if text.isascii() or anyascii is None:
        return text
    return "".join(
        "".join(filter(str.isalnum, anyascii(one))).lower() if unicodedata.category(one)[0] in "LMN" else one
        for one in text
    )


class _Folded(dict[int, str]):
    """What becomes of each character; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        character = plain(chr(code))
        chinese = any(unicodedata.name(one, "").startswith("CJK") for one in character)
        self[code] = character if chinese else romanise(character)
        return self[code]


_FOLDED = _Folded()
