"""What a plan amounts to before it is run: its data, its state and its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lnmap.errors import LnmapError
from lnmap.model import pick_device
from lnmap.reproduce.data import Fingerprints, OwnData, find_files
from lnmap.reproduce.estimate import expected_seconds
from lnmap.reproduce.plan import benchmark_of
from lnmap.reproduce.records import Trial
from lnmap.reproduce.store import Results, key_of


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
        return "\n".join([text, *self.missing])

    def to_dict(self) -> dict[str, Any]:
        """Give everything under stable names."""
        runs = [
            {**line.trial.to_dict(), "data": line.data, "state": line.state, "expected_seconds": line.seconds}
            for line in self.lines
        ]
        return {"runs": runs, "missing": self.missing}


def overview(trials: Sequence[Trial], own: OwnData | None, folder: Path, device: str = "cpu") -> Overview:
    """Look at a plan without reading any vectors."""
    results, prints = Results(folder), Fingerprints(folder / "data.json")
    kind = pick_device(device).type
    benchmark = None if own is not None else benchmark_of(trials[0].table)
    found: dict[str, tuple[str, dict[str, str] | None]] = {}
    missing: list[str] = []
    for trial in trials:
        if trial.direction in found:
            continue
        try:
            files = find_files(benchmark, trial.direction, own)
            names = ", ".join(path.name for path in (files.source, files.target, files.train, files.test))
            found[trial.direction] = names, prints.remembered(files)
        except LnmapError as error:
            missing.append(str(error))
            found[trial.direction] = f"{benchmark or 'own'} {trial.direction} (missing)", None
    lines = []
    for trial in trials:
        data, content = found[trial.direction]
        result = results.read(trial, key_of(trial, content, kind)) if content else None
        state = result["status"] if result else "to do"
        lines.append(Line(trial, data, state, expected_seconds(trial, kind)))
    return Overview(lines, missing)


def duration(seconds: float | None) -> str:
    """Write a time as a person would say it."""
    if seconds is None:
        return "?"
    for size, name in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"
