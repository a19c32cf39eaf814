"""Matplotlib figures as small, reproducible SVG: axes placed in pixels, labels that do not overlap, tooltips."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from lnmap.experiments.report.theme import FONT, PAPER, themes

SMALL = 10.5  # font size of labels
_CANVAS = 1000  # pixels; what is drawn is cut out of it, or reaches beyond it
_STEPS = (1, 2, 5, 10)  # between ticks
STYLE = Path(__file__).with_name("figures.mplstyle")
Line = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Picture:
    """A figure: the name of its file, its title, the sentence below it, and its SVG."""

    name: str
    title: str
    caption: str
    svg: str

    def inline(self) -> str:
        """Return the SVG for a page, in the colours that the page defines as variables."""
        svg = self.svg
        for name, colour in themes()[0].items():
            svg = svg.replace(colour, f"var(--{name})")
        return svg


class Board:
    """A matplotlib figure under way, to be drawn within `rc_context(fname=STYLE)`."""

    def __init__(self, title: str) -> None:
        self.title, self.tips = title, list[str]()
        self.figure = Figure(figsize=(_CANVAS / 72, _CANVAS / 72), facecolor=PAPER)

    def axes(self, x: float, y: float, width: float, height: float, title: str = "") -> Axes:
        """Return axes whose upper left corner is (x, y)."""
        place = (x / _CANVAS, 1 - (y + height) / _CANVAS, width / _CANVAS, height / _CANVAS)
        axes = self.figure.add_axes(place, facecolor="none")
        axes.grid(axis="y")
        for axis, ticks in ((axes.xaxis, 5), (axes.yaxis, 7)):
            axis.set_major_locator(MaxNLocator(ticks, steps=_STEPS))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axes.set_title(title)
        return axes

    def legend(self, handles: Sequence[Any], x: float, y: float) -> None:
        """Draw a legend in one row whose upper left corner is (x, y)."""
        corner = (x / _CANVAS, 1 - y / _CANVAS)
        options: Any = {"ncols": len(handles), "borderaxespad": 0, "borderpad": 0, "handletextpad": 0.5}
        self.figure.legend(handles=handles, loc="upper left", bbox_to_anchor=corner, **options)

    def tip(self, artists: Iterable[Any], text: str) -> None:
        """Show a text when the reader points at something."""
        for artist in artists:
            artist.set_gid(f"tip{len(self.tips)}")
            self.tips.append(text)

    def svg(self) -> str:
        """Return the SVG: text as text, no dates, the same bytes for the same data."""
        for artist in self.figure.findobj():
            artist.set_clip_on(False)
        buffer = io.StringIO()
        with matplotlib.rc_context({"svg.hashsalt": self.title}):
            no_metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
            self.figure.savefig(buffer, format="svg", bbox_inches="tight", pad_inches=0.12, metadata=no_metadata)
        text = buffer.getvalue()
        text = re.sub(r'(width|height)="([\d.]+)pt"', r'\1="\2"', text[text.index("<svg") :], count=2)
        text = re.sub(r'<g id="tip(\d+)">', lambda m: f"<g><title>{escape(self.tips[int(m[1])])}</title>", text)
        text = re.sub(r' id="(?!m[0-9a-f]{10}")[^"]*"', "", text).replace("'DejaVu Sans'", FONT.rpartition(",")[0])
        return text.replace(">", f' role="img">\n<title>{escape(self.title)}</title>', 1)


def curves(board: Board, axes: Axes, lines: dict[str, Line], colours: dict[str, str], strong: str = "") -> None:
    """Draw a line with marks per name; `strong` names a line that is drawn thicker."""
    for name, line in lines.items():
        xs, ys = [x for x, _ in line], [y for _, y in line]
        axes.plot(xs, ys, color=colours[name], linewidth=2.4 if name == strong else 1.5)
        if len(line) <= 30:
            for x, y in line:
                dot = axes.plot([x], [y], marker="o", color=colours[name], markersize=6, markeredgecolor=PAPER)
                board.tip(dot, f"{name}: {y:,.4g} at {x:,.4g}")


def labels_right(axes: Axes, labels: Sequence[tuple[float, str, str]]) -> None:
    """Write (value, text, colour) at the right end, moved apart, each tied to its place."""
    size = axes.get_position().size * _CANVAS
    low, high = axes.get_ylim()
    wanted = [(value - low) / (high - low) for value, _, _ in labels]
    for (_, text, colour), at, place in zip(labels, wanted, spread(wanted, (SMALL + 2) / size[1], 0, 1), strict=True):
        if abs(place - at) * size[1] > 2:
            ends = ([1 + 4 / size[0], 1 + 11 / size[0]], [at, place])
            axes.plot(*ends, color=colour, linewidth=0.8, alpha=0.7, transform=axes.transAxes)
        options: Any = {"transform": axes.transAxes, "va": "center_baseline", "fontsize": SMALL, "color": colour}
        axes.text(1 + 14 / size[0], place, text, **options)


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move labels apart so that none covers another, each as little as possible."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    groups: list[list[float]] = []  # neighbours that touch: each place less what the labels before it take
    for rank, i in enumerate(order):
        groups.append([places[i] - rank * gap])
        while len(groups) > 1 and sum(groups[-2]) / len(groups[-2]) > sum(groups[-1]) / len(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    top = high - gap * (len(order) - 1)
    starts = [max(low, min(top, sum(group) / len(group))) for group in groups for _ in group]
    moved = {i: start + rank * gap for rank, (i, start) in enumerate(zip(order, starts, strict=True))}
    return [moved[i] for i in range(len(places))]


def text_width(texts: Iterable[str], size: float = SMALL) -> float:
    """Return about how wide the longest text is."""
    return 0.58 * size * max(map(len, texts), default=0)
