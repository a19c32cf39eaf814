"""Figures: what a scenario counts, and its budget of attempts and time."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.soak.lab import Lab

COLUMNS = ("what is done", "attempts", "failures", "longest, s", "most memory, MB", "also counted")
_KEPT_FAILURES = 20


class Skip(Exception):  # noqa: N818
    """An attempt cannot be made on this machine; the message says why."""


@dataclass
class Figures:
    """The result of a scenario.

    :param failures: the first reasons, one line each.
    :param worst_s: the longest attempt.
    :param worst_mb: the most memory an attempt took; 0 where it was not measured.
    :param also: other numbers by name; those named `most ...` are maxima, the others sums.
    :param skipped: why nothing was tried.
    """

    attempts: int = 0
    failed: int = 0
    failures: list[str] = field(default_factory=list)
    worst_s: float = 0.0
    worst_mb: float = 0.0
    also: dict[str, float] = field(default_factory=dict)
    skipped: str = ""

    def fail(self, reason: str) -> None:
        self.failed += 1
        if len(self.failures) < _KEPT_FAILURES:
            self.failures.append(" ".join(reason.split())[:400])

    def count(self, name: str, amount: float = 1) -> None:
        """Add to one of the other numbers; `most ...` keeps the larger one."""
        before = self.also.get(name, 0)
        self.also[name] = max(before, amount) if name.startswith("most") else before + amount

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Count one attempt and its time; an error of any kind is a failure."""
        self.attempts += 1
        began = time.perf_counter()
        try:
            with self.skipping():
                yield
        except Exception as error:
            self.fail(f"{type(error).__name__}: {error}")
        self.worst_s = max(self.worst_s, time.perf_counter() - began)

    @contextmanager
    def skipping(self) -> Iterator[None]:
        """Note why nothing can be tried on this machine."""
        try:
            yield
        except Skip as reason:
            self.skipped = str(reason)

    def row(self, name: str) -> tuple[str, ...]:
        """Return the cells of one row of the table."""
        if self.skipped:
            return (name, "0", "", "", "", f"not run: {self.skipped}")
        also = ", ".join(f"{key}: {value:,.6g}" for key, value in self.also.items())
        memory = f"{self.worst_mb:,.0f}" if self.worst_mb else ""
        return (name, f"{self.attempts:,}", f"{self.failed:,}", f"{self.worst_s:.1f}", memory, also)


@dataclass
class Budget:
    """How long a scenario goes on: until it has made its attempts, or its time is over.

    At least one attempt is made, so that no scenario is lost on a slow machine.
    """

    attempts: int
    seconds: float = 1e9
    seed: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self._end = time.monotonic() + self.seconds

    def more(self, figures: Figures, least: int = 1) -> bool:
        """Return whether another attempt is due; `least` of them are made however long they take."""
        if figures.skipped or not figures.attempts:
            return not figures.skipped
        return figures.attempts < self.attempts and (figures.attempts < least or time.monotonic() < self._end)

    def left_s(self) -> float:
        return max(0.0, self._end - time.monotonic())


Scenario = Callable[["Lab", Budget], Figures]


def repeated(attempt: Callable[[Lab, random.Random, Figures], None]) -> Scenario:
    """Make a scenario that repeats one attempt until its budget is used up."""

    @functools.wraps(attempt)
    def scenario(lab: Lab, budget: Budget) -> Figures:
        figures = Figures()
        lab.warm_up()
        while budget.more(figures):
            with figures.attempt():
                attempt(lab, budget.rng, figures)
        return figures

    return scenario


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return the table."""
    lines = [COLUMNS, ("---", "--:", "--:", "--:", "--:", "---"), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
