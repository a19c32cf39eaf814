"""Draw the figures of the documentation from the bundled pair: python scripts/figures.py [FOLDER]."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import numpy as np

import lnmap
from lnmap.datasets import BundledPair, bundled_pair
from lnmap.experiments.report.drawing import STYLE, Board, curves, labels_right
from lnmap.experiments.report.theme import MUTED, series

METHODS = ("procrustes", "vecmap-sup", "geomm")  # those that take seconds
SIZES = (100, 200, 500, 1000, 2000)
BINS = 10


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs/images")
    folder.mkdir(parents=True, exist_ok=True)
    pair = bundled_pair()
    for name, draw in (("seed-size.svg", seed_size), ("reliability.svg", reliability)):
        with matplotlib.rc_context(fname=STYLE):
            (folder / name).write_text(draw(pair), encoding="utf-8")
        print(folder / name)


def seed_size(pair: BundledPair) -> str:
    """P@1 by number of seed pairs."""
    lines = {}
    for method in METHODS:
        for size in SIZES:
            model = lnmap.align(pair.source, pair.target, pair.train, method=method, take=f"{size}-unique")
            lines.setdefault(method, []).append((size, model.evaluate(pair.test).precision(1)))
    board = Board("P@1 by number of seed pairs, bundled English-French pair")
    axes = board.axes(0, 0, 480, 280)
    axes.set(xscale="log", xlabel="seed pairs", ylabel="P@1, %", ylim=(0, 100))
    axes.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
    axes.minorticks_off()
    return finish(board, axes, lines)


def reliability(pair: BundledPair) -> str:
    """Share of right first answers in each tenth of the confidence, both directions."""
    model = lnmap.align(pair.source, pair.target, pair.train, method="procrustes", calibrate=True)
    lines = {
        "English to French": list(shares(model, pair.test, "forward")),
        "French to English": list(shares(model, pair.test.reversed(), "backward")),
    }
    board = Board("Share of right answers by confidence, bundled English-French pair")
    axes = board.axes(0, 0, 480, 280)
    axes.set(xlabel="confidence, %", ylabel="right, %", xlim=(0, 100), ylim=(0, 100))
    axes.plot([0, 100], [0, 100], color=MUTED, linewidth=1, linestyle="--")
    axes.text(72, 63, "as it should be", color=MUTED)
    return finish(board, axes, lines)


def shares(model: lnmap.Model, gold: lnmap.Lexicon, direction: str) -> Iterator[tuple[float, float]]:
    """Mean confidence and share of right answers of each tenth that has ten words or more, in per cent."""
    wanted: dict[str, set[str]] = {}
    for source, target in gold:
        wanted.setdefault(source, set()).add(target)
    best = [(answer.query, answer.candidates[0]) for answer in model.translate(list(wanted), 1, direction, given=False)]
    p = np.array([candidate.confidence for _, candidate in best])
    right = np.array([candidate.word in wanted[query] for query, candidate in best])
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    for part in (bins == b for b in range(BINS)):
        if part.sum() >= 10:
            yield 100 * p[part].mean(), 100 * right[part].mean()


def finish(board: Board, axes, lines) -> str:
    """Draw the lines with their names at the right."""
    colours = {name: series(i) for i, name in enumerate(lines)}
    curves(board, axes, lines, colours)
    labels_right(axes, [(line[-1][1], name, colours[name]) for name, line in lines.items()])
    return board.svg()


if __name__ == "__main__":
    main()
