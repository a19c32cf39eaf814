"""Figures: what a scenario counted, and how long it may go on."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

COLUMNS = ("what is done", "attempts", "failures", "longest, s", "most memory, MB", "also counted")
_KEPT_FAILURES = 20


@dataclass
class Figures:
    """The result of a scenario.

    :param attempts: how often something was tried.
    :param failures: a line each; empty is what everybody hopes for.
    :param worst_s: the longest attempt.
    :param worst_mb: the most memory an attempt took; 0 where it was not measured.
    :param also: other numbers, by name; `most ...` are maxima, the others sums.
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
        """Count a failure and keep the first reasons."""
        self.failed += 1
        if len(self.failures) < _KEPT_FAILURES:
            self.failures.append(" ".join(reason.split())[:400])

    def count(self, name: str, amount: float = 1) -> None:
        """Add to one of the other numbers; `most ...` takes the larger one."""
        before = self.also.get(name, 0)
        self.also[name] = max(before, amount) if name.startswith("most") else before + amount

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Count one attempt and its time; an error of any kind is a failure, and the next attempt is made."""
        self.attempts += 1
        began = time.perf_counter()
        try:
            yield
        except Exception as error:
            self.fail(f"{type(error).__name__}: {error}")
        self.worst_s = max(self.worst_s, time.perf_counter() - began)

    def row(self, name: str) -> tuple[str, ...]:
        """Give the cells of one line of the table."""
        if self.skipped:
            return (name, "0", "", "", "", f"not run: {self.skipped}")
        also = ", ".join(f"{key}: {value:,.6g}" for key, value in self.also.items())
        memory = f"{self.worst_mb:,.0f}" if self.worst_mb else ""
        return (name, f"{self.attempts:,}", f"{self.failed:,}", f"{self.worst_s:.1f}", memory, also)

    def to_dict(self) -> dict[str, Any]:
        """Give what JSON can hold."""
        return asdict(self)


@dataclass
class Budget:
    """How long a scenario goes on: until it has made its attempts, or its time is over.

    At least one attempt is made, so that a slow machine does not make a scenario disappear.
    """

    attempts: int
    seconds: float = 1e9
    seed: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self._end = time.monotonic() + self.seconds

    def more(self, figures: Figures, least: int = 1) -> bool:
        """Tell whether there is room for another attempt; `least` of them are made however long they take."""
        if not figures.attempts:
            return True
        return figures.attempts < self.attempts and (figures.attempts < least or time.monotonic() < self._end)

    def left_s(self) -> float:
        """Seconds that are left."""
        return max(0.0, self._end - time.monotonic())


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Write the table."""
    lines = [COLUMNS, ("---", "--:", "--:", "--:", "--:", "---"), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
