"""What the default costs where people notice it: a Markdown table of seconds, operations and bytes per model.

    python benchmarks/default.py MODEL [MODEL ...]                                # answers of models that are there
    python benchmarks/default.py MODEL --align EN FR PAIRS [--set rounds=0]       # make the model first, timed
    python benchmarks/default.py MODEL --induce                                   # and its whole lexicon
    python benchmarks/default.py MODEL --page                                     # and what the page computes per word

Times are CPU seconds on one thread, the least of several runs, beside the same as a multiple of what the machine needs
anyway: U(n), the bare float32 product of n x 300 by 300 x n numbers, and `python -c "import torch"`. Where other
programs run, ratios say more than seconds. `benchmarks/big_files.py` makes vectors of 200 000 words.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import torch

import lnmap
from lnmap.direction import Direction, Side
from lnmap.model.model import Model
from lnmap.progress import Silent
from lnmap.serve.loaded import LoadedModel
from lnmap.serve.lookup import WordQuery, find_query, neighbours, translate
from lnmap.serve.projection import draw_map

PROGRAM = [sys.executable, "-c", "import sys; from lnmap.cli import main; sys.exit(main())"]
RUNS, WORDS, PAGE, ROWS, COLUMNS = 5, 60, 15, 1024, 300


def product(n: int) -> float:
    """Return U(n): CPU seconds of all n x n products of 300 numbers, from as many rows as take a moment."""
    x, y = torch.randn(ROWS, COLUMNS), torch.randn(n, COLUMNS)
    return least(lambda: x @ y.T, RUNS) * n / ROWS


def least(work: Callable[[], object], runs: int) -> float:
    """Return the least CPU seconds of several runs."""
    times = []
    for _ in range(runs):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def program(arguments: list[str], runs: int = RUNS) -> tuple[float, float]:
    """Run a program; return the least CPU seconds and the largest memory in gigabytes."""
    times, peak = [], 0
    for _ in range(runs):
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"failed: {' '.join(arguments)}")
        times.append(used.ru_utime + used.ru_stime)
        peak = max(peak, used.ru_maxrss)
    return min(times), peak / 2**20


def page(model: Model, words: list[str]) -> tuple[float, float]:
    """Return the median and the 95th percentile of CPU seconds of one translation, each word for the first time."""
    times = [least(partial(model.translate, word), 1) for word in words]
    return float(np.median(times)), float(np.quantile(times, 0.95))


def requests(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the median and the 95th percentile of what requests of the page compute, each for words of its own."""
    loaded = LoadedModel(folder, None, Silent())
    words = iter(random.Random(1).sample(list(loaded.model.source.words), 5 * PAGE))
    said, way = loaded.said({}), Direction.FORWARD
    kinds: dict[str, Callable[[str], object]] = {
        "translate": lambda word: translate(loaded, [word], 8, way, said, back=False),
        "translate, and back": lambda word: translate(loaded, [word], 8, way, said),
        "neighbours": lambda word: neighbours(loaded, found(word), 10),
        "map": lambda word: draw_map(loaded, found(word)),
        "map after translate": lambda word: draw_map(loaded, found(word)),
    }

    def found(word: str) -> WordQuery:
        return find_query(loaded, word, way)

    for name, ask in kinds.items():
        times = []
        for word in itertools.islice(words, PAGE):
            if name == "map after translate":
                kinds["translate"](word)
            times.append(1000 * least(partial(ask, word), 1))
        yield f"page: {name}", f"{np.median(times):.0f} ms (95 %: {np.quantile(times, 0.95):.0f} ms)", ""


def size(folder: Path, pattern: str) -> float:
    """Return the megabytes of files."""
    return sum(path.stat().st_size for path in folder.glob(pattern)) / 1e6


def rows(folder: Path, args: argparse.Namespace) -> Iterator[tuple[str, str, str]]:
    """Yield what was measured: a name, a value, and the same as a ratio or what it consists of."""
    torch.set_num_threads(1)
    if args.align:
        source, target, pairs = args.align
        options = [f"--set={one}" for one in args.set or ()]
        command = ["align", source, target, "--pairs", pairs, "--take", args.take, "--out", str(folder), *options]
        seconds, peak = program([*PROGRAM, *command, "--device", "cpu", "--quiet"], 1)
    model = lnmap.load(folder)
    n, m = len(model.source), len(model.target)
    bare, imported = product(max(n, m)), program([sys.executable, "-c", "import torch"])[0]
    columns = int(model.map(model.source.vectors[:1]).shape[1])
    yield "words, columns", f"{n:,} and {m:,} x {columns:,}", f"{model.info.get('method')}"
    yield f"U({max(n, m):,})", f"{bare:.1f} s", f"{2e-9 * COLUMNS * max(n, m) ** 2:,.0f} GFLOP"
    yield "import torch", f"{imported:.2f} s", ""
    if args.align:
        yield "align", f"{seconds:.0f} s, {peak:.1f} GB", f"{seconds / bare:.2f} U"
    few = model.condensed.get(Direction.FORWARD)
    if few is not None:
        coarse, fine = (part[Side.TARGET].nbytes / 1e6 for part in (few.coarse, few.fine))
        yield (
            "kept for answers",
            f"{size(folder, 'condensed-*'):.0f} MB",
            f"{coarse:.0f} + {fine:.0f} MB of the answers",
        )
    yield "vectors as read", f"{size(folder, '*/vectors.safetensors'):.0f} MB", ""
    loaded = least(lambda: lnmap.load(folder), RUNS)
    yield "load", f"{loaded:.2f} s", f"{loaded / imported:.2f} x import torch"
    rng = random.Random(0)
    words = rng.sample(list(model.source.words), min(n, WORDS))
    one, most = program([*PROGRAM, "translate", str(folder), words[0]])
    yield "translate one word, command line", f"{one:.2f} s, {most:.1f} GB", f"{one / imported:.2f} x import torch"
    model.translate(words[0])
    median, late = page(model, words[1:])
    yield "translate, model loaded, new word", f"{1000 * median:.0f} ms (95 %: {1000 * late:.0f} ms)", ""
    if args.page:
        yield from requests(folder)
    if args.induce:
        took, peak = program([*PROGRAM, "induce", str(folder), "--out", os.devnull, "--quiet"], 1)
        yield "induce, mutual", f"{took:.0f} s, {peak:.1f} GB", f"{took / bare:.2f} U"
    yield "memory in all", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GB", "this program"


def main() -> None:
    """Print a table per model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--align", nargs=3, metavar=("SRC", "TGT", "PAIRS"))
    parser.add_argument("--take", default="1k-unique")
    parser.add_argument("--set", action="append")
    parser.add_argument("--induce", action="store_true")
    parser.add_argument("--page", action="store_true")
    args = parser.parse_args()
    for folder in args.models:
        print(f"\n| {folder.name} | | |\n|---|---:|---|", flush=True)
        for row in rows(folder, args):
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
