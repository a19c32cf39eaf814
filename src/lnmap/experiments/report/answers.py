"""The figures about errors: what was answered instead, and which words are missed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from lnmap.experiments.records import NO_SEED
from lnmap.experiments.report.collect import REFERENCE, TableReport
from lnmap.experiments.report.figure import Figure, colours_of, limits, seed_name
from lnmap.experiments.report.mistakes import KINDS, MEANING, QUARTERS, Mistakes
from lnmap.experiments.report.svg import Drawing, Panel, text_width

_COLOURS = ("c1", "c7", "c8", "c6", "grid")  # of the kinds
_WIDTH, _ROW = 520.0, 21.0


def kinds_of_errors(table: TableReport) -> Figure | None:
    """What is answered instead of the right word: a bar a system, over all directions."""
    rows = [(name, take, _mean_share(found)) for name, take, found in table.mistakes]
    if not rows:
        return None
    rows.sort(key=lambda row: (table.takes.index(row[1]), -row[2][KINDS[0]]))
    takes = list(dict.fromkeys(take for _, take, _ in rows))
    left = max(text_width(table.systems[name], 11) for name, _, _ in rows) + 16
    height = _ROW * (len(rows) + len(takes))
    drawing = Drawing(left + _WIDTH + 20, 52 + height + 38, f"Kinds of errors, {table.name}")
    _legend(drawing, left)
    panel = Panel(drawing, left, 40, _WIDTH, height + 8, (0, 100))
    panel.grid_x(5)
    y = panel.y
    for take in takes:
        drawing.text(left - 10, y + 15, seed_name(take), 11, "end", "muted")
        y += _ROW
        for name, _, share in (one for one in rows if one[1] == take):
            drawing.text(left - 10, y + 14, table.systems[name], 11, "end", bold=name == REFERENCE)
            _stack(drawing, left, y + 2, share, f"{table.systems[name]}, {seed_name(take)}")
            y += _ROW
    panel.label_x("per cent of the test words")
    caption = "What came first, over all directions. " + "; ".join(f"{kind}: {MEANING[kind]}" for kind in KINDS[1:4])
    return Figure("errors", "Where the errors are", f"{caption}.", drawing)


def _legend(drawing: Drawing, x: float) -> None:
    for kind, colour in zip(KINDS, _COLOURS, strict=True):
        drawing.rect(x, 11, 11, 11, colour)
        drawing.text(x + 16, 21, kind, 11)
        x += text_width(kind, 11) + 36


def _stack(drawing: Drawing, x: float, y: float, share: dict[str, float], label: str) -> None:
    """Draw one bar made of all kinds."""
    for kind, colour in zip(KINDS, _COLOURS, strict=True):
        part = _WIDTH * share[kind] / 100
        drawing.rect(x, y, part, _ROW - 5, colour, f"{label}: {share[kind]:.1f} % {kind}", "paper")
        if part > 20:
            ink = "ink" if colour == "grid" else "black" if colour in ("c7", "c8") else "paper"
            drawing.text(x + part / 2, y + 12, f"{share[kind]:.0f}", 10.5, "middle", ink)
        x += part


def _mean_share(many: Sequence[Mistakes]) -> dict[str, float]:
    return {kind: statistics.mean(one.share[kind] for one in many) for kind in KINDS}


def by_frequency(table: TableReport) -> Figure | None:
    """P@1 by frequency of the word translated, a line a system."""
    take = next((take for take in table.takes if take != NO_SEED), table.takes[0] if table.takes else "")
    rows = [(name, many) for name, rule, many in table.mistakes if rule == take]
    if not rows:
        return None
    colours = colours_of(table)
    lines = {name: [statistics.mean(one.quarters[i] for one in many) for i in range(4)] for name, many in rows}
    room = max(text_width(table.systems[name], 10.5) for name in lines) + 22
    drawing = Drawing(52 + 380 + room, 318, f"P@1 by frequency, {table.name}")
    panel = Panel(drawing, 52, 24, 380, 250, (-0.15, 3.3), limits([p for line in lines.values() for p in line]))
    panel.grid_y()
    panel.grid_x(at=range(4), labels=QUARTERS)
    panel.base()
    panel.label_x("test words by frequency of the word translated")
    panel.label_y("P@1, %")
    for name, line in lines.items():
        points = [(panel.sx(i), panel.sy(p)) for i, p in enumerate(line)]
        drawing.path(points, colours[name], 2.4 if name == REFERENCE else 1.5)
        for (x, y), p, quarter in zip(points, line, QUARTERS, strict=True):
            drawing.mark(x, y, "circle", colours[name], 3.4, tip=f"{table.systems[name]}, {quarter}: {p:.1f}")
    panel.labels_right([(line[-1], table.systems[name], colours[name]) for name, line in lines.items()])
    caption = f"P@1 ({seed_name(take)}) of the quarters of the test words, mean over all directions."
    return Figure("frequency", "P@1 by word frequency", caption, drawing)
