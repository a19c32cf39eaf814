"""CPU seconds of published settings that are too long to run here: measured on shortened loops, scaled to all steps.

    python benchmarks/costs.py --data DIR          # or LNMAP_BENCH_DATA=DIR

Each setting is run twice with different numbers of steps; the difference gives the cost of a step, and the cost of
all steps follows. English-French, 1 000 seed pairs, one direction, one thread. What it prints is the source of
`src/lnmap/reproduce/estimate.py`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from unittest import mock

import torch

import lnmap
from lnmap.methods import METHODS

GAME = {"epochs": 1, "restarts": 0, "refinements": 0}
AAE = {"epochs": 1, "restarts": 0, "rounds": 1, "symmetric_rounds": 1}
# method, profile, option that is varied, two values, other options, steps of the whole run
# LNMap: 20 iterations of 100 epochs over 1 000 to 11 000 pairs, in epochs over 1 000 pairs.
RUNS = [
    ("lnmap", "paper", "epochs", (1, 60), {"iterations": 1}, 20 * 100 * 6),
    ("lnmap", "paper", "epochs", (1, 60), {"iterations": 1, "autoencoder": "linear"}, 20 * 100 * 6),
    ("rcsls", "original", "iterations", (1, 3), {}, 10),
    ("bliss", "original", "iterations", (3, 9), {"epochs": 1, "refinements": 0}, 200 * 157),
    ("muse-unsup", None, "iterations", (20, 120), GAME, 4 * 2000),
    ("muse-unsup", "original", "iterations", (5, 25), GAME, 5 * 31_250),
    ("aae", None, "iterations", (10, 60), {**AAE, "ae_steps": 10}, 4 * 3000),
    ("aae", "original", "iterations", (5, 20), {**AAE, "ae_steps": 10}, 5 * 31_250),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LNMAP_BENCH_DATA"), required=False)
    args = parser.parse_args()
    torch.set_num_threads(1)
    sides = [lnmap.read(args.data / f"vectors/{name}.vec.gz") for name in ("en", "fr")]
    train = lnmap.read_lexicon(args.data / "dictionaries/muse/en-fr.0-5000.txt")
    print("| method | profile | set | CPU s of the short runs | CPU s a step | steps | CPU s in all |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for method, profile, name, values, extra, steps in RUNS:
        pairs = None if METHODS[method].supervision == "none" else train
        short = [seconds(sides, pairs, method, profile, {**extra, name: value}) for value in values]
        step = (short[1] - short[0]) / (values[1] - values[0])
        shown = f"{short[0]:.1f} and {short[1]:.1f} ({name} {values[0]} and {values[1]})"
        kind = extra.get("autoencoder", "")
        print(
            f"| {method} | {profile or 'default'} | {kind} | {shown} | {step:.3f} | {steps:,} "
            f"| {short[0] + step * (steps - values[0]):,.0f} |",
            flush=True,
        )
    return 0


def seconds(sides, pairs, method: str, profile: str | None, options: dict) -> float:
    """Train once; whether an adversarial game has worked out is not asked."""
    known = METHODS[method].Options.__dataclass_fields__
    options = {name: value for name, value in options.items() if name in known}
    started = time.process_time()
    with (
        mock.patch("lnmap.methods.muse_unsup.is_aligned", return_value=(True, "")),
        mock.patch("lnmap.methods.aae.is_aligned", return_value=(True, "")),
    ):
        lnmap.align(
            *sides,
            pairs,
            method=method,
            profile=profile,
            options=options,
            take="1k-unique" if pairs else None,
            one_way=True,
            device="cpu",
        )
    return time.process_time() - started


if __name__ == "__main__":
    sys.exit(main())
