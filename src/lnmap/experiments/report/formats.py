"""The tables as Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from lnmap.experiments.report.collect import Cell, TableReport
from lnmap.experiments.report.figure import Figure, seed_name

MARKS = {"better": "▲", "worse": "▼", "": ""}


def shown(mean: float | None, spread: float | None = None) -> str:
    """Write a score, and how far its runs lie apart."""
    if mean is None:
        return "–"
    return f"{mean:.1f}" + (f" ± {spread:.1f}" if spread is not None else "")


def signed(value: float) -> str:
    """Write a difference."""
    return f"{value:+.1f}".replace("-", "−")


def markdown(tables: Sequence[TableReport], figures: dict[str, list[Figure]]) -> str:
    """Write the report as Markdown."""
    parts = ["# Results", ""]
    for table in tables:
        parts += [f"## {table.name}: {table.title}", "", *_about(table), "", *markdown_table(table), ""]
        parts += [legend(table), "", "### Data", "", *_data_table(table), ""]
        parts += ["### Seconds", "", *_seconds_table(table), ""]
        parts += _failures(table)
        for figure in figures[table.name]:
            parts += [f"### {figure.title}", "", f"![{figure.title}]({table.name}-{figure.name}.svg)", ""]
            parts += [figure.caption, ""]
    return "\n".join(parts)


def markdown_table(table: TableReport) -> list[str]:
    """Write the cells: ours, and the paper's number and the difference where there is one."""
    heads, rows = result_rows(table)
    return [_line(heads), "|---|---|" + "---:|" * (len(heads) - 2), *(_line(row) for row in rows)]


def result_rows(table: TableReport, plain: bool = False) -> tuple[list[str], list[list[str]]]:
    """Give the heads and the rows of the table itself, for Markdown or for a terminal."""
    rows = []
    for take in table.takes:
        for system in table.systems_of(take):
            cells = [_markdown_cell(table, cell) for cell in table.row(take, system)]
            ours, paper = table.average(take, system)
            average = shown(ours) + (f" / {paper:.1f}" if paper is not None else "")
            row = [seed_name(take), table.systems[system], *cells, average]
            rows.append([cell.replace("**", "") for cell in row] if plain else row)
    return ["seed", "system", *table.directions, "mean"], rows


def _markdown_cell(table: TableReport, cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.mean is None:
        ours = "failed" if cell.failed else "–"
    else:
        ours = shown(cell.mean, cell.spread)
        ours = f"**{ours}**" if round(cell.mean, 1) == table.best(cell.take, cell.direction) else ours
        ours += MARKS[cell.verdict]
        ours += f" ({len(cell.failed)} failed)" if cell.failed else ""
    if cell.published is None:
        return ours
    difference = "" if cell.difference is None else f" ({signed(cell.difference)})"
    return f"{ours} / {cell.published}{difference}"


def legend(table: TableReport, below: bool = False) -> str:
    """Say how to read the cells, whose paper's number stands below ours or after a stroke."""
    text = (
        "P@1 in per cent: mean ± standard deviation over seeds where there are several; the best of a column is bold."
    )
    if table.has_paper:
        place = "Below, small," if below else "After the stroke"
        text += f" {place} the paper's number, and ours less the paper's."
    if table.reference:
        text += (
            f" ▲ and ▼: better or worse than `{table.reference}` on the same test words with the same seed rule "
            "(exact sign test, two-sided p < 0.05, first seed of each; systems without a seed against its smallest; "
            "each comparison for itself, no correction for their number)."
        )
    return text


def _about(table: TableReport) -> list[str]:
    lines = [f"Beside {table.citation}."] if table.citation else []
    if table.missing:
        lines.append(f"{table.missing:,} runs are not there yet; repeat the reproduce command to do them.")
    return lines


def data_rows(table: TableReport) -> tuple[list[str], list[list[str]]]:
    """Give the heads and the rows of the table about the data, a row a direction."""
    takes = [take for take in table.takes if take != "none"]
    heads = ["direction", "words", "test words", "coverage %", *(f"pairs {take}" for take in takes), "seen", "GH"]
    heads += ["GH, paper"] if table.published_gh else []
    rows = []
    for direction in table.directions:
        cells = {c.take: c for c in table.cells.values() if c.direction == direction and c.done}
        if not cells:
            continue
        first = next(iter(cells.values()))
        scores, words = first.first["scores"], first.first["vocabulary"]
        gh = table.measures.get(first.pair, {}).get("gh")
        sizes = [f"{cells[take].first['seed_pairs']:,}" if take in cells else "" for take in takes]
        seen = max(cell.first["scores"]["test_pairs_seen_in_training"] for cell in cells.values())
        row = [direction, f"{words[0]:,} / {words[1]:,}", f"{scores['n']:,}", f"{scores['coverage']:.1f}", *sizes]
        row += [f"{seen:,}", "" if gh is None else f"{gh:.3f}"]
        rows.append(row + ([str(table.published_gh.get(first.pair, ""))] if table.published_gh else []))
    return heads, rows


def _data_table(table: TableReport) -> list[str]:
    heads, rows = data_rows(table)
    return [_line(heads), "|---" + "|---:" * (len(heads) - 1) + "|", *(_line(row) for row in rows)]


def seconds_rows(table: TableReport) -> list[tuple[str, str, int, str, str]]:
    """Give mean seconds of a run of each system and seed rule: label, rule, runs, all of it, CPU."""
    rows = []
    for take in table.takes:
        for system in table.systems_of(take):
            cells = [cell for cell in table.row(take, system) if cell is not None and cell.done]
            whole = [r for cell in cells for r in cell.done if not r.get("resumed")]
            if whole:
                wall, cpu = (sum(r[name] for r in whole) / len(whole) for name in ("seconds", "cpu_seconds"))
                rows.append((table.systems[system], seed_name(take), len(whole), f"{wall:,.1f}", f"{cpu:,.1f}"))
    return rows


SECONDS_HEADS = ("system", "seed", "runs", "seconds", "CPU seconds")


def _seconds_table(table: TableReport) -> list[str]:
    return [_line(SECONDS_HEADS), "|---|---|---:|---:|---:|", *(_line(row) for row in seconds_rows(table))]


def _failures(table: TableReport) -> list[str]:
    if not table.failures:
        return []
    lines = [
        f"* {table.systems[cell.system]}, {cell.direction}, {seed_name(cell.take)}, seed {result['trial']['seed']}: "
        f"{result['reason']}"
        for cell, result in table.failures
    ]
    return ["### Failed", "", *lines, ""]


def _line(cells: Iterable[Any]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


CSV_HEADS = (
    "table",
    "take",
    "system",
    "method",
    "direction",
    "seed",
    "status",
    "p@1",
    "p@5",
    "p@10",
    "mrr",
    "p@1_low",
    "p@1_high",
    "n",
    "coverage",
    "seed_pairs",
    "published",
    "difference",
    "p_value",
    "seconds",
    "cpu_seconds",
    "device",
    "resumed",
    "key",
    "reason",
)


def csv_text(tables: Sequence[TableReport]) -> str:
    """Write a line a run: every number of the report comes from here."""
    text = io.StringIO()
    writer = csv.DictWriter(text, CSV_HEADS, lineterminator="\n")
    writer.writeheader()
    for table in tables:
        for cell in table.cells.values():
            for result in [*cell.done, *cell.failed]:
                writer.writerow(_csv_row(table, cell, result))
    return text.getvalue()


def _csv_row(table: TableReport, cell: Cell, result: dict[str, Any]) -> dict[str, Any]:
    trial, scores = result["trial"], result.get("scores", {})
    low, high = scores.get("p@1_interval", ("", ""))
    p1 = scores.get("p@1")
    known = {
        "table": table.name,
        "status": result["status"],
        "p@1_low": low,
        "p@1_high": high,
        "published": cell.published,
        "difference": "" if p1 is None or cell.published is None else round(p1 - cell.published, 2),
        "p_value": "" if cell.against is None else f"{cell.against.p_value:.3g}",
    }
    return {name: known.get(name, scores.get(name, trial.get(name, result.get(name, "")))) for name in CSV_HEADS}
