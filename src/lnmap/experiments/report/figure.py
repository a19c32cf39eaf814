"""What all figures share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lnmap.experiments.records import NO_SEED
from lnmap.experiments.report.collect import REFERENCE, TableReport
from lnmap.experiments.report.svg import Drawing, series


@dataclass(frozen=True)
class Figure:
    """A picture, the name of its file, and the sentence below it."""

    name: str
    title: str
    caption: str
    drawing: Drawing


def colours_of(table: TableReport) -> dict[str, str]:
    """Give each system a colour: LNMap the first, the others in the order of the table."""
    names = sorted(table.systems, key=lambda name: (name != REFERENCE, list(table.systems).index(name)))
    return {name: series(i) for i, name in enumerate(names)}


def seed_name(take: str) -> str:
    """Name a seed rule in a figure."""
    return "no seed" if take == NO_SEED else take


def limits(values: Sequence[float | None]) -> tuple[float, float]:
    """Give the ends of an axis of percentages: a little room on both sides, never below 0 or above 100."""
    there = [value for value in values if value is not None]
    low, high = min(there), max(there)
    room = max(0.08 * (high - low), 1.5)
    return max(0.0, low - room), min(100.0, high + room)
