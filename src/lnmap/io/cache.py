"""The cache of parsed text files: found by content, never stale.

A parsed file is kept as a store under `entries/<key>`; the key hashes the bytes of the file that were read, the reading
options and the reader's version, so an entry can only ever be found by a file with those bytes.

Hashing a large file each time would cost what the cache saves, so `index/<head>.json` (named by the options and the
first bytes of the file) records how many bytes were read, their hash, and the identities (real path, device, inode,
size, times of change) of files known to hold them. A file with a recorded identity is not hashed again. An identity is
recorded only when the file had been unchanged for two seconds when reading began and was the same when it ended: a
change within the clock's grain of the reading would leave the identity as it was. Any other file is hashed again.

A reading that stops at its limit depends only on the bytes it read, so only those are hashed, then and later; a reading
that came to the end of the file also fixes the file's size.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from lnmap.embeddings import Embeddings
from lnmap.errors import LnmapError, VectorFileError
from lnmap.io.atomic import partial_folder, write_json
from lnmap.io.options import ReadOptions
from lnmap.io.sources import ByteSource
from lnmap.io.store import load_store

READER_VERSION = 1
SMALLEST_CACHED = 1 << 20  # smaller files are parsed as fast as they are found

_SETTLED_NS = 2_000_000_000
_HEAD = 1 << 16
_CHUNK = 1 << 22
_MOST_SEEN = 16
_KEY = re.compile(r"[0-9a-f]{40}")


def cache_folder() -> Path:
    """Give the user's cache folder: $LNMAP_CACHE, else $XDG_CACHE_HOME/lnmap, else ~/.cache/lnmap."""
    if own := os.environ.get("LNMAP_CACHE"):
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "lnmap"


def clear_cache() -> int:
    """Remove all cached vectors and give the number of bytes that became free."""
    folder = _root()
    freed = sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else 0
    shutil.rmtree(folder, ignore_errors=True)
    return freed


def find(path: Path, options: ReadOptions) -> Embeddings | None:
    """Give what an earlier reading of the same bytes with the same options gave, if it is there."""
    try:
        with path.open("rb", buffering=0) as file:
            note = _note(file, options)
            record = json.loads(note.read_bytes())
            if not _KEY.fullmatch(record["key"]) or not _is_same(file, path, record, note):
                return None
        return _load(_root() / "entries" / record["key"], path)
    except (OSError, ValueError, KeyError, TypeError, LnmapError):
        return None


@contextmanager
def workspace() -> Iterator[Path]:
    """Yield a folder to fill; it is removed at the end unless `keep` has moved it."""
    entries = _root() / "entries"
    entries.mkdir(parents=True, exist_ok=True)
    with partial_folder(entries) as work:
        yield work


def keep(work: Path, source: ByteSource, options: ReadOptions) -> Embeddings:
    """Move a filled workspace to its place and load it; whoever comes second uses what is there."""
    whole = source.ended or source.compression == "zip"
    key = _digest({"options": options.record(), "sha256": source.digest, "whole": whole, "reader": READER_VERSION})
    entry = _root() / "entries" / key
    loaded = _settle(work, entry, source.path)
    record = {"key": key, "consumed": source.consumed, "sha256": source.digest, "whole": whole, "seen": []}
    with suppress(OSError), source.path.open("rb", buffering=0) as file:
        note = _note(file, options)
        _remember(file, source.path, source.stat, source.opened_ns, record, note)
    return loaded


def _settle(work: Path, entry: Path, path: Path) -> Embeddings:
    """Load the entry that is there, or else put the workspace there."""
    if entry.is_dir():
        with suppress(VectorFileError):
            return _load(entry, path)
    try:
        os.rename(work, entry)
    except OSError:
        if not entry.is_dir():
            raise
    try:
        return _load(entry, path)
    except VectorFileError as error:
        raise OSError(str(error)) from error


def _load(entry: Path, path: Path) -> Embeddings:
    try:
        return load_store(entry, {"path": str(path)})  # one entry may serve many copies of a file
    except VectorFileError:
        shutil.rmtree(entry, ignore_errors=True)
        raise


def _is_same(file: IO[bytes], path: Path, record: dict[str, Any], note: Path) -> bool:
    """Say whether an open file holds the bytes of a record."""
    opened, status = time.time_ns(), os.fstat(file.fileno())
    if _identity(path, status) in record["seen"]:
        return True
    consumed = int(record["consumed"])
    if status.st_size < consumed or (record["whole"] and status.st_size != consumed):
        return False
    if _hash_first(file, consumed) != record["sha256"]:
        return False
    _remember(file, path, status, opened, record, note)
    return True


def _remember(
    file: IO[bytes], path: Path, status: os.stat_result, opened_ns: int, record: dict[str, Any], note: Path
) -> None:
    """Write the record, with the file's identity where that can be trusted from now on."""
    identity = _identity(path, status)
    settled = opened_ns - max(status.st_ctime_ns, status.st_mtime_ns) >= _SETTLED_NS
    if settled and _identity(path, os.fstat(file.fileno())) == identity:
        record["seen"] = [*record["seen"], identity][-_MOST_SEEN:]
    try:
        write_json(note, record)
    except LnmapError:
        return  # the next reading hashes or parses again


def _note(file: IO[bytes], options: ReadOptions) -> Path:
    """Name the index file for a file's first bytes and the options."""
    head = hashlib.sha256(file.read(_HEAD)).hexdigest()
    key = _digest({"options": options.record(), "head": head, "reader": READER_VERSION})
    return _root() / "index" / f"{key}.json"


def _hash_first(file: IO[bytes], count: int) -> str:
    file.seek(0)
    digest = hashlib.sha256()
    while count and (chunk := file.read(min(count, _CHUNK))):
        digest.update(chunk)
        count -= len(chunk)
    return digest.hexdigest()


def _identity(path: Path, status: os.stat_result) -> list[Any]:
    real = os.path.realpath(path)
    return [real, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _digest(fields: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode("ascii")).hexdigest()[:40]


def _root() -> Path:
    return cache_folder() / "vectors"
