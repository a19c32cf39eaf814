"""The store: a folder of vectors (safetensors), vocabulary (JSON) and a description (JSON), loaded by mapping."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, OptionError, OutputError, VectorFileError
from lnmap.io.atomic import atomic_folder
from lnmap.io.collect import Matrix

FORMAT = "lnmap-embeddings"
VERSION = 1
DESCRIPTION, VECTORS, VOCABULARY = "embeddings.json", "vectors.safetensors", "vocabulary.json"
StoreType = Literal["float32", "float16"]

_TENSOR = "vectors"
_TYPES = {"float32": "F32", "float16": "F16"}
_HEADER_BYTES = 256  # reserved first, filled in when the number of rows is known
_LONGEST_HEADER = 1 << 20


class StoreWriter(AbstractContextManager["StoreWriter"]):
    """Write a store, block by block, into a folder that exists."""

    def __init__(self, folder: Path, dtype: StoreType = "float32") -> None:
        if dtype not in _TYPES:
            raise OptionError(f"a store cannot hold {dtype!r}; use {' or '.join(_TYPES)}")
        self.folder, self.dtype = folder, dtype
        self.rows = self.dim = 0
        self._file = (folder / VECTORS).open("wb")
        self._file.write(b" " * _HEADER_BYTES)

    def add(self, vectors: Matrix) -> None:
        """Append rows."""
        with np.errstate(over="ignore"):
            rows = np.ascontiguousarray(vectors, dtype=np.dtype(self.dtype).newbyteorder("<"))
        if self.dtype == "float16" and not np.isfinite(rows).all():
            raise OutputError("some values are too large for float16; store float32")
        self._file.write(rows.data)
        self.rows, self.dim = self.rows + len(rows), rows.shape[1]

    def finish(self, words: Sequence[str], origin: Mapping[str, Any]) -> None:
        """Write the vocabulary and the description, and flush all to the disk."""
        self._file.seek(0)
        self._file.write(self._header())
        _sync(self._file)
        vocabulary = json.dumps(list(words), ensure_ascii=True).encode("ascii")
        _write(self.folder / VOCABULARY, vocabulary)
        description = {
            "format": FORMAT,
            "version": VERSION,
            "shape": [self.rows, self.dim],
            "dtype": self.dtype,
            "vectors_bytes": (self.folder / VECTORS).stat().st_size,
            "vocabulary_sha256": hashlib.sha256(vocabulary).hexdigest(),
            "origin": dict(origin),
        }
        _write(self.folder / DESCRIPTION, json.dumps(description, indent=1, ensure_ascii=True, default=str).encode())

    def _header(self) -> bytes:
        """Return the safetensors header, padded with blanks to its reserved size."""
        end = self.rows * self.dim * np.dtype(self.dtype).itemsize
        fields = {_TENSOR: {"dtype": _TYPES[self.dtype], "shape": [self.rows, self.dim], "data_offsets": [0, end]}}
        text = json.dumps(fields, separators=(",", ":")).encode("ascii").ljust(_HEADER_BYTES - 8)
        return len(text).to_bytes(8, "little") + text

    def __exit__(self, *_: object) -> None:
        self._file.close()


def write_store(
    folder: Path,
    blocks: Iterable[tuple[Sequence[str], Matrix]],
    origin: Mapping[str, Any] | None = None,
    dtype: StoreType = "float32",
) -> None:
    """Write blocks of words and vectors as a store; the folder must not exist yet."""
    refuse_existing(folder)
    words: list[str] = []
    with atomic_folder(folder) as work, StoreWriter(work, dtype) as writer:
        for names, vectors in blocks:
            words += names
            writer.add(vectors)
        writer.finish(words, origin or {})


def save_store(embeddings: Embeddings, folder: str | Path, dtype: StoreType = "float32") -> None:
    """Write embeddings as a store; the folder must not exist yet."""
    write_store(Path(folder), embeddings.blocks(), embeddings.origin, dtype)


def refuse_existing(folder: Path) -> None:
    """Raise OutputError, before any work, if a folder is in the way."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise OutputError(f"{folder} exists already; choose another name or remove it first")


def is_store(folder: Path) -> bool:
    """Return whether a folder looks like a store."""
    return (folder / DESCRIPTION).is_file()


def load_store(
    folder: str | Path, origin: Mapping[str, Any] | None = None, fingerprint: str | None = None
) -> Embeddings:
    """Load a store; float32 vectors stay on the disk until they are used.

    :param origin: replaces fields of the stored origin.
    :param fingerprint: of words and vectors that were checked before; the vectors are not read.
    """
    folder = Path(folder)
    if not is_store(folder):
        found = f"there is no {DESCRIPTION} in it" if folder.is_dir() else "there is no such folder"
        raise VectorFileError(f"{folder} is no store of word vectors: {found}; give a vector file or a store folder")
    try:
        description = _load_description(folder)
        words = _load_words(folder, description)
        vectors = _map_vectors(folder / VECTORS, description)
        origin = {**description["origin"], **(origin or {})}
        if fingerprint is not None and description["dtype"] == "float32" and len(words) == len(vectors):
            return Embeddings.checked(words, vectors, origin, fingerprint)
        return Embeddings(words, vectors, origin)
    except VectorFileError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RecursionError, InputError) as error:
        raise VectorFileError(f"the store {folder} is broken ({error}); write it again") from error


def _load_description(folder: Path) -> dict[str, Any]:
    description = json.loads((folder / DESCRIPTION).read_bytes())
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise VectorFileError(f"{folder / DESCRIPTION} does not describe a store of word vectors; write it again")
    if description.get("version") != VERSION:
        raise VectorFileError(
            f"the store {folder} has version {description.get('version')!r}, this program reads {VERSION}; "
            "write it again with this program or read it with a newer one"
        )
    if not isinstance(description["origin"], dict) or description["dtype"] not in _TYPES:
        raise ValueError(f"{DESCRIPTION} has unknown fields")
    return description


def _load_words(folder: Path, description: Mapping[str, Any]) -> list[str]:
    raw = (folder / VOCABULARY).read_bytes()
    if hashlib.sha256(raw).hexdigest() != description["vocabulary_sha256"]:
        raise ValueError(f"{VOCABULARY} is not the file that was written")
    words = json.loads(raw)
    if not isinstance(words, list) or not {*map(type, words)} <= {str}:
        raise ValueError(f"{VOCABULARY} is not a list of words")
    return words


def _map_vectors(path: Path, description: Mapping[str, Any]) -> Matrix:
    """Map the tensor, after checking that description, header and file size agree."""
    rows, dim = (int(size) for size in description["shape"])
    size = path.stat().st_size
    if size != description["vectors_bytes"]:
        raise ValueError(f"{VECTORS} has {size:,} bytes instead of {description['vectors_bytes']:,}")
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > min(_LONGEST_HEADER, size - 8):
            raise ValueError(f"{VECTORS} has no header")
        tensor = json.loads(file.read(length))[_TENSOR]
    dtype = np.dtype(description["dtype"]).newbyteorder("<")
    end = rows * dim * dtype.itemsize
    agreed = tensor["dtype"] == _TYPES[description["dtype"]] and tensor["shape"] == [rows, dim]
    if not agreed or tensor["data_offsets"] != [0, end] or size != 8 + length + end:
        raise ValueError(f"{VECTORS} does not hold the {rows} x {dim} {description['dtype']} values described")
    mapped = np.memmap(
        path, dtype, "c", offset=8 + length, shape=(rows, dim)
    )  # a private map: torch refuses read-only ones
    found = np.asarray(mapped, dtype=np.float32)
    found.flags.writeable = found.base is None  # not where it is the map itself
    return found


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        _sync(file)


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())
