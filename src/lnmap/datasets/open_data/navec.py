"""Word vectors of navec: quantised, with the count of every word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lnmap.datasets.archives import gunzip, read_member

_ARCHIVE = "navec_hudlit_v1_12B_500K_300d_100q.tar"
_NO_WORDS = {"<unk>", "<pad>"}


def navec_words(package: Path, most: int) -> tuple[list[str], NDArray[np.float32]]:
    """Read the `most` words with the highest counts, and their vectors."""
    words, counts = _vocabulary(gunzip(read_member(package, _ARCHIVE, "vocab.bin")))
    order = np.argsort(-counts.astype(np.int64), kind="stable")
    rows = np.array([row for row in order if words[row] not in _NO_WORDS][:most])
    return [words[row] for row in rows], _vectors(read_member(package, _ARCHIVE, "pq.bin"), rows)


def _vocabulary(data: bytes) -> tuple[list[str], NDArray[np.uint32]]:
    """Read the number of words, their counts (both 32 bits) and the words, one per line."""
    size = int(np.frombuffer(data, "<u4", 1)[0])
    counts = np.frombuffer(data, "<u4", size, offset=4)
    words = data[4 + 4 * size :].decode("utf-8").split("\n")
    if len(words) != size:
        raise ValueError(f"broken vocabulary: {size:,} counts but {len(words):,} words")
    return words, counts


def _vectors(data: bytes, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Join vectors from centroids: a word has one centroid for each part of its coordinates."""
    n, dim, parts, centroids = (int(value) for value in np.frombuffer(data, "<u4", 4))
    chosen = np.frombuffer(data, np.uint8, n * parts, offset=16).reshape(n, parts)[rows]
    table = np.frombuffer(data, "<f4", offset=16 + n * parts).reshape(parts, centroids, dim // parts)
    return table[np.arange(parts), chosen].reshape(len(rows), dim).astype(np.float32)
