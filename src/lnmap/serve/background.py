"""Background: long work that goes on while the page answers, and that stops when the server does."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Literal

from lnmap.errors import LnmapError
from lnmap.progress import Task

State = Literal["waiting", "running", "done", "failed"]
_PATIENCE_S = 10.0


class Stopped(Exception):  # noqa: N818 - no error: the server is going away
    """Raised inside a job whose server goes away."""


class Job:
    """One piece of work with a result, started at most once at a time and watched through its state.

    :param work: gets the job, for it is also the progress (`lnmap.progress`) that the work reports to.
    """

    def __init__(self, work: Callable[[Job], Any]) -> None:
        self._work, self._lock, self._stop = work, threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        self.state: State = "waiting"
        self.share = 0.0
        self.result: Any = None
        self.message = ""

    def start(self) -> None:
        """Begin, unless it is under way or done."""
        with self._lock:
            if self.state in ("waiting", "failed"):
                self.state, self.share, self.message = "running", 0.0, ""
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End it at its next step and wait for that."""
        self._stop.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(_PATIENCE_S)

    def check(self) -> None:
        """Leave the work if the server goes away."""
        if self._stop.is_set():
            raise Stopped

    def describe(self) -> dict[str, Any]:
        """Return its state for the API."""
        return {"state": self.state, "share": round(self.share, 3), "message": self.message}

    def _run(self) -> None:
        _give_way()
        try:
            self.result = self._work(self)
            self.state, self.share = "done", 1.0
        except Stopped:
            self.state = "waiting"
        except (LnmapError, MemoryError, RuntimeError) as error:
            self.state, self.message = "failed", " ".join(str(error).split()) or type(error).__name__

    @contextmanager
    def task(self, title: str, total: float | None) -> Iterator[Task]:
        """Follow one part of the work."""
        yield _Share(self, total)

    def log(self, row: Mapping[str, Any]) -> None:
        """Drop the row."""

    def note(self, message: str) -> None:
        """Drop the note."""


def _give_way() -> None:
    """Let the threads that answer requests go first, where threads have a priority of their own (Linux)."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)


class _Share:
    """Progress of one part: the job's share is that of the part it is at."""

    def __init__(self, job: Job, total: float | None) -> None:
        self._job, self._total, self._done = job, total, 0.0

    def advance(self, amount: float = 1) -> None:
        """Say that more is done."""
        self._job.check()
        self._done += amount
        if self._total:
            self._job.share = min(1.0, self._done / self._total)
