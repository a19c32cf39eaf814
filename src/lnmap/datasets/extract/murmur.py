"""Murmur hashes of many byte strings at once, as spaCy uses them to name words and rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

_M = np.uint64(0xC6A4A7935BD1E995)
_C1, _C2 = np.uint64(0x87C37B91114253D5), np.uint64(0x4CF5AD432745937F)
_MASK = (1 << 64) - 1


def murmur64a(texts: Sequence[bytes], seed: int = 1) -> Hashes:
    """Give the 64-bit hash (MurmurHash2, 64A) of each text."""
    return _by_length(texts, lambda block: _hash64a(block, seed), ())


def murmur128(texts: Sequence[bytes], seed: int) -> Hashes:
    """Give the two 64-bit halves of the 128-bit hash (MurmurHash3, x64) of each text, shape (n, 2)."""
    return _by_length(texts, lambda block: _hash128(block, seed), (2,))


def _by_length(texts: Sequence[bytes], hashed: Callable[[NDArray[np.uint8]], Hashes], shape: tuple[int, ...]) -> Hashes:
    """Hash texts of equal length together."""
    groups: dict[int, list[int]] = defaultdict(list)
    for row, text in enumerate(texts):
        groups[len(text)].append(row)
    found = np.empty((len(texts), *shape), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for length, rows in groups.items():
            joined = b"".join(texts[row] for row in rows)
            found[rows] = hashed(np.frombuffer(joined, dtype=np.uint8).reshape(len(rows), length))
    return found


def _words(block: NDArray[np.uint8], start: int, end: int) -> Hashes:
    """Read bytes start..end of each row as little-endian numbers, filled up with zeros to 8 bytes a number."""
    width = -(-(end - start) // 8) * 8
    padded = np.zeros((len(block), width), dtype=np.uint8)
    padded[:, : end - start] = block[:, start:end]
    return padded.view("<u8").astype(np.uint64, copy=False)


def _hash64a(block: NDArray[np.uint8], seed: int) -> Hashes:
    length = block.shape[1]
    state = np.full(len(block), (seed ^ (length * int(_M))) & _MASK, dtype=np.uint64)
    whole = length - length % 8
    for word in _words(block, 0, whole).T:
        word = word * _M
        word = (word ^ (word >> np.uint64(47))) * _M
        state = (state ^ word) * _M
    if length % 8:
        state = (state ^ _words(block, whole, length)[:, 0]) * _M
    state = (state ^ (state >> np.uint64(47))) * _M
    return state ^ (state >> np.uint64(47))


def _hash128(block: NDArray[np.uint8], seed: int) -> Hashes:
    length = block.shape[1]
    low = np.full(len(block), seed, dtype=np.uint64)
    high = low.copy()
    whole = length - length % 16
    words = _words(block, 0, whole)
    for column in range(0, words.shape[1], 2):
        low ^= _mixed(words[:, column], _C1, 31, _C2)
        low = (_turn(low, 27) + high) * np.uint64(5) + np.uint64(0x52DCE729)
        high ^= _mixed(words[:, column + 1], _C2, 33, _C1)
        high = (_turn(high, 31) + low) * np.uint64(5) + np.uint64(0x38495AB5)
    rest = _words(block, whole, length)
    if rest.shape[1] == 2:
        high ^= _mixed(rest[:, 1], _C2, 33, _C1)
    if rest.shape[1]:
        low ^= _mixed(rest[:, 0], _C1, 31, _C2)
    low ^= np.uint64(length)
    high ^= np.uint64(length)
    low = low + high
    high = high + low
    low, high = _finished(low), _finished(high)
    low = low + high
    return np.stack([low, high + low], axis=1)


def _turn(value: Hashes, bits: int) -> Hashes:
    return (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))


def _mixed(value: Hashes, first: Any, bits: int, second: Any) -> Hashes:
    return _turn(value * first, bits) * second


def _finished(value: Hashes) -> Hashes:
    value = (value ^ (value >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    value = (value ^ (value >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(33))
