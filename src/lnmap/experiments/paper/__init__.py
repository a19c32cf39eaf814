"""Experiments as data: what was published, cell by cell, and which method of ours stands behind each row."""

from lnmap.experiments.paper.reading import read_table
from lnmap.experiments.paper.records import Cell, Row, Table
from lnmap.experiments.paper.tables import Average, averages_as_markdown, load_table, recomputed_averages, table_names

__all__ = [
    "Average",
    "Cell",
    "Row",
    "Table",
    "averages_as_markdown",
    "load_table",
    "read_table",
    "recomputed_averages",
    "table_names",
]
