"""What each part of `auto` contributes, and what was tried and left out: development scores, never test scores.

    python benchmarks/auto.py --data DIR --sizes 100-unique 1k-unique 5k-held --device cuda
    python benchmarks/auto.py --open FOLDER --pairs en-ja ja-en en-ru ru-en --device cuda

DIR holds vectors/{en,fr,fi}.vec.gz and dictionaries/muse/PAIR.{0-5000,5000-6500}.txt; FOLDER is where `lnmap data get
open` put its vectors and dictionaries. Scores are P@1 on training pairs whose source words are not in the seed, less
all test pairs of both directions. The size `5k-held` holds a fifth of the source words out, and takes the unique pairs
of the rest as seed. All Finnish words are read.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor

import lnmap
from lnmap.direction import Side
from lnmap.errors import LnmapError
from lnmap.evaluate import evaluate
from lnmap.experiments.worker import unused_pairs
from lnmap.induce import induce
from lnmap.methods import make_method
from lnmap.methods.auto import Auto
from lnmap.methods.base import Run
from lnmap.methods.ensemble import EnsembleAlignment, Part, both_spaces
from lnmap.model.model import as_tensor, pick_device
from lnmap.retrieve import BilingualSpace
from lnmap.spelling import Spelling

TASKS = ("en-fr", "fr-en", "en-fi", "fi-en")
WEIGHTS = (0.0, 0.1, 0.2, 0.25, 0.3, 0.45)
GROWN = 20_000  # most frequent words that a dictionary is read off


def files(args: argparse.Namespace, pair: str) -> tuple[list[lnmap.Embeddings], lnmap.Lexicon, list[lnmap.Lexicon]]:
    """Vectors of both languages, all training pairs, and the test pairs of both directions, which none may be."""
    names = pair.split("-")
    if args.open:
        vectors = [lnmap.read(args.open / "vectors" / name) for name in names]
        train, test = (str(args.open / f"dictionaries/{{}}.{part}.tsv") for part in ("train", "test"))
    else:
        vectors = [lnmap.read(args.data / f"vectors/{name}.vec.gz", policy="muse") for name in names]
        train, test = (str(args.data / f"dictionaries/muse/{{}}.{part}.txt") for part in ("0-5000", "5000-6500"))
    tests = [lnmap.read_lexicon(test.format(way)) for way in (pair, "-".join(reversed(names)))]
    return vectors, lnmap.read_lexicon(train.format(pair)), tests


class Task:
    """Vectors of two languages, a seed, and pairs to score on."""

    def __init__(self, args: argparse.Namespace, pair: str, size: str) -> None:
        (self.source, self.target), every, tests = files(args, pair)
        held: set[str] = set()
        if size == "5k-held":
            words = sorted({source for source, _ in every})
            held = set(random.Random(0).sample(words, len(words) // 5))
            rest = lnmap.Lexicon([p for p in every if p[0] not in held])
            self.seed = rest.take("5k-unique", self.source, self.target)
        else:
            self.seed = every.take(size, self.source, self.target)
        outside = lnmap.Lexicon([p for p in every if p[0] in held]) if held else every
        self.dev, _ = unused_pairs(outside, self.seed, tests)
        self.device = pick_device(args.device)
        self.x, self.y = (as_tensor(side.vectors, self.device) for side in (self.source, self.target))
        self.rows = torch.as_tensor(self.seed.rows(self.source, self.target), device=self.device)
        self.words = self.source.words, self.target.words
        self.spelling = Spelling.of(*self.words)

    def fit(self, name: str, seed: int = 0, growth: float = 0.0, rows: Tensor | None = None, **values: object) -> list:
        """Train a method; give its spaces."""
        run = Run(seed, self.device, words=self.words)
        if growth:
            hints = self.spelling.weighing(growth)
            run.hints = tuple(
                hints.columns(side, words, 128).to(self.x) for side, words in zip(Side, self.words, strict=True)
            )
        found = make_method(name, values=values).fit(self.x, self.y, self.rows if rows is None else rows, run)
        return both_spaces(name, found)

    @torch.no_grad()
    def mapped(self, parts: list[Part], spelling: float = 0.0) -> list[Tensor]:
        """Both vocabularies in the space of some parts and the spelling."""
        both = EnsembleAlignment(parts, self.spelling.weighing(spelling) if spelling else None)
        found = [both.map_source(self.x), both.map_target(self.y)]
        if spelling:
            sides = zip(Side, self.words, found, strict=True)
            found = [torch.cat([m, both.spell(side, words).to(m)], dim=1) for side, words, m in sides]
        return found

    def grown(self, parts: list[Part], spelling: float = 0.0) -> Tensor:
        """The seed and the dictionary that some parts give (k, 2)."""
        x, y = (side[:GROWN] for side in self.mapped(parts, spelling))
        return torch.cat([self.rows, induce(x, y).rows]).unique(dim=0)

    def score(self, parts: list[Part], spelling: float = 0.0) -> float:
        """P@1 on the development pairs."""
        return evaluate(BilingualSpace(*self.mapped(parts, spelling)), self.source, self.target, self.dev).precision(1)


def mixed(*systems: list[Part]) -> list[Part]:
    """Several systems of equal weight."""
    share = 1 / len(systems)
    return [Part(p.name, p.alignment, p.direction, p.weight * share) for parts in systems for p in parts]


def rows(task: Task, seeds: int) -> Iterator[tuple[str, float]]:
    """Score every combination."""
    fits = [task.fit("lnmap", seed) for seed in range(seeds)]
    both = fits[0]
    yield "lnmap, the direction asked for", task.score(both[:1])
    yield "lnmap, both directions in one space (L)", task.score(both)
    yield f"... and {seeds} seeds", task.score(mixed(*fits))
    contrastive, geomm = task.fit("contrastive"), task.fit("geomm")
    yield "contrastive (C)", task.score(contrastive)
    yield "L + C", task.score(mixed(both, contrastive))
    yield "geomm", task.score(geomm)
    yield "L + geomm", task.score(mixed(both, geomm))
    pairs = task.grown(mixed(both, contrastive))
    for name, values in {"geomm": {}, "rcsls": {}, "contrastive": {"rounds": 1, "closed_rounds": 0}}.items():
        again = task.fit(name, rows=pairs, **values)
        yield f"{name} on the dictionary of L + C", task.score(again)
        yield f"L + {name} on that dictionary", task.score(mixed(both, again))
    spelt = task.fit("lnmap", growth=0.2, iterations=6, queries=15_000, pool=15_000)
    again = task.fit("geomm", rows=task.grown(spelt, 0.2))
    for weight in WEIGHTS:
        yield f"L, spelling {weight}", task.score(both, weight)
        yield f"L grown with spelling (H), spelling {weight}", task.score(spelt, weight)
        yield f"H + geomm on its dictionary, spelling {weight}", task.score(mixed(spelt, again), weight)
    try:
        chosen = Auto().fit(task.x, task.y, task.rows, Run(0, task.device, words=task.words))
        yield "auto", task.score(chosen.parts, chosen.spelling.weight if chosen.spelling else 0.0)
    except LnmapError:
        yield "auto", 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LNMAP_BENCH_DATA"), required=False)
    parser.add_argument("--open", type=Path, help="score on the data of `lnmap data get open` instead")
    parser.add_argument("--sizes", nargs="+", default=["100-unique", "1k-unique", "5k-held"])
    parser.add_argument("--pairs", nargs="+", default=TASKS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--device", default="auto")
    args = parser.parse_args()
    if args.data is None and args.open is None:
        parser.error("give the data folder with --data or LNMAP_BENCH_DATA, or --open")
    args.data = args.data and Path(args.data)
    means: dict[str, dict[str, float]] = {}
    for size in args.sizes:
        for pair in args.pairs:
            started = time.perf_counter()
            for name, value in rows(Task(args, pair, size), args.seeds):
                cells = means.setdefault(name, {})
                cells[size] = cells.get(size, 0.0) + value / len(args.pairs)
                print(json.dumps({"size": size, "pair": pair, "row": name, "p1": round(value, 2)}), file=sys.stderr)
            print(f"{size} {pair}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    print("| mean P@1 of " + ", ".join(args.pairs) + " | " + " | ".join(args.sizes) + " |")
    print("|---" * (len(args.sizes) + 1) + "|")
    for name, cells in means.items():
        print(f"| {name} | " + " | ".join(f"{cells[size]:.1f}" for size in args.sizes) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
