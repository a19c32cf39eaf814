"""Report: what was reproduced, beside what was published, from the files of results alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lnmap.errors import MissingExtraError
from lnmap.evaluate.groups import rounded
from lnmap.experiments.report.collect import TableReport, collect
from lnmap.experiments.report.formats import csv_text, legend, markdown, result_rows
from lnmap.experiments.report.latex import latex, latex_groups
from lnmap.experiments.report.page import html_page
from lnmap.experiments.results import Results
from lnmap.io.atomic import atomic_file
from lnmap.progress import Progress, Silent

__all__ = ["Written", "legend", "result_rows", "write_report"]


@dataclass(frozen=True)
class Written:
    """What was written, and the tables behind it."""

    folder: Path
    tables: Sequence[TableReport]

    @property
    def page(self) -> Path:
        """Return the page to open."""
        return self.folder / "index.html"

    def to_dict(self) -> dict[str, Any]:
        """Return the cells under stable names."""
        return {
            "report": str(self.page),
            "tables": {table.name: _cells(table) for table in self.tables},
            "other_versions": {table.name: table.version_notes for table in self.tables if table.version_notes},
        }


def write_report(folder: str | Path, progress: Progress | None = None) -> Written:
    """Write DIR/report/: a page, and the same as Markdown, LaTeX, CSV and single figures."""
    progress, results = progress or Silent(), Results(Path(folder))
    with progress.task("writing the report", None) as task:
        tables = collect(results)
        task.advance()
        drawn: dict[str, list[Any]] = {table.name: [] for table in tables}
        try:
            from lnmap.experiments.report.figures import figures

            drawn = {table.name: figures(table) for table in tables}
        except ImportError:
            results.notes.append(str(MissingExtraError("matplotlib", "report", "drawing the figures of the report")))
        for note in results.notes:
            progress.note(note)
        place = Path(folder) / "report"
        _write(place / "index.html", html_page(tables, drawn, time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())))
        _write(place / "report.md", markdown(tables, drawn))
        _write(place / "runs.csv", csv_text(tables))
        for table in tables:
            _write(place / f"{table.name}.tex", latex(table))
            groups = latex_groups(table)
            if groups:
                _write(place / f"{table.name}-groups.tex", groups)
            for picture in drawn[table.name]:
                _write(place / f"{table.name}-{picture.name}.svg", picture.svg)
    return Written(place, tables)


def _write(path: Path, text: str) -> None:
    with atomic_file(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def _cells(table: TableReport) -> list[dict[str, Any]]:
    return [
        {
            "take": cell.trial.take,
            "system": cell.trial.system,
            "profile": cell.trial.profile,
            "direction": cell.trial.direction,
            "p@1": None if cell.mean is None else round(cell.mean, 2),
            "spread": None if cell.spread is None else round(cell.spread, 2),
            "runs": len(cell.done),
            "failed": len(cell.failed),
            "published": cell.published,
            "difference": cell.difference,
            "against_reference": None
            if cell.against is None
            else {"difference": round(cell.against.difference, 2), "p_value": cell.against.p_value},
            "groups": rounded(cell.groups),
            "seconds": None if cell.seconds is None else round(cell.seconds, 2),
        }
        for cell in table.cells.values()
    ]
