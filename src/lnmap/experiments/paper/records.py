"""What a published table is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Cell:
    """One published number, and all that is needed to obtain ours.

    :param pair: column of the table, such as `en-fi`.
    :param direction: source and target language, `en-fi` or `fi-en`.
    :param take: seed rule, or `none`.
    :param options: what is set on top of the profile, for this direction.
    :param published: the number; `printed` is its text, which differs where the paper has a misprint.
    """

    pair: str
    direction: str
    take: str
    system: str
    method: str
    profile: str | None
    options: Mapping[str, Any] = field(hash=False)
    published: float
    printed: str


@dataclass(frozen=True)
class Row:
    """One line of a table: a system trained with one seed rule.

    :param system: short name, unique within a seed rule; `label` is the name as printed.
    :param cited: the citation key of the paper's source, which tells systems of one label apart.
    :param average: the last column as printed, where there is one.
    """

    take: str
    system: str
    label: str
    cited: str | None
    method: str
    profile: str | None
    options: Mapping[str, Any] = field(hash=False)
    cells: tuple[Cell, ...]
    average: float | None


@dataclass(frozen=True)
class Table:
    """One table of the paper; `gh` holds its row of Gromov-Hausdorff distances, by pair."""

    name: str
    number: int
    title: str
    citation: str
    dataset: str
    vectors: str
    metric: str
    pairs: tuple[str, ...]
    gh: Mapping[str, float] = field(hash=False)
    rows: tuple[Row, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """List the cells of all rows."""
        return tuple(cell for row in self.rows for cell in row.cells)

    @property
    def takes(self) -> tuple[str, ...]:
        """List the seed rules, in the order of the table."""
        return tuple(dict.fromkeys(row.take for row in self.rows))

    @property
    def systems(self) -> tuple[str, ...]:
        """List the short names of the systems, in the order of the table."""
        return tuple(dict.fromkeys(row.system for row in self.rows))
