"""The figure of self-training: what a system watches, and how its dictionary grows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lnmap.experiments.report.collect import TableReport
from lnmap.experiments.report.figure import Figure
from lnmap.experiments.report.svg import Drawing, Panel, series, text_width, ticks

# The quantity that each system's log calls its criterion, as the axis names it.
WATCHED = {
    "similarity": "mean CSLS of the pairs kept",
    "mean_csls": "mean CSLS of the pairs",
    "objective": "mean similarity",
    "criterion": "criterion",
}
_MOST = 6  # systems drawn
_NAMED = 8  # lines of a panel that are named
Line = list[tuple[float, float]]


def self_training(table: TableReport) -> Figure | None:
    """How a system trains itself: its criterion above, the size of its dictionary below, a column a system."""
    found = [(system, _lines(table, system)) for system in table.systems]
    shown = [(system, lines) for system, lines in found if any(len(line) > 1 for line in lines[1].values())][:_MOST]
    if not shown:
        return None
    directions = {direction: series(i) for i, direction in enumerate(table.directions)}
    room = max(text_width(direction, 10.5) for direction in directions) + 24
    column, height = 170.0 + room + 58, 150.0
    across = min(len(shown), 3)
    tall = 2 * (height + 54)
    down = math.ceil(len(shown) / across)
    drawing = Drawing(58 + across * column, 34 + down * (tall + 26), f"Self-training, {table.name}")
    for i, (system, (name, watched, sizes)) in enumerate(shown):
        x, y = 58 + (i % across) * column, 34 + (i // across) * (tall + 26)
        _panel(drawing, (x, y, 170, height), watched, directions, WATCHED[name], table.systems[system])
        if any(len(line) > 1 for line in sizes.values()):
            _panel(drawing, (x, y + height + 50, 170, height), sizes, directions, "pairs")
    caption = (
        "Above what each system watches while it trains itself, below the pairs of its dictionary; the first seed."
    )
    return Figure("self-training", "Self-training", caption, drawing)


def _lines(table: TableReport, system: str) -> tuple[str, dict[str, Line], dict[str, Line]]:
    """Give what a system watches, and two sets of lines, by direction: the criterion, and the dictionary's size."""
    name, watched, sizes = "criterion", {}, {}
    for take in table.takes:
        for direction in table.directions:
            cell = table.cells.get((take, system, direction))
            if cell is None or not cell.done or direction in watched:
                continue
            log = cell.first.get("log", [])
            own = next((key for key in WATCHED if sum(key in row for row in log) > 1), None)
            if own is not None:
                name = own
                watched[direction] = _points(log, own)
                sizes[direction] = _points([row for row in log if own in row], "pairs")
    return name, watched, sizes


def _points(log: Sequence[dict[str, Any]], key: str) -> Line:
    rows = [row for row in log if isinstance(row.get(key), int | float)]
    return [(float(row.get("iteration", i + 1)), float(row[key])) for i, row in enumerate(rows)]


def _panel(
    drawing: Drawing,
    place: tuple[float, float, float, float],
    lines: dict[str, Line],
    colours: dict[str, str],
    axis: str,
    heading: str | None = None,
) -> None:
    xs, ys = ([point[i] for line in lines.values() for point in line] for i in (0, 1))
    margin = 0.06 * (max(ys) - min(ys) or 1)
    panel = Panel(drawing, *place, (min(xs), max(max(xs), min(xs) + 1)), (min(ys) - margin, max(ys) + margin))
    if heading:
        panel.heading(heading)
    panel.grid_y(6)
    panel.grid_x(at=[value for value in ticks(*panel.xs, 5) if float(value).is_integer()])
    panel.base()
    panel.label_y(axis)
    if heading is None or axis != "pairs":
        panel.label_x("iteration")
    few = len(lines) <= _NAMED
    for direction, line in lines.items():
        colour = colours[direction] if few else "muted"
        drawing.path([(panel.sx(x), panel.sy(y)) for x, y in line], colour, 1.6, opacity=1 if few else 0.55)
        if len(line) <= 30:
            for x, y in line:
                drawing.mark(panel.sx(x), panel.sy(y), "circle", colour, 2.4, tip=f"{direction}: {y:,.3f}")
    ends = sorted((line[-1][1], direction) for direction, line in lines.items() if line)
    named = ends if few else [ends[0], ends[-1]]
    panel.labels_right([(end, direction, colours[direction] if few else "muted") for end, direction in named])
