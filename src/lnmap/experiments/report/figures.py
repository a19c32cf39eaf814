"""The figures of a table's report: P@1 by system, by seed size and by distance, and those of other modules."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

from lnmap.experiments.records import NO_SEED
from lnmap.experiments.report.answers import by_frequency, kinds_of_errors
from lnmap.experiments.report.collect import REFERENCE, Cell, TableReport
from lnmap.experiments.report.curves import self_training
from lnmap.experiments.report.figure import Figure, colours_of, limits, seed_name
from lnmap.experiments.report.svg import Drawing, Panel, series, spread, text_width

SHAPES = ("circle", "square", "diamond", "triangle")
_NUMBERED = 8  # panels with room for numbers


def figures(table: TableReport) -> list[Figure]:
    """Draw what the results are enough for."""
    made = [
        by_system(table),
        by_seed_size(table),
        by_distance(table),
        self_training(table),
        kinds_of_errors(table),
        by_frequency(table),
    ]
    return [figure for figure in made if figure is not None]


def by_system(table: TableReport) -> Figure | None:
    """P@1 of every system in every direction: a panel a direction, a line a system, a mark a seed rule."""
    done = [cell for cell in table.cells.values() if cell.mean is not None]
    if not done:
        return None
    systems = _ranked(table, done)
    labels = {name: table.systems[name] for name in systems}
    left = max(text_width(label, 11) for label in labels.values()) + 16
    across = min(len(table.directions), 4)
    width, row, gap = (190.0 if across > 2 else 260.0), 18.0, 22.0
    height = row * len(systems) + 6
    down = math.ceil(len(table.directions) / across)
    drawing = Drawing(left + across * (width + gap) + 6, 62 + down * (height + 58), f"P@1 by system, {table.name}")
    numbers = len(table.directions) <= _NUMBERED
    styles = {take: (SHAPES[i % 4], series(i + 1)) for i, take in enumerate(table.takes)}
    _take_legend(drawing, styles, left, table.has_paper)
    for i, direction in enumerate(table.directions):
        x, y = left + (i % across) * (width + gap), 62 + (i // across) * (height + 58)
        shown = [cell for cell in done if cell.direction == direction]
        values = [cell.mean or 0.0 for cell in shown] + [c.published for c in shown if c.published is not None]
        low, high = limits(values)
        panel = Panel(drawing, x, y, width, height, (low, high + (0.12 * (high - low) if numbers else 0)))
        panel.heading(direction.replace("-", " → "))
        panel.grid_x(5)
        panel.base()
        for j, name in enumerate(systems):
            cells = [cell for cell in shown if cell.system == name]
            at = y + 6 + row * (j + 0.5)
            if i % across == 0:
                drawing.text(left - 10, at + 4, labels[name], 11, "end", bold=name == REFERENCE)
            _dots(panel, cells, at, styles)
            if numbers and cells:
                best = max(cells, key=lambda cell: cell.mean or 0.0)
                ends = [best.mean or 0.0, *(cell.published for cell in cells if cell.published is not None)]
                drawing.text(panel.sx(max(ends)) + 8, at + 3.5, f"{best.mean:.1f}", 9.5, colour="muted")
    caption = "P@1 in per cent; filled marks are ours (mean over seeds, whiskers one standard deviation)"
    caption += ", hollow marks the paper's." if table.has_paper else "."
    caption += " The number is that of the best mark." if numbers else ""
    return Figure("systems", "P@1 by system and direction", caption, drawing)


def _dots(panel: Panel, cells: Sequence[Cell], y: float, styles: dict[str, tuple[str, str]]) -> None:
    """Draw one system's marks in one panel, joined by a line."""
    drawing, places = panel.drawing, [panel.sx(cell.mean or 0.0) for cell in cells]
    if places:
        drawing.line(min(places), y, max(places), y, "rule", 1.2)
    for cell in cells:
        if cell.published is not None:
            shape, colour = styles[cell.take]
            tip = f"{cell.system}, {cell.direction}, {seed_name(cell.take)}: {cell.published} in the paper"
            drawing.mark(panel.sx(cell.published), y, shape, colour, 3.2, hollow=True, tip=tip)
    for cell, x in zip(cells, places, strict=True):
        shape, colour = styles[cell.take]
        if cell.spread:
            half = abs(panel.sx(cell.spread) - panel.sx(0))
            drawing.line(x - half, y, x + half, y, colour, 1.4)
        apart = f" ± {cell.spread:.1f}" if cell.spread is not None else ""
        tip = f"{cell.system}, {cell.direction}, {seed_name(cell.take)}: {cell.mean:.1f}{apart}"
        drawing.mark(x, y, shape, colour, 4.4, tip=tip)


def _take_legend(drawing: Drawing, styles: dict[str, tuple[str, str]], x: float, paper: bool) -> None:
    for take, (shape, colour) in styles.items():
        drawing.mark(x + 5, 16, shape, colour, 4.6)
        drawing.text(x + 14, 20, seed_name(take), 11)
        x += text_width(seed_name(take), 11) + 34
    if paper:
        drawing.mark(x + 5, 16, "circle", "muted", 3.6, hollow=True)
        drawing.text(x + 14, 20, "the paper's", 11, colour="muted")


def by_seed_size(table: TableReport) -> Figure | None:
    """P@1 against the number of seed pairs, a line a system."""
    panels = [(direction, _seed_lines(table, direction)) for direction in table.directions]
    panels = [(direction, lines) for direction, lines in panels if any(len(line) > 1 for line in lines.values())]
    if not panels:
        return None
    colours, across = colours_of(table), min(len(panels), 3)
    room = max(text_width(table.systems[name], 10.5) for _, lines in panels for name in lines) + 22
    width, height = 170.0, 210.0
    down = math.ceil(len(panels) / across)
    drawing = Drawing(46 + across * (width + room + 34), 40 + down * (height + 70), f"P@1 by seed size, {table.name}")
    for i, (direction, lines) in enumerate(panels):
        x, y = 46 + (i % across) * (width + room + 34), 34 + (i // across) * (height + 70)
        points = [point for line in lines.values() for point in line]
        sizes = sorted({size for size, _ in points})
        panel = Panel(
            drawing, x, y, width, height, (sizes[0] / 1.12, sizes[-1] * 1.12), limits([p for _, p in points]), True
        )
        panel.heading(direction.replace("-", " → "))
        panel.grid_y()
        panel.grid_x(at=_apart(sizes, panel))
        panel.base()
        panel.label_x("seed pairs")
        if i % across == 0:
            panel.label_y("P@1, %")
        for name, line in lines.items():
            drawing.path(
                [(panel.sx(s), panel.sy(p)) for s, p in line], colours[name], 2.4 if name == REFERENCE else 1.5
            )
            for s, p in line:
                tip = f"{table.systems[name]}: {p:.1f} from {s:,} pairs"
                drawing.mark(panel.sx(s), panel.sy(p), "circle", colours[name], 3.2, tip=tip)
        panel.labels_right([(line[-1][1], table.systems[name], colours[name]) for name, line in lines.items() if line])
    caption = "P@1 against the number of seed pairs that have both words in the vocabularies (logarithmic)."
    return Figure("seed-size", "P@1 against seed size", caption, drawing)


def _seed_lines(table: TableReport, direction: str) -> dict[str, list[tuple[int, float]]]:
    """Points (seed pairs, P@1) of each system that learns from a seed."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for (take, system, place), cell in table.cells.items():
        if place == direction and take != NO_SEED and cell.mean is not None:
            lines.setdefault(system, []).append((int(cell.first["seed_pairs"]), cell.mean))
    return {name: sorted(line) for name, line in lines.items()}


def _apart(sizes: Sequence[int], panel: Panel) -> list[float]:
    """Leave out the ticks whose numbers would touch."""
    kept: list[float] = []
    for size in sizes:
        if not kept or panel.sx(size) - panel.sx(kept[-1]) > 42:
            kept.append(size)
    return kept


def by_distance(table: TableReport) -> Figure | None:
    """P@1 against the distance of the two spaces; each pair counts with the mean of its directions."""
    take = next((take for take in table.takes if take != NO_SEED), None)
    lines = {name: list(_distance_points(table, take, name)) for name in table.systems} if take else {}
    lines = {name: sorted(points) for name, points in lines.items() if len(points) > 1}
    pairs = {pair: gh for points in lines.values() for gh, _, pair in points}
    if len(pairs) < 2:
        return None
    colours = colours_of(table)
    room = max(text_width(table.systems[name], 10.5) for name in lines) + 22
    drawing = Drawing(56 + 420 + room, 396, f"P@1 against GH distance, {table.name}")
    low, high = min(pairs.values()), max(pairs.values())
    margin = 0.08 * (high - low or 1)
    scores = [p for points in lines.values() for _, p, _ in points]
    panel = Panel(drawing, 52, 62, 420, 284, (low - margin, high + margin), limits(scores))
    panel.grid_y()
    panel.grid_x(lines=False)
    panel.base()
    panel.label_x("Gromov-Hausdorff distance of the two spaces")
    panel.label_y("P@1, %")
    _pair_names(panel, pairs)
    for name, points in lines.items():
        if len(points) > 3:
            _trend(panel, points, colours[name], name == REFERENCE)
        for gh, p, pair in points:
            tip = f"{table.systems[name]}, {pair}: {p:.1f} at {gh:.3f}"
            drawing.mark(panel.sx(gh), panel.sy(p), "circle", colours[name], 4, tip=tip)
    panel.labels_right([(points[-1][1], table.systems[name], colours[name]) for name, points in lines.items()])
    whose = "measured on these vectors" if table.measures else "the paper's"
    caption = f"P@1 ({take}, mean of both directions) against the GH distance, {whose}; a line is a least-squares fit."
    return Figure("distance", "P@1 against GH distance", caption, drawing)


def _distance_points(table: TableReport, take: str, system: str) -> Iterator[tuple[float, float, str]]:
    by_pair: dict[str, list[float]] = {}
    for (rule, name, _), cell in table.cells.items():
        if name == system and rule == take and cell.mean is not None:
            by_pair.setdefault(cell.pair, []).append(cell.mean)
    for pair, means in by_pair.items():
        gh = table.gh(pair)
        if gh is not None:
            yield gh, statistics.mean(means), pair


def _pair_names(panel: Panel, pairs: dict[str, float]) -> None:
    """Write the pairs above the panel, aslant and moved apart, each tied to its line."""
    wanted = [panel.sx(gh) for gh in pairs.values()]
    for pair, x, place in zip(pairs, wanted, spread(wanted, 13, panel.x, panel.x + panel.w), strict=True):
        panel.drawing.path([(place, panel.y - 12), (x, panel.y - 2), (x, panel.y + panel.h)], "grid", 1)
        panel.drawing.text(place + 2, panel.y - 15, pair, 10, "start", "muted", turn=-50)


def _trend(panel: Panel, points: Sequence[tuple[float, float, str]], colour: str, strong: bool) -> None:
    xs, ys = [gh for gh, _, _ in points], [p for _, p, _ in points]
    if len(set(xs)) < 2:
        return
    fit = statistics.linear_regression(xs, ys)
    ends = [(panel.sx(x), panel.sy(fit.slope * x + fit.intercept)) for x in (min(xs), max(xs))]
    panel.drawing.path(ends, colour, 2 if strong else 1, opacity=0.7)


def _ranked(table: TableReport, cells: Sequence[Cell]) -> list[str]:
    """Order the systems by their mean, best first."""
    means: dict[str, list[float]] = {}
    for cell in cells:
        means.setdefault(cell.system, []).append(cell.mean or 0.0)
    return sorted(means, key=lambda name: -statistics.mean(means[name]))
