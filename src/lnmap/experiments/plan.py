"""Plan: which trials a table consists of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lnmap import datasets
from lnmap.errors import OptionError
from lnmap.experiments.paper import load_table
from lnmap.experiments.records import MEASURE, NO_SEED, Trial
from lnmap.lexicon import parse_rule
from lnmap.methods import METHODS, make_method

PAPER = ("table1", "table2", "table3", "table4")
OPEN, OWN = "open", "own"
TABLES = (*PAPER, OPEN, OWN)
TAKES = ("1k-unique", "5k-unique")  # of the tables that are not the paper's
DEFAULT_SEEDS = 3


def benchmark_of(table: str) -> str | None:
    """Name the benchmark of the catalogue that a table is made from; `own` has none."""
    if table == OWN:
        return None
    return OPEN if table == OPEN else load_table(table).dataset


def make_plan(
    table: str,
    *,
    pairs: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    takes: Sequence[str] | None = None,
    seeds: int = DEFAULT_SEEDS,
    one_way: bool = False,
    own_pairs: Sequence[str] = (),
) -> list[Trial]:
    """List the trials of a table, those of one pair of languages together.

    :param pairs: only these pairs, each in both directions; as written alone with `one_way`.
    :param systems: only these rows, by their short names or by their methods' names.
    :param takes: only these seed rules; systems without a seed are not touched by this.
    :param seeds: trials of each cell whose method draws random numbers; the others have one.
    :param own_pairs: the directed pairs that there are data for, where the table is `own`.
    """
    if table not in TABLES:
        raise OptionError(f"unknown table {table!r}; choose from {', '.join(TABLES)}")
    if seeds < 1:
        raise OptionError(f"--seeds {seeds} leaves nothing to run; give 1 or more")
    if table in PAPER:
        cells = _paper_cells(table)
    else:
        cells = _all_methods(table, datasets.pairs(OPEN) if table == OPEN else own_pairs, takes or TAKES)
    directions = _directions(pairs, [cell.direction for cell in cells], table, one_way)
    rows = _systems(systems, cells, table)
    rules = _takes(takes, cells, table)
    chosen = [cell for cell in cells if cell.direction in directions and cell.system in rows and cell.take in rules]
    if not chosen:
        raise OptionError(f"{table} has no cell with these pairs, systems and seed rules together")
    order = {direction: place for place, direction in enumerate(directions)}
    chosen.sort(key=lambda cell: order[cell.direction])
    trials = [trial for cell in chosen for trial in _repeat(cell, seeds)]
    return [*_measures(chosen), *trials]


def _paper_cells(table: str) -> list[Trial]:
    """Give the cells of a table of the paper, one trial each."""
    paper = load_table(table)
    return [
        Trial(
            table=table,
            system=cell.system,
            label=row.label,
            pair=cell.pair,
            direction=cell.direction,
            take=cell.take,
            method=cell.method,
            profile=cell.profile,
            options=dict(cell.options),
            published=cell.published,
        )
        for row in paper.rows
        for cell in row.cells
    ]


def _all_methods(table: str, directions: Iterable[str], takes: Sequence[str]) -> list[Trial]:
    """Every method of the registry with its default options, on every direction."""
    for take in takes:
        parse_rule(take)
    return [
        Trial(table, name, name, _pair(direction), direction, take, name)
        for direction in directions
        for name, method in METHODS.items()
        for take in ([NO_SEED] if method.supervision == "none" else takes)
    ]


def _repeat(cell: Trial, seeds: int) -> list[Trial]:
    """One trial a random seed; one in all where the seed does not matter."""
    stochastic = make_method(cell.method, cell.profile, dict(cell.options)).stochastic
    return [Trial(**{**vars(cell), "seed": seed}) for seed in range(seeds if stochastic else 1)]


def _measures(cells: Sequence[Trial]) -> list[Trial]:
    """One measurement a pair of languages: how alike their spaces are."""
    first = {cell.pair: cell for cell in reversed(cells)}
    return [
        Trial(cell.table, MEASURE, MEASURE, pair, cell.direction, NO_SEED, MEASURE)
        for pair, cell in reversed(first.items())
    ]


def _directions(wanted: Sequence[str] | None, known: Iterable[str], table: str, one_way: bool) -> list[str]:
    there = list(dict.fromkeys(known))
    if wanted is None:
        return [direction for direction in there if not one_way or direction == _pair(direction)]
    chosen: list[str] = []
    for pair in wanted:
        if pair not in there:
            raise OptionError(f"{table} has no pair {pair!r}; it has {', '.join(there) or 'none'}")
        both = [pair] if one_way else [pair, "-".join(reversed(pair.split("-")))]
        chosen += [direction for direction in both if direction in there and direction not in chosen]
    return chosen


def _systems(wanted: Sequence[str] | None, cells: Sequence[Trial], table: str) -> set[str]:
    names = list(dict.fromkeys(cell.system for cell in cells))
    if wanted is None:
        return set(names)
    chosen: set[str] = set()
    for system in wanted:
        found = {system} if system in names else {cell.system for cell in cells if cell.method == system}
        if not found:
            raise OptionError(f"{table} has no system {system!r}; it has {', '.join(names)}")
        chosen |= found
    return chosen


def _takes(wanted: Sequence[str] | None, cells: Sequence[Trial], table: str) -> set[str]:
    there = list(dict.fromkeys(cell.take for cell in cells))
    unknown = [take for take in wanted or () if take not in there]
    if unknown:
        raise OptionError(f"{table} has no seed rule {unknown[0]!r}; it has {', '.join(there)}")
    return {*(wanted or there), NO_SEED}


def _pair(direction: str) -> str:
    """Name the pair of languages of a direction: English first, as in the paper, or else in the alphabet's order."""
    languages = direction.split("-")
    return "-".join(sorted(languages, key=lambda name: (name != "en", name)))
