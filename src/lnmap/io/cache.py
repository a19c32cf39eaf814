"""The cache of parsed text files: found by content, never stale.

A parsed file is kept as a store under `entries/<key>`; the key hashes the bytes of the file that were read, the reading
options and the reader's version, so an entry can only be found by a file with those bytes.

Hashing a large file each time would cost what the cache saves. Therefore `index/<head>.json`, named by the options and
the first bytes of the file, records how many bytes were read, their hash, and the identities (real path, device, inode,
size, times of change) of files known to hold them. A file with a recorded identity is not hashed again. An identity is
recorded only if the file had been unchanged for two seconds when reading began and was the same when it ended: a
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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from lnmap.embeddings import Embeddings
from lnmap.errors import LnmapError, VectorFileError
from lnmap.io.atomic import partial_folder, write_json
from lnmap.io.formats.store import load_store
from lnmap.io.policy import ReadOptions
from lnmap.io.source import ByteSource

READER_VERSION = 1
SETTLED_NS = 2_000_000_000

_HEAD = 1 << 16
_CHUNK = 1 << 22
_MOST_SEEN = 16
_KEY = re.compile(r"[0-9a-f]{40}")


def cache_folder() -> Path:
    """Return the user's cache folder: $LNMAP_CACHE, else $XDG_CACHE_HOME/lnmap, else ~/.cache/lnmap."""
    if own := os.environ.get("LNMAP_CACHE"):
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "lnmap"


def clear_cache() -> int:
    """Remove all cached vectors and return the number of bytes that became free."""
    folder = _root()
    freed = sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else 0
    shutil.rmtree(folder, ignore_errors=True)
    return freed


def find_entry(source: ByteSource, options: ReadOptions) -> Embeddings | None:
    """Return what an earlier reading of the same bytes with the same options gave, if it is there."""
    try:
        with source.path.open("rb", buffering=0) as file:
            index = _index_file(file, options)
            record = json.loads(index.read_bytes())
            if not _KEY.fullmatch(record["key"]):
                return None
            if identity(source.path, source.stat) not in record["seen"]:
                if not _holds_bytes_of(record, file):
                    return None
                _remember(record, file, source, index)
        return _load(_root() / "entries" / record["key"], source.path)
    except (OSError, ValueError, KeyError, TypeError, LnmapError):
        return None


@contextmanager
def new_entry() -> Iterator[Path]:
    """Yield a folder to fill; it is removed at the end unless `keep_entry` has moved it."""
    entries = _root() / "entries"
    entries.mkdir(parents=True, exist_ok=True)
    with partial_folder(entries) as work:
        yield work


def keep_entry(work: Path, source: ByteSource, options: ReadOptions) -> Embeddings:
    """Move a filled folder to its place in the cache and load it; if another process was first, load its entry."""
    whole = source.ended or source.compression == "zip"
    key = _digest({"options": options.record(), "sha256": source.digest, "whole": whole, "reader": READER_VERSION})
    loaded = _settle(work, _root() / "entries" / key, source.path)
    record = {"key": key, "consumed": source.consumed, "sha256": source.digest, "whole": whole, "seen": []}
    with suppress(OSError), source.path.open("rb", buffering=0) as file:
        _remember(record, file, source, _index_file(file, options))
    return loaded


def _settle(work: Path, entry: Path, path: Path) -> Embeddings:
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
    """Load an entry, or remove it if it is broken."""
    try:
        return load_store(entry, {"path": str(path)})  # one entry may serve many copies of a file
    except VectorFileError:
        shutil.rmtree(entry, ignore_errors=True)
        raise


def _holds_bytes_of(record: dict[str, Any], file: IO[bytes]) -> bool:
    size, consumed = os.fstat(file.fileno()).st_size, int(record["consumed"])
    fits = size == consumed if record["whole"] else size >= consumed
    return fits and _hash_first(file, consumed) == record["sha256"]


def _remember(record: dict[str, Any], file: IO[bytes], source: ByteSource, index: Path) -> None:
    """Write a record, with the source's identity if that can be trusted from now on."""
    own = identity(source.path, source.stat)
    settled = source.opened_ns - max(source.stat.st_ctime_ns, source.stat.st_mtime_ns) >= SETTLED_NS
    if settled and identity(source.path, os.fstat(file.fileno())) == own:
        record["seen"] = [*record["seen"], own][-_MOST_SEEN:]
    with suppress(LnmapError):  # without it the next reading hashes or parses again
        write_json(index, record)


def _index_file(file: IO[bytes], options: ReadOptions) -> Path:
    """Return the path of the record for a file's first bytes and the options."""
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


def identity(path: Path, status: os.stat_result) -> list[Any]:
    """Return what tells a file from what it was before: real path, device, inode, size, and times of change last."""
    real = os.path.realpath(path)
    return [real, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _digest(fields: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode("ascii")).hexdigest()[:40]


def _root() -> Path:
    return cache_folder() / "vectors"
