"""What a dictionary holds: pairs of words, and articles that group them under their headwords."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from lnmap.errors import OptionError
from lnmap.io.dictionaries.alphabet import Alphabet, alphabet_of

UNKNOWN_LANGUAGES = ("x-source", "x-target")  # private codes, where nobody said what the languages are
COLUMNS = ("source", "target", "csls", "cosine", "confidence", "given", "mark")
Way = Literal["both", "forward", "backward"]
_CODE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*|x(-[A-Za-z0-9]{1,8})+")


class EntryLike(Protocol):
    """An entry of an induced lexicon, whatever class it is of."""

    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def csls(self) -> float | None: ...
    @property
    def cosine(self) -> float | None: ...
    @property
    def confidence(self) -> float | None: ...
    @property
    def given(self) -> bool: ...
    @property
    def mark(self) -> str | None: ...


@dataclass(frozen=True)
class Pair:
    """A word and one of its translations.

    :param way: the direction in which it was found.
    :param mark: 'right' or 'added', if it was given by a mark.
    """

    source: str
    target: str
    csls: float | None = None
    cosine: float | None = None
    confidence: float | None = None
    given: bool = False
    way: Way = "both"
    mark: str | None = None

    @classmethod
    def of(cls, entry: EntryLike, way: Way) -> Pair:
        """Copy an entry of an induced lexicon."""
        scores = entry.csls, entry.cosine, entry.confidence
        return cls(entry.source, entry.target, *scores, entry.given, way, entry.mark)

    @property
    def remark(self) -> str:
        """What a reader should know about it: 'given', or the confidence."""
        return "given" if self.given else "" if self.confidence is None else f"{self.confidence:.0%}"


@dataclass(frozen=True)
class Article:
    """A headword and its translations: given ones first, then by confidence, else in the order of their scores."""

    word: str
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Part:
    """The articles of one direction, by the alphabet of its first language."""

    languages: tuple[str, str]
    articles: Sequence[Article]
    alphabet: Alphabet

    @property
    def name(self) -> str:
        """The two languages: 'en-fr'."""
        return "-".join(self.languages)

    def title(self, of: Dictionary) -> str:
        """Return what this part of a dictionary is called."""
        return self.name if of.title == of.name else f"{of.title} ({self.name})"


@dataclass(frozen=True)
class Dictionary:
    """The pairs of one direction or of both, best first.

    :param forward: pairs with the source language first.
    :param backward: pairs with the target language first, None for a dictionary of one direction.
    :param languages: codes of the two languages.
    :param columns: of tables.
    """

    forward: Sequence[Pair]
    backward: Sequence[Pair] | None
    languages: tuple[str, str]
    title: str
    columns: Sequence[str] = COLUMNS

    @property
    def name(self) -> str:
        """The two languages: 'en-fr'."""
        return "-".join(self.languages)

    def pairs(self) -> list[Pair]:
        """Return the pairs of both directions, source language first; one that was found both ways comes once."""
        found = {(pair.source, pair.target): pair for pair in self.forward}
        for pair in self.backward or ():
            turned = replace(pair, source=pair.target, target=pair.source)
            known = found.get((turned.source, turned.target))
            found[turned.source, turned.target] = replace(known, way="both") if known else turned
        return list(found.values())

    def parts(self) -> list[Part]:
        """Return the directions as dictionaries of their own."""
        made = [_part(self.forward, self.languages)]
        if self.backward is not None:
            made.append(_part(self.backward, (self.languages[1], self.languages[0])))
        return made

    def joined(self) -> Part:
        """Return the pairs of both directions under source headwords."""
        return _part(self.pairs(), self.languages)

    def without(self, holds: Callable[[str], bool]) -> Dictionary:
        """Return the dictionary without pairs of words that a format cannot hold."""
        forward = [pair for pair in self.forward if holds(pair.source) and holds(pair.target)]
        backward = self.backward and [pair for pair in self.backward if holds(pair.source) and holds(pair.target)]
        return replace(self, forward=forward, backward=backward)


def parse_languages(languages: str | Sequence[str] | None) -> tuple[str, str] | None:
    """Check two language codes, 'en,fr' or ('en', 'fr')."""
    if languages is None:
        return None
    codes = [code.strip() for code in (languages.split(",") if isinstance(languages, str) else languages)]
    if len(codes) != 2 or not all(_CODE.fullmatch(code) for code in codes):
        raise OptionError(f"languages are two codes such as en,fr, not {','.join(codes)!r}")
    if codes[0] == codes[1]:
        raise OptionError(f"the two languages are both {codes[0]!r}; give two different codes, such as en,fr")
    return codes[0], codes[1]


def _part(pairs: Iterable[Pair], languages: tuple[str, str]) -> Part:
    alphabet = alphabet_of(languages[0])
    grouped: dict[str, list[Pair]] = {}
    for pair in pairs:
        grouped.setdefault(pair.source, []).append(pair)
    words = sorted(grouped, key=alphabet.key)
    return Part(languages, [Article(word, tuple(sorted(grouped[word], key=_surest))) for word in words], alphabet)


def _surest(pair: Pair) -> tuple[bool, bool, float]:
    return not pair.given, pair.mark is None, -(pair.confidence or 0.0)
