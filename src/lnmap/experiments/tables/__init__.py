"""Tables as data: which systems run on which data, and what was published, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lnmap.errors import OptionError
from lnmap.experiments.tables.reading import read_table
from lnmap.experiments.tables.records import Row, System, Table

__all__ = ["PAPER", "TABLES", "Row", "System", "Table", "load_table", "read_table"]

FOLDER = Path(__file__).parent
TABLES = sorted((path.stem for path in FOLDER.glob("*.yaml")), key=lambda name: (not name.startswith("table"), name))
PAPER = [name for name in TABLES if name.startswith("table")]


def load_table(name: str, directions: Sequence[str] = (), takes: Sequence[str] | None = None) -> Table:
    """Load a table that comes with the package by its name, or any other by the path of its YAML file."""
    if name in TABLES:
        return read_table(FOLDER / f"{name}.yaml", directions, takes)
    if name.endswith((".yaml", ".yml")):
        return read_table(name, directions, takes)
    raise OptionError(f"unknown table {name!r}; choose from {', '.join(TABLES)}, or name a YAML file")
