"""P@1 and seconds of chosen methods on real vectors: LNMap's profiles, its ablation, a look at any system.

    python benchmarks/methods.py --data DIR --methods lnmap procrustes muse --takes 1k-unique --seeds 3
    python benchmarks/methods.py --data DIR --methods lnmap --profile release --set autoencoder=linear --device cuda
    python benchmarks/methods.py --data DIR --methods lnmap --ablation

DIR (or LNMAP_BENCH_DATA) is described in runs.py; the table of all systems is comparison.py's. With `--dev` the scores
are on the pairs of the training file whose source words were not taken as seed: the only scores that settings may be
chosen by. Results are added to `--out` one JSON line a run, and runs that are there already are not repeated.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from pathlib import Path

from runs import Job, Place, execute, seeds_of

from lnmap.methods import METHODS, make_method

ABLATION = {
    "LNMap": {},
    "- reconstruction": {"reconstruction": "0"},
    "- back-translation": {"back_translation": "0"},
    "+ linear mapper": {"mapper": "linear"},
    "+ Procrustes mapper": {"mapper": "procrustes"},
    "+ other autoencoder": None,  # the one the profile does not use
}


def main() -> int:
    args = parse()
    jobs = [
        Job(
            name,
            name if name in METHODS else "lnmap",
            pair,
            take,
            args.profile,
            values,
            seed,
            args.dev,
            args.finnish,
            args.one_way,
        )
        for name, values in variants(args)
        for pair in args.pairs
        for take in args.takes
        for seed in seeds_of(name if name in METHODS else "lnmap", args.profile, values, args.seeds)
    ]
    found = execute(jobs, Place(args.data, args.device, args.threads), args.out, args.jobs)
    print(table([vars(job) | result for job, result in found], args))
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LNMAP_BENCH_DATA"))
    parser.add_argument("--methods", nargs="+", default=["lnmap"], help="names, or 'all'")
    parser.add_argument("--profile")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", dest="values")
    parser.add_argument("--ablation", action="store_true", help="each row of the paper's ablation table")
    parser.add_argument("--pairs", nargs="+", default=["en-fr", "en-fi"])
    parser.add_argument("--takes", nargs="+", default=["1k-unique"])
    parser.add_argument("--seeds", type=int, default=3, help="for methods that draw random numbers")
    parser.add_argument("--finnish", type=int, default=22_000, help="Finnish words read")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, each in a process of its own")
    parser.add_argument("--two-way", dest="one_way", action="store_false", help="train both directions")
    parser.add_argument("--dev", action="store_true", help="score on unused training pairs instead of the test file")
    parser.add_argument("--out", type=Path, help="file of results, one JSON line a run")
    args = parser.parse_args()
    if args.data is None:
        parser.error("give the data folder with --data or LNMAP_BENCH_DATA")
    if args.methods == ["all"]:
        args.methods = list(METHODS)
    return args


def variants(args: argparse.Namespace) -> list[tuple[str, dict[str, str]]]:
    """Name and option values of each row."""
    own = dict(item.split("=", 1) for item in args.values)
    if not args.ablation:
        return [(name, own) for name in args.methods]
    used = make_method("lnmap", args.profile, own).options.autoencoder
    other = {"autoencoder": "linear" if used == "nonlinear" else "nonlinear"}
    return [(name, own | (other if values is None else values)) for name, values in ABLATION.items()]


def table(rows: list[dict], args: argparse.Namespace) -> str:
    """Mean of P@1 over seeds, spread where there are several, and the mean of the seconds."""
    columns = [(pair, take) for pair in args.pairs for take in args.takes]
    head = "| system | " + " | ".join(f"{pair} {take}" for pair, take in columns) + " | CPU s |"
    lines = [head, "|---" * (len(columns) + 2) + "|"]
    for name in dict.fromkeys(row["name"] for row in rows):
        mine = [row for row in rows if row["name"] == name]
        cells = [cell([r for r in mine if (r["pair"], r["take"]) == column]) for column in columns]
        cpu = statistics.mean(row["cpu"] for row in mine)
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {cpu:.0f} |")
    return "\n".join(lines)


def cell(rows: list[dict]) -> str:
    scores = [row["p@1"] for row in rows if "p@1" in row]
    if not scores:
        return "failed" if rows else "-"
    text = f"{statistics.mean(scores):.1f}"
    if len(scores) > 1:
        text += f" ± {statistics.stdev(scores):.1f}"
    return text if len(scores) == len(rows) else f"{text} ({len(rows) - len(scores)} failed)"


if __name__ == "__main__":
    sys.exit(main())
