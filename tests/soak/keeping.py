"""Keeping: the figures of finished rows in a file, from which an interrupted run of the same command continues."""

from __future__ import annotations

import fcntl
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from tests.soak.launcher import ROOT

from lnmap.errors import OutputError
from lnmap.io.atomic import atomic_file, write_json

_INTERRUPTED = 130


class Kept:
    """The state of a run: how it is made, and the figures of each row that is done.

    :param how: what must be the same for an earlier state to be continued; None continues any.
    """

    def __init__(self, path: Path, how: dict[str, Any], any_state: bool = False, fresh: bool = False) -> None:
        self.path, self.unsaved = path, ""
        found = {} if fresh else _read(path)
        if not any_state and found.get("how") != how:
            found = {}
        self.state: dict[str, Any] = {"how": how, "done": {}, **found}

    @property
    def done(self) -> dict[str, Any]:
        return self.state["done"]

    def save(self) -> None:
        """Write the state; where that fails, say so and go on, because what is in memory is still printed."""
        try:
            write_json(self.path, self.state)
            self.unsaved = ""
        except OutputError as error:
            self.unsaved = str(error)
            say(f"    the figures cannot be kept: {error}")


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("done"), dict) else {}


@contextmanager
def alone(path: Path, option: str = "--state") -> Iterator[None]:
    """Hold the state file, which an option names; stop if another run holds it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_name(path.name + ".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise SystemExit(f"another run is writing {path}; wait for it, or give another {option}") from None
            yield
    except OSError as error:
        raise SystemExit(f"cannot use {error.filename or path}: {error.strerror}") from error


@contextmanager
def terminable() -> Iterator[None]:
    """Take SIGTERM for an interrupt."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def interruptible(kept: Kept) -> Iterator[None]:
    """End in one line when the run is interrupted or terminated."""
    try:
        with terminable():
            yield
    except KeyboardInterrupt:
        say(f"interrupted; finished rows: {len(kept.done)}, kept in {kept.path}; the same command continues after them")
        raise SystemExit(_INTERRUPTED) from None


def commit() -> str:
    """Return the commit, and whether the package has been changed since."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()

    changes = " with changes" if git("status", "-s", "src") else ""
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + changes


def publish(kept: Kept, page: str, out: Path | None, begin: str, end: str) -> int:
    """Print a table of the figures, put it into a file if one is named, and return the exit code."""
    say(page)
    if out:
        replace_part(out, begin, end, page)
    if kept.unsaved:
        say(f"the figures could not be kept: {kept.unsaved}")
    return int(any(one["failed"] for one in kept.done.values()) or bool(kept.unsaved))


def replace_part(path: Path, begin: str, end: str, page: str) -> None:
    """Replace what stands between two marks in a page."""
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(begin)
    _, mark, after = rest.partition(end)
    if not mark:
        raise SystemExit(f"{path} has no place for the figures: {begin} ... {end}")
    try:
        with atomic_file(path, "w", encoding="utf-8") as file:
            file.write(f"{before}{begin}\n\n{page}\n{end}{after}")
    except OutputError as error:
        raise SystemExit(f"{error}; the table is printed above") from error


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
