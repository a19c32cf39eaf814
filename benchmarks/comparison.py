"""Write the tables of docs/comparison.md from the results in benchmarks/results.

    python benchmarks/comparison.py

The results come from `lnmap reproduce comparison` and `lnmap reproduce times`; benchmarks/README.md has the commands.
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import NamedTuple

from lnmap.experiments import Results
from lnmap.experiments.report.collect import Cell, Line, TableReport, collect
from lnmap.experiments.report.versions import other_settings

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "comparison.md"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
TITLES = {
    "100-unique": "100 pairs",
    "1k-unique": "1 000 pairs",
    "5k-unique": "5 000 words, one translation each",
    "5k-all": "5 000 words, all translations",
    "none": "No seed",
}
TIMES = {"s, 2 cores": "times-cpu", "s, GPU": "times-cuda"}


class Row(NamedTuple):
    """Means over the seeds by column, and what is shown there; a column with failures has no mean."""

    label: str
    means: dict[str, float]
    shown: list[str]
    seconds: list[str]


def main() -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{PAGE} has no place for the tables: {BEGIN} ... {END}")
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables()}\n{END}{after}", encoding="utf-8")


def tables() -> str:
    """All tables as Markdown, each with the best system first."""
    (table,) = collect(Results(RESULTS / "comparison"))
    times = [seconds(RESULTS / folder) for folder in TIMES.values()]
    parts = []
    for take, title in TITLES.items():
        rows = [row(line, table, times) for line in table.lines(take)]
        columns = [*table.directions, "mean"]
        best = [max((r.means[name] for r in rows if name in r.means), default=None) for name in columns]
        heads = ["system", *columns, *TIMES]
        lines = [f"## {title}", "", f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1)]
        for r in sorted(rows, key=lambda r: -r.means.get("mean", -1.0)):
            bold = [r.means.get(name) == top is not None for name, top in zip(columns, best, strict=True)]
            cells = [f"**{text}**" if b else text for text, b in zip(r.shown, bold, strict=True)]
            lines.append(f"| {' | '.join([r.label, *cells, *r.seconds])} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join([*parts, *older()])


def older() -> list[str]:
    """Say which rows and which seconds were made with other revisions of the profiles."""
    found = []
    for what, folder in {
        "Rows": "comparison",
        **{f"Seconds ({head[3:]})": name for head, name in TIMES.items()},
    }.items():
        (table,) = collect(Results(RESULTS / folder))
        runs = [(cell.trial.label, run) for cell in table.cells.values() for run in cell.done]
        reasons: dict[str, dict[str, None]] = {}
        for label, run in runs:
            if (changed := other_settings(run)) and not label.startswith("warm-up"):
                reasons.setdefault(changed[0], {})[label] = None
        found += [f"{what} of {reason}: {'; '.join(labels)}.\n" for reason, labels in reasons.items()]
    return found


def row(line: Line, table: TableReport, times: list[dict[str, float]]) -> Row:
    cells = dict(zip(table.directions, line.cells, strict=True))
    means = {name: cell.mean for name, cell in cells.items() if cell and cell.mean is not None and not cell.failed}
    if len(means) == len(cells):
        means["mean"] = statistics.mean(means.values())
    shown = [text(cell) for cell in cells.values()] + [f"{means['mean']:.1f}" if "mean" in means else "-"]
    return Row(line.label, means, shown, [f"{t[line.system]:.1f}" if line.system in t else "-" for t in times])


def text(cell: Cell | None) -> str:
    """Mean and standard deviation over seeds; how often it failed, if it did."""
    if cell is None or cell.mean is None:
        return "fails" if cell and cell.failed else "-"
    number = f"{cell.mean:.1f}" + (f" ± {cell.spread:.1f}" if cell.spread is not None else "")
    runs = len(cell.done) + len(cell.failed)
    return f"{number}, fails {len(cell.failed)} of {runs}" if cell.failed else number


def seconds(folder: Path) -> dict[str, float]:
    """Seconds of training, by system."""
    (table,) = collect(Results(folder))
    return {cell.trial.system: cell.first["train_seconds"] for cell in table.cells.values() if cell.done}


if __name__ == "__main__":
    main()
