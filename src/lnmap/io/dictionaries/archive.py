"""Zip archives that are dictionaries of several files, read with bounds on what they unpack to."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lnmap.errors import LexiconError
from lnmap.io.dictionaries.contract import MOST_BYTES

_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_MOST_FILES = 10_000
_MOST_RATIO, _HARMLESS = 100, 4 << 20  # words pack to a tenth or so
_CHUNK = 1 << 20
_BROKEN = (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile, RuntimeError, KeyError, NotImplementedError)


class Archive:
    """An open archive; `read` refuses to unpack more than a dictionary can hold."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self.path, self._file = path, file
        self.names = [name for name in file.namelist() if not name.endswith("/")]
        self._unpacked = 0

    def read(self, name: str) -> bytes:
        """Return a file of the archive."""
        return b"".join(self.pieces(name))

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield a file of the archive piece by piece."""
        unpacked = 0
        try:
            packed = self._file.getinfo(name).compress_size
            with self._file.open(name) as member:
                while piece := member.read(_CHUNK):
                    unpacked += len(piece)
                    self._unpacked += len(piece)
                    if self._unpacked > MOST_BYTES or unpacked > max(_HARMLESS, _MOST_RATIO * packed):
                        raise LexiconError(
                            f"{name} in {self.path} unpacks to more than a dictionary holds; unpack it yourself if "
                            "you trust it"
                        )
                    yield piece
        except _BROKEN as reason:
            raise LexiconError(f"cannot unpack {name} from {self.path} ({reason}); fetch it again") from reason


@contextmanager
def opened(path: Path) -> Iterator[Archive | None]:
    """Open a zip archive; None for any other file, and for one that is broken, which its reader will say."""
    archive = _open(path) if path.is_file() else None  # what is read from a pipe is gone
    if archive is None:
        yield None
        return
    with archive:
        if len(archive.namelist()) > _MOST_FILES:
            raise LexiconError(f"{path} holds more than {_MOST_FILES:,} files; this is no dictionary")
        yield Archive(path, archive)


def _open(path: Path) -> zipfile.ZipFile | None:
    try:
        with path.open("rb") as file:
            return zipfile.ZipFile(path) if file.read(4) in _MAGIC else None
    except _BROKEN:
        return None
