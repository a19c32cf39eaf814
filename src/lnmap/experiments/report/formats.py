"""The tables as Markdown and CSV, and the rows that every format shows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lnmap.evaluate import title_of
from lnmap.experiments.report.collect import Cell, TableReport, seed_name
from lnmap.experiments.report.groups import TEXT, flat, group_parts, groups_of, sized
from lnmap.experiments.trial import DEVELOPMENT, NO_SEED

if TYPE_CHECKING:
    from lnmap.experiments.report.drawing import Picture

MARKS = {"better": "▲", "worse": "▼", "": ""}
SECONDS_HEADS = ("system", "seed", "runs", "seconds", "CPU seconds")
CSV_HEADS = (
    *("table", "take", "system", "method", "profile", "direction", "seed", "status", "p@1", "p@5", "p@10", "mrr"),
    *("p@1_low", "p@1_high", "n", "coverage", "seed_pairs", "published", "difference", "p_value", "seconds"),
    *("cpu_seconds", "device", "resumed", "lnmap", "revision", "key", "reason"),
)


def shown(mean: float | None, spread: float | None = None) -> str:
    """Return a score, and how far its runs lie apart."""
    if mean is None:
        return "–"
    return f"{mean:.1f}" + (f" ± {spread:.1f}" if spread is not None else "")


def signed(value: float) -> str:
    """Return a difference with its sign."""
    return f"{value:+.1f}".replace("-", "−")


def markdown(tables: Sequence[TableReport], pictures: dict[str, list[Picture]]) -> str:
    """Return the report as Markdown."""
    parts = ["# Results", ""]
    for table in tables:
        parts += [f"## {table.name}: {table.title}", ""]
        parts += [f"Beside {table.citation}."] if table.citation else []
        if table.missing:
            parts.append(f"{table.missing:,} runs are not there yet; repeat the reproduce command to do them.")
        parts += ["", *markdown_table(*result_rows(table), text=TEXT), "", legend(table), ""]
        for title, (heads, rows), note in group_parts(table):
            parts += [f"### {title}", "", *markdown_table(heads, rows, text=TEXT), "", note, ""]
        parts += ["### Data", "", *markdown_table(*data_rows(table), text=1), ""]
        parts += ["### Seconds", "", *markdown_table(SECONDS_HEADS, seconds_rows(table), text=2), ""]
        if table.failures:
            parts += ["### Failed", "", *(f"* {line}" for line in table.failures), ""]
        for picture in pictures[table.name]:
            parts += [f"### {picture.title}", "", f"![{picture.title}]({table.name}-{picture.name}.svg)", ""]
            parts += [picture.caption, ""]
    return "\n".join(parts)


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[Any]], text: int) -> list[str]:
    """Return a table whose first columns, as many as `text` says, hold words and the others numbers."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in [heads, *rows]]
    return [lines[0], "|" + "---|" * text + "---:|" * (len(heads) - text), *lines[1:]]


def result_rows(table: TableReport, plain: bool = False) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the rows of the table itself, for Markdown or, `plain`, for a terminal."""
    rows = []
    for line in (line for take in table.takes for line in table.lines(take)):
        mean = shown(line.ours) + (f" / {line.paper:.1f}" if line.paper is not None else "")
        cells = [_markdown_cell(table, cell) for cell in line.cells]
        row = [*line.names, *cells, mean]
        rows.append([cell.replace("**", "") for cell in row] if plain else row)
    return ["seed", "system", "profile", *table.directions, "mean"], rows


def _markdown_cell(table: TableReport, cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.mean is None:
        ours = "failed" if cell.failed else "–"
    else:
        ours = shown(cell.mean, cell.spread)
        ours = f"**{ours}**" if table.is_best(cell) else ours
        ours += MARKS[cell.verdict]
        ours += f" ({len(cell.failed)} failed)" if cell.failed else ""
    if cell.published is None:
        return ours
    difference = "" if cell.difference is None else f" ({signed(cell.difference)})"
    return f"{ours} / {cell.published}{difference}"


def legend(table: TableReport, below: bool = False, versions: bool = True) -> str:
    """Explain the cells; the paper's number stands below ours or after a slash.

    :param versions: say which results this version of lnmap would make in another way.
    """
    text = (
        "P@1 in per cent: mean ± standard deviation over seeds where there are several; the best of a column is bold."
    )
    if any(cell.trial.score == DEVELOPMENT for cell in table.cells.values()):
        text += " Scored on training pairs with source words outside the seed, less all test pairs of both directions."
    if table.has_paper:
        place = "Below, small," if below else "After the slash"
        text += f" {place} the paper's number, and ours less the paper's."
    if table.reference:
        text += (
            f" ▲ and ▼: better or worse than `{table.reference}` on the same test words with the same seed rule "
            "(exact sign test, two-sided p < 0.05, first seed of each; systems without a seed against its smallest; "
            "no correction for the number of comparisons)."
        )
    if versions and table.version_notes:
        text += " Not all of it was made with this version of lnmap; repeat the reproduce command to run it again. "
        text += " ".join(table.version_notes)
    return text


def data_rows(table: TableReport) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the rows of the table about the data, one row per direction."""
    takes = [take for take in table.takes if take != NO_SEED]
    groups = sized(cell.groups for cell in table.cells.values())
    heads = ["direction", "words", "test words", "coverage %", *map(title_of, groups)]
    heads += [*(f"pairs {take}" for take in takes), "seen", "GH"]
    heads += ["GH, paper"] if table.published_gh else []
    rows = []
    for direction in table.directions:
        cells = {c.trial.take: c.first for c in table.cells.values() if c.trial.direction == direction and c.done}
        if not cells:
            continue
        first = next(iter(cells.values()))
        scores, words, pair = first["scores"], first["vocabulary"], first["trial"]["pair"]
        gh = table.measured_gh(pair)
        known = next((own for own in map(groups_of, cells.values()) if own), None)
        counts = ["" if known is None else f"{known.get(name, {}).get('n', 0):,}" for name in groups]
        sizes = [f"{cells[take]['seed_pairs']:,}" if take in cells else "" for take in takes]
        seen = max(run["scores"]["test_pairs_seen_in_training"] for run in cells.values())
        row = [direction, f"{words[0]:,} / {words[1]:,}", f"{scores['n']:,}", f"{scores['coverage']:.1f}", *counts]
        row += [*sizes, f"{seen:,}", "" if gh is None else f"{gh:.3f}"]
        rows.append(row + ([str(table.published_gh.get(pair, ""))] if table.published_gh else []))
    return heads, rows


def seconds_rows(table: TableReport) -> list[tuple[str, str, int, str, str]]:
    """Return the mean seconds per run of each system and seed rule: label, rule, runs, wall time, CPU time."""
    rows = []
    for line in (line for take in table.takes for line in table.lines(take)):
        whole = [run for cell in line.cells if cell is not None for run in cell.whole]
        if whole:
            wall, cpu = (sum(run[name] for run in whole) / len(whole) for name in ("seconds", "cpu_seconds"))
            rows.append((line.label, seed_name(line.take), len(whole), f"{wall:,.1f}", f"{cpu:,.1f}"))
    return rows


def csv_text(tables: Sequence[TableReport]) -> str:
    """Return one line per run: every number of the report comes from here."""
    text = io.StringIO()
    cells = [(table, cell) for table in tables for cell in table.cells.values()]
    rows = [_csv_row(table, cell, run) for table, cell in cells for run in [*cell.done, *cell.failed]]
    heads = dict.fromkeys([*CSV_HEADS, *(name for row in rows for name in row)])
    writer = csv.DictWriter(text, list(heads), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _csv_row(table: TableReport, cell: Cell, run: dict[str, Any]) -> dict[str, Any]:
    trial, scores = run["trial"], run.get("scores", {})
    low, high = scores.get("p@1_interval", ("", ""))
    p1 = scores.get("p@1")
    known = {
        "table": table.name,
        "status": run["status"],
        "lnmap": run.get("versions", {}).get("lnmap", ""),
        "revision": run.get("revision", 1 if scores else ""),
        "p@1_low": low,
        "p@1_high": high,
        "published": cell.published,
        "difference": "" if p1 is None or cell.published is None else round(p1 - cell.published, 2),
        "p_value": "" if cell.against is None else f"{cell.against.p_value:.3g}",
    }
    row = {name: known.get(name, scores.get(name, trial.get(name, run.get(name, "")))) for name in CSV_HEADS}
    return row | flat(groups_of(run))
