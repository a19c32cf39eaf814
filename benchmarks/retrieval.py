"""What exact retrieval costs beside the matrix product it cannot do without.

    python benchmarks/retrieval.py [--queries 10000] [--words 200000] [--repeats 3]

Every variant handles the same slices of queries, one after the other, and the slices are repeated: a change in the
machine's load meets all variants alike, and only ratios of medians are to be believed.
"""

from __future__ import annotations

import argparse
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from lnmap.normalize import unit
from lnmap.retrieve import MEMORY, neighbourhood_means, score_blocks, top_k

DIM, K, SLICES, TARGET = 300, 10, 5, 1.4
MB = 1 << 20


def vectors(queries: int, words: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Unit vectors with the hubs of real ones (a shared mean, falling variances); queries are noisy copies of words."""
    generator = torch.Generator().manual_seed(0)
    scale = torch.linspace(1.5, 0.5, DIM)
    candidates = torch.randn(words, DIM, generator=generator).mul_(scale).add_(0.3 * scale)
    noise = torch.randn(queries, DIM, generator=generator).mul_(0.5)
    return unit(candidates[torch.randint(words, (queries,), generator=generator)] + noise), unit(candidates)


def product(queries: torch.Tensor, candidates: torch.Tensor, bias: torch.Tensor) -> None:
    """Compute all scores in the same blocks and throw them away."""
    for _ in score_blocks(queries, candidates):
        pass


def naive(queries: torch.Tensor, candidates: torch.Tensor, bias: torch.Tensor) -> None:
    """Let torch.topk search whole rows."""
    for _, scores in score_blocks(queries, candidates, bias):
        scores.topk(K, dim=1)


def search(queries: torch.Tensor, candidates: torch.Tensor, bias: torch.Tensor) -> None:
    """Find the CSLS top-10 when the candidates' neighbourhood means are known."""
    top_k(queries, candidates, K, bias)


def with_query_means(queries: torch.Tensor, candidates: torch.Tensor, bias: torch.Tensor) -> None:
    """Also compute the queries' own means, which the CSLS score (not its order) needs."""
    neighbourhood_means(queries, candidates, K)
    top_k(queries, candidates, K, bias)


VARIANTS: dict[str, Callable[[torch.Tensor, torch.Tensor, torch.Tensor], None]] = {
    "matrix product alone": product,
    "`top_k` with CSLS bias": search,
    "`torch.topk` with CSLS bias": naive,
    "`top_k` and the queries' neighbourhood means": with_query_means,
}


def clock() -> tuple[float, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, time.perf_counter()


def speed(count: int, words: int, repeats: int) -> bool:
    queries, candidates = vectors(count, words)
    bias = torch.empty(words).uniform_(-0.3, -0.1, generator=torch.Generator().manual_seed(1))
    for run in VARIANTS.values():  # the first call of each pays for pages and threads
        run(queries[:64], candidates, bias)
    cpu: dict[str, list[float]] = {name: [] for name in VARIANTS}
    wall: dict[str, list[float]] = {name: [] for name in VARIANTS}
    pieces = queries.chunk(SLICES)
    for repeat in range(repeats):
        for piece in range(len(pieces)):
            names = list(VARIANTS)
            start = (repeat + piece) % len(names)
            for name in names[start:] + names[:start]:
                before = clock()
                VARIANTS[name](pieces[piece], candidates, bias)
                after = clock()
                cpu[name].append(after[0] - before[0])
                wall[name].append(after[1] - before[1])
    print(f"{count:,} queries x {words:,} words x {DIM}, {torch.get_num_threads()} threads, ", end="")
    print(f"medians of {repeats} x {len(pieces)} slices, scaled to all queries\n")
    print("| what | CPU s | wall s | CPU, times the product | wall, times the product | GFLOP/s of the wall |")
    print("|---|---|---|---|---|---|")
    flop = 2 * count * words * DIM
    base_cpu, base_wall = (statistics.median(seconds["matrix product alone"]) for seconds in (cpu, wall))
    for name in VARIANTS:
        own_cpu, own_wall = statistics.median(cpu[name]), statistics.median(wall[name])
        passes = 2 if name.startswith("`top_k` and") else 1
        print(
            f"| {name} | {own_cpu * len(pieces):.1f} | {own_wall * len(pieces):.1f} | {own_cpu / base_cpu:.2f} "
            f"| {own_wall / base_wall:.2f} | {passes * flop / (own_wall * len(pieces)) / 1e9:.0f} |"
        )
    ratios = sorted(a / b for a, b in zip(cpu["`top_k` with CSLS bias"], cpu["matrix product alone"], strict=True))
    ratio = statistics.median(cpu["`top_k` with CSLS bias"]) / base_cpu
    print(f"\n`top_k` / product, slice by slice: {ratios[0]:.2f} to {ratios[-1]:.2f}, median {ratio:.2f}; ", end="")
    print(f"target {TARGET}: {'met' if ratio <= TARGET else 'MISSED'}")
    return ratio <= TARGET


def resident(name: str) -> int:
    """Return VmRSS (resident now) or VmHWM (at most so far) in MB."""
    return int(re.search(rf"{name}:\s*(\d+) kB", Path("/proc/self/status").read_text())[1]) >> 10


def peak(words: int, count: int, memory: int) -> None:
    """Print how far a blocked pass raises the memory of this process, which was started for nothing else."""
    candidates = unit(torch.randn(words, DIM, generator=torch.Generator().manual_seed(0)))
    neighbourhood_means(candidates[:2], candidates[:1000], K)  # what the libraries keep
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = resident("VmRSS")
    neighbourhood_means(candidates[:count], candidates, K, memory=memory)
    after = resident("VmHWM")
    print(f"| {words:,} | {count:,} | {memory // MB} | {before:,} | {after:,} | {after - before:,} ", end="")
    print(f"| {words * words * 4 // MB:,} |")


def memory_table(words: int, count: int) -> None:
    print("\n| words | queries run | budget MB | RSS before, MB | peak RSS, MB | growth | whole score matrix, MB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for budget in (MEMORY, MEMORY // 8):
        command = [sys.executable, __file__, "--peak", str(words), str(count), str(budget)]
        subprocess.run(command, check=True)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--queries", type=int, default=10_000)
    arguments.add_argument("--words", type=int, default=200_000)
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--peak", type=int, nargs=3, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.peak:
        peak(*given.peak)
        return 0
    met = speed(given.queries, given.words, given.repeats)
    memory_table(given.words, min(2048, given.words))
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
