"""Collect the cells of each table from the files of results, and compare them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lnmap.errors import OptionError
from lnmap.evaluate import Comparison, Evaluation, Groups, compare
from lnmap.experiments.report.groups import groups_of, mean_groups, rows_of
from lnmap.experiments.report.mistakes import Mistakes, sort_mistakes
from lnmap.experiments.report.versions import version_notes
from lnmap.experiments.results import DONE, FAILED, Results
from lnmap.experiments.tables import load_table
from lnmap.experiments.trial import MEASURE, NO_SEED, Trial

REFERENCE = "lnmap"  # the system that others are compared with, where it is there
LEVEL = 0.05
Key = tuple[str, str, str]  # seed rule, system, direction


@dataclass
class Cell:
    """One place of a table: our runs of it, and the paper's number."""

    trial: Trial
    asked: int = 0
    done: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)
    against: Comparison | None = None

    @property
    def published(self) -> float | None:
        """Return the paper's number."""
        return self.trial.published

    @property
    def scores(self) -> list[float]:
        """Return P@1 of each run."""
        return [result["scores"]["p@1"] for result in self.done]

    @property
    def mean(self) -> float | None:
        """Return the mean P@1 over the seeds; None while there is no number."""
        return statistics.mean(self.scores) if self.done else None

    @property
    def spread(self) -> float | None:
        """Return the standard deviation over the seeds; None for fewer than two."""
        return statistics.stdev(self.scores) if len(self.done) > 1 else None

    @property
    def difference(self) -> float | None:
        """Return ours less the paper's, of the numbers as they are shown."""
        if self.mean is None or self.published is None:
            return None
        return round(round(self.mean, 1) - self.published, 1)

    @property
    def whole(self) -> list[dict[str, Any]]:
        """Return the runs that were not interrupted, whose seconds count."""
        return [result for result in self.done if not result.get("resumed")]

    @property
    def seconds(self) -> float | None:
        """Return the mean seconds of a run."""
        return statistics.mean(result["seconds"] for result in self.whole) if self.whole else None

    @property
    def verdict(self) -> str:
        """Return `better` or `worse` where a paired test finds a difference from the reference system, else nothing."""
        if self.against is None or self.against.p_value >= LEVEL:
            return ""
        return "better" if self.against.difference > 0 else "worse"

    @property
    def first(self) -> dict[str, Any]:
        """Return the run with the smallest seed, which paired tests and kinds of errors are taken from."""
        return min(self.done, key=lambda result: result["trial"]["seed"])

    @property
    def has_words(self) -> bool:
        """Whether the file of the first run holds what each test word got."""
        return bool(self.done) and "words" in self.first

    def evaluation(self) -> Evaluation:
        """Rebuild the evaluation of the first run."""
        scores = self.first["scores"]
        seen, pairs = scores["test_pairs_seen_in_training"], scores["test_pairs"]
        return Evaluation(rows_of(self.first["words"]), scores["n_all"], seen, pairs)

    @cached_property
    def groups(self) -> Groups:
        """Return P@1 and calibration of groups of words, mean over the seeds; nothing where they are not known."""
        return mean_groups([found for found in map(groups_of, self.done) if found])


@dataclass(frozen=True)
class Line:
    """One row of a table: a system under a seed rule, with the mean of its cells, and the paper's.

    :param profile: the profile it ran with, and the options that the table sets on top of it.
    """

    take: str
    system: str
    label: str
    profile: str
    cells: list[Cell | None]  # in the order of the directions
    ours: float | None
    paper: float | None

    @property
    def names(self) -> list[str]:
        """Return what a row begins with: the seed rule, the system, the profile."""
        return [seed_name(self.take), self.label, self.profile]


@dataclass
class TableReport:
    """One table as far as it is reproduced."""

    name: str
    title: str
    citation: str | None
    takes: list[str]
    systems: dict[str, str]  # short name: label
    directions: list[str]
    cells: dict[Key, Cell]
    published_gh: dict[str, float]
    measures: dict[str, dict[str, Any]]  # by pair

    @cached_property
    def reference(self) -> str | None:
        """Return the system that the others are compared with."""
        there = {cell.trial.system for cell in self.cells.values() if cell.has_words}
        return REFERENCE if REFERENCE in there else None

    @property
    def has_paper(self) -> bool:
        """Whether there are published numbers beside ours."""
        return any(cell.published is not None for cell in self.cells.values())

    def lines(self, take: str) -> Iterator[Line]:
        """Yield the rows under a seed rule."""
        for system, label in self.systems.items():
            cells = [self.cells.get((take, system, direction)) for direction in self.directions]
            there = [cell for cell in cells if cell is not None]
            if there:
                yield Line(take, system, label, _settings(there), cells, *_averages(cells))

    def is_best(self, cell: Cell) -> bool:
        """Whether a cell has the best mean, as shown, of its column and seed rule."""
        column = [c for c in self.cells.values() if c.trial.direction == cell.trial.direction]
        means = [round(c.mean, 1) for c in column if c.trial.take == cell.trial.take and c.mean is not None]
        return cell.mean is not None and round(cell.mean, 1) == max(means)

    def gh(self, pair: str) -> float | None:
        """Return our Gromov-Hausdorff distance of a pair, or the published one where we have none."""
        measured = self.measured_gh(pair)
        return self.published_gh.get(pair) if measured is None else measured

    def measured_gh(self, pair: str) -> float | None:
        """Return our distance of a pair; beside published ones, that between rows of distances, as they are."""
        return self.measures.get(pair, {}).get("gh_rows" if self.published_gh else "gh")

    @cached_property
    def failures(self) -> list[str]:
        """Return a line about each run that gave no number."""
        return [
            f"{self.systems[cell.trial.system]}, {cell.trial.direction}, {seed_name(cell.trial.take)}, "
            f"seed {result['trial']['seed']}: {result['reason']}"
            for cell in self.cells.values()
            for result in cell.failed
        ]

    @cached_property
    def version_notes(self) -> list[str]:
        """Return a sentence about each row with results that the running program would not make in this way."""
        lines = [line for take in self.takes for line in self.lines(take)]
        rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for line in lines:
            runs = [run for cell in line.cells if cell is not None for run in cell.done]
            rows.setdefault((line.label, line.profile), []).extend(runs)
        return version_notes((*names, runs) for names, runs in rows.items())

    @cached_property
    def mistakes(self) -> list[tuple[str, str, list[Mistakes]]]:
        """Sort the answers of the first run of every cell, by system and seed rule."""
        found: dict[tuple[str, str], list[Mistakes]] = {}
        for (take, system, _), cell in self.cells.items():
            if cell.has_words:
                found.setdefault((system, take), []).append(sort_mistakes(cell.first["words"]))
        return [(system, take, many) for (system, take), many in found.items()]

    @property
    def missing(self) -> int:
        """Count the runs that were asked for and have no file of results."""
        return sum(cell.asked - len(cell.done) - len(cell.failed) for cell in self.cells.values())


def collect(results: Results) -> list[TableReport]:
    """Read everything that a folder of results holds, table by table."""
    return [_table(name, entries, results) for name, entries in sorted(results.plan().items())]


def seed_name(take: str) -> str:
    """Return the name of a seed rule for readers."""
    return "no seed" if take == NO_SEED else take


def _settings(cells: Sequence[Cell]) -> str:
    """Return the profile of a row and the options set on top of it."""
    options = [cell.trial.options for cell in cells]
    shared = [f"{name}={value}" for name, value in options[0].items() if all(o.get(name) == value for o in options)]
    own = [] if all(o == options[0] for o in options) else ["options by direction"]
    return ", ".join([cells[0].trial.profile or "default", *shared, *own])


def _averages(cells: Sequence[Cell | None]) -> tuple[float | None, float | None]:
    """Average a row: ours, and the paper's over the same columns; None unless every column is there."""
    means = [cell.mean for cell in cells if cell is not None and cell.mean is not None]
    if len(means) < len(cells):
        return None, None
    papers = [cell.published for cell in cells if cell is not None and cell.published is not None]
    ours = statistics.mean(round(mean, 1) for mean in means)
    return ours, statistics.mean(papers) if len(papers) == len(cells) else None


def _table(name: str, entries: Sequence[tuple[Trial, str]], results: Results) -> TableReport:
    cells: dict[Key, Cell] = {}
    measures: dict[str, dict[str, Any]] = {}
    for trial, key in entries:
        result = results.read(trial, key)
        if trial.method == MEASURE:
            if result and result["status"] == DONE:
                measures[trial.pair] = result["isometry"]
            continue
        cell = cells.setdefault((trial.take, trial.system, trial.direction), Cell(trial))
        cell.asked += 1
        if result is not None:
            own = {**result, "trial": trial.to_dict()}
            (cell.failed if result["status"] == FAILED else cell.done).append(own)
    title, citation, order, gh = _about(name)
    takes = dict.fromkeys(cell.trial.take for cell in cells.values())
    table = TableReport(
        name=name,
        title=title,
        citation=citation,
        takes=[take for take in order if take in takes] + [take for take in takes if take not in order],
        systems=_labels(cells.values()),
        directions=list(dict.fromkeys(cell.trial.direction for cell in cells.values())),
        cells=cells,
        published_gh=gh,
        measures=measures,
    )
    _compare(table)
    return table


def _about(name: str) -> tuple[str, str | None, list[str], dict[str, float]]:
    """Return a table's title, what it is compared with, the order of its seed rules, and the published distances."""
    try:
        table = load_table(name, directions=["en-fr"])  # of a table that names no pairs: they do not matter here
    except OptionError:  # the table of a file of the user's
        return f"P@1 of {name}", None, [], {}
    return table.title, table.citation, list(table.takes), dict(table.gh)


def _labels(cells: Iterable[Cell]) -> dict[str, str]:
    """Return the systems' labels, with the short name where two have one label, as two papers of one year do."""
    labels = {cell.trial.system: cell.trial.label for cell in cells}
    names = list(labels.values())
    return {name: f"{label}, {name}" if names.count(label) > 1 else label for name, label in labels.items()}


def _compare(table: TableReport) -> None:
    """Compare every cell with the reference system's on the same words, seed rule and direction.

    Systems without a seed are compared with the reference's smallest one.
    """
    if table.reference is None:
        return
    others = {key: cell for key, cell in table.cells.items() if key[1] == table.reference and cell.has_words}
    kept = {key: cell.evaluation() for key, cell in others.items()}
    for (take, system, direction), cell in table.cells.items():
        rules = [rule for rule in table.takes if (rule, table.reference, direction) in table.cells]
        other = kept.get((take if take in rules else next(iter(rules), ""), table.reference, direction))
        if system != table.reference and cell.has_words and other is not None:
            cell.against = compare(cell.evaluation(), other)
