"""Collecting: the reading policy applied to blocks of words and vectors, whatever format they come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lnmap.errors import VectorFileError
from lnmap.io.options import ZERO_PATCH, ReadOptions

Matrix = NDArray[np.float32]
SAMPLES = 20


class Sink(Protocol):
    """Where the vectors go."""

    def add(self, vectors: Matrix) -> None:
        """Take some rows."""


class MemorySink:
    """Keep the vectors in one array that grows."""

    def __init__(self, dim: int, hint: int) -> None:
        # Memory that is never written to costs nothing, so a hint too high does no harm.
        self._rows = np.empty((max(hint, 1), dim), np.float32)
        self._used = 0

    def add(self, vectors: Matrix) -> None:
        """Append rows."""
        end = self._used + len(vectors)
        if end > len(self._rows):
            grown = np.empty((max(end, len(self._rows) * 3 // 2), self._rows.shape[1]), np.float32)
            grown[: self._used] = self._rows[: self._used]
            self._rows = grown
        self._rows[self._used : end] = vectors
        self._used = end

    @property
    def vectors(self) -> Matrix:
        """Give all rows."""
        return self._rows[: self._used]


class Collector:
    """Apply a reading policy to rows that come in blocks, and keep count of what it did."""

    def __init__(self, options: ReadOptions, sink: Sink) -> None:
        self.options = options
        self.sink = sink
        self.words: list[str] = []
        self.duplicates = 0
        self.zeros = 0
        self.skipped = 0
        self.samples: list[list[Any]] = []
        self._seen: set[str] = set()

    @property
    def full(self) -> bool:
        """Say whether the wanted number of words is reached."""
        options = self.options
        return options.limit is not None and options.limit_counts == "words" and len(self.words) >= options.limit

    def skip(self, place: int, reason: str) -> None:
        """Count a line or record that is left out."""
        self.skipped += 1
        if len(self.samples) < SAMPLES:
            self.samples.append([place, reason])

    def add(self, words: Sequence[str], vectors: Matrix) -> None:
        """Take rows in file order."""
        words = [word.lower() for word in words] if self.options.lowercase else list(words)
        kept = self._new(words)
        if len(kept) < len(words):
            words = [words[row] for row in kept]
            vectors = vectors[kept]
        self._seen.update(words)
        self.words += words
        self.sink.add(self._patched(vectors))

    def _new(self, words: list[str]) -> Sequence[int]:
        """Give the rows of words not met before, up to the limit."""
        room = len(words)
        if self.options.limit is not None and self.options.limit_counts == "words":
            room = self.options.limit - len(self.words)
        fresh = set(words)
        if len(fresh) == len(words) and self._seen.isdisjoint(fresh):
            return range(len(words))[: max(room, 0)]
        return self._first_ones(words, room)

    def _first_ones(self, words: list[str], room: int) -> list[int]:
        kept: list[int] = []
        here: set[str] = set()
        for row, word in enumerate(words):
            if len(kept) >= room:
                break
            if word not in self._seen and word not in here:
                here.add(word)
                kept.append(row)
                continue
            if self.options.dedupe == "error":
                raise VectorFileError(f"the word {word!r} occurs more than once; read with dedupe='first' to keep one")
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
            vectors[zero, 0] = ZERO_PATCH
        return vectors

    def report(self) -> dict[str, Any]:
        """Give what results record of the reading."""
        return {
            **self.options.record(),
            "words": len(self.words),
            "skipped": self.skipped,
            "skipped_samples": self.samples,
            "duplicates": self.duplicates,
            "zeros_patched": self.zeros,
        }


def drop_not_finite(words: list[str], vectors: Matrix, first: int, collector: Collector) -> tuple[list[str], Matrix]:
    """Leave out rows with NaN or infinite values and report them as records `first`, `first` + 1 and so on."""
    finite: NDArray[np.bool_] = np.asarray(np.isfinite(vectors).all(axis=1))
    if finite.all():
        return words, vectors
    for row in np.flatnonzero(~finite):
        collector.skip(first + int(row), "NaN or infinite value")
    return [word for word, good in zip(words, finite, strict=True) if good], vectors[finite]
