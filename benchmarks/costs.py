"""CPU seconds of settings that are too long to run here: parts measured in shortened runs, scaled to all their steps.

    python benchmarks/costs.py --data DIR          # or LNMAP_BENCH_DATA=DIR
    python benchmarks/costs.py --data DIR --methods aae bliss

Each setting is run once with as few steps as it allows, then once more for each of its parts with more of these; the
difference gives the cost of one step. English-French, 1 000 seed pairs, one direction, one thread. What it prints is
entered into the `costs` of the methods. Rounds that end when nothing is gained are counted as often as they
are allowed, collapsed games that are started again not at all.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import torch

import lnmap
from lnmap.embeddings import Embeddings
from lnmap.methods import METHODS

FEW = 3000  # words
GROWTHS = ("fixed", "one", "both")  # with neither vocabulary, with one, or with their product
GAME = {"epochs": 1, "restarts": 0}
MUSE = {**GAME, "refinements": 0}
AAE = {**GAME, "rounds": 1, "symmetric_rounds": 1, "iterations": 5}


@dataclass(frozen=True)
class Part:
    """Something a run does many times.

    :param more: options with which the short run does it `times` more often.
    :param steps: how often the whole run does it.
    :param small: it costs the same with few words, and is measured with few, where little else is done.
    """

    name: str
    more: dict[str, Any]
    times: int
    steps: int
    grows: str = "fixed"
    small: bool = False


@dataclass(frozen=True)
class Setting:
    """A method with its profile, the options that make it short, and the growth of what is left then."""

    method: str
    profile: str | None = None
    short: dict[str, Any] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    grows: str = "both"


def muse(profile: str | None, iterations: int, epochs: int, steps: int) -> Setting:
    return Setting(
        "muse-unsup",
        profile,
        {**MUSE, "iterations": iterations},
        (
            Part("step", {"iterations": 5 * iterations}, 4 * iterations, epochs * steps, small=True),
            Part("criterion", {"epochs": 2}, 1, epochs, "both"),
            Part("refinement", {"refinements": 1}, 1, 5, "both"),
        ),
    )


def aae(profile: str | None, epochs: int, steps: int, rounds: int, symmetric: int, ae_steps: int) -> Setting:
    parts = (
        Part("step", {"iterations": 45}, 40, epochs * steps, small=True),
        Part("criterion", {"epochs": 2}, 1, epochs, "both"),
        Part("round", {"rounds": 2}, 1, rounds),
        Part("symmetric round", {"symmetric_rounds": 2}, 1, symmetric),
    )
    training = (Part("autoencoder step", {"ae_steps": 210}, 200, ae_steps, small=True),) if ae_steps else ()
    return Setting("aae", profile, {**AAE, "ae_steps": 10}, parts + training)


def paper(autoencoder: str) -> Setting:
    """LNMap: 20 iterations of 100 epochs over 1 000 to 11 000 pairs, counted in epochs over 1 000 pairs."""
    return Setting(
        "lnmap",
        "paper",
        {"autoencoder": autoencoder, "iterations": 1, "epochs": 1, "ae_epochs": 1},
        (
            Part("epoch of an autoencoder", {"ae_epochs": 3}, 2, 25, "one"),
            Part("epoch of 1 000 pairs", {"epochs": 21}, 20, 20 * 100 * 6),
            Part("induction", {"iterations": 2}, 1, 20),
        ),
        "one",
    )


BLISS = Setting(
    "bliss",
    "original",
    {"epochs": 1, "iterations": 6, "candidates": 100, "refinements": 0},
    (
        Part("step", {"iterations": 36}, 30, 200 * 157, small=True),
        Part("search for neighbours", {"candidates": 100_000}, 6, 200 * 157, "one"),
        Part("criterion", {"epochs": 2}, 1, 200, "both"),
        Part("refinement", {"refinements": 1}, 1, 3, "both"),
    ),
)


def vecmap(method: str, iterations: int) -> Setting:
    """Robust self-learning; on 2 500 words a run took 468 iterations, one of VecMap's program 337."""
    parts = (Part("iteration", {"max_iterations": 4}, 3, iterations),)
    return Setting(method, "original", {"max_iterations": 1}, parts, "fixed")


SETTINGS = [
    vecmap("artetxe2018acl", 400),
    vecmap("vecmap-semi", 400),
    Setting("rcsls", "original", {"iterations": 1}, (Part("iteration", {"iterations": 3}, 2, 10, "one"),), "one"),
    BLISS,
    muse(None, 20, 4, 2000),
    muse("original", 5, 5, 31_250),
    aae(None, 4, 3000, 20, 5, 0),
    aae("original", 5, 31_250, 100, 19, 2 * 195_325),
    paper("nonlinear"),
    paper("linear"),
    Setting("contrastive", grows="one"),
    Setting("auto", grows="one"),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LNMAP_BENCH_DATA"), required=False)
    parser.add_argument("--methods", nargs="+", choices=sorted({one.method for one in SETTINGS}))
    args = parser.parse_args()
    torch.set_num_threads(1)
    sides = [lnmap.read(args.data / f"vectors/{name}.vec.gz") for name in ("en", "fr")]
    train = lnmap.read_lexicon(args.data / "dictionaries/muse/en-fr.0-5000.txt")
    print(
        "| setting | part | CPU s of one | times | CPU s in all | grows with |\n|---|---|---|---|---|---|", flush=True
    )
    for setting in SETTINGS:
        if not args.methods or setting.method in args.methods:
            show(setting, sides, None if METHODS[setting.method].supervision == "none" else train)
    return 0


def show(setting: Setting, sides, pairs) -> None:
    """Print a row for each part, and their sums by growth."""
    name = " ".join(filter(None, (setting.method, setting.profile, setting.short.get("autoencoder"))))
    few = [Embeddings.from_arrays(side.words[:FEW], side.vectors[:FEW]) for side in sides]
    least = {False: seconds(sides, pairs, setting, {})}
    if any(part.small for part in setting.parts):
        least[True] = seconds(few, pairs, setting, {})
    sums = dict.fromkeys(GROWTHS, 0.0)
    sums[setting.grows] += least[False]
    rows = [("shortest run", f"{least[False]:.1f}", "1", f"{least[False]:,.0f}", setting.grows)]
    for part in setting.parts:
        took = seconds(few if part.small else sides, pairs, setting, part.more)
        one = max(0.0, took - least[part.small]) / part.times
        sums[part.grows] += one * part.steps
        rows.append((part.name, f"{one:.4f}", f"{part.steps:,}", f"{one * part.steps:,.0f}", part.grows))
    for row in rows:
        print(f"| {name} | {' | '.join(row)} |")
    total = ", ".join(f"{grows} {value:,.0f}" for grows, value in sums.items())
    print(f"| **{name}** | all | | | **{sum(sums.values()):,.0f}** | {total} |", flush=True)


def seconds(sides, pairs, setting: Setting, more: dict[str, Any]) -> float:
    """Train once; whether an adversarial game has worked out is not asked."""
    started = time.process_time()
    with (
        mock.patch("lnmap.methods.muse_unsup.is_aligned", return_value=(True, "")),
        mock.patch("lnmap.methods.aae.is_aligned", return_value=(True, "")),
    ):
        lnmap.align(
            *sides,
            pairs,
            method=setting.method,
            profile=setting.profile,
            options={**setting.short, **more},
            take="1k-unique" if pairs else None,
            one_way=True,
            device="cpu",
        )
    return time.process_time() - started


if __name__ == "__main__":
    sys.exit(main())
