"""One file from the network: resumed, checked, and never half under its own name."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import time
import urllib.error
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from lnmap.datasets.checks import FIRST_BYTES, Kind, wrong_end, wrong_start
from lnmap.datasets.ledger import Ledger
from lnmap.datasets.transport import Head, PassingError, read_head, request
from lnmap.errors import DownloadError
from lnmap.io.atomic import write_json, writing
from lnmap.progress import Progress, Task

ATTEMPTS = 6  # in a row that bring nothing new
MOST_ATTEMPTS = 100
FIRST_PAUSE_S = 1.0

_BLOCK = 1 << 18


@dataclass(frozen=True)
class Remote:
    """A file on the network: its official address, its path in the benchmark's folder, and what it holds."""

    address: str
    path: str
    kind: Kind


class Part:
    """The part of a file that is here already, and which version of the file it belongs to."""

    def __init__(self, target: Path) -> None:
        self.file = target.with_name(f"{target.name}.part")
        self.note = target.with_name(f"{target.name}.part.json")

    def known(self) -> dict[str, Any]:
        """Give what is known of a part that can be continued."""
        with suppress(OSError, ValueError):
            note = json.loads(self.note.read_bytes())
            if isinstance(note, dict) and note.get("validator") and self.file.is_file():
                return note
        return {}

    def size(self) -> int:
        """Count the bytes that are here."""
        return self.file.stat().st_size if self.file.is_file() else 0

    def begin(self, head: Head) -> None:
        """Start over with the version that the server offers now."""
        write_json(self.note, {"validator": head.validator, "size": head.size})
        self.file.write_bytes(b"")

    def drop(self) -> None:
        """Remove the part."""
        self.file.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)


def download(
    remote: Remote,
    folder: Path,
    ledger: Ledger,
    progress: Progress,
    command: str,
    accept_changed: bool = False,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Fetch a file, continuing what an earlier try has left, and record its hash.

    :param command: what the user types to repeat this.
    :param accept_changed: take a file that differs from the one recorded before.
    """
    target = folder / remote.path
    with writing("the download", target):
        target.parent.mkdir(parents=True, exist_ok=True)
        part = Part(target)
        _persist(remote, part, progress, sleep)
        _check(remote, part.file, target, ledger, progress, command, accept_changed)
        os.replace(part.file, target)
        part.note.unlink(missing_ok=True)


def adopt(
    remote: Remote, folder: Path, ledger: Ledger, progress: Progress, command: str, accept_changed: bool = False
) -> None:
    """Check and record a file that somebody has put into its place."""
    target = folder / remote.path
    known = ledger.files.get(remote.path)
    if known is not None and known["bytes"] == target.stat().st_size:
        return
    _check(remote, target, target, ledger, progress, command, accept_changed)


def _persist(remote: Remote, part: Part, progress: Progress, sleep: Callable[[float], None]) -> None:
    """Try until the file is whole; a try that brought new bytes does not count against the limit."""
    failures, pause = 0, FIRST_PAUSE_S
    for left in reversed(range(MOST_ATTEMPTS)):
        before = part.size()
        try:
            _once(remote, part, progress)
            return
        except PassingError as error:
            failures = 1 if part.size() > before else failures + 1
            if failures >= ATTEMPTS or not left:
                raise DownloadError(_gave_up(remote, part, error)) from error
            progress.note(f"{error}; trying again in {pause:.0f} s")
        sleep(pause)
        pause = min(2 * pause, 30.0)


def _once(remote: Remote, part: Part, progress: Progress) -> None:
    known = part.known()
    have = part.size() if known else 0
    if have and have == known.get("size"):
        return
    headers = {"Range": f"bytes={have}-", "If-Range": str(known["validator"])} if have else {}
    try:
        answer = request(remote.address, headers)
    except urllib.error.HTTPError as error:  # the part is longer than the file: it belongs to another one
        part.drop()
        raise PassingError("what was here does not fit the file on the server") from error
    with answer:
        head = read_head(answer)
        if answer.status != 206 or not _continues(head, known, have):
            if head.start:
                part.drop()
                raise PassingError("the server sends a part of another file than before")
            part.begin(head)
            have = 0
        with progress.task(part.file.name.removesuffix(".part"), head.size) as task, part.file.open("ab") as file:
            task.advance(have)
            _receive(remote, part, answer, file, task, have == 0)
    _is_whole(part, head)


def _continues(head: Head, known: dict[str, Any], have: int) -> bool:
    """Say whether what comes belongs behind what is here; not every server heeds If-Range."""
    same = head.validator in (None, known.get("validator"))
    return same and head.start == have and head.size == known.get("size")


def _receive(remote: Remote, part: Part, answer: Any, file: IO[bytes], task: Task, first: bool) -> None:
    """Append what comes, after a look at the first bytes."""
    while True:
        try:
            block = answer.read(FIRST_BYTES if first else _BLOCK)
        except (OSError, http.client.HTTPException) as error:
            raise PassingError(f"the connection broke at {file.tell():,} bytes ({error})") from error
        if first and (wrong := wrong_start(remote.kind, block)):
            file.close()
            part.drop()
            raise DownloadError(f"what {answer.url} sends for {remote.path} cannot be used: {wrong}")
        if not block:
            return
        first = False
        file.write(block)
        task.advance(len(block))


def _is_whole(part: Part, head: Head) -> None:
    size = part.size()
    if head.size is None or size == head.size:
        return
    if size > head.size:
        part.drop()
        raise PassingError(f"{size:,} bytes came where {head.size:,} were announced")
    if not head.validator:
        part.drop()  # nothing says that the rest would belong to the same version
    raise PassingError(f"the connection ended at {size:,} of {head.size:,} bytes")


def _check(
    remote: Remote, found: Path, target: Path, ledger: Ledger, progress: Progress, command: str, accept: bool
) -> None:
    """Refuse what cannot be used or has changed; record the rest."""
    with found.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        wrong = wrong_start(remote.kind, file.read(FIRST_BYTES)) or wrong_end(remote.kind, found)
        if wrong:
            if found != target:
                Part(target).drop()
            raise DownloadError(f"{target} cannot be used: {wrong}; it should be what {remote.address} holds")
        with progress.task(f"checking {target.name}", size) as task:
            digest = _digest(file, task)
        os.fsync(file.fileno())
    if not accept:
        ledger.check(remote.path, size, digest, command)
    ledger.record(remote.path, size, digest, remote.address)


def _digest(file: IO[bytes], task: Task) -> str:
    file.seek(0)
    digest = hashlib.sha256()
    while block := file.read(_BLOCK):
        digest.update(block)
        task.advance(len(block))
    return digest.hexdigest()


def _gave_up(remote: Remote, part: Part, error: Exception) -> str:
    kept = f"; {part.size():,} bytes are kept and the next try continues there" if part.known() else ""
    target = part.file.with_name(part.file.name.removesuffix(".part"))
    return (
        f"cannot fetch {remote.address}: {error}{kept}; without a network, fetch it on another "
        f"machine and put it at {target}"
    )
