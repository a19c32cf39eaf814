"""Writing word vectors to a file or folder, whole or in blocks."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any, Literal, get_args

import numpy as np

from lnmap.errors import OptionError, OutputError
from lnmap.io.atomic import atomic_file
from lnmap.io.collect import Matrix
from lnmap.io.formats.store import save_store, write_store
from lnmap.io.memory import as_embeddings

Format = Literal["vec", "bin", "store", "npz"]
Blocks = Iterable[tuple[Sequence[str], Matrix]]

FORMATS: tuple[Format, ...] = get_args(Format)

# What a reader would split, join or strip: such words do not come back as they were.
_NOT_IN_TEXT = re.compile(r"[\n\t]|^ | $|  |^$")
_NOT_IN_BINARY = re.compile(r" |^\n|^$")


def write(embeddings: Any, path: str | Path, format: Format = "vec") -> None:
    """Write embeddings or gensim KeyedVectors.

    As word2vec text (`vec`), word2vec binary (`bin`), a `store` folder or numpy archive (`npz`).
    A name that ends in `.gz`, `.bz2` or `.xz` is compressed.
    """
    embeddings = as_embeddings(embeddings)
    if format == "store":
        save_store(embeddings, path)
    else:
        write_stream(path, format, len(embeddings), embeddings.dim, embeddings.blocks())


def write_stream(path: str | Path, format: Format, n: int, dim: int, blocks: Blocks) -> None:
    """Write `n` words of `dim` coordinates that come as blocks (words, matrix), holding one block at a time."""
    path = Path(path)
    if format not in FORMATS:
        raise OptionError(f"unknown format {format!r}; use one of: {', '.join(FORMATS)}")
    checked = _checked(blocks, n, dim)
    if format == "store":
        write_store(path, checked)
    elif format == "npz":
        _write_npz(path, n, dim, checked)
    else:
        _write_rows(path, n, dim, checked, text_rows if format == "vec" else binary_rows)


def _checked(blocks: Blocks, n: int, dim: int) -> Iterator[tuple[Sequence[str], Matrix]]:
    """Pass blocks on as contiguous float32 and check that they hold what was announced."""
    seen = 0
    for words, vectors in blocks:
        matrix = np.ascontiguousarray(vectors, dtype=np.float32)
        if matrix.shape != (len(words), dim):
            raise OutputError(
                f"a block of {len(words)} words has vectors of shape {matrix.shape}; expected {dim} columns"
            )
        seen += len(words)
        yield words, matrix
    if seen != n:
        raise OutputError(f"{n:,} words were announced but {seen:,} came; nothing was written")


def _write_rows(
    path: Path, n: int, dim: int, blocks: Blocks, as_bytes: Callable[[Sequence[str], Matrix], bytes]
) -> None:
    if path.is_dir():
        raise OutputError(f"{path} is a folder; give the name of a file")
    with atomic_file(path) as raw, _compressed(raw, path.suffix) as file:
        file.write(f"{n} {dim}\n".encode("ascii"))
        for words, vectors in blocks:
            file.write(as_bytes(words, vectors))


def _compressed(raw: IO[bytes], suffix: str) -> AbstractContextManager[IO[bytes]]:
    if suffix == ".gz":  # without a name and a time the same vectors give the same bytes
        return gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0)  # type: ignore[return-value]
    if suffix == ".bz2":
        return bz2.BZ2File(raw, "wb")
    return lzma.LZMAFile(raw, "wb") if suffix == ".xz" else nullcontext(raw)


def text_rows(words: Sequence[str], vectors: Matrix) -> bytes:
    """Return lines of a word and its numbers, with the fewest digits that give the same float32 back."""
    names = _encoded(words, _NOT_IN_TEXT, "a text file")
    try:
        import polars
    except ImportError:
        numbers = [(" %.9g" * len(row) % tuple(row)).encode("ascii") for row in vectors.tolist()]
    else:
        table = polars.DataFrame(vectors, schema=[str(column) for column in range(vectors.shape[1])])
        text: Any = table.write_csv(include_header=False, separator=" ")
        numbers = [b" " + line for line in text.encode("ascii").split(b"\n")]
    return b"".join(part for name, row in zip(names, numbers, strict=False) for part in (name, row, b"\n"))


def binary_rows(words: Sequence[str], vectors: Matrix) -> bytes:
    """Return records of a word, a blank, float32 numbers and a line feed, as word2vec writes them."""
    names = _encoded(words, _NOT_IN_BINARY, "a word2vec binary file")
    rows = vectors.astype("<f4", copy=False)
    return b"".join(part for name, row in zip(names, rows, strict=True) for part in (name, b" ", row.tobytes(), b"\n"))


def _encoded(words: Sequence[str], unfit: re.Pattern[str], what: str) -> list[bytes]:
    """Encode words; refuse those that the format cannot hold."""
    for word in words:
        if unfit.search(word):
            raise OutputError(f"{what} cannot hold the word {word!r}; write a store instead")
    try:
        return [word.encode("utf-8", "surrogateescape") for word in words]
    except UnicodeEncodeError as error:
        raise OutputError(f"{what} cannot hold the word {error.object!r}; write a store instead") from error


def _write_npz(path: Path, n: int, dim: int, blocks: Blocks) -> None:
    words: list[str] = []
    with atomic_file(path) as raw, zipfile.ZipFile(raw, "w", zipfile.ZIP_STORED) as archive:
        with archive.open("vectors.npy", "w", force_zip64=True) as member:
            fields = {"descr": "<f4", "fortran_order": False, "shape": (n, dim)}
            np.lib.format.write_array_header_1_0(member, fields)
            for names, vectors in blocks:
                words += names
                member.write(vectors.astype("<f4", copy=False).data)
        cut = next((word for word in words if word.endswith("\0")), None)
        if cut is not None:
            raise OutputError(f"numpy would cut the end off the word {cut!r}; write a store instead")
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, np.array(words, dtype=np.str_), allow_pickle=False)
        archive.writestr("words.npy", buffer.getbuffer())
