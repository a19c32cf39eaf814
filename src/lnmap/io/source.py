"""Byte sources: a file or pipe, plain or compressed, as one stream that is hashed while it is read."""

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
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from lnmap.errors import InputError, VectorFileError

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"PK\x03\x04": "zip", b"PK\x05\x06": "zip"}
_MAGIC_BYTES = 10
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17rE8P\x90")  # what follows BZh and a digit
_OPENERS: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
_BROKEN = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError)
_RAW_BUFFER = 1 << 18
_MOST_RATIO, _HARMLESS = 100, 4 << 20  # words and numbers pack to a tenth or so


class ByteSource(AbstractContextManager["ByteSource"]):
    """The decompressed bytes of a file, read once from its beginning.

    :param path: the file.
    :param error: the error raised when it cannot be read.
    :ivar advance: told how many bytes of the file have been read.
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
        self.advance: Callable[[float], None] = lambda _: None
        self.unpacked = 0
        self.ended = False
        self.is_npz = False
        self._raw = _HashingFile(self._file)
        self._held = b""
        try:
            self.compression = self._find_compression() if self.regular else None
            self._stream = self._open_stream()
        except BaseException:
            self._file.close()
            raise

    def _find_compression(self) -> str | None:
        head = self._file.read(_MAGIC_BYTES)
        self._file.seek(0)
        return _packing(head)

    def _open_stream(self) -> Any:
        if self.compression == "zip":
            return self._open_zip()
        if self.compression:
            return _OPENERS[self.compression](io.BufferedReader(self._raw, _RAW_BUFFER))
        return self._raw if self.regular else io.BufferedReader(self._raw, _RAW_BUFFER)

    def _open_zip(self) -> Any:
        """Open the one file in a zip archive; numpy's archives (`is_npz`) stay packed."""
        while self._raw.read(1 << 20):  # the list of members is at the end, so the bytes must be hashed beforehand
            pass
        try:
            archive = zipfile.ZipFile(self._file)
        except _BROKEN as reason:
            raise self.error(f"{self.path} is a broken zip file ({reason}); fetch or pack it again") from reason
        names = [name for name in archive.namelist() if not name.endswith("/") and not _is_litter(name)]
        if names and all(name.endswith(".npy") for name in names):
            self.is_npz, self.compression = True, None
            self._file.seek(0)
            return self._file
        if len(names) != 1:
            found = ", ".join(names[:3]) or "nothing"
            raise self.error(f"{self.path} holds {len(names)} files ({found}); unpack it and give one of them")
        try:
            return archive.open(names[0])
        except (*_BROKEN, KeyError) as reason:
            raise self.error(
                f"cannot unpack {names[0]} from {self.path} ({reason}); unpack it and give the file itself"
            ) from reason

    @property
    def consumed(self) -> int:
        """Number of bytes of the file itself read so far."""
        return self._raw.consumed

    @property
    def digest(self) -> str:
        """Hash of the bytes of the file itself read so far."""
        return self._raw.digest.hexdigest()

    def peek(self, count: int) -> bytes:
        """Return the next `count` bytes, or all there are, without taking them."""
        held = self.read(count)
        while len(held) < count and not self.ended:
            held += self.read(count - len(held))
        self._held = held + self._held
        return held

    def read(self, count: int) -> bytes:
        """Take up to `count` bytes; none means the end."""
        buffer = memoryview(bytearray(count))
        return bytes(buffer[: self.readinto(buffer)])

    def readinto(self, buffer: memoryview) -> int:
        """Take bytes into a buffer and return their number; none means the end."""
        if self._held:
            taken, self._held = self._held[: len(buffer)], self._held[len(buffer) :]
            buffer[: len(taken)] = taken
            return len(taken)
        before = self.consumed
        try:
            count = int(self._stream.readinto(buffer))
        except _BROKEN as reason:
            raise self.error(_breakage(self.path, self.compression, reason)) from reason
        self.advance(self.consumed - before)
        self.ended = not count
        self.unpacked += count
        if self.compression and self.unpacked > max(_HARMLESS, _MOST_RATIO * self.consumed):
            raise self.error(
                f"{self.path} unpacks to more than {_MOST_RATIO} times its size, which no file of words does; "
                "unpack it yourself if you trust it"
            )
        return count

    def __exit__(self, *_: object) -> None:
        self._file.close()


class Pipe:
    """The bytes of a pipe, unpacked if they are packed.

    :param name: what a message calls it.
    :param error: the error raised when it cannot be read.
    """

    def __init__(self, stream: io.BufferedReader, name: str, error: type[InputError]) -> None:
        self.name, self.error, self._held = name, error, b""
        self.packing = _packing(stream.peek(_MAGIC_BYTES))
        if self.packing == "zip":
            raise error(f"{name} is a zip file, whose list of contents comes last; give the file itself")
        self._stream: Any = _OPENERS[self.packing](stream) if self.packing else stream

    def peek(self, count: int) -> bytes:
        """Return the next `count` bytes, or all there are, without taking them."""
        while len(self._held) < count and (more := self._take(count - len(self._held))):
            self._held += more
        return self._held[:count]

    def read(self, count: int) -> bytes:
        """Take up to `count` bytes; none means the end."""
        taken, self._held = self._held[:count], self._held[count:]
        return taken or self._take(count)

    def _take(self, count: int) -> bytes:
        try:
            return bytes(self._stream.read(count))
        except _BROKEN as reason:
            raise self.error(_breakage(Path(self.name), self.packing, reason)) from reason


class _HashingFile(io.RawIOBase):
    """A raw file that counts and hashes every byte read from it, in order."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.consumed = 0
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = int(self.file.readinto(buffer))
        self.digest.update(memoryview(buffer)[:count])
        self.consumed += count
        return count


def _packing(head: bytes) -> str | None:
    """Return how a file that begins so is packed."""
    found = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
    if found == "bzip2" and head[4:_MAGIC_BYTES] not in _BZIP2_BLOCKS:
        return None  # a word may begin with BZh too
    return found


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
