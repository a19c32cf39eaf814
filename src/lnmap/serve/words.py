"""Words: completion of what was typed, and the nearest spellings of unknown words."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

_SHORTLIST = 300  # words whose spelling is compared letter by letter: bounds the time
_COMPARED = 60  # letters that are compared
_LEAST = 0.6  # likeness of a spelling worth offering
_SWAPPED = 0.2  # what it adds that the letters are the same, in another order
_END = "\U0010ffff"
_BITS = np.array([bin(i).count("1") for i in range(1 << 16)], dtype=np.uint8)


def fold(text: str) -> str:
    """Remove letter case and diacritics, so that 'elev' finds 'élève' and a jamo its syllables."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(c for c in parts if unicodedata.category(c) != "Mn")
    return bare or parts


class WordIndex:
    """One vocabulary, ready for completion and for nearest spellings."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self.folded = [fold(word) for word in words]
        self._order = np.array(sorted(range(len(words)), key=self.folded.__getitem__), dtype=np.int32)
        self._sorted = [self.folded[row] for row in self._order.tolist()]
        self._letters = np.fromiter(map(_letters, self.folded), dtype=np.uint64, count=len(words))
        self._lengths = np.fromiter(map(len, self.folded), dtype=np.int32, count=len(words))

    def complete(self, prefix: str, limit: int) -> list[int]:
        """Return rows of the words that begin like this: the word itself, then the most frequent first."""
        wanted = fold(prefix.strip())
        if not wanted:
            return list(range(min(limit, len(self.words))))
        low, high = bisect_left(self._sorted, wanted), bisect_left(self._sorted, wanted + _END)
        rows = self._order[low:high]
        if len(rows) > limit:
            rows = np.partition(rows, limit - 1)[:limit]
        exact = self._order[low : bisect_left(self._sorted, wanted + "\0")].tolist()
        return list(dict.fromkeys([*sorted(exact), *sorted(rows.tolist())]))[:limit]

    def spellings(self, word: str, limit: int = 5) -> list[str]:
        """Return the nearest spellings, in a time that does not depend on the word."""
        wanted = fold(word.strip())[:_COMPARED]
        if not wanted:
            return []
        differences = _count_bits(self._letters ^ np.uint64(_letters(wanted))) + np.abs(self._lengths - len(wanted))
        count = min(_SHORTLIST, len(self.words))
        rows = np.sort(np.argpartition(differences, count - 1)[:count])
        matcher = SequenceMatcher(b=wanted, autojunk=False)
        scored = []
        for row in rows.tolist():
            other = self.folded[row][:_COMPARED]
            matcher.set_seq1(other)
            if matcher.quick_ratio() >= _LEAST and (ratio := matcher.ratio()) >= _LEAST:
                swapped = _SWAPPED * (sorted(other) == sorted(wanted))  # 'dgo' is more likely 'dog' than 'do'
                scored.append((-ratio - swapped, row))
        return [self.words[row] for _, row in sorted(scored)[:limit]]


def _letters(word: str) -> int:
    """Return the set of a word's letters as 64 bits; letters may share one."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) * 0x9E3779B1 >> 7 & 63)
    return bits


def _count_bits(values: NDArray[np.uint64]) -> NDArray[np.int32]:
    return _BITS[values.view(np.uint16)].reshape(-1, 4).sum(axis=1, dtype=np.int32)
