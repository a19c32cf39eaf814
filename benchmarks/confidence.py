"""Does the confidence mean what it says? Reliability, Brier score, ECE and AUROC on test dictionaries.

    python benchmarks/confidence.py --data DIR --methods procrustes vecmap-sup --take 1k-unique

DIR (or LNMAP_BENCH_DATA) holds vectors/{en,fr,fi}.vec.gz and dictionaries/muse/PAIR.{0-5000,5000-6500}.txt. Each pair
is calibrated on its training file and judged on the test words of which a translation is in the vocabulary; a first
answer is right when the test file lists it. With `--seed-only` the held-out answers are judged by the seed pairs alone,
as if the dictionary had no other pairs.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

import lnmap

BINS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LNMAP_BENCH_DATA"))
    parser.add_argument("--methods", nargs="+", default=["procrustes"])
    parser.add_argument("--pairs", nargs="+", default=["en-fr", "fr-en", "en-fi", "fi-en"])
    parser.add_argument("--take", default="1k-unique")
    parser.add_argument("--finnish", type=int, default=22_000, help="Finnish words read")
    parser.add_argument("--seed-only", action="store_true")
    args = parser.parse_args()
    if args.data is None:
        parser.error("give the data folder with --data or LNMAP_BENCH_DATA")
    vectors = {
        name: lnmap.read(args.data / f"vectors/{name}.vec.gz", limit=args.finnish if name == "fi" else None)
        for name in sorted({name for pair in args.pairs for name in pair.split("-")})
    }
    summary, tables = [], []
    for method in args.methods:
        for pair in args.pairs:
            started = time.process_time()
            p, right = judge(args, method, pair, vectors)
            rows = reliability(p, right)
            summary.append((method, pair, p, right, rows, time.process_time() - started))
            tables.append(f"{method}, {pair}\n\n" + reliability_table(rows))
    print("\n\n".join(tables))
    print("\n| method | pair | words | right | mean confidence | ECE | Brier | Brier of the mean | AUROC | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for method, pair, p, right, rows, seconds in summary:
        brier, chance = np.mean((p - right) ** 2), right.mean() * (1 - right.mean())
        print(
            f"| {method} | {pair} | {len(p):,} | {100 * right.mean():.1f} % | {100 * p.mean():.1f} % | "
            f"{ece(rows):.3f} | {brier:.3f} | {chance:.3f} | {auroc(p, right):.3f} | {seconds:.0f} |"
        )


def judge(args, method, pair, vectors) -> tuple[np.ndarray, np.ndarray]:
    """Confidence of the first answer to each test word, and whether the test file lists it."""
    source, target = (vectors[name] for name in pair.split("-"))
    train = lnmap.read_lexicon(args.data / f"dictionaries/muse/{pair}.0-5000.txt")
    test = lnmap.read_lexicon(args.data / f"dictionaries/muse/{pair}.5000-6500.txt")
    if args.seed_only:
        train = train.take(args.take, source, target)
    model = lnmap.align(source, target, train, method=method, take=args.take, calibrate=True, one_way=True)
    wanted: dict[int, set[str]] = {}
    for s, t in test.rows(source, target).tolist():
        wanted.setdefault(s, set()).add(target.words[t])
    answers = model.translate([source.words[s] for s in wanted], 1, given=False)
    p = np.array([answer.candidates[0].confidence for answer in answers])
    pairs = zip(answers, wanted.values(), strict=True)
    return p, np.array([answer.words[0] in gold for answer, gold in pairs])


def reliability(p: np.ndarray, right: np.ndarray) -> list[tuple[int, int, float, float]]:
    """Bin, words, mean confidence, share that is right."""
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    return [
        (b, int((bins == b).sum()), float(p[bins == b].mean()), float(right[bins == b].mean()))
        for b in range(BINS)
        if (bins == b).any()
    ]


def reliability_table(rows) -> str:
    lines = [
        f"| {b / BINS:.1f}-{(b + 1) / BINS:.1f} | {n} | {100 * p:.0f} % | {100 * r:.0f} % |" for b, n, p, r in rows
    ]
    return "\n".join(["| confidence | words | mean confidence | right |", "|---|---|---|---|", *lines])


def ece(rows) -> float:
    """Mean gap between confidence and share that is right, weighted by words."""
    return sum(n * abs(p - r) for _, n, p, r in rows) / sum(n for _, n, _, _ in rows)


def auroc(p: np.ndarray, right: np.ndarray) -> float:
    """Probability that a right answer has a higher confidence than a wrong one."""
    wins = (p[right][:, None] > p[~right]).mean() + (p[right][:, None] == p[~right]).mean() / 2
    return float(wins)


if __name__ == "__main__":
    main()
