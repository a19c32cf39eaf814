"""The lock file: size and SHA-256 of every file as it was first downloaded."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

from lnmap.errors import CatalogueError, DownloadError
from lnmap.io.atomic import write_json

NAME = "lock.json"
_BLOCK = 1 << 20


def sha256(path: Path) -> str:
    """Hash a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


class Ledger:
    """What is known of the files of one benchmark's folder, by their path in it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.files: dict[str, dict[str, Any]] = {}
        if self.path.is_file():
            try:
                self.files = dict(json.loads(self.path.read_bytes())["files"])
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise CatalogueError(
                    f"{self.path} is broken ({error}); remove it, and the next 'lnmap data get' writes it again"
                ) from error

    def check(self, name: str, size: int, digest: str, command: str) -> None:
        """Refuse a file that is not the one that was recorded."""
        known = self.files.get(name)
        if known is None or (known["bytes"], known["sha256"]) == (size, digest):
            return
        raise DownloadError(
            f"{name} is not the file that was first downloaded on {known['recorded']}: {size:,} bytes with SHA-256 "
            f"{digest[:16]} instead of {known['bytes']:,} bytes with {known['sha256'][:16]}; if the publisher has "
            f"changed it and you want the new one: {command} --accept-changed"
        )

    def record(self, name: str, size: int, digest: str, address: str) -> None:
        """Remember a file."""
        self.files[name] = {
            "bytes": size,
            "sha256": digest,
            "address": address,
            "recorded": time.strftime("%Y-%m-%d", time.gmtime()),
        }
        write_json(self.path, {"files": dict(sorted(self.files.items()))})
