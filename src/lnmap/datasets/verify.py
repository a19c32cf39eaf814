"""Verification: a file holds data of its kind, and is the one that was first downloaded."""

from __future__ import annotations

import gzip
import hashlib
import json
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from lnmap.errors import CatalogueError, DownloadError
from lnmap.io.atomic import write_json

Kind = Literal["vectors", "pairs", "gzip"]

FIRST_BYTES = 512
_MOST_UNPACKED = 8 << 30
_BLOCK = 1 << 20
_PAGES = (b"<!doctype", b"<html", b"<head", b"<?xml", b"<error", b"<body")


def problem_at_start(kind: Kind, start: bytes) -> str | None:
    """Return what is wrong with the first bytes of a file, such as those of an error page; None if nothing is."""
    line = start.split(b"\n", 1)[0]
    if not start:
        return "it is empty"
    if start.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_PAGES):
        return "it is a web page, not data"
    if kind == "gzip" and not start.startswith(b"\x1f\x8b"):
        return "it is not compressed with gzip"
    if kind == "vectors" and [field.isdigit() for field in line.split()] != [True, True]:
        return "its first line does not hold the numbers of words and coordinates"
    if kind == "pairs" and (b"\0" in line or len(line.split()) < 2):
        return "its first line is not a pair of words"
    return None


def problem_in(kind: Kind, path: Path) -> str | None:
    """Return what is wrong with a whole file, None if nothing is."""
    with path.open("rb") as file:
        if problem := problem_at_start(kind, file.read(FIRST_BYTES)):
            return problem
        if kind == "gzip":
            return _problem_in_gzip(path)
        file.seek(-1, 2)
        return None if file.read() == b"\n" else "it ends in the middle of a line"


def _problem_in_gzip(path: Path) -> str | None:
    size = 0
    try:
        with gzip.open(path, "rb") as file:
            while block := file.read(_BLOCK):
                size += len(block)
                if size > _MOST_UNPACKED:
                    return f"it unpacks to more than {_MOST_UNPACKED >> 30} GB"
    except (OSError, EOFError, zlib.error) as error:
        return f"it cannot be unpacked ({error})"
    return None


def sha256(path: Path, advance: Callable[[int], None] = lambda count: None) -> str:
    """Hash a file; `advance` is called with the number of bytes of each block."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            advance(len(block))
    return digest.hexdigest()


class Ledger:
    """`lock.json`: size and SHA-256 of each file of a folder as it was first downloaded.

    The publishers provide no checksums, so a later download can only be compared with the first.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "lock.json"
        self.files: dict[str, dict[str, Any]] = {}
        if self.path.is_file():
            try:
                self.files = dict(json.loads(self.path.read_bytes())["files"])
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise CatalogueError(
                    f"{self.path} is broken ({error}); remove it, and the next download writes it again"
                ) from error

    def record(self, name: str, size: int, digest: str, address: str, accept_changed: bool) -> None:
        """Record a file; refuse one that differs from what is recorded unless `accept_changed`."""
        known = self.files.get(name)
        if known and not accept_changed and (known["bytes"], known["sha256"]) != (size, digest):
            raise DownloadError(
                f"{name} is not the file that was first downloaded on {known['recorded']}: {size:,} bytes with SHA-256 "
                f"{digest[:16]} instead of {known['bytes']:,} bytes with {known['sha256'][:16]}",
                advice="if the publisher has changed it and you want the new one, pass {accept_changed:True}",
            )
        today = time.strftime("%Y-%m-%d", time.gmtime())
        self.files[name] = {"bytes": size, "sha256": digest, "address": address, "recorded": today}
        write_json(self.path, {"files": dict(sorted(self.files.items()))})
