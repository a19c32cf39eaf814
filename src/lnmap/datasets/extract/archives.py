"""Members of wheels and source archives, read without writing anything to the disk."""

from __future__ import annotations

import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lnmap.errors import DownloadError

LARGEST_MEMBER = 200 << 20  # no member we read is nearly as large


class Package:
    """A package file, whose members are found by how their names end."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, ending: str) -> bytes:
        """Read the one member whose name ends so."""
        with _explained(self.path):
            return self._zip(ending) if zipfile.is_zipfile(self.path) else self._tar(ending)

    def _zip(self, ending: str) -> bytes:
        with zipfile.ZipFile(self.path) as archive:
            name = _one(self.path, ending, archive.namelist())
            with archive.open(name) as member:
                return _bounded(self.path, name, member.read(LARGEST_MEMBER + 1))

    def _tar(self, ending: str) -> bytes:
        with tarfile.open(self.path) as archive:
            names = [member.name for member in archive if member.isfile()]
            name = _one(self.path, ending, names)
            member = archive.extractfile(name)
            if member is None:
                raise DownloadError(f"{name} in {self.path.name} is no file; fetch the package again")
            return _bounded(self.path, name, member.read(LARGEST_MEMBER + 1))


def tar_member(data: bytes, name: str) -> bytes:
    """Read a file out of a tar archive that is itself a member of a package."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            member = archive.extractfile(name)
            return b"" if member is None else member.read(LARGEST_MEMBER)
    except (tarfile.TarError, KeyError, OSError) as error:
        raise ValueError(f"broken archive: {error}") from error


def _one(path: Path, ending: str, names: list[str]) -> str:
    """Choose the shortest of the names that end so: copies of a file lie deeper."""
    found = sorted((name for name in names if f"/{name}".endswith(ending)), key=lambda name: (len(name), name))
    if not found:
        raise DownloadError(
            f"{path.name} holds no file {ending.lstrip('/')!r}; it is not the package that was expected"
        )
    return found[0]


def _bounded(path: Path, name: str, data: bytes) -> bytes:
    if len(data) > LARGEST_MEMBER:
        raise DownloadError(f"{name} in {path.name} is larger than {LARGEST_MEMBER >> 20} MB; this cannot be right")
    return data


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError) as error:
        raise DownloadError(f"{path} cannot be read ({error}); remove it and fetch it again") from error
