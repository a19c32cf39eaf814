"""Print the averages of the paper's tables that differ from the mean of their cells: python scripts/averages.py."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from lnmap.experiments.tables import PAPER, Row, Table, load_table

DIGIT = Decimal("0.1")


@dataclass(frozen=True)
class Average:
    """The average of one row: as printed, and the exact mean of the row's cells."""

    table: Table
    row: Row
    printed: float
    mean: Decimal

    @property
    def rounded(self) -> float:
        return float(self.mean.quantize(DIGIT, ROUND_HALF_UP))

    @property
    def error(self) -> Decimal:
        return abs(Decimal(str(self.printed)) - self.mean)

    @property
    def differs(self) -> bool:
        """Whether the printed average is no rounding of the mean; 2.45 may be printed as 2.4 or as 2.5."""
        return self.error > DIGIT / 2


def averages() -> list[Average]:
    """Every row that has an average printed, computed without binary rounding."""
    return [
        Average(table, row, row.average, sum(Decimal(str(cell.published)) for cell in row.cells) / len(row.cells))
        for table in map(load_table, PAPER)
        for row in table.rows
        if row.average is not None
    ]


def main() -> str:
    """Those that differ as a table in Markdown, the furthest off first."""
    lines = ["| table | seed | row | printed | mean of the cells |", "|---|---|---|---|---|"]
    for one in sorted((one for one in averages() if one.differs), key=lambda one: -one.error):
        row = f"{one.row.system.label} (`{one.row.system.name}`)"
        lines.append(f"| {one.table.number} | {one.row.take} | {row} | {one.printed} | {one.mean} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(main())
