"""The terminal: results on stdout; progress, notes and errors on stderr."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lnmap.progress import Task

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

PATIENCE_S = 2.0  # work shorter than this shows no bar
SPARSE_S = 10.0  # seconds between lines where stderr is no terminal
_WIDE = 160  # columns of a table that goes to a file or a pipe


class _Work:
    """One open task."""

    def __init__(self, console: Console, title: str, total: float | None) -> None:
        self.console, self.title, self.total = console, title, total
        self.done, self.started = 0.0, time.monotonic()
        self.bar: TaskID | None = None

    def advance(self, amount: float = 1) -> None:
        self.done += amount
        self.console.tick(self)

    def line(self) -> str:
        """Describe how far the work is."""
        seconds = time.monotonic() - self.started
        if not self.total:
            return f"{self.title}: {seconds:.0f} s so far"
        share = min(self.done / self.total, 1.0)
        left = f", about {seconds / share - seconds:.0f} s left" if share > 0 else ""
        return f"{self.title}: {share:.0%} after {seconds:.0f} s{left}"


class Console:
    """Take progress, log rows and notes (the protocol of `lnmap.progress`) and print results and errors."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything, as at the start of a program."""
        self.as_json = self.quiet = self.verbose = False
        self.debug = os.environ.get("LNMAP_DEBUG", "0") not in ("", "0")
        self.listeners: list[Callable[[Mapping[str, Any]], None]] = []
        self._open: list[_Work] = []
        self._bars: Bars | None = None
        self._since = self._spoke = 0.0
        self._columns: list[str] = []

    @contextmanager
    def task(self, title: str, total: float | None) -> Iterator[Task]:
        """Show a task below the one it is part of."""
        work = _Work(self, title, total)
        self._since = self._since or work.started
        self._open.append(work)
        try:
            self.tick(work)
            yield work
        finally:
            self._open.remove(work)
            if self._bars is not None and work.bar is not None:
                self._bars.remove_task(work.bar)

    def tick(self, work: _Work) -> None:
        """Update what is shown, if it is time to."""
        now = time.monotonic()
        if self.quiet or now - self._since < PATIENCE_S:
            return
        if self._bars is not None or sys.stderr.isatty():  # while bars are shown, rich before 15 says it is no terminal
            self._draw()
        elif now - max(self._spoke, self._since) >= SPARSE_S and now - work.started >= PATIENCE_S:
            self._spoke = now
            whole = work if self.verbose else self._open[0]
            self.say(whole.line() + ("" if whole is self._open[-1] or self.verbose else f" ({self._open[-1].title})"))

    def log(self, row: Mapping[str, Any]) -> None:
        """Print a row of the training log under its column names, and pass it to the listeners."""
        for listener in self.listeners:
            listener(row)
        columns = _fitting([name for name in row if not name.startswith("moved_")])
        if columns != self._columns:
            self._columns = columns
            self.say("  ".join(name.rjust(_width(name)) for name in columns))
        self.say("  ".join(cell(row[name]).rjust(_width(name)) for name in columns))

    def note(self, message: str) -> None:
        """Print a sentence the user should read."""
        self.say(f"note: {message}")

    def say(self, text: str) -> None:
        """Print a line on stderr, unless --quiet was given."""
        if self.quiet:
            return
        if self._bars is not None:
            self._bars.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            print(text, file=sys.stderr, flush=True)  # noqa: T201

    def result(self, text: str) -> None:
        """Print a line of the result on stdout."""
        self.close()
        print(text)  # noqa: T201

    def json(self, value: Any) -> None:
        """Print a result as JSON."""
        self.result(json.dumps(value, ensure_ascii=False, indent=1))

    def answer(self, value: Any, *lines: str) -> None:
        """Print a result: the value if --json was given, the lines otherwise."""
        if self.as_json:
            self.json(value)
            return
        for line in lines:
            self.result(line)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Print a result as a table."""
        from rich import box
        from rich.console import Console as RichConsole
        from rich.table import Table
        from rich.text import Text

        self.close()
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=any(columns))
        numeric = [all(isinstance(row[i], int | float) for row in rows) for i in range(len(columns))]
        for name, right in zip(columns, numeric, strict=True):
            table.add_column(name, justify="right" if right else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell(value)) for value in row))
        width = None if sys.stdout.isatty() else _WIDE
        RichConsole(file=sys.stdout, width=width, highlight=False).print(table)

    def fail(self, message: str, code: int) -> int:
        """Print an error as one line, with --debug below its traceback, and return the exit code."""
        self.close()
        if self.debug:
            traceback.print_exc()
        print("error: " + " ".join(message.splitlines()), file=sys.stderr, flush=True)  # noqa: T201
        return code

    def close(self) -> None:
        """Remove the bars from the screen."""
        bars, self._bars, self._since = self._bars, None, 0.0
        if bars is not None:
            bars.stop()

    def _draw(self) -> None:
        if self._bars is None:
            self._bars = _bars()
            self._bars.start()
            for work in self._open:
                work.bar = None
        for depth, work in enumerate(self._open if self.verbose else self._open[:1]):
            inside = "" if self.verbose or len(self._open) == 1 else f": {self._open[-1].title}"
            title = "  " * depth + work.title + inside
            if work.bar is None:
                work.bar = self._bars.add_task(title, total=work.total)
            self._bars.update(work.bar, completed=work.done, description=title)


def cell(value: Any) -> str:
    """Format a value for a table."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def count(number: int, thing: str) -> str:
    """Format a number of things: '1 line', '2,000 words'."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _width(name: str) -> int:
    return max(len(name), 9)


def _fitting(names: list[str]) -> list[str]:
    """Drop columns that do not fit the line, but never the last."""
    room = shutil.get_terminal_size((_WIDE, 24)).columns
    while len(names) > 2 and sum(_width(name) + 2 for name in names) > room:
        del names[-2]
    return names


def _bars() -> Bars:
    from rich import progress
    from rich.console import Console as RichConsole

    title = progress.TextColumn("{task.description}", markup=False)
    done = (progress.BarColumn(), progress.TaskProgressColumn())
    times = (progress.TimeElapsedColumn(), progress.TimeRemainingColumn())
    return progress.Progress(title, *done, *times, console=RichConsole(file=sys.stderr), transient=True)


console = Console()
