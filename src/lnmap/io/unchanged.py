"""Files whose content was compared with a hash before, and that have not changed since.

To hash the vectors of 200 000 words takes longer than to translate one. What was compared is remembered in the cache,
with the identities of the files (real path, device, inode, size, times of change); files that have them still are not
read again. As in the cache of vectors, an identity is only remembered if the file had been unchanged for two seconds.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lnmap.errors import LnmapError
from lnmap.io.atomic import write_json
from lnmap.io.cache import SETTLED_NS, cache_folder, identity

_CHUNK = 1 << 22


def hold(files: Sequence[Path], digest: str, compare: Callable[[], bool]) -> bool:
    """Return whether files hold what a digest says; they are compared unless they were before.

    :param compare: reads them and returns whether they do.
    """
    record = _record(files)
    began, before = time.time_ns(), _identities(files)
    with suppress(OSError, ValueError, TypeError, AttributeError):
        known = json.loads(record.read_bytes())
        if before and known.get("digest") == digest and known.get("files") == before:
            return True
    if not compare():
        return False
    settled = all(began - max(one[-2:]) >= SETTLED_NS for one in before)
    if before and settled and before == _identities(files):
        with suppress(LnmapError, OSError):  # without it they are compared again
            write_json(record, {"digest": digest, "files": before})
    return True


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _identities(files: Sequence[Path]) -> list[list[Any]]:
    """Return the identities of files; none if one of them cannot be looked at."""
    with suppress(OSError):
        return [identity(path, path.stat()) for path in files]
    return []


def _record(files: Sequence[Path]) -> Path:
    names = "\n".join(str(path.resolve()) for path in files)
    key = hashlib.sha256(names.encode("utf-8", "surrogateescape")).hexdigest()[:40]
    return cache_folder() / "unchanged" / f"{key}.json"
