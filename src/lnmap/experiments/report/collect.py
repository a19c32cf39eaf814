"""Collect: the cells of each table out of the files of results, with what is said about them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lnmap.evaluate import Comparison, Evaluation, WordResult, compare
from lnmap.experiments.paper import load_table
from lnmap.experiments.plan import OPEN, PAPER
from lnmap.experiments.records import MEASURE, Trial
from lnmap.experiments.report.mistakes import Mistakes, sort_mistakes
from lnmap.experiments.store import Results
from lnmap.experiments.task import DONE, FAILED

REFERENCE = "lnmap"  # the system that others are compared with, where it is there
LEVEL = 0.05
Key = tuple[str, str, str]  # seed rule, system, direction


@dataclass
class Cell:
    """One place of a table: our runs of it, and the paper's number."""

    take: str
    system: str
    direction: str
    pair: str
    published: float | None
    asked: int = 0
    done: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)
    against: Comparison | None = None

    @property
    def scores(self) -> list[float]:
        """P@1 of each run."""
        return [result["scores"]["p@1"] for result in self.done]

    @property
    def mean(self) -> float | None:
        """Mean P@1 over the seeds; None while there is no number."""
        return statistics.mean(self.scores) if self.done else None

    @property
    def spread(self) -> float | None:
        """Standard deviation over the seeds; None for fewer than two."""
        return statistics.stdev(self.scores) if len(self.done) > 1 else None

    @property
    def difference(self) -> float | None:
        """Ours less the paper's, of the numbers as they are shown."""
        if self.mean is None or self.published is None:
            return None
        return round(round(self.mean, 1) - self.published, 1)

    @property
    def seconds(self) -> float | None:
        """Mean seconds of the runs that were not interrupted."""
        whole = [result["seconds"] for result in self.done if not result.get("resumed")]
        return statistics.mean(whole) if whole else None

    @property
    def verdict(self) -> str:
        """`better` or `worse` than the reference system if a paired test says so, else nothing."""
        if self.against is None or self.against.p_value >= LEVEL:
            return ""
        return "better" if self.against.difference > 0 else "worse"

    @property
    def first(self) -> dict[str, Any]:
        """Give the run with the smallest seed: what paired tests and kinds of errors are taken from."""
        return min(self.done, key=lambda result: result["trial"]["seed"])


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
        """Name the system that the others are compared with."""
        there = {cell.system for cell in self.cells.values() if cell.done}
        return REFERENCE if REFERENCE in there else None

    @property
    def has_paper(self) -> bool:
        """Whether there are published numbers beside ours."""
        return any(cell.published is not None for cell in self.cells.values())

    def row(self, take: str, system: str) -> list[Cell | None]:
        """Give a row in the order of the columns."""
        return [self.cells.get((take, system, direction)) for direction in self.directions]

    def systems_of(self, take: str) -> list[str]:
        """List the systems that have a row under a seed rule."""
        return [name for name in self.systems if any(self.row(take, name))]

    def best(self, take: str, direction: str) -> float | None:
        """Give the best mean of a column under a seed rule, as shown."""
        means = [self.cells[key].mean for key in self.cells if key[0] == take and key[2] == direction]
        shown = [round(mean, 1) for mean in means if mean is not None]
        return max(shown, default=None)

    def average(self, take: str, system: str) -> tuple[float | None, float | None]:
        """Average a row: ours, and the paper's over the same columns; None unless every column is there."""
        row = [cell for cell in self.row(take, system) if cell is not None]
        if len(row) < len(self.directions) or any(cell.mean is None for cell in row):
            return None, None
        ours = statistics.mean(round(cell.mean or 0.0, 1) for cell in row)
        papers = [cell.published for cell in row if cell.published is not None]
        return ours, statistics.mean(papers) if len(papers) == len(row) else None

    def gh(self, pair: str) -> float | None:
        """Give our Gromov-Hausdorff distance of a pair, or the published one where we have none."""
        if pair in self.measures:
            return float(self.measures[pair]["gh"])
        return self.published_gh.get(pair)

    @cached_property
    def failures(self) -> list[tuple[Cell, dict[str, Any]]]:
        """List the runs that gave no number."""
        return [(cell, result) for cell in self.cells.values() for result in cell.failed]

    @cached_property
    def mistakes(self) -> list[tuple[str, str, list[Mistakes]]]:
        """Sort the answers of the first run of every cell, by system and seed rule."""
        found: dict[tuple[str, str], list[Mistakes]] = {}
        for (take, system, _), cell in self.cells.items():
            if cell.done:
                found.setdefault((system, take), []).append(sort_mistakes(cell.first["words"]))
        return [(system, take, many) for (system, take), many in found.items()]

    @property
    def missing(self) -> int:
        """Count the runs that were asked for and have no file of results."""
        return sum(cell.asked - len(cell.done) - len(cell.failed) for cell in self.cells.values())


def collect(results: Results) -> list[TableReport]:
    """Read everything that a folder of results holds, table by table."""
    return [_table(name, entries, results) for name, entries in sorted(results.plan().items())]


def evaluation(result: dict[str, Any]) -> Evaluation:
    """Rebuild the evaluation of a run from its file."""
    words, scores = result["words"], result["scores"]
    columns = zip(words["source"], words["gold"], words["answer"], words["rank"], words["frequency_rank"], strict=True)
    rows = [WordResult(s, tuple(gold), (answer,), rank, place) for s, gold, answer, rank, place in columns]
    return Evaluation(rows, scores["n_all"], scores["test_pairs_seen_in_training"], scores["test_pairs"])


def _table(name: str, entries: Sequence[tuple[Trial, str]], results: Results) -> TableReport:
    cells: dict[Key, Cell] = {}
    measures: dict[str, dict[str, Any]] = {}
    labels: dict[str, str] = {}
    for trial, key in entries:
        result = results.read(trial, key)
        if trial.method == MEASURE:
            if result and result["status"] == DONE:
                measures[trial.pair] = result["isometry"]
            continue
        place = (trial.take, trial.system, trial.direction)
        labels.setdefault(trial.system, trial.label)
        cell = cells.setdefault(place, Cell(*place, trial.pair, trial.published))
        cell.asked += 1
        if result is not None:
            own = {**result, "trial": trial.to_dict()}
            (cell.failed if result["status"] == FAILED else cell.done).append(own)
    title, citation, gh = _about(name)
    table = TableReport(
        name=name,
        title=title,
        citation=citation,
        takes=_in_order({cell.take for cell in cells.values()}, name),
        systems=_told_apart(labels),
        directions=list(dict.fromkeys(cell.direction for cell in cells.values())),
        cells=cells,
        published_gh=gh,
        measures=measures,
    )
    _compare(table)
    return table


def _about(name: str) -> tuple[str, str | None, dict[str, float]]:
    """Give a table's title, what it is compared with, and the published distances."""
    if name in PAPER:
        paper = load_table(name)
        return paper.title, paper.citation, dict(paper.gh)
    where = "data from PyPI that anyone can fetch" if name == OPEN else "data of your own"
    return f"P@1 of all systems on {where}", None, {}


def _in_order(takes: set[str], name: str) -> list[str]:
    known = list(load_table(name).takes) if name in PAPER else []
    return [take for take in known if take in takes] + sorted(takes - set(known))


def _told_apart(labels: dict[str, str]) -> dict[str, str]:
    """Add the short name where two systems have one label, as two papers of one year do."""
    names = list(labels.values())
    return {name: f"{label}, {name}" if names.count(label) > 1 else label for name, label in labels.items()}


def _compare(table: TableReport) -> None:
    """Compare every cell with the reference system's on the same words, seed rule and direction."""
    if table.reference is None:
        return
    kept: dict[tuple[str, str], Evaluation] = {}
    for (take, system, direction), cell in table.cells.items():
        rule = take if (take, table.reference, direction) in table.cells else _rule_of_reference(table, direction)
        other = table.cells.get((rule, table.reference, direction))
        if system == table.reference or not cell.done or other is None or not other.done:
            continue
        if (rule, direction) not in kept:
            kept[rule, direction] = evaluation(other.first)
        cell.against = compare(evaluation(cell.first), kept[rule, direction])


def _rule_of_reference(table: TableReport, direction: str) -> str:
    """Systems without a seed are compared with the reference's smallest one."""
    rules = [take for take, system, place in table.cells if system == table.reference and place == direction]
    return min(rules, key=table.takes.index, default="")
