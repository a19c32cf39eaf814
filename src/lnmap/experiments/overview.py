"""What a plan amounts to before it is run: its data, its state and its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lnmap.datasets import PairFiles, benchmark_named
from lnmap.errors import LnmapError, Spell, as_argument
from lnmap.experiments.data import Fingerprints, OwnData, find_files
from lnmap.experiments.estimate import expected_seconds
from lnmap.experiments.plan import benchmark_of
from lnmap.experiments.records import Trial
from lnmap.experiments.store import Results, key_of
from lnmap.model.device import pick_device


@dataclass(frozen=True)
class Line:
    """One trial: the data it needs, whether they are there, and whether it is done."""

    trial: Trial
    data: str
    state: str
    seconds: float | None


@dataclass(frozen=True)
class Overview:
    """A plan, line by line."""

    lines: list[Line]
    missing: list[str]

    def rows(self) -> list[tuple[Any, ...]]:
        """Give the lines as rows of a table."""
        return [
            (
                number,
                line.trial.system,
                line.trial.direction,
                line.trial.take,
                line.trial.seed,
                line.data,
                line.state,
                duration(line.seconds),
            )
            for number, line in enumerate(self.lines, 1)
        ]

    def summary(self, jobs: int | None) -> str:
        """Tell in a few sentences what there is to do."""
        todo = [line for line in self.lines if line.state not in ("done", "failed")]
        known = sum(line.seconds for line in todo if line.seconds is not None)
        unknown = sum(line.seconds is None for line in todo)
        text = f"{len(self.lines):,} runs, {len(todo):,} to do: about {duration(known)} of one core"
        text += f", {duration(known / jobs)} with {jobs} workers" if jobs and jobs > 1 else ""
        text += f", and {unknown:,} runs that nobody has timed on this device" if unknown else ""
        if self.missing:
            text += (
                f"\ndata of {len(self.missing)} directions are not there; --get fetches them. First: {self.missing[0]}"
            )
        return text

    def to_dict(self) -> dict[str, Any]:
        """Give everything under stable names."""
        runs = [
            {**line.trial.to_dict(), "data": line.data, "state": line.state, "expected_seconds": line.seconds}
            for line in self.lines
        ]
        return {"runs": runs, "missing": self.missing}


def overview(
    trials: Sequence[Trial], own: OwnData | None, folder: Path, device: str = "cpu", spell: Spell = as_argument
) -> Overview:
    """Look at a plan without reading any vectors; `spell` writes what to do about missing data."""
    results, prints = Results(folder), Fingerprints(folder / "data.json")
    kind = pick_device(device).type
    benchmark = None if own is not None else benchmark_of(trials[0].table)
    places = {
        direction: _look(benchmark, direction, own, spell) for direction in dict.fromkeys(t.direction for t in trials)
    }
    contents = {
        direction: prints.remembered(files) for direction, (files, reason) in places.items() if files and not reason
    }
    lines = []
    for trial in trials:
        files, reason = places[trial.direction]
        content = contents.get(trial.direction)
        result = results.read(trial, key_of(trial, content, kind)) if content else None
        state = result["status"] if result else "no data" if reason else "to do"
        lines.append(Line(trial, _names(files), state, expected_seconds(trial, kind)))
    return Overview(lines, [reason for _, reason in places.values() if reason])


def _look(benchmark: str | None, direction: str, own: OwnData | None, spell: Spell) -> tuple[PairFiles | None, str]:
    """Give the files of a direction, those that are not there too, and why it cannot be run."""
    try:
        return find_files(benchmark, direction, own), ""
    except LnmapError as error:
        there = None if own is not None or benchmark is None else benchmark_named(benchmark).place(direction)
        return there, error.explain(spell)


def _names(files: PairFiles | None) -> str:
    return ", ".join(path.name for path in (files.source, files.target, files.train, files.test)) if files else "?"


def duration(seconds: float | None) -> str:
    """Write a time as a person would say it."""
    if seconds is None:
        return "?"
    for size, name in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"
