"""What a table is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lnmap.experiments.trial import Trial


@dataclass(frozen=True)
class System:
    """A method with its settings.

    :param name: short name, unique in the table; `label` is the name as printed.
    :param options: what is set on top of the profile; `by_direction` adds to it for single directions.
    :param second: train the opposite direction first, and this one after it.
    :param cited: the citation key of the paper's source, which tells systems of one label apart.
    """

    name: str
    label: str
    method: str
    profile: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    by_direction: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    second: bool = False
    cited: str | None = None


@dataclass(frozen=True)
class Row:
    """One line of a table: a system trained with one seed rule.

    :param cells: the trial of each direction, with random seed 0.
    :param printed: the text of each published number, which differs from the number where the paper has a misprint.
    :param average: the last column as printed, where there is one.
    """

    take: str
    system: System
    cells: tuple[Trial, ...]
    printed: tuple[str, ...] = ()
    average: float | None = None


@dataclass(frozen=True)
class Table:
    """One table.

    :param dataset: the benchmark it runs on; None where the user names a folder of data.
    :param citation: where its numbers were published, if they were.
    :param gh: published Gromov-Hausdorff distances, by pair.
    :param seeds: trials per cell whose method draws random numbers, unless the user says how many.
    """

    name: str
    title: str
    dataset: str | None
    pairs: tuple[str, ...]
    rows: tuple[Row, ...]
    number: int | None = None
    citation: str | None = None
    vectors: str | None = None
    metric: str = "P@1"
    gh: Mapping[str, float] = field(default_factory=dict, hash=False)
    seeds: int = 3

    @property
    def cells(self) -> tuple[Trial, ...]:
        """Return the cells of all rows."""
        return tuple(cell for row in self.rows for cell in row.cells)

    @property
    def takes(self) -> tuple[str, ...]:
        """Return the seed rules, in the order of the table."""
        return tuple(dict.fromkeys(row.take for row in self.rows))

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the short names of the systems, in the order of the table."""
        return tuple(dict.fromkeys(row.system.name for row in self.rows))
