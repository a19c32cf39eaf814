"""What each part of `auto` contributes, and what was tried and left out: development scores, never test scores.

    python benchmarks/auto.py --data DIR --sizes 100-unique 1k-unique 5k-held --device cuda

DIR is that of methods.py. Scores are P@1 on pairs of the training file whose source words are not in the seed; the size
`5k-held` takes a fifth of the file's source words out for that, and the unique pairs of the rest as seed. Finnish has
its 40 000 words.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from pathlib import Path

import torch

import lnmap
from lnmap.evaluate import evaluate
from lnmap.methods import make_method
from lnmap.methods.auto import Auto
from lnmap.methods.base import Alignment, Run
from lnmap.methods.ensemble import EnsembleAlignment, Part, both_spaces
from lnmap.model import as_tensor, pick_device
from lnmap.retrieve import BilingualSpace
from lnmap.spelling import Spelling

TASKS = ("en-fr", "fr-en", "en-fi", "fi-en")


class Task:
    """Vectors of two languages, a seed, and pairs to score on."""

    def __init__(self, args: argparse.Namespace, pair: str, size: str) -> None:
        self.source, self.target = (
            lnmap.read(args.data / f"vectors/{name}.vec.gz", policy="muse") for name in pair.split("-")
        )
        every = lnmap.read_lexicon(args.data / f"dictionaries/muse/{pair}.0-5000.txt")
        held: set[str] = set()
        if size == "5k-held":
            words = sorted({source for source, _ in every})
            held = set(random.Random(0).sample(words, len(words) // 5))
            rest = lnmap.Lexicon([p for p in every if p[0] not in held])
            self.seed = rest.take("5k-unique", self.source, self.target)
        else:
            self.seed = every.take(size, self.source, self.target)
        seen = {source for source, _ in self.seed}
        self.dev = lnmap.Lexicon([p for p in every if (p[0] in held if held else p[0] not in seen)])
        self.device = pick_device(args.device)
        self.x, self.y = (as_tensor(side.vectors, self.device) for side in (self.source, self.target))
        self.rows = torch.as_tensor(self.seed.rows(self.source, self.target), device=self.device)
        self.words = self.source.words, self.target.words
        self.spelling = Spelling.of(*self.words)

    def fit(self, name: str, seed: int = 0, growth: float = 0.0, **values: object) -> Alignment:
        run = Run(seed, self.device, words=self.words)
        if growth:
            hints = self.spelling.weighing(growth)
            run.hints = tuple(hints.columns(i, words, 128).to(self.x) for i, words in enumerate(self.words))
        return make_method(name, values=values).fit(self.x, self.y, self.rows, run)

    @torch.no_grad()
    def score(self, parts: list[Part], spelling: float = 0.0) -> float:
        both = EnsembleAlignment(parts, self.spelling.weighing(spelling) if spelling else None)
        mapped = [both.map_source(self.x), both.map_target(self.y)]
        if spelling:
            mapped = [torch.cat([m, both.spell(i, self.words[i]).to(m)], dim=1) for i, m in enumerate(mapped)]
        return evaluate(BilingualSpace(*mapped), self.source, self.target, self.dev).precision(1)


def rows(task: Task, seeds: int) -> dict[str, float]:
    """Score every combination."""
    found = {}
    fits = [task.fit("lnmap", seed) for seed in range(seeds)]
    found["lnmap, the direction asked for"] = task.score([Part("lnmap", fits[0])])
    found["lnmap, both directions in one space"] = task.score(both_spaces("lnmap", fits[0]))
    several = [part for fit in fits for part in both_spaces("lnmap", fit)]
    found[f"... and {seeds} seeds"] = task.score(several)
    for weight in (0.1, 0.2, 0.3, 0.45, 0.6):
        found[f"lnmap both ways, spelling {weight}"] = task.score(both_spaces("lnmap", fits[0]), weight)
    for growth in (0.2, 0.5):
        grown = both_spaces("lnmap", task.fit("lnmap", growth=growth))
        for weight in (0.0, 0.2, 0.3, 0.45):
            found[f"grown with spelling {growth}, spelling {weight}"] = task.score(grown, weight)
    for name in ("geomm", "rcsls"):
        alone = both_spaces(name, task.fit(name))
        found[name] = task.score(alone)
        found[f"{name} + lnmap both ways"] = task.score(
            [*both_spaces("lnmap", fits[0], 0.5), *both_spaces(name, alone[0].alignment, 0.5)]
        )
    chosen = Auto().fit(task.x, task.y, task.rows, Run(0, task.device, words=task.words))
    found["auto"] = task.score(chosen.parts, chosen.spelling.weight if chosen.spelling else 0.0)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LNMAP_BENCH_DATA"), required=False)
    parser.add_argument("--sizes", nargs="+", default=["100-unique", "1k-unique", "5k-held"])
    parser.add_argument("--pairs", nargs="+", default=TASKS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--device", default="auto")
    args = parser.parse_args()
    if args.data is None:
        parser.error("give the data folder with --data or LNMAP_BENCH_DATA")
    args.data = Path(args.data)
    means: dict[str, dict[str, float]] = {}
    for size in args.sizes:
        for pair in args.pairs:
            started = time.perf_counter()
            for name, value in rows(Task(args, pair, size), args.seeds).items():
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
