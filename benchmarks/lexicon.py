"""What the whole mutual lexicon costs beside the bare product of all scores, on the CPU.

    python benchmarks/lexicon.py --data DIR [--words 200000] [--plain]

English and French vectors, mapped by GeoMM with the 5 000 pairs of MUSE; more words than there are in the files are
perturbed copies of them, in the order of frequency. The unit U is the float32 product of all words with all words,
measured on 2 048 of them. `--plain` also runs the four passes of the plain way, and compares the pairs.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path

import torch
from torch import Tensor

import lnmap
from lnmap.induce import combine, induce
from lnmap.normalize import unit
from lnmap.progress import Silent
from lnmap.retrieve import neighbourhood_means, score_blocks, top_k

RATIO, GROWTH, DISTURBED = 1.6, 2048, 0.6  # the last: length of what is added to a copy, whose length is one


class Counter(Silent):
    """Count the words of each kind of task."""

    def __init__(self) -> None:
        super().__init__()
        self.words: dict[str, int] = {}

    def task(self, title: str, total: float | None):
        self.words[title] = self.words.get(title, 0) + int(total or 0)
        return super().task(title, total)


def spaces(folder: Path, words: int) -> tuple[Tensor, Tensor]:
    """Return the mapped vectors of both languages, of length one."""
    source, target = (lnmap.read(folder / f"vectors/{name}.vec.gz", policy="muse") for name in ("en", "fr"))
    pairs = lnmap.read_lexicon(folder / "dictionaries/muse/en-fr.0-5000.txt")
    space = lnmap.align(source, target, pairs, take="5k-unique", method="geomm", device="cpu").space()
    return grow(space.source, words, 1), grow(space.target, words, 2)


def grow(vectors: Tensor, words: int, seed: int) -> Tensor:
    """Add perturbed copies of all words, most frequent first, until there are enough."""
    generator = torch.Generator().manual_seed(seed)
    parts = [vectors]
    for _ in range(len(vectors), words, len(vectors)):
        noise = torch.randn(vectors.shape, generator=generator) / vectors.shape[1] ** 0.5
        parts.append(unit(vectors + DISTURBED * noise))
    return torch.cat(parts)[:words].clone()


def plain(source: Tensor, target: Tensor) -> Tensor:
    """Return the mutual pairs in four passes: the means of both sides, then the best of both."""
    r_source, r_target = neighbourhood_means(source, target), neighbourhood_means(target, source)
    forward = top_k(source, target, 1, r_target / -2)[1]
    backward = top_k(target, source, 1, r_source / -2)[1]
    return combine(forward, backward, "mutual", len(source), len(target))


def product(source: Tensor, target: Tensor, count: int = 2048) -> float:
    """Return the CPU seconds of all scores, from those of some words in the middle."""
    part = source[len(source) // 2 :][:count]
    began = time.process_time()
    for _ in score_blocks(part, target):
        pass
    return (time.process_time() - began) * len(source) / len(part)


def resident(name: str) -> int:
    """Return VmRSS (resident now) or VmHWM (at most so far) in MB."""
    return int(re.search(rf"{name}:\s*(\d+) kB", Path("/proc/self/status").read_text())[1]) >> 10


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--data", type=Path, required=True)
    arguments.add_argument("--words", type=int, default=200_000)
    arguments.add_argument("--plain", action="store_true", help="also run the plain way")
    given = arguments.parse_args()
    source, target = spaces(given.data, given.words)
    n, m = len(source), len(target)
    induce(source[:3000], target[:3000], scaled=True)  # what the libraries keep
    units = [product(source, target)]
    counter = Counter()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before, began = resident("VmRSS"), time.process_time()
    found = induce(source, target, progress=counter, scaled=True)
    seconds, growth = time.process_time() - began, resident("VmHWM") - before
    units.append(product(source, target))
    unit_seconds = sum(units) / 2
    rows = [("one pass, proven", seconds, growth, len(found))]
    same = True
    if given.plain:
        Path("/proc/self/clear_refs").write_text("5")
        before, began = resident("VmRSS"), time.process_time()
        pairs = plain(source, target)
        rows.append(("four passes", time.process_time() - began, resident("VmHWM") - before, len(pairs)))
        key = found.rows[:, 0].sort().indices
        same = torch.equal(found.rows[key], pairs)
    print(f"{n:,} x {m:,} words x {source.shape[1]}, {torch.get_num_threads()} threads; ", end="")
    print(f"U = {unit_seconds:.1f} CPU s ({units[0]:.1f} before, {units[1]:.1f} after)\n")
    print("| way | CPU s | times U | memory beside the data, MB | pairs |\n|---|---|---|---|---|")
    for name, spent, grown, pairs_found in rows:
        print(f"| {name} | {spent:.1f} | {spent / unit_seconds:.2f} | {grown:,} | {pairs_found:,} |")
    again = counter.words.get("searching", 0)
    print(f"\n{again:,} of {n + m:,} words ({again / (n + m):.1%}) had to be searched again", end="")
    print(f"; the plain way has {'the same' if same else 'OTHER'} pairs" if given.plain else "")
    met = seconds / unit_seconds <= RATIO and growth <= GROWTH and same
    print(f"to reach: {RATIO} U, {GROWTH:,} MB, the same pairs: {'met' if met else 'MISSED'}")
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
