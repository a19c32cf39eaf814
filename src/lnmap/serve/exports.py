"""Exports: marks as a seed dictionary for `lnmap align --pairs`, and for spreadsheets."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Mapping

from lnmap.io.dictionaries import guarded
from lnmap.lexicon import Lexicon
from lnmap.serve.marks import Mark, Pair

Row = tuple[str, str, str]
HEADER: Row = ("source", "target", "mark")


def dictionary(marks: Mapping[Pair, Mark], seed: Lexicon | None = None) -> list[Row]:
    """Pairs to learn from: those marked right or added, before them the seed pairs unless they are marked wrong."""
    wrong = {pair for pair, mark in marks.items() if mark.mark == "wrong"}
    rows = {pair: "seed" for pair in (seed or ()) if pair not in wrong}
    rows |= {pair: mark.mark for pair, mark in marks.items() if mark.mark != "wrong"}
    return [(source, target, mark) for (source, target), mark in rows.items() if _fits_a_line(source + target)]


def as_tsv(rows: Iterable[Row]) -> bytes:
    """Write tab-separated lines that `read_lexicon` gives back word for word.

    A cell that a spreadsheet would take for a formula gets a blank before it, which readers of dictionaries strip.
    """
    lines = ["\t".join(guarded(cell) for cell in row) for row in (HEADER, *rows)]
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape")


def as_csv(rows: Iterable[Row]) -> bytes:
    """Write comma-separated lines for spreadsheets; what looks like a formula gets an apostrophe before it."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerows([guarded(cell, "'", also="") for cell in row] for row in (HEADER, *rows))
    return b"\xef\xbb\xbf" + text.getvalue().encode("utf-8", "surrogateescape")


def _fits_a_line(text: str) -> bool:
    return not any(unicodedata.category(c) == "Cc" or c in "\u2028\u2029" for c in text)
