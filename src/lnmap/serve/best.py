"""Best: the two best candidates of each word, found when they are asked for or in the background."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as dump_arrays
from torch import Tensor

from lnmap.errors import OutputError
from lnmap.io.atomic import atomic_file
from lnmap.retrieve import top_k

Rows = NDArray[np.int64]
Scores = NDArray[np.float32]
_UNKNOWN = -1
_MEMORY = 32 << 20  # bytes of scores of one request at a time
_WORK = 16 << 20  # bytes of scores of one step in the background: a small part of a second
_NAMES = ("rows", "first", "second")


@dataclass(frozen=True)
class Best:
    """Best candidates of some words: their rows, their scores, and the scores of the second best, each (n,)."""

    rows: Rows
    first: Scores
    second: Scores


class Table:
    """The best candidate of every query by `query . candidate + bias`, each found once.

    :param queries: shape (n, d).
    :param candidates: shape (m, d).
    :param bias: shape (m,).
    """

    def __init__(self, queries: Tensor, candidates: Tensor, bias: Tensor) -> None:
        self.queries, self.candidates, self.bias = queries, candidates, bias
        self._best = Best(
            np.full(len(queries), _UNKNOWN, dtype=np.int64),
            np.zeros(len(queries), dtype=np.float32),
            np.zeros(len(queries), dtype=np.float32),
        )

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def known(self) -> Rows:
        """Rows of the queries whose best candidate has been found."""
        return np.flatnonzero(self._best.rows != _UNKNOWN)

    @property
    def complete(self) -> bool:
        """Whether all have been found."""
        return bool((self._best.rows != _UNKNOWN).all())

    def peek(self, rows: Rows) -> Rows:
        """Rows of the best candidates as far as they are known, else -1."""
        return self._best.rows[rows]

    def look_up(self, rows: Rows) -> Best:
        """Give the best candidates of some queries; those not known yet are found now."""
        missing = np.unique(rows[self._best.rows[rows] == _UNKNOWN])
        if len(missing):
            scores, found = self.search(missing, 2)
            self._best.second[missing] = scores[:, -1].numpy()
            self._best.first[missing] = scores[:, 0].numpy()
            self._best.rows[missing] = found[:, 0].numpy()  # last: who sees a row may trust its scores
        return Best(self._best.rows[rows], self._best.first[rows], self._best.second[rows])

    @torch.no_grad()
    def search(self, rows: Rows, k: int) -> tuple[Tensor, Tensor]:
        """Scores and rows of the k best candidates of some queries, each of shape (queries, k)."""
        return top_k(self.queries[torch.from_numpy(rows)], self.candidates, k, self.bias, memory=_MEMORY)

    def steps(self) -> Iterator[None]:
        """Find everything that is missing, most frequent words first, a small step at a time."""
        step = max(1, min(256, _WORK // (4 * len(self.candidates))))
        for start in range(0, len(self), step):
            self.look_up(np.arange(start, min(start + step, len(self))))
            yield

    def load(self, path: Path) -> bool:
        """Take what an earlier server kept; anything that does not fit counts as nothing."""
        with suppress(OSError, SafetensorError, KeyError, ValueError):
            arrays = load_arrays(path.read_bytes())
            fits = all(arrays[name].shape == (len(self),) for name in _NAMES)
            if fits and arrays["rows"].min() >= 0 and arrays["rows"].max() < len(self.candidates):
                self._best = Best(*(arrays[name].copy() for name in _NAMES))
                return True
        return False

    def keep(self, path: Path) -> None:
        """Keep everything for the next server; it does no harm when that fails."""
        with suppress(OutputError, OSError), atomic_file(path) as file:
            file.write(dump_arrays({name: getattr(self._best, name) for name in _NAMES}))
