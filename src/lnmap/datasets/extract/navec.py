"""Word vectors of navec: quantised, with the count of every word."""

from __future__ import annotations

import gzip
import zlib

import numpy as np
from numpy.typing import NDArray

from lnmap.datasets.extract.archives import LARGEST_MEMBER, Package, tar_member

_UNSEEN = {"<unk>", "<pad>"}


def navec_vectors(package: Package, archive: str, count: int) -> tuple[list[str], NDArray[np.float32]]:
    """Read the `count` words seen most often, and their vectors, out of an archive in the package."""
    data = package.read(f"/{archive}")
    words, counts = _vocabulary(tar_member(data, "vocab.bin"))
    order = np.argsort(-counts.astype(np.int64), kind="stable")
    rows = np.array([row for row in order if words[row] not in _UNSEEN][:count])
    return [words[row] for row in rows], _vectors(tar_member(data, "pq.bin"), rows)


def _vocabulary(packed: bytes) -> tuple[list[str], NDArray[np.uint32]]:
    """Read a number of words, their counts (both 32 bits) and the words, a line each."""
    try:
        inflater = zlib.decompressobj(wbits=31)
        data = inflater.decompress(packed, LARGEST_MEMBER)
    except (zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"broken vocabulary: {error}") from error
    size = int(np.frombuffer(data, "<u4", 1)[0])
    counts = np.frombuffer(data, "<u4", size, offset=4)
    words = data[4 + 4 * size :].decode("utf-8").split("\n")
    if len(words) != size:
        raise ValueError(f"broken vocabulary: {size:,} counts but {len(words):,} words")
    return words, counts


def _vectors(data: bytes, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Put vectors together: a word has one of the centroids for each part of its coordinates."""
    n, dim, parts, centroids = (int(value) for value in np.frombuffer(data, "<u4", 4))
    chosen = np.frombuffer(data, np.uint8, n * parts, offset=16).reshape(n, parts)[rows]
    table = np.frombuffer(data, "<f4", offset=16 + n * parts).reshape(parts, centroids, dim // parts)
    return table[np.arange(parts), chosen].reshape(len(rows), dim).astype(np.float32)
