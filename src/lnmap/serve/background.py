"""Background: long work beside the requests, which stops when the server does."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal

from typing_extensions import TypedDict

from lnmap.errors import LnmapError
from lnmap.progress import Silent, Task

State = Literal["waiting", "running", "done", "failed"]
_PATIENCE_S = 10.0


class JobState(TypedDict):
    """Work in the background."""

    state: State
    share: float
    message: str


class Stopped(Exception):  # noqa: N818 - no error: the server is going away
    """Raised inside a job that is to stop."""


class Job(Silent):
    """One piece of work with a result, started at most once at a time.

    :param work: gets the job, which is also the progress (`lnmap.progress`) that the work reports to.
    """

    def __init__(self, work: Callable[[Job], Any]) -> None:
        super().__init__()
        self._work, self._lock, self._stop = work, threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        self.state: State = "waiting"
        self.share, self.message = 0.0, ""
        self.result: Any = None

    def start(self) -> None:
        """Begin, unless it is running or done."""
        with self._lock:
            if self.state in ("waiting", "failed"):
                self.state, self.share, self.message = "running", 0.0, ""
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End it at its next step and wait for that."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_PATIENCE_S)

    def wait(self) -> None:
        """Wait until it has ended."""
        if self._thread is not None:
            self._thread.join()

    def check(self) -> None:
        """Leave the work if it is to stop."""
        if self._stop.is_set():
            raise Stopped

    def describe(self) -> JobState:
        """Return its state for the API."""
        return JobState(state=self.state, share=round(self.share, 3), message=self.message)

    @contextmanager
    def task(self, title: str, total: float | None) -> Iterator[Task]:
        """Follow one part of the work; the job's share is that of its present part."""
        yield _Part(self, total)

    def _run(self) -> None:
        _lower_priority()
        try:
            self.result = self._work(self)
            self.state, self.share = "done", 1.0
        except Stopped:
            self.state = "waiting"
        except (LnmapError, MemoryError, RuntimeError) as error:
            self.state, self.message = "failed", " ".join(str(error).split()) or type(error).__name__


class _Part:
    def __init__(self, job: Job, total: float | None) -> None:
        self._job, self._total, self._done = job, total, 0.0

    def advance(self, amount: float = 1) -> None:
        self._job.check()
        self._done += amount
        if self._total:
            self._job.share = min(1.0, self._done / self._total)


def _lower_priority() -> None:
    """Let the threads that answer requests go first, where threads have a priority of their own (Linux)."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
