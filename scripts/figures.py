"""Draw the figures of the documentation from the bundled pair: python scripts/figures.py [FOLDER]."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import lnmap
from lnmap.datasets import BundledPair, bundled_pair

COLOURS = ("#3f51b5", "#e65100", "#00796b")
SIZES = (100, 200, 500, 1000, 2000)
BINS = 10
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 400, 64, 24, 20, 56

Series = tuple[str, Sequence[float], Sequence[float]]


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs/images")
    folder.mkdir(parents=True, exist_ok=True)
    pair = bundled_pair()
    for name, text in (("seed-size.svg", seed_size(pair)), ("reliability.svg", reliability(pair))):
        (folder / name).write_text(text, encoding="utf-8")
        print(folder / name)


def seed_size(pair: BundledPair) -> str:
    """P@1 by number of seed pairs, three methods that take seconds."""
    series = []
    for method in ("procrustes", "vecmap-sup", "geomm"):
        scores = [
            lnmap.align(pair.source, pair.target, pair.train, method=method, take=f"{size}-unique")
            .evaluate(pair.test)
            .precision(1)
            for size in SIZES
        ]
        series.append((method, [np.log10(size) for size in SIZES], scores))
    ticks = [(np.log10(size), f"{size:,}") for size in SIZES]
    return plot(series, ticks, "seed pairs", "P@1 (%)", (2, np.log10(SIZES[-1])), (0, 100))


def reliability(pair: BundledPair) -> str:
    """Share of right first answers in each tenth of the confidence, both directions."""
    model = lnmap.align(pair.source, pair.target, pair.train, method="procrustes", calibrate=True)
    series: list[Series] = [("as it should be", [0, 100], [0, 100])]
    for name, gold, direction in (
        ("English to French", pair.test, "forward"),
        ("French to English", pair.test.reversed(), "backward"),
    ):
        wanted: dict[str, set[str]] = {}
        for source, target in gold:
            wanted.setdefault(source, set()).add(target)
        best = [(answer.query, answer.candidates[0]) for answer in model.translate(list(wanted), 1, direction)]
        p = np.array([candidate.confidence for _, candidate in best])
        right = np.array([candidate.word in wanted[query] for query, candidate in best])
        bins = np.minimum((p * BINS).astype(int), BINS - 1)
        used = [b for b in range(BINS) if (bins == b).sum() >= 10]
        series.append((name, [100 * p[bins == b].mean() for b in used], [100 * right[bins == b].mean() for b in used]))
    ticks = [(value, str(value)) for value in range(0, 101, 20)]
    return plot(series, ticks, "confidence (%)", "right (%)", (0, 100), (0, 100))


def plot(series, ticks, x_name: str, y_name: str, x_range, y_range) -> str:
    """Write lines with points as SVG."""
    inner_w, inner_h = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def px(x: float) -> float:
        return LEFT + (x - x_range[0]) / (x_range[1] - x_range[0]) * inner_w

    def py(y: float) -> float:
        return TOP + inner_h - (y - y_range[0]) / (y_range[1] - y_range[0]) * inner_h

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="14"><title>{y_name} by {x_name}</title>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for value in range(0, 101, 20):
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{py(value):.1f}" y2="{py(value):.1f}" stroke="#ddd"/>'
        )
        parts.append(f'<text x="{LEFT - 8}" y="{py(value) + 5:.1f}" text-anchor="end" fill="#333">{value}</text>')
    for value, label in ticks:
        parts.append(
            f'<text x="{px(value):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle" fill="#333">{label}</text>'
        )
    parts.append(f'<text x="{LEFT + inner_w / 2}" y="{HEIGHT - 12}" text-anchor="middle" fill="#333">{x_name}</text>')
    parts.append(
        f'<text transform="translate(18 {TOP + inner_h / 2}) rotate(-90)" text-anchor="middle" fill="#333">'
        f"{y_name}</text>"
    )
    for i, (name, xs, ys) in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        points = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in zip(xs, ys, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="4" fill="{colour}"/>' for x, y in zip(xs, ys, strict=True)
        ]
        y = py(y_range[0]) - 16 - 20 * (len(series) - 1 - i)
        parts.append(f'<text x="{WIDTH - RIGHT - 12}" y="{y:.1f}" text-anchor="end" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    main()
