"""Byte sources: any file, plain or compressed, as one stream that is hashed while it is read."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import stat
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from lnmap.errors import InputError, VectorFileError

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"PK\x03\x04": "zip", b"PK\x05\x06": "zip"}
_BROKEN = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError)
_RAW_BUFFER = 1 << 18
_HEAD = 64
_MOST_RATIO, _HARMLESS = 100, 4 << 20  # words and numbers pack to a tenth or so


class HashingFile(io.RawIOBase):
    """A raw file that counts and hashes every byte read from it, in order."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.consumed = 0
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes without the copy that the base class makes."""
        data: bytes = self.file.read(size)
        self.digest.update(data)
        self.consumed += len(data)
        return data

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer and hash what came."""
        count = self.file.readinto(buffer)  # type: ignore[attr-defined]
        self.digest.update(memoryview(buffer)[:count])
        self.consumed += count
        return int(count)


class ByteSource:
    """The decompressed bytes of a file, read once from its beginning.

    :param path: the file.
    :param error: the error raised when it cannot be read.
    """

    def __init__(self, path: Path, error: type[InputError] = VectorFileError) -> None:
        self.path = path
        self.error = error
        self.opened_ns = time.time_ns()
        try:
            self._file = path.open("rb", buffering=0)
        except OSError as reason:
            raise error(_refusal(path, reason)) from reason
        self.stat = os.fstat(self._file.fileno())
        self.regular = stat.S_ISREG(self.stat.st_mode)
        self.size = self.stat.st_size if self.regular else None
        self._held = b""
        self.unpacked = 0
        self.names: list[str] = []
        self.ended = False
        try:
            self._open()
        except BaseException:
            self._file.close()
            raise

    def _open(self) -> None:
        self._raw = HashingFile(self._file)
        if not self.regular:
            self.compression: str | None = None
            self._stream: IO[bytes] = io.BufferedReader(self._raw, _RAW_BUFFER)
            return
        head = os.pread(self._file.fileno(), _HEAD, 0) if hasattr(os, "pread") else _pread(self._file)
        self.compression = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
        if self.compression == "bzip2" and head[4:10] not in (b"1AY&SY", b"\x17rE8P\x90"):
            self.compression = None  # a word may begin with BZh too
        if self.compression == "zip":
            self._open_zip()
            return
        raw: Any = io.BufferedReader(self._raw, _RAW_BUFFER)
        if self.compression == "gzip":
            self._stream = gzip.GzipFile(fileobj=raw, mode="rb")  # type: ignore[assignment]
        elif self.compression == "bzip2":
            self._stream = bz2.BZ2File(raw)
        elif self.compression == "xz":
            self._stream = lzma.LZMAFile(raw)  # noqa: SIM115
        else:
            self._stream = self._raw  # type: ignore[assignment]

    def _open_zip(self) -> None:
        # The list of members stands at the end of a zip file, so its bytes cannot be hashed in passing.
        while self._raw.read(1 << 20):
            pass
        try:
            archive = zipfile.ZipFile(self._file)
        except _BROKEN as reason:
            raise self.error(f"{self.path} is a broken zip file ({reason}); fetch or pack it again") from reason
        self.names = [name for name in archive.namelist() if not name.endswith("/") and not _is_litter(name)]
        if self.is_npz:
            return
        if len(self.names) != 1:
            found = ", ".join(self.names[:3]) or "nothing"
            raise self.error(f"{self.path} holds {len(self.names)} files ({found}); unpack it and give one of them")
        try:
            self._stream = archive.open(self.names[0])
        except (*_BROKEN, KeyError) as reason:
            raise self.error(
                f"cannot unpack {self.names[0]} from {self.path} ({reason}); unpack it and give the file itself"
            ) from reason

    @property
    def is_npz(self) -> bool:
        """Say whether this is numpy's archive of arrays."""
        return bool(self.names) and all(name.endswith(".npy") for name in self.names)

    @property
    def consumed(self) -> int:
        """Number of bytes of the file itself read so far."""
        return self._raw.consumed

    @property
    def digest(self) -> str:
        """Hash of the bytes of the file itself read so far."""
        return self._raw.digest.hexdigest()

    def peek(self, count: int) -> bytes:
        """Give the next `count` bytes, or all there are, without taking them."""
        while len(self._held) < count and not self.ended:
            self._held += self._take(count - len(self._held))
        return self._held[:count]

    def read(self, count: int) -> bytes:
        """Take up to `count` bytes; none means the end."""
        if not self._held:
            return self._take(count)
        taken, self._held = self._held[:count], self._held[count:]
        return taken

    def readinto(self, buffer: memoryview) -> int:
        """Take bytes into a buffer and give their number; none means the end."""
        if self._held:
            data = self.read(len(buffer))
            buffer[: len(data)] = data
            return len(data)
        with self._mishaps():
            count = int(self._stream.readinto(buffer))  # type: ignore[attr-defined]
            self._count(count)
        self.ended = not count
        return count

    def _take(self, count: int) -> bytes:
        with self._mishaps():
            data = self._stream.read(count)
            self._count(len(data))
        self.ended = not data
        return data

    def _count(self, count: int) -> None:
        """Refuse a file that unpacks to far more than words and numbers do."""
        self.unpacked += count
        if self.compression and self.unpacked > max(_HARMLESS, _MOST_RATIO * self.consumed):
            raise self.error(
                f"{self.path} unpacks to more than {_MOST_RATIO} times its size, which no file of words does; "
                "unpack it yourself if you trust it"
            )

    @contextmanager
    def _mishaps(self) -> Iterator[None]:
        try:
            yield
        except _BROKEN as reason:
            raise self.error(_breakage(self.path, self.compression, reason)) from reason

    def __enter__(self) -> ByteSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _refusal(path: Path, reason: OSError) -> str:
    if isinstance(reason, FileNotFoundError):
        return f"there is no file {path}; check the name and the folder"
    if isinstance(reason, IsADirectoryError):
        return f"{path} is a folder where a file is expected; give the file inside it"
    if isinstance(reason, PermissionError):
        return f"{path} may not be read (permission denied); ask for the right to read it or copy it"
    return f"cannot open {path}: {reason.strerror or reason}; check the name"


def _breakage(path: Path, compression: str | None, reason: BaseException) -> str:
    if compression is None:
        return f"cannot read {path}: {reason}; copy it to another disk and try again"
    if isinstance(reason, EOFError):
        return f"{path} is a {compression} file cut short before its end; fetch it again"
    return f"{path} is a broken {compression} file ({reason}); fetch it again"


def _is_litter(name: str) -> bool:
    return name.startswith("__MACOSX/") or name.rsplit("/", 1)[-1].startswith(".")


def _pread(file: IO[bytes]) -> bytes:
    head = file.read(_HEAD)
    file.seek(0)
    return head
