"""Vectors that are in memory already, or in numpy's archive: KeyedVectors, tuples, Embeddings, .npz."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, MissingExtraError, VectorFileError
from lnmap.io.collect import Collector, Matrix, drop_not_finite
from lnmap.io.options import ReadOptions, resolve


class _HoldingSink:
    """Hold the one block that comes, without a copy."""

    def __init__(self, dim: int) -> None:
        self.vectors: Matrix = np.empty((0, dim), np.float32)

    def add(self, vectors: Matrix) -> None:
        self.vectors = vectors


def apply(words: Any, vectors: Any, options: ReadOptions, origin: dict[str, Any]) -> Embeddings:
    """Apply a reading policy to words and vectors in memory; nothing is copied that stays as it is."""
    names = _as_words(words)
    matrix = _as_matrix(vectors)
    if len(names) != len(matrix):
        raise InputError(f"{len(names)} words but {len(matrix)} vectors; each word needs one vector")
    if options.limit is not None and options.limit_counts == "lines":
        names, matrix = names[: options.limit], matrix[: options.limit]
    sink = _HoldingSink(matrix.shape[1])
    collector = Collector(options, sink)
    kept, finite = drop_not_finite(names, matrix, 1, collector)
    collector.add(kept, finite)
    return Embeddings(collector.words, sink.vectors, {**origin, **collector.report()})


def from_gensim(vectors: Any, options: ReadOptions) -> Embeddings:
    """Take the words and vectors of a gensim KeyedVectors, or of a model that holds them."""
    vectors = getattr(vectors, "wv", vectors)
    return apply(vectors.index_to_key, vectors.vectors, options, {"path": None, "format": type(vectors).__name__})


def is_gensim(source: object) -> bool:
    """Say whether an object holds words and vectors the way gensim does."""
    keyed = getattr(source, "wv", source)
    return hasattr(keyed, "index_to_key") and hasattr(keyed, "vectors")


def as_embeddings(source: Any) -> Embeddings:
    """Take Embeddings, or gensim KeyedVectors with their words as they stand."""
    if isinstance(source, Embeddings):
        return source
    if not is_gensim(source):
        raise InputError(f"cannot take word vectors from {type(source).__name__}; give Embeddings or KeyedVectors")
    return from_gensim(source, resolve("vecmap", None))


def to_gensim(embeddings: Embeddings) -> Any:
    """Give the embeddings as gensim KeyedVectors."""
    try:
        from gensim.models import KeyedVectors
    except ImportError as error:
        raise MissingExtraError("gensim", "gensim", "turning vectors into KeyedVectors") from error
    keyed = KeyedVectors(vector_size=embeddings.dim, count=len(embeddings), dtype=np.float32)
    keyed.index_to_key = list(embeddings.words)
    keyed.key_to_index = dict(embeddings.index)
    keyed.vectors = np.array(embeddings.vectors)
    return keyed


def read_npz(path: Path, options: ReadOptions) -> Embeddings:
    """Read the arrays `words` and `vectors` of a numpy archive, without ever unpickling."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            found = sorted(archive.files)
            if not {"words", "vectors"} <= set(found):
                raise VectorFileError(f"{path} holds the arrays {found}; expected 'words' and 'vectors'")
            words, vectors = archive["words"], archive["vectors"]
    except VectorFileError:
        raise
    except Exception as error:  # numpy raises many kinds for a broken archive
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise VectorFileError(
            f"cannot read {path} as a numpy archive ({reason}); save it again with numpy.savez"
        ) from error
    try:
        return apply(words, vectors, options, {"path": str(path), "format": "npz"})
    except InputError as error:
        raise VectorFileError(f"{path}: {error}") from error


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
