"""Lexicon: word pairs, the seed rules of the paper, and seeds that need no dictionary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lnmap.embeddings import Embeddings
from lnmap.errors import LexiconError, OptionError

_TURNED, _FOUND = 2, 10  # times more pairs the other way round, and the fewest that they are compared with
_RULE = re.compile(r"(?P<count>\d+)(?P<kilo>k?)-(?P<kind>unique|all)")


@dataclass(frozen=True, repr=False)
class Lexicon:
    """Word pairs (source, target) in file order; one source word may have many targets."""

    pairs: Sequence[tuple[str, str]]
    origin: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str]], **origin: Any) -> Lexicon:
        """Build from any iterable of two-word tuples."""
        return cls([_two_words(pair) for pair in pairs], origin)

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.pairs)

    def __repr__(self) -> str:
        return f"Lexicon({len(self):,} pairs, first {list(self.pairs[:3])})"

    def reversed(self) -> Lexicon:
        """Swap the two sides."""
        return Lexicon([(target, source) for source, target in self.pairs], {**self.origin, "reversed": True})

    @property
    def is_given(self) -> bool:
        """Whether a person gave the pairs; not so where they were found in the vocabularies."""
        return self.origin.get("seed") not in SEEDS_WITHOUT_DICTIONARY

    def rows(self, source: Embeddings, target: Embeddings) -> NDArray[np.int64]:
        """Return the vocabulary rows of the known pairs, in file order, shape (k, 2)."""
        found = ((source.find(s), target.find(t)) for s, t in self.pairs)
        known = [(s, t) for s, t in found if s is not None and t is not None]
        return np.asarray(known, dtype=np.int64).reshape(-1, 2)

    def exchanged(self, source: Embeddings, target: Embeddings) -> str | None:
        """Return what speaks for exchanged columns: far more pairs are known the other way round; None if nothing."""
        found, turned = (len(pairs.rows(source, target)) for pairs in (self, self.reversed()))
        if turned <= _TURNED * max(found, _FOUND):
            return None
        return (
            f"the dictionary's columns seem to be exchanged: {found:,} of {len(self):,} pairs have both words in the "
            f"vocabularies, {turned:,} the other way round; its first column must be the source language"
        )

    def outside(self, source: Embeddings, target: Embeddings) -> Lexicon:
        """Return the pairs with a word that is in neither form in its vocabulary, in file order."""
        return Lexicon([(s, t) for s, t in self.pairs if source.find(s) is None or target.find(t) is None])

    def take(self, rule: str | None, source: Embeddings, target: Embeddings) -> Lexicon:
        """Choose seed pairs by a rule: '1k-unique', '5k-all', '300-unique' or 'all'.

        Only pairs whose two words are in the vocabularies count. `unique` keeps a pair when neither of its words was
        kept before (file order), then the N pairs with the most frequent source words; `all` keeps every pair of the N
        most frequent source words.
        """
        count, unique = parse_rule(rule)
        rows = self.rows(source, target)
        if not len(rows):
            raise LexiconError(
                f"none of the {len(self):,} pairs has both words in the vocabularies ({_example(self)}); "
                "check that the dictionary's first column is the source language, and its letter case"
            )
        if unique:
            rows = _one_to_one(rows)
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        if count is not None:
            kept = np.unique(rows[:, 0])[:count]
            rows = rows[np.isin(rows[:, 0], kept)]
        chosen = [(source.words[s], target.words[t]) for s, t in rows]
        return Lexicon(chosen, {**self.origin, "take": rule or "all", "read": len(self), "taken": len(chosen)})


def parse_rule(rule: str | None) -> tuple[int | None, bool]:
    """Split a seed rule into the number of source words, or None, and whether pairs must be one-to-one."""
    wanted = "all" if rule is None else rule.lower()
    if wanted in ("all", "unique"):
        return None, wanted == "unique"
    match = _RULE.fullmatch(wanted)
    if match is None or int(match["count"]) == 0:
        raise OptionError(
            f"unknown seed rule {rule!r}; use N-unique or N-all (1k-unique, 5k-all, 300-unique), unique or all"
        )
    return int(match["count"]) * (1000 if match["kilo"] else 1), match["kind"] == "unique"


def identical_words(source: Embeddings, target: Embeddings) -> Lexicon:
    """Pair the words that are spelt alike in both languages."""
    pairs = [(word, word) for word in source.words if word in target.index]
    return Lexicon(pairs, {"seed": "identical"})


def numerals(source: Embeddings, target: Embeddings) -> Lexicon:
    """Pair the numerals that are in both vocabularies (Artetxe et al. 2017)."""
    pairs = [(word, word) for word in source.words if word.isdecimal() and word in target.index]
    return Lexicon(pairs, {"seed": "numerals"})


SEEDS_WITHOUT_DICTIONARY = {"identical": identical_words, "numerals": numerals}


def _one_to_one(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Keep a pair if neither of its words was kept before."""
    seen_source: set[int] = set()
    seen_target: set[int] = set()
    kept = []
    for s, t in rows.tolist():
        if s not in seen_source and t not in seen_target:
            seen_source.add(s)
            seen_target.add(t)
            kept.append((s, t))
    return np.asarray(kept, dtype=np.int64).reshape(-1, 2)


def _two_words(pair: Any) -> tuple[str, str]:
    """Check a caller's pair; 'ab' is a word, not the pair ('a', 'b')."""
    if not isinstance(pair, str):
        with suppress(TypeError, ValueError):
            source, target = pair
            return str(source), str(target)
    raise LexiconError(f"a pair must be two words (source, target), got {pair!r}")


def _example(lexicon: Lexicon) -> str:
    return "the dictionary is empty" if not len(lexicon) else "the first is {!r} -> {!r}".format(*lexicon.pairs[0])
