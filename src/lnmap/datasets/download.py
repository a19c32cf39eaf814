"""How a file is fetched: continued where an earlier try stopped, verified, and never incomplete under its own name.

pooch is not used because it restarts a broken download from zero, which over a slow link may never finish.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import IO, Any, TypeVar
from urllib.parse import urlsplit

from lnmap.datasets.verify import FIRST_BYTES, Kind, Ledger, problem_at_start, problem_in, sha256
from lnmap.errors import DownloadError, OptionError
from lnmap.io.atomic import make_folder, put, write_json, writing
from lnmap.progress import Progress, Silent, Task
from lnmap.version import __version__

ATTEMPTS = 6  # in a row that bring no new byte
_MOST_ATTEMPTS = 100
_TIMEOUT_S = 30.0
_MIRROR = "LNMAP_DATA_MIRROR"
_BLOCK = 1 << 18
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")
_TRANSIENT = {408, 425, 429, 500, 502, 503, 504}
T = TypeVar("T")


@dataclass(frozen=True)
class Remote:
    """A file on a server: its official address, its path in the benchmark's folder, and what it holds."""

    address: str
    path: str
    kind: Kind


class TransientError(Exception):
    """A failure that may not recur when the request is repeated."""


class _RefusedError(DownloadError):
    def __init__(self, address: str, error: urllib.error.HTTPError) -> None:
        super().__init__(f"{address} answers {error.code} {error.reason}")
        self.status = error.code


def fetch(remote: Remote, folder: Path, ledger: Ledger, progress: Progress, accept_changed: bool = False) -> None:
    """Download a file and record its hash; verify and record one that was put there by hand.

    :param accept_changed: take a file that differs from the recorded one.
    """
    target = folder / remote.path
    if target.is_file():
        if ledger.files.get(remote.path, {}).get("bytes") != target.stat().st_size:
            _verify(remote, target, target, ledger, progress, accept_changed)
        _Part(target).forget()
        return
    with writing("the download", target):
        make_folder(target.parent)
        part = _Part(target)
        try:
            _retry(lambda: _attempt(remote, part, progress), progress, ATTEMPTS, lambda: part.size)
        except TransientError as error:
            kept = f"; {part.size:,} bytes are kept and the next try continues there" if part.version else ""
            raise DownloadError(
                f"cannot fetch {remote.address}: {error}{kept}; without a network, fetch it on another machine and "
                f"put it at {target}"
            ) from error
        _verify(remote, part.file, target, ledger, progress, accept_changed)
        put(part.file, target)
        part.forget()


def bytes_left(remote: Remote, folder: Path) -> int:
    """Count the bytes of a file that are still to be fetched, 0 where the server does not say."""
    target = folder / remote.path
    if target.is_file():
        return 0
    try:
        with _retry(lambda: _request(remote.address, method="HEAD"), Silent(), attempts=3) as answer:
            return max((_Head.of(answer).size or 0) - _Part(target).size, 0)
    except _RefusedError as error:
        if error.status in (405, 501):  # the server does not answer HEAD
            return 0
        raise


@dataclass(frozen=True)
class _Head:
    """What a server says of a file."""

    size: int | None  # of the whole file
    start: int  # first byte that is sent
    validator: str | None  # identifies this version of the file: its ETag, else its date

    @classmethod
    def of(cls, answer: Any) -> _Head:
        fields = answer.headers
        length, start = fields.get("Content-Length", ""), 0
        size = int(length) if length.isdecimal() else None
        if answer.status == 206:
            match = _RANGE.fullmatch(fields.get("Content-Range", ""))
            if match is None:
                raise TransientError("the server sends a part of the file and does not say which")
            start, size = int(match[1]), int(match[3])
        tag = fields.get("ETag")
        return cls(size, start, fields.get("Last-Modified") if tag is None or tag.startswith("W/") else tag)


class _Part:
    """The part of a file that has been downloaded, and a note of the version that it belongs to."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.file = target.with_name(f"{target.name}.part")
        self.note = target.with_name(f"{target.name}.part.json")

    @property
    def size(self) -> int:
        return self.file.stat().st_size if self.file.is_file() else 0

    @property
    def version(self) -> dict[str, Any]:
        """Validator and size of the whole file; empty if the part cannot be continued."""
        with suppress(OSError, ValueError):
            note = json.loads(self.note.read_bytes())
            if isinstance(note, dict) and note.get("validator") and self.file.is_file():
                return note
        return {}

    def begin(self, head: _Head) -> None:
        """Start over; the note comes last, so that it never stands beside bytes of another version."""
        self.drop()
        self.file.touch()
        write_json(self.note, {"validator": head.validator, "size": head.size})

    def drop(self) -> None:
        self.file.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)

    def forget(self) -> None:
        """Remove what is left once the file is whole; what cannot be removed does no harm."""
        with suppress(OSError):
            self.drop()


def _retry(action: Callable[[], T], progress: Progress, attempts: int, have: Callable[[], int] = lambda: 0) -> T:
    """Repeat an action until it succeeds; a failure that follows new bytes does not count against the limit."""
    total, failures, pause = 0, 0, 1.0
    while True:
        before, total = have(), total + 1
        try:
            return action()
        except TransientError as error:
            failures = 1 if have() > before else failures + 1
            if failures == attempts or total == _MOST_ATTEMPTS:
                raise
            progress.note(f"{error}; trying again in {pause:.0f} s")
        sleep(pause)
        pause = min(2 * pause, 30.0)


def _attempt(remote: Remote, part: _Part, progress: Progress) -> None:
    version = part.version
    have = part.size if version else 0
    if have and have == version.get("size"):
        return
    headers = {"Range": f"bytes={have}-", "If-Range": str(version["validator"])} if have else {}
    try:
        answer = _request(remote.address, headers)
    except _RefusedError as error:
        if error.status != 416:
            raise
        part.drop()
        raise TransientError("the part that is here is longer than the file on the server") from error
    with answer:
        head = _Head.of(answer)
        same = head.validator in (None, version.get("validator")) and head.size == version.get("size")
        if answer.status != 206 or head.start != have or not same:  # not every server heeds If-Range
            if head.start:
                part.drop()
                raise TransientError("the server sends a part of another file than before")
            part.begin(head)
            have = 0
        with progress.task(part.target.name, head.size) as task, part.file.open("ab") as file:
            task.advance(have)
            _receive(remote, part, answer, file, task)
    _check_length(part, head)


def _receive(remote: Remote, part: _Part, answer: Any, file: IO[bytes], task: Task) -> None:
    """Append the answer to the part, after a look at the first bytes of the file."""
    while True:
        first = file.tell() == 0
        try:
            block = answer.read(FIRST_BYTES if first else _BLOCK)
        except (OSError, http.client.HTTPException) as error:
            raise TransientError(f"the connection broke at {file.tell():,} bytes ({error})") from error
        if first and (problem := problem_at_start(remote.kind, block)):
            file.close()
            part.drop()
            raise DownloadError(f"what {answer.url} sends for {remote.path} cannot be used: {problem}")
        if not block:
            return
        file.write(block)
        task.advance(len(block))


def _check_length(part: _Part, head: _Head) -> None:
    if head.size is None or part.size == head.size:
        return
    problem = TransientError(f"the connection ended at {part.size:,} of {head.size:,} bytes")
    if part.size > head.size or not head.validator:  # nothing shows that the rest would be of the same version
        part.drop()
    raise problem


def _verify(
    remote: Remote, found: Path, target: Path, ledger: Ledger, progress: Progress, accept_changed: bool
) -> None:
    """Refuse a file that cannot be used or has changed; record the others."""
    if problem := problem_in(remote.kind, found):
        if found != target:  # what a person put there is theirs to remove
            _Part(target).drop()
        raise DownloadError(f"{target} cannot be used: {problem}; it should be what {remote.address} holds")
    size = found.stat().st_size
    with progress.task(f"checking {target.name}", size) as task:
        digest = sha256(found, task.advance)
    ledger.record(remote.path, size, digest, remote.address, accept_changed)


def _actual(address: str) -> str:
    """Return the address to ask: the official one, or its copy at $LNMAP_DATA_MIRROR/HOST/PATH."""
    mirror = os.environ.get(_MIRROR)
    if not mirror:
        return address
    if urlsplit(mirror).scheme not in ("http", "https"):
        raise OptionError(f"{_MIRROR} is {mirror!r}; give an address that begins with http:// or https://")
    parts = urlsplit(address)
    return f"{mirror.rstrip('/')}/{parts.netloc}{parts.path}"


def _request(address: str, headers: dict[str, str] | None = None, method: str = "GET") -> Any:
    """Send a request; raise TransientError if it is worth another try."""
    actual = _actual(address)
    fields = {"User-Agent": f"lnmap/{__version__}", "Accept-Encoding": "identity", **(headers or {})}
    sent = urllib.request.Request(actual, headers=fields, method=method)  # noqa: S310 - http and https only
    try:
        return urllib.request.build_opener(_Redirects).open(sent, timeout=_TIMEOUT_S)
    except urllib.error.HTTPError as error:
        error.close()
        refused = _RefusedError(actual, error)
        raise (TransientError(refused.problem) if error.code in _TRANSIENT else refused) from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)  # urllib wraps what the socket raised
        raise TransientError(f"{urlsplit(actual).netloc} cannot be reached ({reason})") from error


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects, but never from https to http or to another scheme."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        old, new = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if new not in ("http", "https") or (old == "https" and new == "http"):
            raise DownloadError(f"{req.full_url} redirects to {newurl}, which is not safe to follow")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
