"""Unpacking archives from the network: only files that are wanted, never outside the folder, never without bound."""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from lnmap.errors import DownloadError
from lnmap.io.atomic import atomic_file

MOST_BYTES = 1 << 30
MOST_MEMBERS = 10_000
_BLOCK = 1 << 20


def unpack(archive: Path, folder: Path, wanted: Collection[str], most_bytes: int = MOST_BYTES) -> None:
    """Write the wanted members of a zip or tar archive into a folder, by the last part of their names.

    The whole archive is refused when any member has an absolute name, one with `..`, or is a link or a device.
    """
    try:
        missing = set(wanted)
        left = most_bytes
        for name, file in _members(archive):
            if name in missing:
                left -= _write(file, folder / name, left, archive)
                missing.discard(name)
    except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error, RuntimeError) as error:
        raise DownloadError(f"{archive} cannot be unpacked ({error}); remove it and fetch it again") from error
    if missing:
        raise DownloadError(f"{archive} holds no {min(missing)}; it is not the archive that was expected")


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the names and contents of the files in an archive, after all its names have been checked."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            entries = opened.infolist()
            _check(archive, [entry.filename for entry in entries])
            if any(entry.external_attr >> 28 == 0xA for entry in entries):
                raise DownloadError(f"{archive} holds a link; such archives are not unpacked")
            for entry in entries:
                if not entry.is_dir():
                    with opened.open(entry) as file:
                        yield PurePosixPath(entry.filename).name, file
        return
    with tarfile.open(archive) as packed:
        members = []
        for member in packed:
            if not (member.isfile() or member.isdir()):
                raise DownloadError(f"{archive} holds {member.name!r}, a link or device; such are not unpacked")
            members.append(member)
            _check(archive, [member.name], len(members))
        for member in members:
            taken = packed.extractfile(member) if member.isfile() else None
            if taken is not None:
                yield PurePosixPath(member.name).name, taken


def _check(archive: Path, names: Collection[str], count: int | None = None) -> None:
    if (count or len(names)) > MOST_MEMBERS:
        raise DownloadError(
            f"{archive} holds more than {MOST_MEMBERS:,} files; it is not the archive that was expected"
        )
    for name in names:
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in path.parts[:1] or name[1:2] == ":":
            raise DownloadError(f"{archive} holds the file {name!r}, which would lie outside its folder")


def _write(file: IO[bytes], target: Path, most: int, archive: Path) -> int:
    written = 0
    with atomic_file(target) as out:
        while block := file.read(_BLOCK):
            written += len(block)
            if written > most:
                raise DownloadError(f"{archive} unpacks to more than it may; it is not the archive that was expected")
            out.write(block)
    return written
