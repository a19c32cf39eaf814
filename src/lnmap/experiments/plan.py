"""Plan: the trials of a table, and what they amount to before they are run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lnmap.datasets import benchmark_named
from lnmap.errors import LnmapError, OptionError, Spell, as_argument
from lnmap.experiments.data import Fingerprints, OwnData, Sources, needs_data, sources_of
from lnmap.experiments.estimate import expected_seconds
from lnmap.experiments.results import DONE, FAILED, Results, key_of
from lnmap.experiments.tables import Table, load_table
from lnmap.experiments.tables.reading import opposite, pair_of
from lnmap.experiments.trial import DEVELOPMENT, MEASURE, NO_SEED, TEST, Trial
from lnmap.methods import make_method
from lnmap.model.device import pick_device


def make_plan(
    table: str | Table,
    *,
    pairs: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    takes: Sequence[str] | None = None,
    seeds: int | None = None,
    one_way: bool = False,
    score: str | None = None,
    own_pairs: Sequence[str] = (),
) -> list[Trial]:
    """Return the trials of a table, those of one pair of languages together.

    :param table: a table, its name, or the path of its YAML file.
    :param pairs: only these pairs, each in both directions; as written alone with `one_way`.
    :param systems: only these rows, by their short names or by their methods' names.
    :param takes: only these seed rules; systems without a seed are not touched by this. A table without published
        numbers takes any rule.
    :param seeds: trials per cell whose method draws random numbers; the others have one.
    :param score: `test` or `development` words, instead of what the table says.
    :param own_pairs: the directed pairs of the user's data, for a table that names none.
    """
    found = table if isinstance(table, Table) else load_table(table, own_pairs, takes)
    seeds = found.seeds if seeds is None else seeds
    if seeds < 1:
        raise OptionError(f"seeds={seeds} leaves nothing to run", advice="give {seeds} 1 or more")
    if not found.cells:
        raise needs_data(found.name)
    if score not in (None, TEST, DEVELOPMENT):
        raise OptionError(f"score={score} is unknown; choose {TEST} or {DEVELOPMENT}")
    directions = _directions(pairs, found, one_way)
    rows, rules = _systems(systems, found), _takes(takes, found)
    chosen = [c for c in found.cells if c.direction in directions and c.system in rows and c.take in rules]
    if not chosen:
        raise OptionError(f"{found.name} has no cell with these pairs, systems and seed rules together")
    chosen = [replace(c, score=score or c.score) for c in chosen]
    chosen.sort(key=lambda cell: directions.index(cell.direction))
    trials = [replace(cell, seed=seed) for cell in chosen for seed in range(seeds if _is_stochastic(cell) else 1)]
    return [*_measures(chosen), *trials]


def _is_stochastic(cell: Trial) -> bool:
    return make_method(cell.method, cell.profile, dict(cell.options)).stochastic


def _measures(cells: Sequence[Trial]) -> list[Trial]:
    """Return one measurement per pair of languages: how alike their spaces are."""
    first = {cell.pair: cell for cell in reversed(cells)}
    what = {"system": MEASURE, "label": MEASURE, "method": MEASURE, "take": NO_SEED}
    return [
        replace(cell, **what, profile=None, options={}, published=None)  # type: ignore[arg-type]
        for cell in reversed(first.values())
    ]


def _directions(wanted: Sequence[str] | None, table: Table, one_way: bool) -> list[str]:
    there = list(dict.fromkeys(cell.direction for cell in table.cells))
    if wanted is None:
        return [direction for direction in there if not one_way or direction == pair_of(direction)]
    for pair in wanted:
        if pair not in there:
            raise OptionError(f"{table.name} has no pair {pair!r}; it has {', '.join(there)}")
    both = [direction for pair in wanted for direction in ([pair] if one_way else [pair, opposite(pair)])]
    return [direction for direction in dict.fromkeys(both) if direction in there]


def _systems(wanted: Sequence[str] | None, table: Table) -> set[str]:
    chosen: set[str] = set()
    for system in table.systems if wanted is None else wanted:
        by_method = {cell.system for cell in table.cells if cell.method == system}
        found = {system} if system in table.systems else by_method
        if not found:
            raise OptionError(f"{table.name} has no system {system!r}; it has {', '.join(table.systems)}")
        chosen |= found
    return chosen


def _takes(wanted: Sequence[str] | None, table: Table) -> set[str]:
    unknown = [take for take in wanted or () if take not in table.takes]
    if unknown:
        raise OptionError(f"{table.name} has no seed rule {unknown[0]!r}; it has {', '.join(table.takes)}")
    return {*(wanted or table.takes), NO_SEED}


@dataclass(frozen=True)
class Preview:
    """A plan before it is run: each trial with its data, its state and its time, and why directions cannot be run."""

    runs: list[dict[str, Any]]
    missing: list[str]

    def rows(self) -> list[list[Any]]:
        """Return the trials as rows of a table."""
        names = ("system", "profile", "direction", "take", "seed", "data", "state")
        values = [["default" if run[name] is None else run[name] for name in names] for run in self.runs]
        times = [duration(run["expected_seconds"]) for run in self.runs]
        return [[number, *row, time] for number, (row, time) in enumerate(zip(values, times, strict=True), 1)]

    def summary(self, jobs: int | None) -> str:
        """Return a few sentences about what there is to do."""
        todo = [run["expected_seconds"] for run in self.runs if run["state"] not in (DONE, FAILED)]
        known = sum(seconds for seconds in todo if seconds is not None)
        text = f"{len(self.runs):,} runs, {len(todo):,} to do: about {duration(known)} of one core"
        text += f", {duration(known / jobs)} with {jobs} workers" if jobs and jobs > 1 else ""
        text += f", and {todo.count(None):,} runs that were never timed on this device" if None in todo else ""
        if self.missing:
            text += f"\nthe data of {len(self.missing)} directions are missing. First: {self.missing[0]}"
        return text


def preview(
    trials: Sequence[Trial], own: OwnData | None, folder: Path, device: str = "cpu", spell: Spell = as_argument
) -> Preview:
    """Look at a plan without reading any vectors; `spell` writes what to do about missing data."""
    results, prints = Results(folder), Fingerprints(folder / "data.json")
    kind = pick_device(device).type
    places = {trial.data: _look(trial, own, spell) for trial in trials}
    contents = {
        data: prints.remembered(sources) for data, (sources, reason) in places.items() if sources and not reason
    }
    runs = []
    for trial in trials:
        sources, reason = places[trial.data]
        content = contents.get(trial.data)
        result = results.read(trial, key_of(trial, content, kind)) if content else None
        state = result["status"] if result else "no data" if reason else "to do"
        data = ", ".join(path.name for path in sources.paths.values()) if sources else "?"
        about = {"data": data, "state": state, "expected_seconds": expected_seconds(trial, kind)}
        runs.append({**trial.to_dict(), **about})
    return Preview(runs, [reason for _, reason in places.values() if reason])


def _look(trial: Trial, own: OwnData | None, spell: Spell) -> tuple[Sources | None, str]:
    """Return the files of a trial, those that are missing too, and why it cannot be run."""
    try:
        return sources_of(trial, own), ""
    except LnmapError as error:
        there = None if own is not None or trial.dataset is None else benchmark_named(trial.dataset)
        return Sources.of(trial, there.place(trial.direction)) if there else None, error.explain(spell)


def duration(seconds: float | None) -> str:
    """Return a time in the largest fitting unit."""
    if seconds is None:
        return "?"
    for size, name in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"
