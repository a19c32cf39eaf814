"""dictzip: gzip in pieces that can be unpacked one by one; any gunzip unpacks the whole."""

from __future__ import annotations

import struct
import zlib
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import IO

from lnmap.errors import OutputError

PIECE = 58315  # bytes, as the program dictzip cuts them
_MOST_PIECES = 32_000  # their lengths must fit a header field of 65,535 bytes
_IN_MEMORY = 16 << 20


class DictzipWriter:
    """Take bytes, and write them packed on leaving: the lengths of all pieces stand in the header."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._packed = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed on leaving
        self._compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
        self._held = bytearray()
        self._lengths: list[int] = []
        self._crc = self.size = 0

    def write(self, data: bytes) -> None:
        """Add bytes."""
        self._crc = zlib.crc32(data, self._crc)
        self.size += len(data)
        self._held += data
        while len(self._held) >= PIECE:
            self._pack(bytes(self._held[:PIECE]))
            del self._held[:PIECE]

    def _pack(self, piece: bytes) -> None:
        packed = self._compressor.compress(piece) + self._compressor.flush(zlib.Z_FULL_FLUSH)
        if len(self._lengths) == _MOST_PIECES:
            raise OutputError(f"a dictionary of this format holds at most {_MOST_PIECES * PIECE:,} bytes of articles")
        self._lengths.append(len(packed))
        self._packed.write(packed)

    def __enter__(self) -> DictzipWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._packed:
            if kind is not None:
                return
            if self._held or not self._lengths:
                self._pack(bytes(self._held))
            lengths = struct.pack(f"<{len(self._lengths)}H", *self._lengths)
            field = struct.pack("<HHH", 1, PIECE, len(self._lengths)) + lengths
            extra = b"RA" + struct.pack("<H", len(field)) + field
            # gzip, deflate, an extra field, no time, best compression, unknown system
            self._file.write(b"\x1f\x8b\x08\x04" + struct.pack("<IBBH", 0, 2, 255, len(extra)) + extra)
            self._packed.seek(0)
            while data := self._packed.read(1 << 20):
                self._file.write(data)
            self._file.write(self._compressor.flush(zlib.Z_FINISH))
            self._file.write(struct.pack("<II", self._crc, self.size & 0xFFFFFFFF))
