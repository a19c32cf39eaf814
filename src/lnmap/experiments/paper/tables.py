"""The tables of the paper that come with the package, and their averages computed again."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from lnmap.errors import OptionError
from lnmap.experiments.paper.reading import read_table
from lnmap.experiments.paper.records import Table

FOLDER = Path(__file__).parent
_DIGIT = Decimal("0.1")


@dataclass(frozen=True)
class Average:
    """The average of one row: as printed, and as the row's cells have it (exact)."""

    take: str
    system: str
    label: str
    printed: float
    mean: Decimal

    @property
    def rounded(self) -> float:
        """Give the mean of the cells to one digit."""
        return float(self.mean.quantize(_DIGIT, ROUND_HALF_UP))

    @property
    def differs(self) -> bool:
        """Say whether the printed average is no rounding of the mean; 2.45 may be printed as 2.4 or as 2.5."""
        return self.error > _DIGIT / 2

    @property
    def error(self) -> Decimal:
        """Say how far the printed average is from the mean of the cells."""
        return abs(Decimal(str(self.printed)) - self.mean)


def table_names() -> list[str]:
    """List the tables that come with the package."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load_table(name: str) -> Table:
    """Load a table by its name, or by the part before the first dash: `table1`."""
    for known in table_names():
        if name in (known, known.partition("-")[0]):
            return read_table(FOLDER / f"{known}.yaml")
    raise OptionError(f"unknown table {name!r}; choose from {', '.join(table_names())}")


def recomputed_averages(table: Table) -> tuple[Average, ...]:
    """Compute the average of every row that has one printed."""
    return tuple(
        Average(row.take, row.system, row.label, row.average, _mean([cell.published for cell in row.cells]))
        for row in table.rows
        if row.average is not None
    )


def averages_as_markdown() -> str:
    """Write the printed averages that differ from their cells as a table, those furthest off first."""
    tables = [load_table(name) for name in table_names()]
    found = [(table, one) for table in tables for one in recomputed_averages(table) if one.differs]
    found.sort(key=lambda both: both[1].error, reverse=True)
    lines = ["| table | seed | row | printed | mean of the cells |", "|---|---|---|---|---|"]
    lines += [
        f"| {table.number} | {one.take} | {one.label} (`{one.system}`) | {one.printed} | {one.mean} |"
        for table, one in found
    ]
    return "\n".join(lines)


def _mean(values: list[float]) -> Decimal:
    """Average numbers as they are printed, without binary rounding."""
    return sum((Decimal(str(value)) for value in values), Decimal(0)) / len(values)
