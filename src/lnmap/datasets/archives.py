"""One file out of a zip or tar archive, read into memory: nothing is ever written under a name from an archive."""

from __future__ import annotations

import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from lnmap.errors import DownloadError

MOST_BYTES = 200 << 20  # the files read from archives have at most 60 MB
_MOST_MEMBERS = 10_000
_BROKEN = (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError)


class _UnexpectedError(Exception):
    pass


def read_member(archive: Path, *names: str, most_bytes: int = MOST_BYTES) -> bytes:
    """Read the file whose path ends in a name; further names lead into archives within the archive.

    Of several such files, that with the shortest path is read: copies lie deeper. An archive is refused when any of
    its members is a link or a device, or has a path that leads out of the archive's folder.
    """
    try:
        with archive.open("rb") as file:
            data = _read(file, names[0], most_bytes)
        for name in names[1:]:
            data = _read(io.BytesIO(data), name, most_bytes)
        return data
    except _UnexpectedError as error:
        raise DownloadError(f"{archive} {error}; it is not the archive that was expected") from error
    except _BROKEN as error:
        raise DownloadError(f"{archive} cannot be unpacked ({error}); remove it and fetch it again") from error


def gunzip(data: bytes) -> bytes:
    """Decompress at most `MOST_BYTES`; raise ValueError if the data are broken."""
    try:
        return zlib.decompressobj(wbits=31).decompress(data, MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"broken gzip data: {error}") from error


def _read(file: IO[bytes], name: str, most_bytes: int) -> bytes:
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as packed, packed.open(_find(name, _zip_paths(packed))) as member:
            return _bounded(member, most_bytes)
    file.seek(0)
    with tarfile.open(fileobj=file) as packed_tar:
        found = packed_tar.extractfile(_find(name, _tar_paths(packed_tar)))
        assert found is not None  # a plain file, as all that _tar_paths yields
        return _bounded(found, most_bytes)


def _zip_paths(archive: zipfile.ZipFile) -> Iterator[str]:
    for entry in archive.infolist():
        _check(entry.filename, special=stat.S_ISLNK(entry.external_attr >> 16))
        if not entry.is_dir():
            yield entry.filename


def _tar_paths(archive: tarfile.TarFile) -> Iterator[str]:
    for member in archive:
        _check(member.name, special=not (member.isfile() or member.isdir()))
        if member.isfile():
            yield member.name


def _find(name: str, paths: Iterator[str]) -> str:
    found: list[str] = []
    for number, path in enumerate(paths):
        if number >= _MOST_MEMBERS:
            raise _UnexpectedError(f"holds more than {_MOST_MEMBERS:,} files")
        if f"/{path}".endswith(f"/{name}"):
            found.append(path)
    if not found:
        raise _UnexpectedError(f"holds no {name}")
    return min(found, key=lambda path: (len(path), path))


def _check(name: str, special: bool) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if special:
        raise _UnexpectedError(f"holds {name!r}, a link or device")
    if path.is_absolute() or ".." in path.parts or ":" in path.parts[:1] or name[1:2] == ":":
        raise _UnexpectedError(f"holds {name!r}, which would lie outside its folder")


def _bounded(file: IO[bytes], most_bytes: int) -> bytes:
    data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise _UnexpectedError(f"holds a file of more than {most_bytes >> 20} MB")
    return data
