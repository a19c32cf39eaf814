"""Word vectors of spaCy models, read without spaCy."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lnmap.datasets.archives import read_member

Matrix = NDArray[np.float32]
_BLOCK = 4096
_M, _MASK = 0xC6A4A7935BD1E995, (1 << 64) - 1


def trained_words(package: Path, most: int) -> tuple[list[str], Matrix]:
    """Read the `most` first words of a model and their vectors; the order is that of frequency.

    An `md` model gives hundreds of thousands of words one of 20 000 vectors. The first word that points to a vector is
    the one that it was trained for; the others only borrow it and are left out.
    """
    table = _table(package)
    owners: dict[int, int] = {}
    for key, row in _unpack(read_member(package, "vocab/key2row")).items():
        if 0 <= row < len(table):
            owners.setdefault(row, key)
    names = _names(package)
    found = [(names[key], row) for row, key in owners.items() if key in names][:most]
    return [word for word, _ in found], table[[row for _, row in found]]


def floret_words(package: Path, most: int) -> tuple[list[str], Matrix]:
    """Read the `most` most probable words of a model, and compute their vectors from hashed character n-grams."""
    settings = json.loads(read_member(package, "vocab/vectors.cfg"))
    if settings.get("mode") != "floret":
        raise ValueError(f"expected vectors of mode 'floret', found {settings.get('mode')!r}")
    probabilities, names = _unpack(read_member(package, "vocab/lookups.bin"))["lexeme_prob"], _names(package)
    known = sorted((-value, names[key]) for key, value in probabilities.items() if key in names)
    words, table = [word for _, word in known[:most]], _table(package)
    found = np.empty((len(words), table.shape[1]), dtype=np.float32)
    for start in range(0, len(words), _BLOCK):
        block = [list(_pieces(word, settings)) for word in words[start : start + _BLOCK]]
        found[start : start + len(block)] = _means(table, block, settings)
    return words, found


def string_hash(text: bytes) -> int:
    """Hash text as spaCy names its strings: MurmurHash64A with seed 1, which no kept library offers to Python."""
    whole = len(text) // 8 * 8
    state = 1 ^ (len(text) * _M & _MASK)
    for (word,) in struct.iter_unpack("<Q", text[:whole]):
        word = word * _M & _MASK
        state = (state ^ ((word ^ word >> 47) * _M & _MASK)) * _M & _MASK
    if whole < len(text):
        state = (state ^ int.from_bytes(text[whole:], "little")) * _M & _MASK
    state = (state ^ state >> 47) * _M & _MASK
    return state ^ state >> 47


def _means(table: Matrix, pieces: list[list[bytes]], settings: dict[str, Any]) -> Matrix:
    """Average the rows of each word's pieces; a piece has up to four rows, one per 32 bits of its hash."""
    import mmh3

    seed, per_piece = int(settings["hash_seed"]), int(settings["hash_count"])
    hashes = b"".join(mmh3.hash_bytes(piece, seed, x64arch=True) for word in pieces for piece in word)
    rows = np.frombuffer(hashes, "<u4").reshape(-1, 4)[:, :per_piece] % np.uint32(len(table))  # (pieces, per_piece)
    counts = np.array([len(word) for word in pieces])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    sums = np.add.reduceat(table[rows].sum(axis=1), starts, axis=0)  # (words, dim)
    return (sums / (counts[:, None] * per_piece)).astype(np.float32)


def _pieces(word: str, settings: dict[str, Any]) -> Iterator[bytes]:
    """Yield the word with its borders, and its n-grams."""
    bordered = f"{settings['bow']}{word}{settings['eow']}"
    yield bordered.encode("utf-8")
    for length in range(int(settings["minn"]), int(settings["maxn"]) + 1):
        for start in range(len(bordered) - length + 1):
            yield bordered[start : start + length].encode("utf-8")


def _table(package: Path) -> Matrix:
    table = np.load(io.BytesIO(read_member(package, "vocab/vectors")), allow_pickle=False)
    if table.ndim != 2 or table.dtype != np.float32 or not len(table):
        raise ValueError(f"expected a matrix of float32, found {table.dtype} of shape {table.shape}")
    return np.ascontiguousarray(table)


def _names(package: Path) -> dict[int, str]:
    """Map the hash of each of the model's strings to the string."""
    words = json.loads(read_member(package, "vocab/strings.json"))
    return {string_hash(word.encode("utf-8", "surrogatepass")): word for word in words}


def _unpack(data: bytes) -> Any:
    import msgpack

    return msgpack.unpackb(data, strict_map_key=False)
