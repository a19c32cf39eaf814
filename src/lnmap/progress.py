"""Progress: how the library reports work, log rows and notes, and tables in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from html import escape
from typing import Any, Protocol


class Task(Protocol):
    """A running piece of work."""

    def advance(self, amount: float = 1) -> None:
        """Report that `amount` more of the total is done."""


class Progress(Protocol):
    """Where work in progress is reported."""

    def task(self, title: str, total: float | None) -> AbstractContextManager[Task]:
        """Open a context manager that yields a Task."""

    def log(self, row: Mapping[str, Any]) -> None:
        """Take one row of a training log."""

    def note(self, message: str) -> None:
        """Take one sentence for the user: a warning, or what was done instead."""


class Finding(str):
    """A note on a file's content; the `origin` of what was read holds the same, for callers that show it themselves."""

    __slots__ = ()


class _SilentTask:
    def advance(self, amount: float = 1) -> None:
        pass


class Silent:
    """Report nothing; keep the notes, so that a caller may still show them."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    @contextmanager
    def task(self, title: str, total: float | None) -> Iterator[Task]:
        """Yield a task that reports nothing."""
        yield _SilentTask()

    def log(self, row: Mapping[str, Any]) -> None:
        """Drop the row."""

    def note(self, message: str) -> None:
        """Keep the message."""
        self.notes.append(message)


class Forward:
    """Forward everything to another progress; subclasses override what they change."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    def task(self, title: str, total: float | None) -> Any:
        """Open the task there."""
        return self.progress.task(title, total)

    def log(self, row: Mapping[str, Any]) -> None:
        """Pass the row on."""
        self.progress.log(row)

    def note(self, message: str) -> None:
        """Pass the message on."""
        self.progress.note(message)


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as a notebook shows it."""
    lines = [("th", columns), *(("td", row) for row in rows)]
    cells = ("".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in row) for tag, row in lines)
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"
