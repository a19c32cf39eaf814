"""What the default costs on a GPU: a Markdown table of seconds and gigabytes per size.

    python benchmarks/default_gpu.py --data DIR --pairs PAIRS [--words 200000 1000000] [--device cuda] [--profile DIR]

DIR holds en.vec.gz and fr.vec.gz, enlarged as by `big_files.py`. Vectors are in the computer's memory when the clock
starts; the first run, with the real words alone, loads what the GPU runs and is not counted. `--profile` runs each size
once more, waiting for every operation, and writes the functions that took longest.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import resource
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from big_files import enlarged

import lnmap
from lnmap.embeddings import Embeddings
from lnmap.model.model import Model

RUNS = 3


class Clock:
    """Progress that prints when each step began."""

    def __init__(self) -> None:
        self.began = time.perf_counter()

    @contextmanager
    def task(self, title: str, total: float | None) -> Iterator[Any]:
        print(f"  {time.perf_counter() - self.began:7.2f} s  {title}", flush=True)
        yield self

    def advance(self, amount: float = 1) -> None:
        """Print nothing."""

    def log(self, row: Mapping[str, Any]) -> None:
        """Print nothing."""

    def note(self, message: str) -> None:
        print(f"  note: {message}", flush=True)


def train(sides: tuple[Embeddings, Embeddings], args: argparse.Namespace, shown: bool = False) -> tuple[Model, float]:
    """Align both directions; return the model and the seconds that it took."""
    began = time.perf_counter()
    progress = Clock() if shown else None
    model = lnmap.align(*sides, args.pairs, take=args.take, device=args.device, progress=progress)
    wait(args.device)
    return model, time.perf_counter() - began


def wait(device: str) -> None:
    """Wait until a GPU has done all that it was asked for."""
    if device == "cuda":
        torch.cuda.synchronize()


def rows(real: tuple[Embeddings, Embeddings], words: int, args: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield what was measured with so many words per side."""
    sides = enlarged(real[0], words, 0), enlarged(real[1], words, 1)
    if args.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    times = []
    for run in range(args.runs):
        model, seconds = train(sides, args, shown=run == 0)
        times.append(seconds)
        print(f"  {words:,} words: {seconds:.2f} s", flush=True)
    yield "align, both directions, s", " / ".join(f"{one:.1f}" for one in times)
    began = time.perf_counter()
    model.translate("house")
    wait(args.device)
    yield "first translation after it, s", f"{time.perf_counter() - began:.2f}"
    began = time.perf_counter()
    model.translate("water")
    wait(args.device)
    yield "another, s", f"{time.perf_counter() - began:.3f}"
    if args.device == "cuda":
        used = torch.cuda.max_memory_allocated() / 1e9, torch.cuda.max_memory_reserved() / 1e9
        yield "GPU, used / reserved, GB", f"{used[0]:.1f} / {used[1]:.1f}"
    yield "computer's memory, GB", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f}"
    if args.profile:
        del model
        looked = cProfile.Profile()
        looked.runcall(train, sides, args)
        with (args.profile / f"profile-{words}.txt").open("w") as file:
            for order in ("cumulative", "tottime"):
                pstats.Stats(looked, stream=file).sort_stats(order).print_stats(70)


def main() -> None:
    """Measure each size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--take", default="1k-unique")
    parser.add_argument("--words", type=int, nargs="+", default=[200_000, 1_000_000])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--profile", type=Path)
    args = parser.parse_args()
    real = lnmap.read(args.data / "en.vec.gz"), lnmap.read(args.data / "fr.vec.gz")
    print(f"  real words: {train(real, args, shown=True)[1]:.2f} s", flush=True)
    found = {words: dict(rows(real, words, args)) for words in args.words}
    print("\n| words per side | " + " | ".join(f"{words:,}" for words in found) + " |")
    print("|---|" + "---:|" * len(found))
    for name in next(iter(found.values())):
        print(f"| {name} | " + " | ".join(one[name] for one in found.values()) + " |")


if __name__ == "__main__":
    main()
