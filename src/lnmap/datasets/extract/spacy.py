"""Word vectors of spaCy models, read without spaCy."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lnmap.datasets.extract.archives import Package
from lnmap.datasets.extract.msgpack import unpack
from lnmap.datasets.extract.murmur import murmur64a, murmur128

Matrix = NDArray[np.float32]
_BLOCK = 4096


def own_rows(package: Package) -> tuple[list[str], Matrix]:
    """Read a model's words and vectors, most frequent word first.

    A `md` model gives hundreds of thousands of words one of 20 000 vectors. The first word that points to a vector is
    the one it was trained for; the others only borrow it, and are left out.
    """
    table = _table(package)
    owners: dict[int, int] = {}
    for key, row in unpack(package.read("/vocab/key2row")).items():
        if 0 <= row < len(table):
            owners.setdefault(int(row), int(key))
    names = _names(package)
    found = [(names[key], row) for row, key in owners.items() if key in names]
    return [word for word, _ in found], table[[row for _, row in found]]


def frequent_words(package: Package) -> list[str]:
    """List the words that a model knows the probability of, most probable first."""
    probabilities = unpack(package.read("/vocab/lookups.bin"))["lexeme_prob"]
    names = _names(package)
    known = [(-value, names[key]) for key, value in probabilities.items() if key in names]
    return [word for _, word in sorted(known)]


def subword_vectors(package: Package, words: Sequence[str]) -> Matrix:
    """Compute the vectors of words in a model that keeps hashed character n-grams (floret)."""
    settings = json.loads(package.read("/vocab/vectors.cfg"))
    if settings.get("mode") != "floret":
        raise ValueError(f"expected vectors of mode 'floret', found {settings.get('mode')!r}")
    table = _table(package)
    found = np.empty((len(words), table.shape[1]), dtype=np.float32)
    for start in range(0, len(words), _BLOCK):
        block = words[start : start + _BLOCK]
        found[start : start + len(block)] = _means(table, [list(_pieces(word, settings)) for word in block], settings)
    return found


def _means(table: Matrix, pieces: list[list[bytes]], settings: dict[str, Any]) -> Matrix:
    """Average the rows of each word's pieces; a piece has up to four rows, its hash in parts of 32 bits."""
    halves = murmur128([piece for word in pieces for piece in word], int(settings["hash_seed"]))
    rows = halves.view("<u4")[:, : int(settings["hash_count"])] % np.uint32(len(table))
    summed = table[rows].sum(axis=1)
    counts = np.array([len(word) for word in pieces])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    sums = np.add.reduceat(summed, starts, axis=0)
    return (sums / (counts[:, None] * rows.shape[1])).astype(np.float32)


def _pieces(word: str, settings: dict[str, Any]) -> Iterator[bytes]:
    """Yield the word with its borders, and its n-grams."""
    bordered = f"{settings['bow']}{word}{settings['eow']}"
    yield bordered.encode("utf-8")
    for length in range(int(settings["minn"]), int(settings["maxn"]) + 1):
        for start in range(len(bordered) - length + 1):
            yield bordered[start : start + length].encode("utf-8")


def _table(package: Package) -> Matrix:
    table = np.load(io.BytesIO(package.read("/vocab/vectors")), allow_pickle=False)
    if table.ndim != 2 or table.dtype != np.float32 or not len(table):
        raise ValueError(f"expected a matrix of float32, found {table.dtype} of shape {table.shape}")
    return np.ascontiguousarray(table)


def _names(package: Package) -> dict[int, str]:
    """Map each word's hash to the word."""
    words = json.loads(package.read("/vocab/strings.json"))
    hashes = murmur64a([word.encode("utf-8", "surrogatepass") for word in words])
    return dict(zip(hashes.tolist(), words, strict=True))
