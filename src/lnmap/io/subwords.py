"""Character n-grams of words, hashed as fastText does, for many words at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_OFFSET_BASIS = np.uint32(2166136261)
_PRIME = np.uint32(16777619)


def ngram_hashes(words: Sequence[bytes], shortest: int, longest: int) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Hash the n-grams of `<word>` for each word: (row of the word, hash), ordered by word.

    An n-gram is `shortest` to `longest` characters of UTF-8; one character alone does not count at the word's ends.
    The hash is FNV-1a over bytes, except that each byte is sign-extended before it is mixed in.
    """
    text = np.frombuffer(b"".join(b"<%b>" % word for word in words), dtype=np.uint8)
    lengths = np.fromiter((len(word) + 2 for word in words), np.int64, len(words))
    ends = np.cumsum(lengths)
    owner = np.repeat(np.arange(len(words)), lengths)
    is_start = np.append((text & 0xC0) != 0x80, True)
    mixed = text.view(np.int8).astype(np.int32).view(np.uint32)

    place = np.flatnonzero(is_start[:-1])  # the next byte to mix in, for each n-gram that is growing
    row = owner[place]
    first = place == ends[row] - lengths[row]
    value = np.full(len(place), _OFFSET_BASIS)
    size = np.zeros(len(place), np.int64)
    found: list[tuple[NDArray[np.int64], NDArray[np.uint32]]] = []
    while len(place):
        value = (value ^ mixed[place]) * _PRIME
        place = place + 1
        whole = is_start[place]
        size = size + whole
        at_end = place == ends[row]
        counts = whole & (size >= shortest) & ~((size == 1) & (first | at_end))
        found.append((row[counts], value[counts]))
        grows = ~at_end & ~(whole & (size >= longest))
        place, row, first, value, size = place[grows], row[grows], first[grows], value[grows], size[grows]
    rows = np.concatenate([rows for rows, _ in found]) if found else np.empty(0, np.int64)
    hashes = np.concatenate([hashes for _, hashes in found]) if found else np.empty(0, np.uint32)
    order = np.argsort(rows, kind="stable")
    return rows[order], hashes[order]
