"""Choose what is a translation: two languages where a file may hold more of them, short texts in explanations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from lnmap.errors import LexiconError
from lnmap.io.dictionaries.contract import Languages, Row

Side = tuple[str, str]  # a language's code in lower case, "" for none, and a word of it
Unit = tuple[int, list[Side], list[Side]]  # where it is, its words, their translations
_SHOWN = 6
_ASIDE = re.compile(r"\([^()]{0,200}\)|\[[^\[\]]{0,200}\]|^\s*\d{1,3}[.)]\s")
_BETWEEN = re.compile(r"[,;]")
_MOST_WORDS = 4  # of a translation in an article; more is an explanation


def choose_pairs(units: Iterable[Unit], languages: Languages, path: Path) -> Iterator[Row]:
    """Yield the pairs of two languages: those asked for, or those of the file where it has no others."""
    if languages is not None:
        for number, words, translations in units:
            yield from _rows(number, words, translations, languages)
        return
    held = list(units)
    asked = Counter(code for unit in held for code, _ in unit[1])
    answering = Counter(code for unit in held for code, _ in unit[2])
    for one in (asked, answering):
        if len(one) > 1:
            raise too_many(path, [code for code, _ in one.most_common()])
    for unit in held:
        yield from _rows(*unit, None)


def explained(text: str) -> Iterator[str]:
    """Yield what looks like a translation in an article: between commas, without what is in brackets, and short."""
    for line in text.splitlines():
        for piece in _BETWEEN.split(_ASIDE.sub(" ", line)):
            words = piece.split()
            if 0 < len(words) <= _MOST_WORDS:
                yield " ".join(words)


def is_language(code: str, wanted: str) -> bool:
    """Whether a code means the language asked for: 'en-GB' is 'en'."""
    code, wanted = (one.replace("_", "-").lower() for one in (code, wanted))
    return code == wanted or code.startswith(wanted + "-") or not code


def too_many(path: Path, codes: list[str]) -> LexiconError:
    """Return the error about a file of several languages."""
    named = ", ".join(code or "one without a code" for code in codes[:_SHOWN])
    more = ", ..." if len(codes) > _SHOWN else ""
    problem = f"{path} holds translations between more than two languages ({named}{more})"
    return LexiconError(problem, advice="name the two with {languages:en,fr}")


def _rows(number: int, words: list[Side], translations: list[Side], languages: Languages) -> Iterator[Row]:
    if languages is not None:
        words = [side for side in words if is_language(side[0], languages[0])]
        translations = [side for side in translations if is_language(side[0], languages[1])]
    for _, word in words:
        for _, translation in translations:
            yield Row(number, word.strip(), translation.strip())
