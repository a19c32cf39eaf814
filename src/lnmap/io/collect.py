"""Collecting: the reading policy, applied to blocks of words and vectors of any format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lnmap.embeddings import all_finite
from lnmap.errors import VectorFileError
from lnmap.io.policy import ReadOptions

Matrix = NDArray[np.float32]
SAMPLES = 20
_ZERO_PATCH = 0.01


class Rows:
    """Keep the vectors in one array that grows; a single block is held without a copy."""

    def __init__(self) -> None:
        self._array: Matrix = np.empty((0, 0), np.float32)
        self._used = self._blocks = 0

    def add(self, vectors: Matrix) -> None:
        """Append rows."""
        start, self._used, self._blocks = self._used, self._used + len(vectors), self._blocks + 1
        if self._blocks == 1:
            self._array = vectors
            return
        if self._blocks == 2:
            self._array = self._array.copy()
        if self._used > len(self._array):
            # Large pieces of memory grow by remapping, not copying: there is never a second array of that size.
            self._array.resize((max(self._used, len(self._array) * 9 // 8), vectors.shape[1]), refcheck=False)
        self._array[start : self._used] = vectors

    @property
    def vectors(self) -> Matrix:
        """All rows."""
        return self._array[: self._used]


class Collector:
    """Apply a reading policy to rows that come in blocks, and count what it did.

    :param keep: takes the vectors of the words that are kept.
    """

    def __init__(self, options: ReadOptions, keep: Callable[[Matrix], None]) -> None:
        self.options = options
        self._keep = keep
        self.words: list[str] = []
        self.duplicates = 0
        self.zeros = 0
        self.skipped = 0
        self.samples: list[list[Any]] = []
        self._seen: set[str] = set()

    @property
    def full(self) -> bool:
        """Whether the wanted number of words is reached."""
        return self.options.word_limit is not None and len(self.words) >= self.options.word_limit

    def skip(self, place: int, reason: str) -> None:
        """Count a line or record that is left out."""
        self.skipped += 1
        if len(self.samples) < SAMPLES:
            self.samples.append([place, reason])

    def add_checked(self, words: list[str], vectors: Matrix, first: int, empty_words: bool = True) -> None:
        """Take rows number `first`, `first` + 1, ...; skip those that are not finite and, on request, empty words."""
        bad: dict[int, str] = {}
        if not empty_words and "" in words:
            bad = {row: "empty word" for row, word in enumerate(words) if not word}
        if not all_finite(vectors):
            not_finite = np.flatnonzero(~np.isfinite(vectors).all(axis=1)).tolist()
            bad |= dict.fromkeys(not_finite, "NaN or infinite value")
        for row in sorted(bad):
            self.skip(first + row, bad[row])
        if bad:
            kept = [row for row in range(len(words)) if row not in bad]
            words, vectors = [words[row] for row in kept], vectors[kept]
        self.add(words, vectors)

    def add(self, words: Sequence[str], vectors: Matrix) -> None:
        """Take finite rows in file order."""
        words = [word.lower() for word in words] if self.options.lowercase else list(words)
        kept = self._new(words)
        if len(kept) < len(words):
            words = [words[row] for row in kept]
            vectors = vectors[kept]
        self._seen.update(words)
        self.words += words
        self._keep(self._patched(vectors))

    def _new(self, words: list[str]) -> Sequence[int]:
        """Return the rows of words not met before, up to the limit."""
        limit = self.options.word_limit
        room = len(words) if limit is None else max(limit - len(self.words), 0)
        fresh = set(words)
        if len(fresh) == len(words) and self._seen.isdisjoint(fresh):
            return range(len(words))[:room]
        kept: list[int] = []
        here: set[str] = set()
        for row, word in enumerate(words):
            if len(kept) >= room:
                break
            if word not in self._seen and word not in here:
                here.add(word)
                kept.append(row)
            elif self.options.dedupe == "error":
                raise VectorFileError(f"the word {word!r} occurs more than once; read with dedupe='first' to keep one")
            else:
                self.duplicates += 1
        return kept

    def _patched(self, vectors: Matrix) -> Matrix:
        if self.options.zero_policy == "keep":
            return vectors
        maybe = np.flatnonzero(vectors[:, 0] == 0)  # few rows: looking at all of every row would cost more than reading
        zero = maybe[~vectors[maybe].any(axis=1)]
        if len(zero):
            self.zeros += len(zero)
            vectors = vectors.copy()
            vectors[zero, 0] = _ZERO_PATCH
        return vectors

    def report(self) -> dict[str, Any]:
        """Return what results record of the reading."""
        return {
            **self.options.record(),
            "words": len(self.words),
            "skipped": self.skipped,
            "skipped_samples": self.samples,
            "duplicates": self.duplicates,
            "zeros_patched": self.zeros,
        }
