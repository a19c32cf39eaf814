"""Embeddings: words, their vectors, and where they came from."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lnmap.errors import InputError

_FREQUENT, _SHORTEST = 5000, 4  # words whose letters may have been typed, and letters of a word that may be mistyped


def all_finite(vectors: NDArray[np.float32]) -> bool:
    """Return whether no value is NaN or infinite; the sum of squares tells, unless large values overflow it."""
    flat = vectors.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.dot(flat, flat)) or np.isfinite(vectors).all())


def is_word(token: str) -> bool:
    """Return whether a token has a letter of any script and is no markup such as `</s>`."""
    letters = any(unicodedata.category(character).startswith("L") for character in token)
    return letters and not (token.startswith("<") and token.endswith(">"))


def _plainly(word: str) -> str:
    """Return a word with composed accents and straight apostrophes."""
    composed = word if unicodedata.is_normalized("NFC", word) else unicodedata.normalize("NFC", word)
    return composed.replace("\u2019", "'").replace("\u02bc", "'")


@dataclass(frozen=True, eq=False, repr=False)
class Embeddings:
    """A vocabulary in frequency order and one vector per word.

    :param words: n distinct words, most frequent first.
    :param vectors: float32 array of shape (n, d), all finite.
    :param origin: how it was read (path, policy, skipped lines); recorded in every result.
    """

    words: Sequence[str]
    vectors: NDArray[np.float32]
    origin: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what no later stage could use."""
        if self.vectors.ndim != 2 or self.vectors.dtype != np.float32:
            raise InputError(
                f"vectors must be a float32 matrix, got {self.vectors.dtype} of shape {self.vectors.shape}"
            )
        if len(self.words) != len(self.vectors):
            raise InputError(f"{len(self.words)} words but {len(self.vectors)} vectors; each word needs one vector")
        if not len(self.words) or not self.vectors.shape[1]:
            raise InputError("the vocabulary is empty; at least one word with a vector is needed")
        if not all_finite(self.vectors):
            row = int(np.flatnonzero(~np.isfinite(self.vectors).all(axis=1))[0])
            raise InputError(f"the vector of {self.words[row]!r} (row {row + 1}) holds NaN or infinite values")
        if len(self.index) != len(self.words):
            raise InputError(
                f"{len(self.words) - len(self.index)} words occur more than once",
                advice="read with {policy:muse} to keep the first of each",
            )

    @classmethod
    def from_arrays(cls, words: Sequence[str], vectors: Any, **origin: Any) -> Embeddings:
        """Build from any array-like of shape (n, d)."""
        return cls(list(words), np.ascontiguousarray(vectors, dtype=np.float32), origin)

    @classmethod
    def checked(
        cls, words: Sequence[str], vectors: NDArray[np.float32], origin: Mapping[str, Any], fingerprint: str
    ) -> Embeddings:
        """Build from what was checked before, without looking at the vectors again.

        :param fingerprint: what the hash of words and vectors was then.
        """
        made = cls.__new__(cls)
        vars(made).update(words=words, vectors=vectors, origin=origin, fingerprint=fingerprint)
        return made

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def fingerprint(self) -> str:
        """Hash of words and vectors: tells one data set from another."""
        digest = hashlib.sha256(repr(self.vectors.shape).encode())
        digest.update(json.dumps(list(self.words)).encode())
        digest.update(np.ascontiguousarray(self.vectors).data)
        return digest.hexdigest()[:16]

    @property
    def dim(self) -> int:
        """Number of coordinates of a vector."""
        return int(self.vectors.shape[1])

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.index

    def __getitem__(self, word: str) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self.vectors[self.index[word]]
        return row

    def __repr__(self) -> str:
        return f"Embeddings({len(self):,} words x {self.dim}, first {list(self.words[:3])})"

    def find(self, word: str) -> int | None:
        """Return the row of a word as it stands, else in lower case, else of another way to write it, else None.

        Keyboards, word processors and vectors differ in how they compose accents and which apostrophe they use.
        """
        row, lower = self.index.get(word), word
        if row is None:
            lower = word.lower()
            row = self.index.get(lower)
        if row is None and not (word.isascii() and "'" not in word):
            row = self._find_plainly(word)
            if row is None and lower != word:
                row = self._find_plainly(lower)
        return row

    def _find_plainly(self, word: str) -> int | None:
        plain = _plainly(word)
        row = None if plain is word else self.index.get(plain)
        return self._plain.get(plain) if row is None else row

    @cached_property
    def _plain(self) -> dict[str, int]:
        """The rows of the words that are written otherwise than `_plainly`, by how they would be; the first counts."""
        found: dict[str, int] = {}
        for row, word in enumerate(self.words):
            if not word.isascii() and (plain := _plainly(word)) != word:
                found.setdefault(plain, row)
        return found

    def spellings(self, word: str, n: int = 3) -> list[str]:
        """Return the nearest spellings in the vocabulary, for a word that is not there."""
        wanted = word.lower()
        letters = sorted(wanted)
        swapped = [one for one in self.words if len(one) == len(wanted) and sorted(one) == letters]
        swapped = get_close_matches(wanted, swapped, n=n, cutoff=0.5)  # 'hosue' is more likely 'house' than 'hose'
        return list(dict.fromkeys([*swapped, *get_close_matches(wanted, self.words, n=n, cutoff=0.7)]))[:n]

    @cached_property
    def _letters(self) -> list[str]:
        return sorted({letter for word in self.words[:_FREQUENT] for letter in word})

    def slips(self, word: str, n: int = 3) -> list[str]:
        """Return the words that one slip of the fingers turns into this one: first those with two letters swapped.

        A letter may also be left out, added or another one. Words of few letters are near too many others.
        """
        wanted = word.lower()
        if len(wanted) < _SHORTEST:
            return []
        cuts = [(wanted[:place], wanted[place:]) for place in range(len(wanted) + 1)]
        swapped = {begin + end[1] + end[0] + end[2:] for begin, end in cuts if len(end) > 1}
        other = {begin + end[1:] for begin, end in cuts}
        other |= {begin + letter + rest for begin, end in cuts for letter in self._letters for rest in (end, end[1:])}
        found = [sorted(self.index[one] for one in some if one in self.index) for some in (swapped, other - swapped)]
        return [self.words[row] for row in [*found[0], *found[1]][:n]]

    def blocks(self, rows: int = 4096) -> Iterator[tuple[Sequence[str], NDArray[np.float32]]]:
        """Yield words and vectors, `rows` at a time."""
        for start in range(0, len(self), rows):
            yield self.words[start : start + rows], self.vectors[start : start + rows]

    def head(self, limit: int | None) -> Embeddings:
        """Keep the `limit` most frequent words."""
        if limit is None or limit >= len(self):
            return self
        if limit < 1:
            raise InputError(f"a limit of {limit} words leaves no vocabulary", advice="give a {limit} of 1 or more")
        return Embeddings(list(self.words[:limit]), self.vectors[:limit], {**self.origin, "limit": limit})
