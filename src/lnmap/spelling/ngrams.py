"""What two words share as strings, as vectors whose cosines can be added to those of their meanings.

A word becomes the character n-grams of its folded form (Latin letters without accents), each weighted by how rare it is
in its language and hashed into a few hundred columns. Names, loans and cognates are then close to each other, whatever
their vectors say; between unrelated words the cosine is near zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lnmap.direction import Side
from lnmap.spelling.folding import fold

COLUMNS = 512
_LENGTHS = (2, 3, 4, 5)
_BUCKETS = 1 << 18  # n-grams are counted by hash
_BLOCK = 8192
_FIRST, _LAST = "\x02", "\x03"  # mark where a word begins and ends
_PRIME = 0x100000001B3
_FACTORS = 0xBF58476D1CE4E5B9 - (1 << 64), 0x94D049BB133111EB - (1 << 64)  # of 64 bits, as signed numbers


class Spelling:
    """How words of two languages are turned into columns.

    :param weight: what the cosine of spellings counts for, where that of meanings counts one.
    :param rarity: of each hashed n-gram in each language, (buckets,).
    :param width: columns.
    """

    def __init__(self, weight: float, rarity: dict[Side, Tensor], width: int = COLUMNS) -> None:
        self.weight, self.rarity, self.width = weight, rarity, width

    @classmethod
    def of(
        cls,
        source: Sequence[str],
        target: Sequence[str],
        weight: float = 1.0,
        width: int = COLUMNS,
        device: torch.device | str = "cpu",
    ) -> Spelling:
        """Count the n-grams of two vocabularies."""
        sides, where = zip(Side, (source, target), strict=True), _computing(device)
        return cls(weight, {side: _rarity(words, where) for side, words in sides}, width)

    def columns(self, side: Side, words: Sequence[str]) -> Tensor:
        """Describe words of one language: shape (n, width), of length sqrt(weight)."""
        rarity, width = self.rarity[side], self.width
        blocks = [_columns(words[i : i + _BLOCK], rarity, width) for i in range(0, len(words), _BLOCK)]
        found = torch.cat(blocks) if blocks else rarity.new_zeros(0, width)
        return torch.nn.functional.normalize(found, dim=1) * math.sqrt(self.weight)

    def to(self, device: torch.device | str) -> Spelling:
        """Compute on a device from now on, if it can."""
        self.rarity = {side: rarity.to(_computing(device)) for side, rarity in self.rarity.items()}
        return self

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


def _computing(device: torch.device | str) -> torch.device:
    """Return where n-grams are counted: not every device has float64."""
    return torch.device(device) if torch.device(device).type == "cuda" else torch.device("cpu")


def _hashes(words: Sequence[str], device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the row and the hash of every n-gram of some words."""
    marked = [_FIRST + fold(word) + _LAST for word in words]
    written = bytearray("".join(marked).encode("utf-32-le", "surrogatepass"))
    codes = torch.frombuffer(written, dtype=torch.int32).to(device).long()
    lengths = torch.tensor([len(word) for word in marked], device=device)
    rows = torch.arange(len(words), device=device).repeat_interleave(lengths)
    found_rows, found = [], []
    rolling = codes
    for n in range(2, min(max(_LENGTHS), len(codes)) + 1):
        rolling = rolling[:-1] * _PRIME + codes[n - 1 :]
        if n in _LENGTHS:
            inside = rows[n - 1 :] == rows[: len(rows) - n + 1]
            found_rows.append(rows[: len(rows) - n + 1][inside])
            found.append(_mixed(rolling[inside] + n))
    return torch.cat(found_rows), torch.cat(found)


def _mixed(hashes: Tensor) -> Tensor:
    """Spread the bits of hashes (the finaliser of splitmix64)."""
    hashes = (hashes ^ _shifted(hashes, 30)) * _FACTORS[0]
    hashes = (hashes ^ _shifted(hashes, 27)) * _FACTORS[1]
    return hashes ^ _shifted(hashes, 31)


def _shifted(hashes: Tensor, bits: int) -> Tensor:
    """Shift to the right, zeros coming in: torch brings in the sign."""
    return (hashes >> bits) & ((1 << (64 - bits)) - 1)


def _rarity(words: Sequence[str], device: torch.device) -> Tensor:
    """log(words / occurrences) of each hashed n-gram, never negative."""
    counts = torch.zeros(_BUCKETS, dtype=torch.long, device=device)
    for start in range(0, len(words), _BLOCK):
        hashes = _hashes(words[start : start + _BLOCK], device)[1]
        counts += torch.bincount(hashes % _BUCKETS, minlength=_BUCKETS)
    return (max(len(words), 1) / counts.double().clamp_min(1)).log().clamp_min(0).float()


def _columns(words: Sequence[str], rarity: Tensor, width: int) -> Tensor:
    """Sum the n-grams of each word into columns, each with a sign of its own."""
    rows, hashes = _hashes(words, rarity.device)
    column = _shifted(hashes, 20) % width
    signed = torch.where(hashes < 0, 1.0, -1.0) * rarity[hashes % _BUCKETS]
    sums = torch.bincount(rows * width + column, signed.double(), minlength=len(words) * width)
    return sums.reshape(len(words), width).float()
