"""fastText's binary models: memory-mapped, every size checked against the size of the file."""

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
from lnmap.io.collect import Collector, Matrix
from lnmap.io.formats.reader import MOST_DIMENSIONS, Reader, decode
from lnmap.io.source import ByteSource

FASTTEXT_MAGIC = struct.pack("<i", 793712314)
_VERSIONS = (11, 12)
_SUPERVISED = 3
_ARGUMENTS = struct.Struct("<12id")
_DICTIONARY = struct.Struct("<iiiqq")
_END_OF_SENTENCE = b"</s>"
_BLOCK = 1024
_LONGEST_NGRAM = 1000
_FNV_OFFSET, _FNV_PRIME = np.uint32(2166136261), np.uint32(16777619)


class FasttextReader(Reader):
    """Read the vectors of all words of a model."""

    format = "fasttext"
    mapped = True

    def __init__(self, source: ByteSource, model: SubwordModel) -> None:
        super().__init__(source)
        self.model = model

    @classmethod
    def recognise(cls, source: ByteSource) -> Reader | None:
        """Recognise the magic number."""
        if source.peek(len(FASTTEXT_MAGIC)) != FASTTEXT_MAGIC:
            return None
        if source.compression or not source.regular:
            raise VectorFileError(f"{source.path} is a packed fastText model; unpack it and give the .bin file")
        return cls(source, SubwordModel(source.path))

    def read(self, collector: Collector) -> dict[str, Any]:
        """Add the words block by block."""
        model = self.model
        wanted = min(len(model), collector.options.line_limit or len(model))
        stop = 0
        for start in range(0, wanted, _BLOCK):
            stop = min(start + _BLOCK, wanted)
            collector.add_checked(model.words[start:stop], model.vectors(start, stop), start + 1)
            self.source.advance((self.source.size or 0) * (stop - start) / wanted)
            if collector.full:
                break
        return {"lines": stop, "header_words": len(model)}


class SubwordModel:
    """Words and character n-grams of a fastText model, with vectors for known and unknown words.

    :param path: an unquantised `.bin` file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            with self.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                self._header = _parse_header(data, self.path)
        except (OSError, ValueError, struct.error) as error:
            reason = "it is cut short" if isinstance(error, struct.error) else error
            raise VectorFileError(f"cannot read the fastText model {self.path}: {reason}; fetch it again") from error
        self._names = self._header.names
        self._matrix = np.asarray(np.memmap(self.path, "<f4", "r", self._header.place, self._header.shape))
        self.words = [decode(name) for name in self._names]
        self._index = {word: row for row, word in enumerate(self.words)}

    @property
    def dim(self) -> int:
        """Number of coordinates of a vector."""
        return self._header.shape[1]

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._index

    def vector(self, word: str) -> NDArray[np.float32]:
        """Return the vector of any word: an unknown one is the mean of its n-grams, zero if it has none."""
        row = self._index.get(word)
        if row is not None:
            return self.vectors(row, row + 1)[0]
        _, rows = self._ngram_rows([word.encode("utf-8", "surrogateescape")])
        if not len(rows):
            return np.zeros(self.dim, np.float32)
        return np.asarray(self._matrix[rows].mean(axis=0), dtype=np.float32)

    def vectors(self, start: int, stop: int) -> Matrix:
        """Return the vectors of the words in rows `start` to `stop`: the mean of a word's row and its n-grams' rows."""
        names = self._names[start:stop]
        own = np.arange(start, start + len(names))
        owner, rows = self._ngram_rows(names)
        spelt = np.array([name != _END_OF_SENTENCE for name in names], dtype=bool)  # that one has no letters
        owner, rows = owner[spelt[owner]], rows[spelt[owner]]
        if not len(rows):
            return np.array(self._matrix[own], dtype=np.float32)
        order = np.argsort(np.concatenate([np.arange(len(names)), owner]), kind="stable")
        gathered = self._matrix[np.concatenate([own, rows])[order]]
        counts = 1 + np.bincount(owner, minlength=len(names))
        sums = np.add.reduceat(gathered, np.cumsum(counts) - counts, axis=0)
        return np.asarray(sums / counts[:, None], dtype=np.float32)

    def _ngram_rows(self, names: Sequence[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the words that the n-grams belong to, and the n-grams' matrix rows."""
        if not self._header.bucket:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        owner, hashes = ngram_hashes(names, self._header.minn, self._header.maxn)
        return owner, len(self._names) + (hashes % np.uint32(self._header.bucket)).astype(np.int64)


@dataclass(frozen=True)
class _Header:
    names: list[bytes]  # of the words, in matrix order; the rows of the n-grams follow
    minn: int
    maxn: int
    bucket: int  # number of n-gram rows, 0 without n-grams
    place: int  # bytes before the matrix
    shape: tuple[int, int]


def _parse_header(data: mmap.mmap, path: Path) -> _Header:
    """Parse what stands before the matrix; ValueError or struct.error if it contradicts itself or the file's size."""
    magic, version = struct.unpack_from("<4si", data)
    if magic != FASTTEXT_MAGIC or version not in _VERSIONS:
        raise VectorFileError(f"{path} is a fastText file of version {version}; versions 11 and 12 can be read")
    dim, _, _, _, _, _, _, model, bucket, minn, maxn, _, _ = _ARGUMENTS.unpack_from(data, 8)
    place = 8 + _ARGUMENTS.size
    size, nwords, nlabels, _, pruned = _DICTIONARY.unpack_from(data, place)
    sane = 0 < dim <= MOST_DIMENSIONS and bucket >= 0 and maxn <= _LONGEST_NGRAM
    if not sane or size != nwords + nlabels or nlabels < 0 or not 0 < nwords <= len(data) // 10:
        raise ValueError(f"its {len(data):,} bytes cannot hold {nwords} words of {dim} values")
    names, place = _parse_names(data, place + _DICTIONARY.size, size)
    if len(names) != nwords:
        raise ValueError(f"it promises {nwords} words and holds {len(names)}")
    place += 8 * max(pruned, 0)
    if place >= len(data):
        raise ValueError("it is cut short before its matrix")
    if data[place]:
        raise VectorFileError(
            f"{path} is a quantised fastText model (.ftz), which holds no exact vectors; give the .bin or .vec file"
        )
    rows, columns = struct.unpack_from("<qq", data, place + 1)
    place += 17
    if rows <= 0 or columns <= 0 or place + 4 * rows * columns > len(data):
        raise ValueError(f"it promises {rows} x {columns} values and is cut short after {len(data):,} bytes")
    if maxn <= 0 or pruned == 0 or (version == 11 and model == _SUPERVISED):  # those had no n-grams of characters
        bucket = 0
    if columns != dim or rows < nwords + bucket or (bucket and rows > nwords + bucket):
        raise ValueError(f"its matrix is {rows} x {columns} for {nwords} words, {bucket} n-grams and {dim} values")
    return _Header(names, minn, maxn, bucket, place, (rows, columns))


def _parse_names(data: mmap.mmap, place: int, size: int) -> tuple[list[bytes], int]:
    """Return the words among the dictionary's entries, each a name, NUL, a count of 8 bytes and a kind of 1 byte."""
    names = []
    for _ in range(size):
        end = data.find(b"\0", place)
        if end < 0 or end + 10 > len(data):
            raise ValueError("it is cut short in its dictionary")
        if data[end + 9] == 0:  # a word, not a label
            names.append(data[place:end])
        place = end + 10
    return names, place


def ngram_hashes(words: Sequence[bytes], shortest: int, longest: int) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Hash the n-grams of `<word>` for each word as fastText does: (row of the word, hash), ordered by word.

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
    value = np.full(len(place), _FNV_OFFSET)
    size = np.zeros(len(place), np.int64)
    rows, hashes = [np.empty(0, np.int64)], [np.empty(0, np.uint32)]
    while len(place):
        value = (value ^ mixed[place]) * _FNV_PRIME
        place = place + 1
        whole = is_start[place]
        size = size + whole
        at_end = place == ends[row]
        counts = whole & (size >= shortest) & ~((size == 1) & (first | at_end))
        rows.append(row[counts])
        hashes.append(value[counts])
        grows = ~at_end & ~(whole & (size >= longest))
        place, row, first, value, size = place[grows], row[grows], first[grows], value[grows], size[grows]
    found = np.concatenate(rows)
    order = np.argsort(found, kind="stable")
    return found[order], np.concatenate(hashes)[order]
