"""Training: train a served model again with its marks, in a process of its own, beside the requests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from lnmap.errors import TrainingError
from lnmap.serve.background import Job
from lnmap.serve.schemas import Trained, TrainingState

_LOOK_S = 0.1  # seconds between two looks at whether it is to stop


class Training:
    """At most one training of a model at a time.

    :param take_over: loads the new model of the folder, and raises if that fails.
    """

    def __init__(self, folder: Path, take_over: Callable[[], None]) -> None:
        self._folder, self._take_over = folder, take_over
        self._lock, self._job = threading.Lock(), Job(self._work)
        self._result: Trained | None = None
        self._last: dict[str, Any] = {}  # what the process has told last

    def start(self) -> None:
        """Begin, unless it is running."""
        with self._lock:
            if self._job.state != "running":
                self._job = Job(self._work)
                self._job.start()

    def stop(self) -> None:
        """End the process; the old model stays."""
        self._job.stop()

    def describe(self) -> TrainingState:
        """Return its state for the API."""
        left = self._last.get("left") if self._job.state == "running" else None
        return TrainingState(**self._job.describe(), left=left, result=self._result)

    def _work(self, job: Job) -> None:
        job.message = "starting"
        process = _start(self._folder)
        last = self._last = {}
        reader = threading.Thread(target=_follow, args=(process.stdout, job, last), daemon=True)
        reader.start()
        try:
            while reader.is_alive():
                job.check()
                reader.join(_LOOK_S)
            code = process.wait()
        finally:
            process.kill()
            process.wait()
            process.stdin.close()  # type: ignore[union-attr]
        if "result" not in last:
            raise TrainingError(last.get("error") or _silence(code))
        job.message, job.share = "loading the new model", 0.0
        self._take_over()
        self._result, job.message = last["result"], ""


def _start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "lnmap.serve.trainer", str(folder.resolve())]
    try:
        return subprocess.Popen(  # noqa: S603 - a list of arguments, none of them from a request
            command,
            stdin=subprocess.PIPE,  # closed when this process ends, however it ends
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the server, which ends it
            env={
                **os.environ,
                "PYTHONSAFEPATH": "1",
            },  # no module comes from the present folder
        )
    except OSError as error:
        raise TrainingError(f"the training cannot be started ({error.strerror})") from error


def _follow(lines: IO[bytes] | None, job: Job, last: dict[str, Any]) -> None:
    """Show how far the process is; keep its last word."""
    for line in lines or ():
        with suppress(ValueError):  # half a line of a process that was ended
            told = json.loads(line)
            last.clear()
            last.update(told)
            job.message, job.share = told.get("part", job.message), told.get("share", job.share)


def _silence(code: int) -> str:
    """Explain a process that ended without a word."""
    if code < 0:
        return f"the training was ended by the system (signal {-code}); there may be too little memory"
    return f"the training ended with exit code {code} and no result; the server's log says more"
