"""The exact mutual CSLS lexicon of two million words per side on one GPU: seconds, memory, and whether it is exact.

    PYTHONPATH=src python benchmarks/lexicon_gpu.py [--words 2000000] [--sample 10000] [--memory 4096]

The vectors are made on the device: clusters of 50 words, four fifths of the words with a translation on the other side.
A sample of the source words is searched again by brute force in float32, and their answers on the way back: means, best
words and pairs must be the same. Where float32 cannot tell two words apart, float64 decides. Needs only torch
and NumPy.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from lnmap.induce import Induced, induce
from lnmap.progress import Silent

DIM, CLUSTER, K = 300, 50, 10
CENTRE, LIKENESS = (0.1, 0.5), (0.1, 0.8)  # cosine of two words of a cluster, and what translations share beside it
GB = 1 << 30


class Stopwatch(Silent):
    """Add up the seconds and the words of each kind of task."""

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self.device, self.seconds, self.words = device, defaultdict(float), defaultdict(int)

    @contextmanager
    def task(self, title: str, total: float | None) -> Iterator[object]:
        wait(self.device)
        began = time.perf_counter()
        with super().task(title, total) as task:
            yield task
        wait(self.device)
        self.seconds[title] += time.perf_counter() - began
        self.words[title] += int(total or 0)


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def make(words: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the vectors of both languages, each (words, DIM), of length one."""
    generator = torch.Generator(device).manual_seed(0)

    def draw(count: int) -> Tensor:
        return torch.nn.functional.normalize(torch.randn(count, DIM, generator=generator, device=device))

    def between(low: float, high: float, count: int) -> Tensor:
        return torch.rand(count, 1, generator=generator, device=device) * (high - low) + low

    centres = draw(max(1, words // CLUSTER))
    tight = between(*CENTRE, len(centres))
    sides = torch.empty(2, words, DIM, device=device)
    for start in range(0, words, 1 << 16):
        count = min(1 << 16, words - start)
        cluster = torch.randint(len(centres), (2, count), generator=generator, device=device)
        alone = between(0, 1, count) < 0.2  # has no translation
        own, other = draw(count), draw(count)
        like = between(*LIKENESS, count).masked_fill(alone, 0)
        cluster[1] = torch.where(alone[:, 0], cluster[1], cluster[0])
        rest = own, like * own + (1 - like**2).sqrt() * other
        for side in (0, 1):
            share = tight[cluster[side]]
            vectors = share.sqrt() * centres[cluster[side]] + (1 - share).sqrt() * rest[side]
            sides[side, start : start + count] = torch.nn.functional.normalize(vectors)
    return sides[0], sides[1]


def plain(queries: Tensor, candidates: Tensor, bias: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Search by brute force: the mean cosine of the K nearest, and the best by cosine + bias."""
    means, best = [], []
    for part in queries.split(128):
        pieces = [(part.to(dtype) @ piece.to(dtype).T).float() for piece in candidates.split(1 << 18)]
        scores = torch.cat(pieces, dim=1)
        means.append(scores.topk(min(K, len(candidates)), dim=1).values.mean(dim=1))
        best.append((scores.to(dtype) + bias).argmax(dim=1))
    return torch.cat(means), torch.cat(best)


def check(source: Tensor, target: Tensor, found: Induced, sample: int) -> dict[str, float]:
    """Compare a sample with brute force in float32, and where that says something else, in float64."""
    rows = torch.linspace(0, len(source) - 1, sample, device=source.device).long().unique()
    r_source, r_target = found.means
    partner = torch.full((len(source),), -1, device=source.device)
    partner[found.rows[:, 0]] = found.rows[:, 1]
    checked: dict[str, float] = {"sample": len(rows)}
    for name, dtype in (("float32", torch.float32), ("float64", torch.float64)):
        if not len(rows):
            continue
        means, forward = plain(source[rows], target, r_target / -2, dtype)
        back_means, backward = plain(target[forward], source, r_source / -2, dtype)
        expected = torch.where(backward == rows, forward, -1)
        wrong = (means - r_source[rows]).abs().max(), (back_means - r_target[forward]).abs().max()
        checked[f"mutual_by_{name}"] = int((expected >= 0).sum())
        checked[f"means_differ_{name}"] = max(map(float, wrong))
        rows = rows[expected != partner[rows]]
        checked[f"pairs_differ_{name}"] = len(rows)
    return checked


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--words", type=int, default=2_000_000)
    arguments.add_argument("--sample", type=int, default=10_000)
    arguments.add_argument("--memory", type=int, default=4096, help="megabytes of one block of scores")
    arguments.add_argument("--device", default="cuda")
    given = arguments.parse_args()
    device = torch.device(given.device)
    gpu = device.type == "cuda"
    source, target = make(given.words, device)
    induce(source[:5000], target[:5000], scaled=True)  # loads the libraries
    wait(device)
    data = torch.cuda.memory_allocated() if gpu else 0
    if gpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    watch = Stopwatch(device)
    began = time.perf_counter()
    found = induce(source, target, memory=given.memory << 20, progress=watch, scaled=True)
    wait(device)
    seconds = time.perf_counter() - began
    peak = torch.cuda.max_memory_allocated() if gpu else 0
    reserved = torch.cuda.max_memory_reserved() if gpu else 0
    checked = check(source, target, found, min(given.sample, given.words))
    result = {
        "device": torch.cuda.get_device_name() if gpu else "cpu",
        "torch": torch.__version__,
        "words": given.words,
        "seconds": round(seconds, 2),
        "seconds_by_step": {name: round(spent, 2) for name, spent in watch.seconds.items()},
        "words_searched_again": watch.words["searching"],
        "product_tflops": round(2 * given.words**2 * DIM / seconds / 1e12, 1),
        "data_gb": round(data / GB, 2),
        "peak_gb": round(peak / GB, 2),
        "reserved_gb": round(reserved / GB, 2),
        "pairs": len(found),
        "notes": watch.notes,
        **checked,
    }
    print(json.dumps(result))
    return int(checked.get("pairs_differ_float64", 0) > 0)


if __name__ == "__main__":
    sys.exit(main())
