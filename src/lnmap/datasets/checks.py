"""Whether a file holds what its name promises: an error page saved as data must never pass for data."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

Kind = Literal["vectors", "pairs", "gzip"]

FIRST_BYTES = 512
MOST_UNPACKED = 8 << 30

_PAGES = (b"<!doctype", b"<html", b"<head", b"<?xml", b"<error", b"<body")
_BLOCK = 1 << 20


def wrong_start(kind: Kind, start: bytes) -> str | None:
    """Say what is wrong with the first bytes of a file, None where nothing is."""
    if not start:
        return "it is empty"
    if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:9].lower().startswith(_PAGES):
        return "it is a web page, not data"
    return _STARTS[kind](start)


def wrong_end(kind: Kind, path: Path) -> str | None:
    """Say what is wrong with a whole file, None where nothing is."""
    if kind == "gzip":
        return _wrong_gzip(path)
    with path.open("rb") as file:
        file.seek(-1, 2)
        if file.read(1) != b"\n":
            return "it ends in the middle of a line"
    return None


def _wrong_vectors(start: bytes) -> str | None:
    line = start.split(b"\n", 1)[0].split()
    if len(line) == 2 and all(number.isdigit() for number in line):
        return None
    return "its first line does not tell how many words and coordinates follow"


def _wrong_pairs(start: bytes) -> str | None:
    line = start.split(b"\n", 1)[0]
    if b"\0" not in line and len(line.split()) >= 2:
        return None
    return "its first line is not a pair of words"


def _wrong_gzip_start(start: bytes) -> str | None:
    return None if start.startswith(b"\x1f\x8b") else "it is not compressed with gzip"


def _wrong_gzip(path: Path) -> str | None:
    size = 0
    try:
        with gzip.open(path, "rb") as file:
            while block := file.read(_BLOCK):
                size += len(block)
                if size > MOST_UNPACKED:
                    return f"it unpacks to more than {MOST_UNPACKED >> 30} GB"
    except (OSError, EOFError, zlib.error) as error:
        return f"it cannot be unpacked ({error})"
    return None


_STARTS: Mapping[Kind, Callable[[bytes], str | None]] = {
    "vectors": _wrong_vectors,
    "pairs": _wrong_pairs,
    "gzip": _wrong_gzip_start,
}
