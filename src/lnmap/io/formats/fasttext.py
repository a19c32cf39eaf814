"""fastText's binary models: read with numpy, memory-mapped, checked against the size of the file."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lnmap.errors import VectorFileError
from lnmap.io.collect import Collector, drop_not_finite
from lnmap.io.sniff import FASTTEXT_MAGIC, MOST_DIMENSIONS
from lnmap.io.subwords import ngram_hashes
from lnmap.progress import Progress

_VERSIONS = (11, 12)
_SUPERVISED = 3
_END_OF_SENTENCE = b"</s>"
_BLOCK = 1024
_LONGEST_NGRAM = 1000


@dataclass(frozen=True)
class _Header:
    dim: int
    bucket: int
    minn: int
    maxn: int
    pruned: bool


class SubwordModel:
    """Words and character n-grams of a fastText model; gives vectors for known and unknown words.

    :param path: an unquantised `.bin` file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            with self.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                self._header, self._names, place = _parse(data, self.path)
                rows, dim, place = _matrix_shape(data, place, self.path)
        except (OSError, ValueError) as error:
            raise VectorFileError(f"cannot read the fastText model {self.path}: {error}; fetch it again") from error
        except struct.error as error:
            raise VectorFileError(f"{self.path} is a fastText model cut short; fetch it again") from error
        if dim != self._header.dim or rows < len(self._names):
            raise VectorFileError(
                f"{self.path} promises {len(self._names)} words of {self._header.dim} values but holds a matrix of "
                f"{rows} x {dim}; fetch it again"
            )
        if self._has_subwords and rows != len(self._names) + self._header.bucket:
            raise VectorFileError(
                f"{self.path} holds {rows} rows; expected {len(self._names)} words and {self._header.bucket} n-grams"
            )
        self._matrix = np.asarray(np.memmap(self.path, "<f4", "r", offset=place, shape=(rows, dim)))
        self.words = [name.decode("utf-8", "surrogateescape") for name in self._names]
        self._index = {word: row for row, word in enumerate(self.words)}

    @property
    def dim(self) -> int:
        """Number of coordinates of a vector."""
        return self._header.dim

    @property
    def _has_subwords(self) -> bool:
        return self._header.maxn > 0 and self._header.bucket > 0 and not self._header.pruned

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._index

    def vector(self, word: str) -> NDArray[np.float32]:
        """Give the vector of any word: an unknown one is the mean of its n-grams, zero when it has none."""
        row = self._index.get(word)
        if row is not None:
            return self.vectors(row, row + 1)[0]
        _, rows = self._ngram_rows([word.encode("utf-8", "surrogateescape")])
        if not len(rows):
            return np.zeros(self.dim, np.float32)
        return np.asarray(self._matrix[rows].mean(axis=0), dtype=np.float32)

    def vectors(self, start: int, stop: int) -> NDArray[np.float32]:
        """Give the vectors of the words in rows `start` to `stop`: the mean of a word's row and its n-grams' rows."""
        names = self._names[start:stop]
        own = np.arange(start, start + len(names))
        # The end of a sentence is no word that has letters.
        owner, rows = self._ngram_rows([b"" if name == _END_OF_SENTENCE else name for name in names])
        spelt = np.array([name != _END_OF_SENTENCE for name in names], dtype=bool)
        kept = spelt[owner]
        owner, rows = owner[kept], rows[kept]
        if not len(rows):
            return np.array(self._matrix[own], dtype=np.float32)
        order = np.argsort(np.concatenate([np.arange(len(names)), owner]), kind="stable")
        gathered = self._matrix[np.concatenate([own, rows])[order]]
        counts = 1 + np.bincount(owner, minlength=len(names))
        sums = np.add.reduceat(gathered, np.cumsum(counts) - counts, axis=0)
        return np.asarray(sums / counts[:, None], dtype=np.float32)

    def _ngram_rows(self, names: Sequence[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give the matrix rows of the words' n-grams, and whose they are."""
        if not self._has_subwords:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        owner, hashes = ngram_hashes(names, self._header.minn, self._header.maxn)
        return owner, len(self._names) + (hashes % np.uint32(self._header.bucket)).astype(np.int64)


def read_model(model: SubwordModel, collector: Collector, progress: Progress) -> dict[str, Any]:
    """Feed the words of a model to a collector, block by block, and report on the reading."""
    options = collector.options
    wanted = len(model) if options.limit_counts == "words" else min(len(model), options.limit or len(model))
    stop = 0
    with progress.task(f"reading {model.path.name}", wanted) as task:
        for start in range(0, wanted, _BLOCK):
            stop = min(start + _BLOCK, wanted)
            words, vectors = drop_not_finite(model.words[start:stop], model.vectors(start, stop), start + 1, collector)
            collector.add(words, vectors)
            task.advance(stop - start)
            if collector.full:
                break
    return {"lines": stop, "header_words": len(model)}


def _parse(data: mmap.mmap, path: Path) -> tuple[_Header, list[bytes], int]:
    """Read what stands before the matrix: header, names of the words in matrix order, offset of the matrix."""
    magic, version = struct.unpack_from("<4si", data)
    if magic != FASTTEXT_MAGIC or version not in _VERSIONS:
        raise VectorFileError(f"{path} is a fastText file of version {version}; versions 11 and 12 can be read")
    dim, _, _, _, _, _, _, model, bucket, minn, maxn, _, _ = struct.unpack_from("<12id", data, 8)
    if version == 11 and model == _SUPERVISED:
        maxn = 0  # models of that version were trained without n-grams of characters
    place = 8 + struct.calcsize("<12id")
    size, nwords, nlabels, _, pruned = struct.unpack_from("<iiiqq", data, place)
    place += struct.calcsize("<iiiqq")
    sane = 0 < dim <= MOST_DIMENSIONS and bucket >= 0 and maxn <= _LONGEST_NGRAM
    if not sane or size != nwords + nlabels or nlabels < 0 or not 0 < nwords <= len(data) // 10:
        raise VectorFileError(f"{path} is a broken fastText model: {nwords} words of {dim} values; fetch it again")
    names = []
    for _ in range(size):
        end = data.find(b"\0", place)
        if end < 0 or end + 10 > len(data):
            raise VectorFileError(f"{path} is a fastText model cut short in its dictionary; fetch it again")
        if data[end + 9] == 0:
            names.append(data[place:end])
        place = end + 10
    if len(names) != nwords:
        raise VectorFileError(f"{path} promises {nwords} words but holds {len(names)}; fetch it again")
    place += 8 * max(pruned, 0)
    if place > len(data):
        raise VectorFileError(f"{path} is a fastText model cut short before its matrix; fetch it again")
    return _Header(dim, bucket, minn, maxn, pruned == 0), names, place


def _matrix_shape(data: mmap.mmap, place: int, path: Path) -> tuple[int, int, int]:
    """Read the matrix's shape and see that it lies within the file."""
    (quantised,) = struct.unpack_from("<?", data, place)
    if quantised:
        raise VectorFileError(
            f"{path} is a quantised fastText model (.ftz), which holds no exact vectors; give the .bin or .vec file"
        )
    rows, dim = struct.unpack_from("<qq", data, place + 1)
    place += 17
    if rows <= 0 or dim <= 0 or place + 4 * rows * dim > len(data):
        raise VectorFileError(
            f"{path} is cut short: it promises {rows} x {dim} values and ends after {len(data):,} bytes; fetch it again"
        )
    return rows, dim, place
