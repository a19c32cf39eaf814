"""A small drawing board: what the figures need of SVG, in colours that a page may change for a dark screen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"
# Paul Tol's "muted" scheme, safe for colour-blind readers, in an order that keeps neighbours apart; LNMap comes first.
SERIES = (
    *("#cc3311", "#332288", "#117733", "#0077bb", "#aa4499", "#8a8a1f", "#882255", "#2f9485"),
    *("#b27d00", "#555555", "#e0762f", "#6a8fc7", "#7a5230", "#000000"),
)
DARK = (
    *("#ff7a55", "#a89bf5", "#5fc77f", "#56b4e9", "#e08bd0", "#c5c55a", "#e0709e", "#6fd6c4"),
    *("#ecc766", "#b5b5b5", "#ffb27d", "#9dbdf0", "#c9a27f", "#ffffff"),
)
LIGHT_THEME = {
    "ink": "#1a1a1a",
    "muted": "#666666",
    "grid": "#e3e3e3",
    "rule": "#b5b5b5",
    "paper": "#ffffff",
    "black": "#1a1a1a",
}
DARK_THEME = {
    "ink": "#ededed",
    "muted": "#a5a5a5",
    "grid": "#333333",
    "rule": "#6a6a6a",
    "paper": "#16181c",
    "black": "#1a1a1a",
}
_NARROW, _WIDE = frozenset("iljtfrI.,:;|!'()[]1- "), frozenset("mwMWGOQ@%")


def series(index: int) -> str:
    """Name the colour of a series."""
    return f"c{index % len(SERIES)}"


def theme(dark: bool = False) -> dict[str, str]:
    """Give the colours by name."""
    own = DARK_THEME if dark else LIGHT_THEME
    return own | {f"c{i}": colour for i, colour in enumerate(DARK if dark else SERIES)}


def text_width(text: str, size: float) -> float:
    """Guess how wide a text is drawn; there is no font to ask."""
    widths = (0.31 if c in _NARROW else 0.84 if c in _WIDE else 1.0 if ord(c) > 0x2E7F else 0.56 for c in text)
    return size * sum(widths)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Give round numbers between two ends."""
    span = max(high - low, 1e-9)
    power = 10 ** math.floor(math.log10(span / about))
    step = next(power * m for m in (1, 2, 5, 10) if span / (power * m) <= about)
    first = math.ceil(low / step - 1e-9)
    return [round(step * i, 10) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def number(value: float) -> str:
    """Write a tick."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:g}"


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move labels apart so that none covers another, each as little as possible."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    placed = [min(max(places[i], low), high) for i in order]
    for _ in range(200):
        moved = False
        for i in range(1, len(placed)):
            lack = gap - (placed[i] - placed[i - 1])
            if lack > 1e-6:
                placed[i - 1] -= lack / 2
                placed[i] += lack / 2
                moved = True
        over, under = (placed[-1] - high, low - placed[0]) if placed else (0.0, 0.0)
        if over > 1e-6:
            placed[-1], moved = high, True
        if under > 1e-6:
            placed[0], moved = low, True
        if not moved:
            break
    result = [0.0] * len(places)
    for i, place in zip(order, placed, strict=True):
        result[i] = place
    return result


class Drawing:
    """A figure under way; coordinates are pixels from the upper left corner."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def _add(self, name: str, attributes: str, tip: str | None = None) -> None:
        inside = f"><title>{_braces(escape(tip))}</title></{name}>" if tip else "/>"
        self.parts.append(f"<{name} {attributes}{inside}")

    def line(
        self, x1: float, y1: float, x2: float, y2: float, colour: str = "grid", width: float = 1, dash: str = ""
    ) -> None:
        """Draw a straight line."""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self._add("line", f'{ends} stroke="{{{colour}}}" stroke-width="{width:g}"{dashed}')

    def path(
        self, points: Iterable[tuple[float, float]], colour: str, width: float = 1.5, dash: str = "", opacity: float = 1
    ) -> None:
        """Join points by straight lines."""
        steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        extra = (f' stroke-dasharray="{dash}"' if dash else "") + (f' opacity="{opacity:g}"' if opacity < 1 else "")
        style = f'fill="none" stroke="{{{colour}}}" stroke-width="{width:g}" stroke-linejoin="round"{extra}'
        self._add("polyline", f'points="{steps}" {style}')

    def rect(self, x: float, y: float, w: float, h: float, colour: str, tip: str | None = None, edge: str = "") -> None:
        """Fill a rectangle."""
        stroke = f' stroke="{{{edge}}}" stroke-width="1"' if edge else ""
        size = f'x="{x:.1f}" y="{y:.1f}" width="{max(w, 0):.1f}" height="{h:.1f}"'
        self._add("rect", f'{size} fill="{{{colour}}}"{stroke}', tip)

    def mark(
        self, x: float, y: float, shape: str, colour: str, size: float = 4, hollow: bool = False, tip: str | None = None
    ) -> None:
        """Draw a data point: circle, square, diamond or triangle; a hollow one is an outline."""
        if hollow:
            style = f'fill="{{paper}}" stroke="{{{colour}}}" stroke-width="1.3"'
        else:
            style = f'fill="{{{colour}}}" stroke="{{paper}}" stroke-width="0.8"'
        if shape == "circle":
            self._add("circle", f'cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" {style}', tip)
            return
        corners = {
            "square": [(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)],
            "diamond": [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)],
            "triangle": [(0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        }[shape]
        points = " ".join(f"{x + size * dx:.1f},{y + size * dy:.1f}" for dx, dy in corners)
        self._add("polygon", f'points="{points}" {style}', tip)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 11,
        anchor: str = "start",
        colour: str = "ink",
        bold: bool = False,
        turn: float = 0,
    ) -> None:
        """Write text whose baseline starts, is centred or ends at a point."""
        weight = ' font-weight="600"' if bold else ""
        place = f'x="{x:.1f}" y="{y:.1f}"' + (f' transform="rotate({turn:g} {x:.1f} {y:.1f})"' if turn else "")
        style = f'font-size="{size:g}" text-anchor="{anchor}" fill="{{{colour}}}"{weight}'
        self.parts.append(f"<text {place} {style}>{_braces(escape(text))}</text>")

    def render(self, colours: dict[str, str] | None = None) -> str:
        """Give the SVG: with the colours named, or with those of the page it stands in (CSS variables)."""
        names = theme()
        body = "\n".join(self.parts)
        for name in names:
            body = body.replace(f"{{{name}}}", colours[name] if colours else f"var(--{name})")
        body = body.replace("&#123;", "{").replace("&#125;", "}")
        back = f'<rect width="100%" height="100%" fill="{colours["paper"]}"/>\n' if colours else ""
        size = f'viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}" height="{self.height:g}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}">\n'
            f"<title>{escape(self.title)}</title>\n{back}{body}\n</svg>\n"
        )


def _braces(text: str) -> str:
    """Keep a word's own braces from being taken for a colour."""
    return text.replace("{", "&#123;").replace("}", "&#125;")


@dataclass
class Panel:
    """A rectangle of a drawing with scales of its own."""

    drawing: Drawing
    x: float
    y: float
    w: float
    h: float
    xs: tuple[float, float]
    ys: tuple[float, float] = (0.0, 1.0)
    log: bool = False

    def sx(self, value: float) -> float:
        """Place a value from left to right."""
        low, high, at = (math.log10(v) for v in (*self.xs, value)) if self.log else (*self.xs, value)
        return self.x + self.w * (at - low) / max(high - low, 1e-12)

    def sy(self, value: float) -> float:
        """Place a value from bottom to top."""
        return self.y + self.h * (1 - (value - self.ys[0]) / max(self.ys[1] - self.ys[0], 1e-12))

    def heading(self, text: str) -> None:
        """Write the panel's name above it."""
        self.drawing.text(self.x, self.y - 8, text, 12, bold=True)

    def grid_y(self, about: int = 7) -> None:
        """Draw horizontal lines and their numbers."""
        for value in ticks(*self.ys, about):
            y = self.sy(value)
            self.drawing.line(self.x, y, self.x + self.w, y)
            self.drawing.text(self.x - 6, y + 3.5, number(value), 10, "end", "muted")

    def grid_x(
        self,
        about: int = 5,
        at: Sequence[float] | None = None,
        labels: Sequence[str] | None = None,
        lines: bool = True,
    ) -> None:
        """Draw vertical lines and their numbers."""
        values = list(at) if at is not None else ticks(*self.xs, about)
        for value, label in zip(values, labels or [number(value) for value in values], strict=True):
            x = self.sx(value)
            self.drawing.line(
                x,
                self.y if lines else self.y + self.h,
                x,
                self.y + self.h + (0 if lines else 4),
                "grid" if lines else "rule",
            )
            self.drawing.text(x, self.y + self.h + 14, label, 10, "middle", "muted")

    def base(self) -> None:
        """Draw the axis below."""
        self.drawing.line(self.x, self.y + self.h, self.x + self.w, self.y + self.h, "rule")

    def label_x(self, text: str) -> None:
        """Name the axis below."""
        self.drawing.text(self.x + self.w / 2, self.y + self.h + 30, text, 11, "middle", "muted")

    def label_y(self, text: str) -> None:
        """Name the axis on the left."""
        self.drawing.text(self.x - 36, self.y + self.h / 2, text, 11, "middle", "muted", turn=-90)

    def labels_right(self, labels: Sequence[tuple[float, str, str]], size: float = 10.5) -> None:
        """Write (value, text, colour) at the right end, moved apart, each tied to its place."""
        wanted = [self.sy(value) for value, _, _ in labels]
        for (_, text, colour), at, place in zip(
            labels, wanted, spread(wanted, size + 2, self.y + 2, self.y + self.h), strict=True
        ):
            right = self.x + self.w
            if abs(place - at) > 2:
                self.drawing.path([(right + 2, at), (right + 8, place)], colour, 0.8, opacity=0.7)
            self.drawing.text(right + 11, place + size * 0.35, text, size, "start", colour)
