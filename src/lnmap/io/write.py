"""Writing: word vectors to a file or folder, whole or in blocks, never half."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from lnmap.embeddings import Embeddings
from lnmap.errors import OptionError, OutputError
from lnmap.io.atomic import atomic_file, atomic_folder, writing
from lnmap.io.collect import Matrix
from lnmap.io.formats import binary_rows, text_rows
from lnmap.io.objects import as_embeddings
from lnmap.io.store import StoreWriter, refuse_existing, save_store

Format = Literal["vec", "bin", "store", "npz"]
Blocks = Iterable[tuple[Sequence[str], Matrix]]

FORMATS: tuple[Format, ...] = ("vec", "bin", "store", "npz")
_BLOCK = 4096


def write(embeddings: Any, path: str | Path, format: Format = "vec") -> None:
    """Write embeddings or gensim KeyedVectors.

    As word2vec text (`vec`), word2vec binary (`bin`), a `store` folder or numpy archive (`npz`).
    A name that ends in `.gz`, `.bz2` or `.xz` is compressed.
    """
    embeddings = as_embeddings(embeddings)
    if format == "store":
        save_store(embeddings, path)
        return
    write_stream(path, format, len(embeddings), embeddings.dim, _blocks(embeddings))


def write_stream(path: str | Path, format: Format, n: int, dim: int, blocks: Blocks) -> None:
    """Write `n` words of `dim` coordinates that come as blocks (words, matrix), holding one block at a time."""
    path = Path(path)
    if format not in FORMATS:
        raise OptionError(f"unknown format {format!r}; use one of: {', '.join(FORMATS)}")
    checked = _checked(blocks, n, dim)
    if format == "store":
        _write_store(path, dim, checked)
    elif format == "npz":
        _write_npz(path, n, dim, checked)
    else:
        _write_rows(path, n, dim, checked, text_rows if format == "vec" else binary_rows)


def _blocks(embeddings: Embeddings) -> Iterator[tuple[Sequence[str], Matrix]]:
    for start in range(0, len(embeddings), _BLOCK):
        yield embeddings.words[start : start + _BLOCK], embeddings.vectors[start : start + _BLOCK]


def _checked(blocks: Blocks, n: int, dim: int) -> Iterator[tuple[Sequence[str], Matrix]]:
    """Pass blocks on as contiguous float32 and see that they are as many as was said."""
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
    path: Path,
    n: int,
    dim: int,
    blocks: Iterator[tuple[Sequence[str], Matrix]],
    rows: Callable[[Sequence[str], Matrix], bytes],
) -> None:
    if path.is_dir():
        raise OutputError(f"{path} is a folder; give the name of a file")
    with atomic_file(path) as raw, _compressed(raw, path) as file:
        file.write(f"{n} {dim}\n".encode("ascii"))
        for words, vectors in blocks:
            file.write(rows(words, vectors))


@contextmanager
def _compressed(raw: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    """Give a file that compresses as the suffix says."""
    if path.suffix == ".gz":
        file: Any = gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6, mtime=0)
    elif path.suffix in (".bz2", ".xz"):
        file = bz2.BZ2File(raw, "wb") if path.suffix == ".bz2" else lzma.LZMAFile(raw, "wb")  # noqa: SIM115
    else:
        yield raw
        return
    with file:
        yield file


def _write_store(path: Path, dim: int, blocks: Iterator[tuple[Sequence[str], Matrix]]) -> None:
    refuse_existing(path)
    with atomic_folder(path) as work:
        writer = StoreWriter(work, dim)
        words: list[str] = []
        try:
            for names, vectors in blocks:
                words += names
                writer.add(vectors)
            writer.finish(words, {})
        finally:
            writer.close()


def _write_npz(path: Path, n: int, dim: int, blocks: Iterator[tuple[Sequence[str], Matrix]]) -> None:
    words: list[str] = []
    with writing("the file", path), atomic_file(path) as raw, zipfile.ZipFile(raw, "w", zipfile.ZIP_STORED) as archive:
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
