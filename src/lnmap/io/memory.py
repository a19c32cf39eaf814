"""Vectors that are in memory already: gensim KeyedVectors, (words, array), Embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np

from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, MissingExtraError
from lnmap.io.collect import Collector, Matrix, Rows
from lnmap.io.policy import ReadOptions, resolve


def from_arrays(words: Any, vectors: Any, options: ReadOptions, origin: dict[str, Any]) -> Embeddings:
    """Apply a reading policy to words and vectors in memory; what stays as it is is not copied."""
    rows = Rows()
    collector = Collector(options, rows.add)
    add_arrays(words, vectors, collector)
    return Embeddings(collector.words, rows.vectors, {**origin, **collector.report()})


def add_arrays(words: Any, vectors: Any, collector: Collector) -> None:
    """Add words and vectors to a collector as one block."""
    names, matrix = _as_words(words), _as_matrix(vectors)
    if len(names) != len(matrix):
        raise InputError(f"{len(names)} words but {len(matrix)} vectors; each word needs one vector")
    limit = collector.options.line_limit
    collector.add_checked(names[:limit], matrix[:limit], 1)


def from_gensim(vectors: Any, options: ReadOptions) -> Embeddings:
    """Take the words and vectors of a gensim KeyedVectors, or of a model that holds them."""
    vectors = getattr(vectors, "wv", vectors)
    return from_arrays(vectors.index_to_key, vectors.vectors, options, {"path": None, "format": type(vectors).__name__})


def is_gensim(source: object) -> bool:
    """Return whether an object holds words and vectors the way gensim does."""
    keyed = getattr(source, "wv", source)
    return hasattr(keyed, "index_to_key") and hasattr(keyed, "vectors")


def as_embeddings(source: Any) -> Embeddings:
    """Take Embeddings, or gensim KeyedVectors with their words as they stand."""
    if isinstance(source, Embeddings):
        return source
    if not is_gensim(source):
        raise InputError(f"cannot take word vectors from {type(source).__name__}; give Embeddings or KeyedVectors")
    return from_gensim(source, resolve("vecmap"))


def to_gensim(embeddings: Embeddings) -> Any:
    """Turn embeddings into gensim KeyedVectors."""
    try:
        from gensim.models import KeyedVectors
    except ImportError as error:
        raise MissingExtraError("gensim", "gensim", "turning vectors into KeyedVectors") from error
    keyed = KeyedVectors(vector_size=embeddings.dim, count=len(embeddings), dtype=np.float32)
    keyed.index_to_key = list(embeddings.words)
    keyed.key_to_index = dict(embeddings.index)
    keyed.vectors = np.array(embeddings.vectors)
    return keyed


def _as_words(words: Any) -> list[str]:
    if isinstance(words, np.ndarray):
        if words.ndim != 1 or words.dtype.kind not in "USO":
            raise InputError(f"words must be one row of strings, got {words.dtype} of shape {words.shape}")
        words = words.tolist()
    names = [word.decode("utf-8", "surrogateescape") if isinstance(word, bytes) else word for word in words]
    wrong = next((word for word in names if not isinstance(word, str)), None)
    if wrong is not None:
        raise InputError(f"words must be strings, got {type(wrong).__name__} {wrong!r}")
    return names


def _as_matrix(vectors: Any) -> Matrix:
    try:
        with np.errstate(over="ignore"):
            matrix = np.asarray(vectors)
            if matrix.dtype.kind not in "fiu":
                raise TypeError(f"they hold {matrix.dtype}")
            matrix = np.ascontiguousarray(matrix, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"vectors must be a matrix of numbers ({error})") from error
    if matrix.ndim != 2 or not matrix.size:
        raise InputError(f"vectors must be a matrix with a row for each word, got shape {matrix.shape}")
    return matrix
