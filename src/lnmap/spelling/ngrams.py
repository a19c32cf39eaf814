"""What two words share as strings, as vectors whose cosines can be added to those of their meanings.

A word becomes the character n-grams of its folded form (Latin letters without accents), each weighted by how rare it is
in its language and hashed into a few hundred columns. Names, loans and cognates are then close to each other, whatever
their vectors say; between unrelated words the cosine is near zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnmap.direction import Side
from lnmap.spelling.folding import fold

COLUMNS = 512
_LENGTHS = (2, 3, 4, 5)
_BUCKETS = 1 << 18  # n-grams are counted by hash
_BLOCK = 8192
_FIRST, _LAST = "\x02", "\x03"  # mark where a word begins and ends


class Spelling:
    """How words of two languages are turned into columns.

    :param weight: what the cosine of spellings counts for, where that of meanings counts one.
    :param rarity: of each hashed n-gram in each language, (buckets,).
    :param width: columns.
    """

    def __init__(self, weight: float, rarity: dict[Side, Tensor], width: int = COLUMNS) -> None:
        self.weight, self.rarity, self.width = weight, rarity, width

    @classmethod
    def of(cls, source: Sequence[str], target: Sequence[str], weight: float = 1.0, width: int = COLUMNS) -> Spelling:
        """Count the n-grams of two vocabularies."""
        sides = zip(Side, (source, target), strict=True)
        return cls(weight, {side: torch.from_numpy(_rarity(words)) for side, words in sides}, width)

    def columns(self, side: Side, words: Sequence[str]) -> Tensor:
        """Describe words of one language: shape (n, width), of length sqrt(weight)."""
        rarity, width = self.rarity[side].numpy(), self.width
        blocks = [_columns(words[i : i + _BLOCK], rarity, width) for i in range(0, len(words), _BLOCK)]
        found = torch.from_numpy(np.concatenate(blocks) if blocks else np.zeros((0, width), np.float32))
        return torch.nn.functional.normalize(found, dim=1) * math.sqrt(self.weight)

    def weighing(self, weight: float) -> Spelling:
        """Return the same with another weight."""
        return Spelling(weight, self.rarity, self.width)

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return everything needed to rebuild it."""
        return {"weight": self.weight, "width": self.width}, {
            f"rarity.{side}": rarity for side, rarity in self.rarity.items()
        }

    @classmethod
    def from_state(cls, values: dict[str, Any], tensors: dict[str, Tensor]) -> Spelling:
        """Rebuild from `state()`."""
        rarity = {side: tensors[f"rarity.{side}"].cpu() for side in Side}
        return cls(float(values["weight"]), rarity, int(values.get("width", COLUMNS)))


def _hashes(words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the row and the hash of every n-gram."""
    marked = [_FIRST + fold(word) + _LAST for word in words]
    codes = np.frombuffer("".join(marked).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    rows = np.repeat(np.arange(len(words)), [len(word) for word in marked])
    found_rows, found = [], []
    rolling = codes.copy()
    for n in range(2, min(max(_LENGTHS), len(codes)) + 1):
        rolling = rolling[:-1] * np.uint64(0x100000001B3) + codes[n - 1 :]
        if n in _LENGTHS:
            inside = rows[n - 1 :] == rows[: len(rows) - n + 1]
            found_rows.append(rows[: len(rows) - n + 1][inside])
            found.append(_mixed(rolling[inside] + np.uint64(n)))
    return np.concatenate(found_rows or [rows]), np.concatenate(found or [codes])


def _mixed(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread the bits of hashes (the finaliser of splitmix64)."""
    hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return hashes ^ (hashes >> np.uint64(31))


def _rarity(words: Sequence[str]) -> NDArray[np.float32]:
    """log(words / occurrences) of each hashed n-gram, never negative."""
    counts = np.zeros(_BUCKETS, np.int64)
    for start in range(0, len(words), _BLOCK):
        counts += np.bincount(_bucket(_hashes(words[start : start + _BLOCK])[1]), minlength=_BUCKETS)
    return np.log(np.maximum(len(words), 1) / np.maximum(counts, 1)).clip(0).astype(np.float32)


def _bucket(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    return (hashes % np.uint64(_BUCKETS)).astype(np.int64)


def _columns(words: Sequence[str], rarity: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """Sum the n-grams of each word into columns, each with a sign of its own."""
    rows, hashes = _hashes(words)
    column = ((hashes >> np.uint64(20)) % np.uint64(width)).astype(np.int64)
    signed = np.where(hashes >> np.uint64(63), 1.0, -1.0) * rarity[_bucket(hashes)]
    sums = np.bincount(rows * width + column, weights=signed, minlength=len(words) * width)
    return sums.reshape(len(words), width).astype(np.float32)
