"""A table as LaTeX, for the package booktabs: cut so that it fits the width and the height of a page."""

from __future__ import annotations

from collections.abc import Sequence

from lnmap.experiments.report.collect import Cell, TableReport
from lnmap.experiments.report.figure import seed_name

_MARKS = {"better": r"$^{\uparrow}$", "worse": r"$^{\downarrow}$", "": ""}
_ESCAPES = str.maketrans(
    {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "⊖": r"$\ominus$", "⊕": r"$\oplus$", "→": r"$\to$"}
)
_COLUMNS = 8  # directions side by side
_LINES = 56  # rows of one float


def latex(table: TableReport) -> str:
    """Write a table; the paper's numbers stand below ours, smaller. What is too high for a page becomes several."""
    floats = _floats(table)
    head = r"% needs \usepackage{booktabs}, and a page as wide as two columns; written by lnmap report"
    return "\n".join([head, *(_float(table, takes, floats.index(takes), len(floats)) for takes in floats)])


def _floats(table: TableReport) -> list[list[str]]:
    """Share the seed rules out among floats."""
    floats: list[list[str]] = []
    room = 0
    for take in table.takes:
        lines = len(_panels(table)) * (2 + len(table.systems_of(take)) * (1 + table.has_paper))
        if lines > room:
            floats.append([])
            room = _LINES
        floats[-1].append(take)
        room -= lines
    return floats


def _panels(table: TableReport) -> list[range]:
    """Share the columns out, as evenly as whole pairs of directions allow; the last panel has the mean, too."""
    count = len(table.directions)
    parts = -(-count // _COLUMNS)
    width = -(-count // (2 * parts)) * 2 if parts > 1 else max(count, 1)
    return [range(start, min(start + width, count)) for start in range(0, count, width)]


def _float(table: TableReport, takes: Sequence[str], number: int, floats: int) -> str:
    panels = _panels(table)
    columns = max(len(panel) + (panel is panels[-1]) for panel in panels)
    lines = [
        r"\begin{table*}",
        r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\begin{{tabular}}{{l{'r' * columns}}}",
        r"\toprule",
    ]
    for panel in panels:
        mean = panel is panels[-1]
        heads = [_tex(table.directions[place].replace("-", "→")) for place in panel] + ["mean"] * mean
        lines += [r"\midrule"] * (panel is not panels[0]) + [_row("", heads, columns)]
        for take in takes:
            lines += [r"\midrule", rf"\multicolumn{{{columns + 1}}}{{l}}{{\emph{{{_tex(seed_name(take))}}}}} \\"]
            for system in table.systems_of(take):
                lines += _system(table, take, system, panel, mean, columns)
    label = f"tab:{table.name}" + (f"-{number + 1}" if floats > 1 else "")
    caption = _tex(_caption(table, f" ({number + 1} of {floats})" if floats > 1 else ""))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}", _end(label)])


def _end(label: str) -> str:
    return "\n".join([rf"\label{{{label}}}", r"\end{table*}", ""])


def _caption(table: TableReport, part: str) -> str:
    text = f"{table.title}{part}. Mean over seeds, standard deviation as index."
    text += " Below, small: the paper's numbers." if table.has_paper else ""
    arrows = f" Arrows: significantly better or worse than {table.reference} (sign test, p < 0.05)."
    return text + (arrows if table.reference else "")


def _system(table: TableReport, take: str, system: str, panel: range, mean: bool, columns: int) -> list[str]:
    """Write the row of a system and, below, what the paper has for it."""
    row, (ours, paper) = [table.row(take, system)[place] for place in panel], table.average(take, system)
    cells = [_cell(table, cell) for cell in row] + ["--" if ours is None else f"{ours:.1f}"] * mean
    lines = [_row(_tex(table.systems[system]), cells, columns)]
    published = [f"{cell.published}" if cell and cell.published is not None else "" for cell in row]
    if any(published):
        published += ["" if paper is None else f"{paper:.1f}"] * mean
        lines[0] += "[-2pt]"
        lines.append(_row("", [rf"{{\scriptsize {text}}}" if text else "" for text in published], columns))
    return lines


def _row(label: str, cells: Sequence[str], columns: int) -> str:
    return " & ".join([label, *cells, *[""] * (columns - len(cells))]) + r" \\"


def _cell(table: TableReport, cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.mean is None:
        return "failed" if cell.failed else "--"
    text = f"{cell.mean:.1f}"
    if round(cell.mean, 1) == table.best(cell.take, cell.direction):
        text = rf"\textbf{{{text}}}"
    spread = "" if cell.spread is None else f"$_{{{cell.spread:.1f}}}$"
    return text + spread + _MARKS[cell.verdict]


def _tex(text: str) -> str:
    return text.translate(_ESCAPES).replace(" < ", " $<$ ")
