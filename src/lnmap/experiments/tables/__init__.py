"""Tables as data: which systems run on which data, and what was published, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from lnmap.errors import OptionError
from lnmap.experiments.tables.reading import read_table
from lnmap.experiments.tables.records import Row, System, Table

__all__ = ["PAPER", "TABLES", "Average", "Row", "System", "Table", "averages_as_markdown", "load_table", "read_table"]
__all__ += ["recomputed_averages"]

FOLDER = Path(__file__).parent
TABLES = sorted((path.stem for path in FOLDER.glob("*.yaml")), key=lambda name: (not name.startswith("table"), name))
PAPER = [name for name in TABLES if name.startswith("table")]
_DIGIT = Decimal("0.1")


def load_table(name: str, directions: Sequence[str] = (), takes: Sequence[str] | None = None) -> Table:
    """Load a table that comes with the package by its name, or any other by the path of its YAML file."""
    if name in TABLES:
        return read_table(FOLDER / f"{name}.yaml", directions, takes)
    if name.endswith((".yaml", ".yml")):
        return read_table(name, directions, takes)
    raise OptionError(f"unknown table {name!r}; choose from {', '.join(TABLES)}, or name a YAML file")


@dataclass(frozen=True)
class Average:
    """The average of one row: as printed, and the exact mean of the row's cells."""

    row: Row
    printed: float
    mean: Decimal

    @property
    def rounded(self) -> float:
        """Return the mean of the cells to one digit."""
        return float(self.mean.quantize(_DIGIT, ROUND_HALF_UP))

    @property
    def differs(self) -> bool:
        """Whether the printed average is no rounding of the mean; 2.45 may be printed as 2.4 or as 2.5."""
        return self.error > _DIGIT / 2

    @property
    def error(self) -> Decimal:
        """Return the distance of the printed average from the mean of the cells."""
        return abs(Decimal(str(self.printed)) - self.mean)


def recomputed_averages(table: Table) -> list[Average]:
    """Compute the average of every row that has one printed, without binary rounding."""
    return [
        Average(row, row.average, sum((Decimal(str(c.published)) for c in row.cells), Decimal(0)) / len(row.cells))
        for row in table.rows
        if row.average is not None
    ]


def averages_as_markdown() -> str:
    """Return the printed averages that differ from their cells as a table, those furthest off first."""
    tables = [load_table(name) for name in PAPER]
    found = [(table, one) for table in tables for one in recomputed_averages(table) if one.differs]
    found.sort(key=lambda both: both[1].error, reverse=True)
    lines = ["| table | seed | row | printed | mean of the cells |", "|---|---|---|---|---|"]
    for table, one in found:
        system = one.row.system
        lines.append(
            f"| {table.number} | {one.row.take} | {system.label} (`{system.name}`) | {one.printed} | {one.mean} |"
        )
    return "\n".join(lines)
