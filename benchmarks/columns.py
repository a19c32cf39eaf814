"""What it costs to export fewer columns: P@1 on development words, a Markdown table.

    python benchmarks/columns.py --data DIR --model MODEL [--pair en-fr] [--dims 384 300 200 100 50]

DIR holds dictionaries/muse/PAIR.{0-5000,5000-6500}.txt of both directions. Development words are those of the training
dictionary that are not in the model's seed and in no test dictionary; nothing is chosen on test words.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

import lnmap
from lnmap.direction import Direction, Side
from lnmap.evaluate import evaluate
from lnmap.experiments.tables.reading import opposite
from lnmap.experiments.worker import unused_pairs
from lnmap.retrieve import CRITERIA, BilingualSpace


def main() -> None:
    """Print a row per number of columns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--pair", default="en-fr")
    parser.add_argument("--dims", nargs="+", type=int, default=[384, 300, 200, 100, 50])
    args = parser.parse_args()
    model, ways = lnmap.load(args.model), dict(zip(Direction, (args.pair, opposite(args.pair)), strict=True))
    read = {
        way: [lnmap.read_lexicon(args.data / f"dictionaries/muse/{way}.{part}.txt") for part in ("0-5000", "5000-6500")]
        for way in ways.values()
    }
    tests = [test for _, test in read.values()]
    words = {one: unused_pairs(read[way][0], model.seed(one), tests)[0] for one, way in ways.items()}
    names = [f"{way} {criterion}" for way in ways.values() for criterion in CRITERIA[:2]]
    print(f"| columns | {' | '.join(names)} |\n|---|{'---:|' * len(names)}", flush=True)
    for dim in (None, *args.dims):
        x, y = (torch.from_numpy(model.aligned(side, Direction.FORWARD, dim).vectors) for side in Side)
        space, scores = BilingualSpace(x, y), []
        for one in Direction:
            asked, answering = model.side(one.asked), model.side(one.answering)
            turned = space if one is Direction.FORWARD else space.swapped()
            found = (evaluate(turned, asked, answering, words[one], criterion=by) for by in CRITERIA[:2])
            scores += [f"{score.precision(1):.1f}" for score in found]
        print(f"| {dim or x.shape[1]} | {' | '.join(scores)} |", flush=True)


if __name__ == "__main__":
    main()
