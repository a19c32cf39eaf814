"""The figures of a table's report."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lnmap.experiments.report.collect import REFERENCE, Cell, TableReport, seed_name
from lnmap.experiments.report.drawing import (
    SMALL,
    STYLE,
    Board,
    Line,
    Picture,
    curves,
    labels_right,
    spread,
    text_width,
)
from lnmap.experiments.report.mistakes import KINDS, MEANING, QUARTERS
from lnmap.experiments.report.theme import BLACK, GRID, INK, MUTED, PAPER, RULE, series
from lnmap.experiments.trial import NO_SEED

_SHAPES = ("o", "s", "D", "^")
_NUMBERED = 8  # panels with room for numbers
# The quantity that each system's log calls its criterion, as the axis names it.
_WATCHED = {
    "similarity": "mean CSLS of the pairs kept",
    "mean_csls": "mean CSLS of the pairs",
    "objective": "mean similarity",
    "criterion": "criterion",
}
_MOST_SYSTEMS, _MOST_NAMED = 6, 8  # columns of the figure of self-training, and its lines that have names
_KIND_COLOURS = (series(1), series(7), series(8), series(6), GRID)


def figures(table: TableReport) -> list[Picture]:
    """Draw what the results are enough for."""
    drawers = (by_system, by_seed_size, by_distance, self_training, kinds_of_errors, by_frequency)
    with matplotlib.rc_context(fname=STYLE):
        return [picture for picture in (draw(table) for draw in drawers) if picture is not None]


def by_system(table: TableReport) -> Picture | None:
    """Draw P@1 of every system: one panel per direction, one line per system, one mark per seed rule."""
    done = [cell for cell in table.cells.values() if cell.mean is not None]
    if not done:
        return None
    means = {name: [c.mean or 0.0 for c in done if c.trial.system == name] for name in table.systems}
    systems = sorted((n for n in means if means[n]), key=lambda name: -statistics.mean(means[name]))
    across = min(len(table.directions), 4)
    width, height = (190.0 if across > 2 else 260.0), 18.0 * len(systems) + 6
    numbered = len(table.directions) <= _NUMBERED
    styles = {take: {"marker": _SHAPES[i % 4], "color": series(i + 1)} for i, take in enumerate(table.takes)}
    board = Board(f"P@1 by system, {table.name}")
    handles = [Line2D([], [], ls="", ms=8, label=seed_name(take), **style) for take, style in styles.items()]  # type: ignore[arg-type]
    if table.has_paper:
        handles.append(Line2D([], [], ls="", ms=7, marker="o", mfc=PAPER, mec=MUTED, label="the paper's"))
    board.legend(handles, 0, 0)
    for i, direction in enumerate(table.directions):
        x, y = (i % across) * (width + 22), 52 + (i // across) * (height + 58)
        axes = board.axes(x, y, width, height, direction.replace("-", " → "))
        shown = [cell for cell in done if cell.trial.direction == direction]
        low, high = _limits([c.mean for c in shown] + [c.published for c in shown])
        axes.set(xlim=(low, high + (0.12 * (high - low) if numbered else 0)), ylim=(len(systems) - 0.5, -0.5))
        axes.set_yticks(range(len(systems)), [table.systems[name] for name in systems] if i % across == 0 else [])
        axes.tick_params(axis="y", labelcolor=INK, labelsize=11)
        axes.grid(axis="x")
        axes.grid(visible=False, axis="y")
        for label, name in zip(axes.get_yticklabels(), systems, strict=False):
            label.set_fontweight("bold" if name == REFERENCE else "normal")
        for row, name in enumerate(systems):
            _dots(board, axes, [cell for cell in shown if cell.trial.system == name], row, styles, numbered)
    caption = "P@1 in per cent; filled marks are ours (mean over seeds, whiskers one standard deviation)"
    caption += ", hollow marks the paper's." if table.has_paper else "."
    caption += " The number is that of the best mark." if numbered else ""
    return Picture("systems", "P@1 by system and direction", caption, board.svg())


def _dots(board: Board, axes: Axes, cells: Sequence[Cell], row: int, styles: dict[str, Any], numbered: bool) -> None:
    """Draw one system's marks in one panel, joined by a line."""
    if not cells:
        return
    means = [cell.mean or 0.0 for cell in cells]
    axes.plot([min(means), max(means)], [row, row], color=RULE, linewidth=1.2)
    for cell in cells:
        name = f"{cell.trial.system}, {cell.trial.direction}, {seed_name(cell.trial.take)}"
        style = styles[cell.trial.take]
        if cell.published is not None:
            edge = {"marker": style["marker"], "mfc": PAPER, "mec": style["color"], "ms": 6, "mew": 1.3, "ls": ""}
            board.tip(axes.plot([cell.published], [row], **edge), f"{name}: {cell.published} in the paper")
        mean, half = cell.mean or 0.0, cell.spread or 0.0
        if half:
            axes.plot([mean - half, mean + half], [row, row], color=style["color"], linewidth=1.4)
        apart = f" ± {cell.spread:.1f}" if cell.spread is not None else ""
        board.tip(axes.plot([mean], [row], ms=8, mec=PAPER, mew=0.8, ls="", **style), f"{name}: {mean:.1f}{apart}")
    if numbered:
        right = max([max(means), *(cell.published for cell in cells if cell.published is not None)])
        options: Any = {"xytext": (8, 0), "textcoords": "offset points", "va": "center_baseline", "fontsize": 9.5}
        axes.annotate(f"{max(means):.1f}", (right, row), color=MUTED, **options)


def by_seed_size(table: TableReport) -> Picture | None:
    """Draw P@1 against the number of seed pairs, one line per system."""
    panels = [(direction, _seed_lines(table, direction)) for direction in table.directions]
    panels = [(direction, lines) for direction, lines in panels if any(len(line) > 1 for line in lines.values())]
    if not panels:
        return None
    colours, across = _colours(table), min(len(panels), 3)
    room = text_width(table.systems.values()) + 60
    board = Board(f"P@1 by seed size, {table.name}")
    for i, (direction, lines) in enumerate(panels):
        x, y = (i % across) * (180 + room), (i // across) * 290
        axes = board.axes(x, y, 180, 215, direction.replace("-", " → "))
        sizes = sorted({size for line in lines.values() for size, _ in line})
        edge = (sizes[-1] / sizes[0]) ** 0.07
        axes.set(xscale="log", xlim=(sizes[0] / edge, sizes[-1] * edge), xlabel="seed pairs")
        axes.set_ylim(_limits([p for line in lines.values() for _, p in line]))
        ticks = sizes[:1]
        for size in sizes[1:]:
            if size / ticks[-1] > (sizes[-1] / sizes[0]) ** 0.25 * 1.02:  # else their numbers would touch
                ticks.append(size)
        axes.set_xticks(ticks, [f"{size:,}" for size in ticks])
        axes.minorticks_off()
        axes.set_ylabel("P@1, %" if i % across == 0 else "")
        curves(board, axes, lines, colours, table.systems.get(REFERENCE, ""))
        labels_right(axes, [(line[-1][1], name, colours[name]) for name, line in lines.items()])
    caption = "P@1 against the number of seed pairs that have both words in the vocabularies (logarithmic)."
    return Picture("seed-size", "P@1 against seed size", caption, board.svg())


def _seed_lines(table: TableReport, direction: str) -> dict[str, Line]:
    """Return points (seed pairs, P@1) of each system that learns from a seed, by label."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for (take, system, place), cell in table.cells.items():
        if place == direction and take != NO_SEED and cell.mean is not None:
            lines.setdefault(table.systems[system], []).append((int(cell.first["seed_pairs"]), cell.mean))
    return {name: sorted(line) for name, line in lines.items()}


def by_distance(table: TableReport) -> Picture | None:
    """Draw P@1 against the distance of the two spaces; each pair counts with the mean of its directions."""
    take = next((take for take in table.takes if take != NO_SEED), None)
    lines = {label: list(_distances(table, take, name)) for name, label in table.systems.items()} if take else {}
    lines = {label: sorted(points) for label, points in lines.items() if len(points) > 1}
    pairs = {pair: gh for points in lines.values() for gh, _, pair in points}
    if len(pairs) < 2:
        return None
    colours = _colours(table)
    board = Board(f"P@1 against GH distance, {table.name}")
    axes = board.axes(0, 60, 420, 284)
    margin = 0.08 * (max(pairs.values()) - min(pairs.values()) or 1)
    axes.set(xlim=(min(pairs.values()) - margin, max(pairs.values()) + margin), ylabel="P@1, %")
    axes.set(xlabel="Gromov-Hausdorff distance of the two spaces")
    axes.set_ylim(_limits([p for points in lines.values() for _, p, _ in points]))
    low, high = axes.get_xlim()
    above = axes.get_xaxis_transform()
    places = spread([*pairs.values()], 13 * (high - low) / 420, low, high)
    for (pair, gh), place in zip(pairs.items(), places, strict=True):
        axes.plot([place, gh, gh], [1.04, 1.01, 0], color=GRID, linewidth=1, transform=above)
        axes.text(place, 1.05, pair, transform=above, rotation=50, fontsize=10, color=MUTED, rotation_mode="anchor")
    for label, points in lines.items():
        xs, ys = [gh for gh, _, _ in points], [p for _, p, _ in points]
        if len(points) > 3 and len(set(xs)) > 1:
            fit = statistics.linear_regression(xs, ys)
            ends = [min(xs), max(xs)]
            strong = label == table.systems.get(REFERENCE)
            fitted = [fit.slope * x + fit.intercept for x in ends]
            axes.plot(ends, fitted, color=colours[label], linewidth=2 if strong else 1, alpha=0.7)
        for gh, p, pair in points:
            dot = axes.plot([gh], [p], marker="o", markersize=7, markeredgecolor=PAPER, color=colours[label])
            board.tip(dot, f"{label}, {pair}: {p:.1f} at {gh:.3f}")
    labels_right(axes, [(points[-1][1], label, colours[label]) for label, points in lines.items()])
    whose = "measured on these vectors" if table.measures else "the paper's"
    caption = f"P@1 ({take}, mean of both directions) against the GH distance, {whose}; a line is a least-squares fit."
    return Picture("distance", "P@1 against GH distance", caption, board.svg())


def _distances(table: TableReport, take: str, system: str) -> Iterator[tuple[float, float, str]]:
    by_pair: dict[str, list[float]] = {}
    for (rule, name, _), cell in table.cells.items():
        if name == system and rule == take and cell.mean is not None:
            by_pair.setdefault(cell.trial.pair, []).append(cell.mean)
    for pair, means in by_pair.items():
        gh = table.gh(pair)
        if gh is not None:
            yield gh, statistics.mean(means), pair


def self_training(table: TableReport) -> Picture | None:
    """Draw how systems train themselves: the criterion above, the size of the dictionary below, one column each."""
    found = [(label, _logs(table, system)) for system, label in table.systems.items()]
    shown = [(label, logs) for label, logs in found if any(len(line) > 1 for line in logs[1].values())][:_MOST_SYSTEMS]
    if not shown:
        return None
    colours = {direction: series(i) for i, direction in enumerate(table.directions)}
    board = Board(f"Self-training, {table.name}")
    for i, (label, (name, watched, sizes)) in enumerate(shown):
        x, y = (i % 3) * (270 + text_width(colours)), (i // 3) * 440
        _panel(board, board.axes(x, y, 170, 150, label), watched, colours, _WATCHED[name])
        if any(len(line) > 1 for line in sizes.values()):
            _panel(board, board.axes(x, y + 205, 170, 150), sizes, colours, "pairs")
    caption = (
        "Above what each system watches while it trains itself, below the pairs of its dictionary; the first seed."
    )
    return Picture("self-training", "Self-training", caption, board.svg())


def _logs(table: TableReport, system: str) -> tuple[str, dict[str, Line], dict[str, Line]]:
    """Return what a system watches, and by direction the lines of this criterion and of the dictionary's size."""
    name, watched, sizes = "criterion", dict[str, Line](), dict[str, Line]()
    for (_, other, direction), cell in sorted(table.cells.items(), key=lambda item: table.takes.index(item[0][0])):
        if other != system or not cell.done or direction in watched:
            continue
        log = cell.first.get("log", [])
        own = next((key for key in _WATCHED if sum(key in row for row in log) > 1), None)
        if own is not None:
            name = own
            watched[direction] = _points(log, own)
            sizes[direction] = _points([row for row in log if own in row], "pairs")
    return name, watched, sizes


def _points(log: Sequence[dict[str, Any]], key: str) -> Line:
    rows = [row for row in log if isinstance(row.get(key), int | float)]
    return [(float(row.get("iteration", i + 1)), float(row[key])) for i, row in enumerate(rows)]


def _panel(board: Board, axes: Axes, lines: dict[str, Line], colours: dict[str, str], what: str) -> None:
    few = len(lines) <= _MOST_NAMED
    chosen = colours if few else dict.fromkeys(colours, MUTED)
    curves(board, axes, lines, chosen)
    axes.set(xlabel="iteration", ylabel=what)
    axes.xaxis.get_major_locator().set_params(integer=True, nbins=5)  # type: ignore[call-arg]
    ends = sorted((line[-1][1], direction) for direction, line in lines.items() if line)
    labels_right(axes, [(end, name, chosen[name]) for end, name in (ends if few else [ends[0], ends[-1]])])


def kinds_of_errors(table: TableReport) -> Picture | None:
    """Draw what is answered instead of the right word: one bar per system, over all directions."""
    rows = [
        (take, system, [statistics.mean(one.share[kind] for one in many) for kind in KINDS])
        for system, take, many in table.mistakes
    ]
    if not rows:
        return None
    rows.sort(key=lambda row: (table.takes.index(row[0]), -row[2][0]))
    takes = list(dict.fromkeys(take for take, _, _ in rows))
    count = len(rows) + len(takes)
    board = Board(f"Kinds of errors, {table.name}")
    pairs = zip(KINDS, _KIND_COLOURS, strict=True)
    board.legend([Patch(color=colour, label=kind) for kind, colour in pairs], 0, 0)
    axes = board.axes(0, 30, 520, 21 * count)
    axes.grid(visible=False)
    axes.set(xlim=(0, 100), ylim=(count - 0.5, -0.5), xlabel="per cent of the test words")
    y, ticks = 0, []
    for take in takes:
        ticks.append((y, seed_name(take), MUTED))
        for _, system, share in (row for row in rows if row[0] == take):
            y += 1
            ticks.append((y, table.systems[system], INK))
            _stack(board, axes, y, share, f"{table.systems[system]}, {seed_name(take)}")
        y += 1
    axes.set_yticks([place for place, _, _ in ticks], [text for _, text, _ in ticks], fontsize=11)
    for label, (_, text, colour) in zip(axes.get_yticklabels(), ticks, strict=True):
        label.set(color=colour, fontweight="bold" if text == table.systems.get(REFERENCE) else "normal")
    caption = "What came first, over all directions. " + "; ".join(f"{kind}: {MEANING[kind]}" for kind in KINDS[1:4])
    return Picture("errors", "Where the errors are", f"{caption}.", board.svg())


def _stack(board: Board, axes: Axes, y: int, share: Sequence[float], label: str) -> None:
    """Draw one bar made of all kinds."""
    left = 0.0
    for kind, colour, part in zip(KINDS, _KIND_COLOURS, share, strict=True):
        bar = axes.barh(y, part, 0.78, left, color=colour, edgecolor=PAPER, linewidth=1)
        board.tip(bar.patches, f"{label}: {part:.1f} % {kind}")
        if part > 4:
            ink = INK if colour == GRID else BLACK if colour in (series(7), series(8)) else PAPER
            axes.text(left + part / 2, y, f"{part:.0f}", color=ink, ha="center", va="center_baseline", fontsize=SMALL)
        left += part


def by_frequency(table: TableReport) -> Picture | None:
    """Draw P@1 by frequency of the word translated, one line per system."""
    take = next((take for take in table.takes if take != NO_SEED), table.takes[0] if table.takes else "")
    lines: dict[str, Line] = {
        table.systems[name]: [(i, statistics.mean(one.quarters[i] for one in many)) for i in range(4)]
        for name, rule, many in table.mistakes
        if rule == take
    }
    if not lines:
        return None
    board, colours = Board(f"P@1 by frequency, {table.name}"), _colours(table)
    axes = board.axes(0, 0, 380, 250)
    axes.set(xlim=(-0.15, 3.3), xlabel="test words by frequency of the word translated", ylabel="P@1, %")
    axes.set_ylim(_limits([p for line in lines.values() for _, p in line]))
    axes.set_xticks(range(4), QUARTERS)
    curves(board, axes, lines, colours, table.systems.get(REFERENCE, ""))
    labels_right(axes, [(line[-1][1], name, colours[name]) for name, line in lines.items()])
    caption = f"P@1 ({seed_name(take)}) of the quarters of the test words, mean over all directions."
    return Picture("frequency", "P@1 by word frequency", caption, board.svg())


def _colours(table: TableReport) -> dict[str, str]:
    """Return a colour for each label: LNMap has the first, the others follow in the order of the table."""
    names = sorted(table.systems, key=lambda name: name != REFERENCE)
    return {table.systems[name]: series(i) for i, name in enumerate(names)}


def _limits(values: Sequence[float | None]) -> tuple[float, float]:
    """Return the ends of an axis of percentages: a little room on both sides, never below 0 or above 100."""
    there = [value for value in values if value is not None]
    low, high = min(there), max(there)
    room = max(0.08 * (high - low), 1.5)
    return max(0.0, low - room), min(100.0, high + room)
