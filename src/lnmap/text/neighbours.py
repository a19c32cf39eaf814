"""Neighbours: numbers that say beside which words a word stands, from what training leaves over and from counts.

Skip-gram has a second vector per word, that of the word as a neighbour, which fastText throws away. Counts of the words
just left and right of a word know the grammar that its windows do not tell apart. Both are reduced to few numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lnmap.progress import Task
from lnmap.text.joining import Vectors, scaled

_NEAR = 2  # words on either side that are counted
_CONTEXTS = 10_000  # most frequent words that count as neighbours
_COUNTED = 100  # numbers that the counts are reduced to
_SMOOTHED = 0.75  # power of the neighbours' frequencies: rare neighbours would count too much
_SHARE = 0.5  # length of these numbers, where each window's have length one
_SPARE, _ITERATIONS = 20, 6  # of the subspace iteration
_BLOCK = 1_000_000  # words that are counted at once


def neighbour_vectors(
    lines: Iterable[Sequence[str]], words: Sequence[str], outputs: Sequence[Vectors], size: int, task: Task
) -> Vectors:
    """Return what is known of the neighbours of words (n), as vectors (n, size); fewer numbers of few words.

    :param lines: the text, in words.
    :param outputs: for each window, the vectors of the words as neighbours (n, d).
    :param task: advanced by the words of each line.
    """
    counted = _reduced_counts(_positive_information(_counts(lines, words, task)))
    parts = [np.float32(_SHARE) * scaled(part) for part in outputs]
    parts.append(np.float32(_SHARE * len(outputs) ** 0.5) * scaled(counted))
    return _components(np.concatenate(parts, axis=1), size)


def _counts(lines: Iterable[Sequence[str]], words: Sequence[str], task: Task) -> Any:
    """Count the words to the left of each word, then those to the right (n, 2 c); nearer ones count more."""
    from scipy.sparse import csr_matrix, hstack

    rows = {word: row for row, word in enumerate(words)}
    contexts = min(_CONTEXTS, len(words))
    sides = [csr_matrix((len(words), contexts), dtype=np.float64) for _ in range(2)]

    def add(block: list[int]) -> None:
        text = np.array(block, dtype=np.int64)
        for apart in range(1, _NEAR + 1):
            before, after = text[:-apart], text[apart:]
            for side, (word, near) in enumerate(((after, before), (before, after))):
                there = (word >= 0) & (near >= 0) & (near < contexts)
                ones = np.full(np.count_nonzero(there), 1 / apart)
                sides[side] = sides[side] + csr_matrix((ones, (word[there], near[there])), shape=sides[side].shape)

    block: list[int] = []
    for line in lines:
        block += [rows.get(word, -1) for word in line]
        block += [-1] * _NEAR
        task.advance(len(line))
        if len(block) >= _BLOCK:
            add(block)
            block = []
    add(block)
    return hstack(sides).tocsr()


def _positive_information(counts: Any) -> Any:
    """Return the positive pointwise mutual information of counts (n, c)."""
    from scipy.sparse import csr_matrix

    found = counts.tocoo()
    word = np.asarray(counts.sum(axis=1)).ravel()
    near = np.asarray(counts.sum(axis=0)).ravel() ** _SMOOTHED
    values = np.log(found.data * near.sum() / (word[found.row] * near[found.col]))
    kept = values > 0
    return csr_matrix((values[kept], (found.row[kept], found.col[kept])), shape=counts.shape)


def _reduced_counts(information: Any) -> Vectors:
    """Return the first singular vectors (n, k), times the root of their values, by subspace iteration.

    A Lanczos solver restarts from random vectors where the rank is low, and two runs would differ.
    """
    size = min(_COUNTED, *information.shape)
    start = np.random.default_rng(0).standard_normal((information.shape[1], min(size + _SPARE, *information.shape)))
    basis = np.linalg.qr(information @ start)[0]
    for _ in range(_ITERATIONS):
        basis = np.linalg.qr(information @ (information.T @ basis))[0]
    rest = information.T @ basis  # (2 c, k)
    values, axes = np.linalg.eigh(rest.T @ rest)  # squares of the singular values, the largest last
    kept = slice(-1, -1 - size, -1)
    return ((basis @ axes[:, kept]) * np.maximum(values[kept], 0) ** 0.25).astype(np.float32)


def _components(vectors: Vectors, size: int) -> Vectors:
    """Return the principal components (n, size) of vectors (n, d)."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)  # the largest last
    return np.ascontiguousarray(centred @ axes[:, ::-1][:, :size], dtype=np.float32)
