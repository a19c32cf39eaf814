"""Joining: several models of the same words become one with all their coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


def scaled(vectors: Vectors) -> Vectors:
    """Return vectors of mean length one."""
    return vectors * _scale(vectors)


def _scale(vectors: Vectors) -> np.float32:
    """Return what makes the mean length one; one where all are zero."""
    return np.float32(1 / (np.linalg.norm(vectors, axis=1).mean() or 1))


def joined(models: list[Any]) -> Any:
    """Join gensim models of the same words into one with all their coordinates, each model's of mean length one.

    A word is the mean of its own row and its subwords' rows, so joining the rows joins the vectors.
    """
    first = models[0]
    scales = [_scale(model.wv.vectors) for model in models]
    for name in ("vectors", "vectors_vocab", "vectors_ngrams"):
        parts = [getattr(model.wv, name) * scale for model, scale in zip(models, scales, strict=True)]
        setattr(first.wv, name, np.concatenate(parts, axis=1))
    first.syn1neg = np.concatenate([model.syn1neg for model in models], axis=1)
    first.vector_size = first.wv.vector_size = first.wv.vectors.shape[1]
    return first


def with_columns(model: Any, columns: Vectors) -> Any:
    """Put further coordinates (n, d) of the words into a model.

    A subword has the mean of the words that it occurs in, so that a word which the text does not have is taken for a
    word like those; the words' own rows make up the difference.
    """
    from scipy.sparse import csr_matrix

    words = model.wv
    owned = [len(rows) for rows in words.buckets_word]
    places = np.concatenate([[0], np.cumsum(owned)])
    rows = np.concatenate([*words.buckets_word, []]).astype(np.int64)
    parts = csr_matrix((np.ones(len(rows), dtype=np.float32), rows, places), (len(columns), len(words.vectors_ngrams)))
    occurs = np.asarray(parts.sum(axis=0)).ravel()
    ngrams = (parts.T @ columns) / np.maximum(occurs, 1)[:, None]
    own = columns * (1 + np.array(owned, dtype=np.float32))[:, None] - parts @ ngrams
    for name, more in (("vectors", columns), ("vectors_vocab", own), ("vectors_ngrams", ngrams)):
        setattr(words, name, np.concatenate([getattr(words, name), more.astype(np.float32)], axis=1))
    model.syn1neg = np.concatenate([model.syn1neg, np.zeros_like(columns)], axis=1)
    model.vector_size = words.vector_size = words.vectors.shape[1]
    return model
