"""Trainer: the program that trains a served model again, in a process of its own.

`python -m lnmap.serve.trainer FOLDER` writes one JSON object per line: how far it is, then the result or what went
wrong. It replaces the model in the folder at the very end, and it ends when its input is closed, so that it does not
outlive the server that started it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lnmap.errors import LnmapError
from lnmap.io.atomic import locked
from lnmap.model.marks import read_marks
from lnmap.model.model import load
from lnmap.pipeline.retrain import NEEDED, retrain
from lnmap.progress import Silent, Task
from lnmap.serve.schemas import Trained

_PAUSE_S = 0.2  # between two reports
Tell = Callable[[dict[str, Any]], None]


class Reports(Silent):
    """Progress as lines: what is being done, the share of the whole, and the seconds left, as on a terminal."""

    def __init__(self, tell: Tell) -> None:
        super().__init__()
        self._tell, self._told, self._open = tell, 0.0, list[_Part]()

    @contextmanager
    def task(self, title: str, total: float | None) -> Iterator[Task]:
        """Report one part of the work; a part without a total gives the parts inside it a name."""
        part = _Part(self, title, total)
        self._open.append(part)
        self.report(at_once=True)
        try:
            yield part
        finally:
            self._open.remove(part)

    def report(self, at_once: bool = False) -> None:
        """Write a line, unless the last one is too fresh; the outermost part that has a total is the whole."""
        now = time.monotonic()
        if at_once or now - self._told >= _PAUSE_S:
            self._told = now
            whole = next((part for part in self._open if part.total), self._open[-1])
            share = min(1.0, whole.done / whole.total) if whole.total else 0.0
            left = round((now - whole.started) * (1 / share - 1), 1) if share else None
            titles = dict.fromkeys([self._open[0].title, self._open[-1].title])
            self._tell({"part": ": ".join(titles), "share": share, "left": left})


class _Part:
    def __init__(self, reports: Reports, title: str, total: float | None) -> None:
        self._reports, self.title, self.total = reports, title, total
        self.done, self.started = 0.0, time.monotonic()

    def advance(self, amount: float = 1) -> None:
        self.done += amount
        if self.total:
            self._reports.report()


def train(folder: Path, tell: Tell) -> Trained:
    """Train the model of a folder again with its marks, and put the new one in its place."""
    with locked(folder):
        model = load(folder, marks=False)
        found = retrain(model, read_marks(folder), progress=Reports(tell))
        tell({"part": "saving the model", "share": 0.0, "left": None})
        found.model.write(folder)
    return Trained(
        pairs=len(found.model.pairs),
        new=found.new,
        needed=NEEDED,
        held_out=found.held_out,
        before=found.before,
        after=found.after,
    )


def main(folder: str) -> int:
    """Train, and write what comes of it."""
    lines = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1, encoding="ascii")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a method prints is no line of ours
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(10)  # the server answers first

    def tell(value: dict[str, Any]) -> None:
        lines.write(json.dumps(value) + "\n")

    try:
        tell({"result": train(Path(folder), tell)})
    except LnmapError as error:
        tell({"error": error.problem.replace(folder, Path(folder).name)})  # paths are not for everybody
    except Exception as error:  # the server shows one line, its log has the rest
        traceback.print_exc()
        tell({"error": " ".join(f"{type(error).__name__}: {error}".split())})
    else:
        return 0
    return 1


def _end_with_the_server() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
