"""Alphabets: the order of a language's words, and the letters they stand under in print.

With PyICU (extra `alphabet`) the order is the language's own: å after z in Swedish, ch after h in Czech. Without it
words are sorted letter by letter, accents apart, which is right for English and nearly right for many languages.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

OTHERS = "#"  # the heading of what begins with no letter
_OF_A_LETTER = 0  # the kind of a bucket, in ICU


@dataclass(frozen=True)
class Alphabet:
    """How words of a language are sorted.

    :param key: what sorts a word.
    :param heading: the letter that a word stands under.
    :param own: whether it is the language's own order, not the plain one.
    """

    key: Callable[[str], Any]
    heading: Callable[[str], str]
    own: bool = False


def alphabet_of(language: str) -> Alphabet:
    """Return the alphabet of a language by its code; the plain one where PyICU is not installed."""
    try:
        import icu
    except ImportError:
        return Alphabet(_plain_key, _plain_heading)
    locale = icu.Locale.forLanguageTag(language)
    collator = icu.Collator.createInstance(locale)
    index = icu.AlphabeticIndex(locale).buildImmutableIndex()

    def heading(word: str) -> str:
        label, kind = index.getBucket(index.getBucketIndex(_valid(word)))
        return str(label) if kind == _OF_A_LETTER else word[0].upper()[:1] if word[:1].isalpha() else OTHERS

    def key(word: str) -> tuple[bytes, str]:
        return collator.getSortKey(_valid(word)), word

    return Alphabet(key, heading, own=True)


def _plain_key(word: str) -> tuple[bool, str, str, str]:
    return _plain_heading(word) != OTHERS, _bare(word), word.casefold(), word


def _plain_heading(word: str) -> str:
    first = _bare(word)[:1]
    return first.upper()[:1] if first.isalpha() else OTHERS


def _bare(word: str) -> str:
    """Drop accents, case and signs before the first letter or digit."""
    letters = "".join(c for c in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(c))
    return next((letters[at:] for at, letter in enumerate(letters) if letter.isalnum()), letters)


def _valid(word: str) -> str:
    return word.encode("utf-8", "replace").decode("utf-8")
