"""Vectors of words outside the vocabulary, made from the subwords of the fastText model it was read from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, LnmapError, VectorFileError
from lnmap.io import SubwordModel

_PACKED = (".gz", ".bz2", ".xz")
_CHECKED = 20  # words whose vectors must be those of the vocabulary


class VectorSource(Protocol):
    """Anything that has a vector for any word."""

    def vector(self, word: str) -> NDArray[np.float32]:
        """Vector of the word, (d,); zeros where nothing of it is known."""


class _GensimSource:
    """A gensim FastTextKeyedVectors, which knows subwords."""

    def __init__(self, keyed: Any) -> None:
        self._keyed = keyed

    def vector(self, word: str) -> NDArray[np.float32]:
        """Vector of the word, or of its n-grams."""
        try:
            return np.asarray(self._keyed.get_vector(word), dtype=np.float32)
        except KeyError:  # too short for n-grams
            return np.zeros(self._keyed.vector_size, np.float32)


class SpeltWords:
    """Vectors of unknown words of one language.

    :param source: a path of a fastText `.bin`, a SubwordModel, or a gensim FastText model or its KeyedVectors.
    :param embeddings: the vocabulary; the source must be what its vectors were read from.
    """

    def __init__(self, source: Any, embeddings: Embeddings) -> None:
        self._source = _open(source)
        self._lower = embeddings.origin.get("policy") == "muse"
        self._check(embeddings)

    def vector(self, word: str) -> NDArray[np.float32] | None:
        """Vector of a word by its spelling; None where no part of it is known."""
        found = self._source.vector(word.lower() if self._lower else word)
        return found if found.any() and np.isfinite(found).all() else None

    def _check(self, embeddings: Embeddings) -> None:
        """Refuse subwords of other vectors; lower-casing may have changed a word, so only most must agree."""
        words = list(embeddings.words[:_CHECKED])
        found = [self._source.vector(word) for word in words]
        if found[0].shape != (embeddings.dim,):
            raise InputError(
                f"the subword vectors have {found[0].shape[0]} values, those of the vocabulary {embeddings.dim}"
            )
        same = sum(np.allclose(a, embeddings[word], atol=1e-4) for a, word in zip(found, words, strict=True))
        if same * 2 < len(words):
            raise InputError(
                f"the subword vectors are not those the vocabulary was read from: {same} of {len(words)} words agree"
            )


def is_subword_source(source: object) -> bool:
    """Whether an object in memory has vectors of unknown words."""
    return isinstance(source, SubwordModel) or hasattr(getattr(source, "wv", source), "vectors_ngrams")


def find_subwords(embeddings: Embeddings) -> SpeltWords | None:
    """Open the fastText file that a vocabulary was read from, or the one beside it, if it is there and the same.

    fastText and `lnmap vectors` write `xx.vec` and `xx.bin` with the same vectors.
    """
    name = embeddings.origin.get("path")
    if not name:
        return None
    path = Path(name)
    if embeddings.origin.get("format") != "fasttext":
        plain = path.with_suffix("") if path.suffix in _PACKED else path
        path = plain.with_suffix(".bin")
        if plain.suffix != ".vec":
            return None
    if not path.is_file():
        return None
    try:
        return SpeltWords(path, embeddings)
    except LnmapError:
        return None


def _open(source: Any) -> VectorSource:
    if isinstance(source, SubwordModel):
        return source
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if not path.is_file():
            raise VectorFileError(f"there is no file {path}; give the fastText .bin that the model was made from")
        return SubwordModel(path)
    if is_subword_source(source):
        return _GensimSource(getattr(source, "wv", source))
    raise InputError(f"{type(source).__name__} knows no subwords; give a fastText .bin or gensim FastText vectors")
