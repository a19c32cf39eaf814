"""A table as LaTeX, for the package booktabs, cut so that it fits the width and the height of a page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from lnmap.experiments.report.collect import Cell, Line, TableReport, seed_name
from lnmap.experiments.report.groups import TEXT, Sheet, group_parts

_MARKS = {"better": r"$^{\uparrow}$", "worse": r"$^{\downarrow}$", "": ""}
_ESCAPES = str.maketrans(
    {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "⊖": r"$\ominus$", "⊕": r"$\oplus$", "→": r"$\to$"}
)
_COLUMNS = 8  # directions side by side
_LINES = 56  # rows of one float
_NEEDS = r"% needs \usepackage{booktabs}, and a page as wide as two columns; written by lnmap report"


def latex(table: TableReport) -> str:
    """Return a table with the paper's numbers below ours, smaller; one too high for a page becomes several."""
    floats = _floats(table)
    lines = [line for take in table.takes for line in table.lines(take)]
    profiles = dict.fromkeys(f"% {line.label}, {line.system}: profile {line.profile}" for line in lines)
    return "\n".join([_NEEDS, *profiles, *(_float(table, takes, i, len(floats)) for i, takes in enumerate(floats, 1))])


def latex_groups(table: TableReport) -> str:
    """Return the tables about groups of words, one float per seed rule; nothing where no result has them."""
    floats = [
        _group_float((heads, list(rows)), f"{table.title}, {seed}. {note}")
        for _, (heads, every), note in group_parts(table)
        for seed, rows in groupby(every, key=lambda row: row[0])
    ]
    return "\n".join([_NEEDS, *floats]) if floats else ""


def _group_float(sheet: Sheet, caption: str) -> str:
    """Return one float; heads have one word per line, so that the columns fit the page."""
    heads, rows = sheet
    columns = len(heads) - TEXT
    lines = [
        r"\begin{table*}",
        r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\begin{{tabular}}{{l{'r' * columns}}}",
        r"\toprule",
        _row("", [r"\shortstack[r]{" + _tex(head).replace(" ", r"\\") + "}" for head in heads[TEXT:]], columns),
        r"\midrule",
        *(_row(_tex(row[1]), [_tex(cell) for cell in row[TEXT:]], columns) for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{_tex(caption)}}}",
        r"\end{table*}",
        "",
    ]
    return "\n".join(lines)


def _floats(table: TableReport) -> list[list[str]]:
    """Distribute the seed rules among floats."""
    floats: list[list[str]] = []
    room = 0
    for take in table.takes:
        lines = len(_panels(table)) * (2 + len(list(table.lines(take))) * (1 + table.has_paper))
        if lines > room:
            floats.append([])
            room = _LINES
        floats[-1].append(take)
        room -= lines
    return floats


def _panels(table: TableReport) -> list[range]:
    """Distribute the columns, as evenly as whole pairs of directions allow; the last panel has the mean, too."""
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
            for line in table.lines(take):
                lines += _system(table, line, panel, mean, columns)
    caption = _tex(_caption(table, f" ({number} of {floats})" if floats > 1 else ""))
    label = f"tab:{table.name}" + (f"-{number}" if floats > 1 else "")
    end = [r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}", rf"\label{{{label}}}", r"\end{table*}", ""]
    return "\n".join([*lines, *end])


def _caption(table: TableReport, part: str) -> str:
    text = f"{table.title}{part}. Mean over seeds, standard deviation as index."
    text += " Below, small: the paper's numbers." if table.has_paper else ""
    arrows = f" Arrows: significantly better or worse than {table.reference} (sign test, p < 0.05)."
    if table.version_notes:
        text += f" Not all of it was made with this version of lnmap: {' '.join(table.version_notes)}"
    return text + (arrows if table.reference else "")


def _system(table: TableReport, line: Line, panel: range, mean: bool, columns: int) -> list[str]:
    """Return the row of a system and, below, what the paper has for it."""
    row = [line.cells[place] for place in panel]
    cells = [_cell(table, cell) for cell in row] + ["--" if line.ours is None else f"{line.ours:.1f}"] * mean
    lines = [_row(_tex(line.label), cells, columns)]
    published = [f"{cell.published}" if cell and cell.published is not None else "" for cell in row]
    if any(published):
        published += ["" if line.paper is None else f"{line.paper:.1f}"] * mean
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
    text = rf"\textbf{{{cell.mean:.1f}}}" if table.is_best(cell) else f"{cell.mean:.1f}"
    spread = "" if cell.spread is None else f"$_{{{cell.spread:.1f}}}$"
    return text + spread + _MARKS[cell.verdict]


def _tex(text: str) -> str:
    return text.translate(_ESCAPES).replace(" < ", " $<$ ")
