"""Bombs: small files that are large once opened, and archives with paths out of their folder."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import IO, Any

from tests.soak.figures import Budget, Figures, repeated
from tests.soak.lab import Lab
from tests.soak.targets import fasttext

HANG_S = 10.0
MEMORY_MB = 200.0
_PIECE = 1 << 20
_OPENERS: dict[str, Callable[..., Any]] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}


def _packed(kind: str, head: bytes, unit: bytes, megabytes: int) -> Callable[[Path], None]:
    """Make a packed file that repeats one unit."""

    def make(path: Path) -> None:
        with _OPENERS[kind](path, "wb") as file:
            file.write(head)
            for _ in range(megabytes):
                file.write(unit * (_PIECE // len(unit)))

    return make


def _bytes(data: bytes) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.write_bytes(data)

    return make


def _sparse(head: bytes, size: int) -> Callable[[Path], None]:
    """Make a file whose zeros take no space on the disk."""

    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.write(head)
            file.truncate(size)

    return make


def _zip_bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.vec", "w", force_zip64=True) as f:
        for _ in range(200):
            f.write(b"a" * _PIECE)


def _nested(path: Path) -> None:
    data = b"a 1 2\n"
    for _ in range(30):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.zip", data)
        data = buffer.getvalue()
    path.write_bytes(data)


def _many_members(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(30_000):
            archive.writestr(f"{number}", b"")


def _laughs() -> bytes:
    """Return ten YAML lists, each of which holds the one before nine times."""
    lists = [b"a: &a [x,x,x,x,x,x,x,x,x]\n"]
    for letter in range(97, 107):
        lists.append(b"%c: &%c [%s]\n" % (letter + 1, letter + 1, b",".join([b"*%c" % letter] * 9)))
    return b"".join(lists)


_LIES = b"1000000000000 300\nthe " + b"0.5 " * 300 + b"\n"
_BINARY_LIES = b"1000000000000 300\nthe " + bytes(1200) + b"\n"
_MANY = fasttext().replace(b"\3\0\0\0\3", b"\xff\xff\xff\x7f\xff")
_WIDE = b"1000 99999\nthe " + b"1 " * 20 + b"\n"
# name: its reader (see `open_file`), and how it is made
FILES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "gzip of one line": ("vectors", _packed("gzip", b"", b"a", 200)),
    "gzip of the same word": ("vectors", _packed("gzip", b"", b"a 1 2\n", 60)),
    "bzip2 of one line": ("vectors", _packed("bzip2", b"", b"a", 60)),
    "xz of one line": ("vectors", _packed("xz", b"", b"a", 200)),
    "zip of one line": ("vectors", _zip_bomb),
    "dictionary in gzip, one line": ("dictionary", _packed("gzip", b"", b"a", 200)),
    "dictionary in gzip, one pair": ("dictionary", _packed("gzip", b"", b"a b\n", 60)),
    "dictionary in xz, blank lines": ("dictionary", _packed("xz", b"", b"\n", 60)),
    "header of 10^12 rows": ("vectors", _bytes(_LIES)),
    "header of 10^12 rows, binary": ("vectors", _bytes(_BINARY_LIES)),
    "header of 99 999 dimensions": ("vectors", _bytes(_WIDE)),
    "fastText that promises 2^31 words": ("vectors", _bytes(_MANY)),
    "line of 1 GB of zeros": ("vectors", _sparse(b"a 1 2\nb ", 1 << 30)),
    "binary of 1 GB of zeros": ("vectors", _sparse(b"1000000000 300\nthe ", 1 << 30)),
    "dictionary with 1 GB of zeros": ("dictionary", _sparse(b"a b\n", 1 << 30)),
    "zip in zip, 30 deep": ("vectors", _nested),
    "zip of 30 000 files": ("vectors", _many_members),
    "manifest nested 100 000 deep": ("model", _bytes(b"[" * 100_000)),
    "table nested 100 000 deep": ("table", _bytes(b"[" * 100_000)),
    "table of references to references": ("table", _bytes(_laughs())),
    "tar with a link": ("archive", lambda path: _tar(path, link="/etc/passwd")),
    "tar with ..": ("archive", lambda path: _tar(path, name="../../a.vec")),
    "tar with /": ("archive", lambda path: _tar(path, name="/tmp/a.vec")),
    "tar with a device": ("archive", lambda path: _tar(path, kind=tarfile.CHRTYPE)),
    "zip with ..": ("archive", lambda path: _zip_named(path, "../a.vec")),
    "zip with a link": ("archive", lambda path: _zip_named(path, "a.vec", 0xA1ED0000)),
    "zip that unpacks to more than it may": ("archive", lambda path: _zip_large(path)),
}


def _tar(path: Path, name: str = "a.vec", link: str = "", kind: bytes = b"") -> None:
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.type = tarfile.SYMTYPE if link else kind or tarfile.REGTYPE
        info.linkname = link
        info.size = 4 if info.type == tarfile.REGTYPE else 0
        archive.addfile(info, io.BytesIO(b"data"))


def _zip_named(path: Path, name: str, attributes: int = 0) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = attributes
        archive.writestr(info, b"data")


def _zip_large(path: Path) -> None:
    """Make an archive that unpacks to more than `open_file` allows."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.vec", "w") as file:
        for _ in range(150):
            file.write(bytes(_PIECE))


def open_file(reader: str, path: str) -> str:
    """Read a bomb; called in a process of its own."""
    from tests.soak import targets

    from lnmap.errors import LnmapError

    def unpack(place: Path) -> None:
        from lnmap.datasets.archives import read_member

        read_member(place, "a.vec", most_bytes=50 << 20)

    readers: dict[str, Callable[[Path], None]] = {
        "vectors": targets.check_vectors,
        "dictionary": targets.check_dictionary,
        "table": targets.check_table,
        "model": targets.check_manifest,
        "archive": unpack,
    }
    try:
        readers[reader](Path(path))
    except LnmapError as error:
        return str(error)
    return "read"


def bombs(lab: Lab, budget: Budget) -> Figures:
    """Read every bomb once."""
    figures = Figures()
    for name, (reader, make) in FILES.items():
        path = lab.fresh()
        make(path)
        with figures.attempt():
            _defuse(lab, figures, name, reader, path)
        path.unlink()
    return figures


def _defuse(lab: Lab, figures: Figures, name: str, reader: str, path: Path) -> None:
    ended = lab.launcher.call("tests.soak.bombs:open_file", reader, str(path), limit_s=120)
    held = 2 * path.stat().st_blocks * 512 / 2**20 + MEMORY_MB
    figures.worst_mb = max(figures.worst_mb, ended.grown_mb)
    figures.count("most processor time, s", round(ended.cpu_s, 2))
    if ended.code or "Traceback" in ended.err:
        raise AssertionError(f"{name}: signal {ended.signal}, {(ended.err.strip().splitlines() or ['?'])[-1]}")
    if ended.grown_mb > held:
        raise AssertionError(f"{name}: {ended.grown_mb:.0f} MB of memory for a file of {path.stat().st_size:,} bytes")
    if ended.cpu_s > HANG_S:
        raise AssertionError(f"{name}: {ended.cpu_s:.0f} s of processor time")
    if {entry.name for entry in path.parent.iterdir()} - {path.name, "model"}:
        raise AssertionError(f"{name}: a file was written outside its folder")
    figures.count("read" if ended.out.strip() == '"read"' else "refused")


@contextmanager
def _pipe(path: Path, write: Callable[[IO[bytes]], None]) -> Iterator[None]:
    """Feed a named pipe from a thread; the reader may close it at any time."""
    os.mkfifo(path)

    def feed() -> None:
        with suppress(BrokenPipeError), path.open("wb") as file:
            write(file)

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join(30)


def _endless(file: IO[bytes]) -> None:
    file.write(b"a 1 2\nb ")
    for _ in range(1024):
        file.write(b"7" * _PIECE)
    file.write(b" 1 2\nc 3 4\n")


@repeated
def long_line(lab: Lab, rng: Random, figures: Figures) -> None:
    """A line of 1 GB comes through a pipe; the words around it are read."""
    path = lab.fresh()
    with _pipe(path, _endless):
        ended = lab.launcher.call("tests.soak.bombs:read_pipe", str(path), limit_s=120)
    figures.worst_mb = max(figures.worst_mb, ended.grown_mb)
    if ended.out.strip() != '["a", "c"]':
        raise AssertionError(f"{ended.out} {ended.err[-200:]}")
    if ended.grown_mb > MEMORY_MB:
        raise AssertionError(f"{ended.grown_mb:.0f} MB of memory")
    figures.count("most processor time, s", round(ended.cpu_s, 2))


def read_pipe(path: str) -> list[str]:
    """Read words from a pipe; called in a process of its own."""
    from lnmap.io import read

    return list(read(path, cache=False).words)
