"""P@1 and seconds of any method on real vectors: the table of systems, LNMap's profiles, its ablation.

    python benchmarks/methods.py --data DIR --methods lnmap procrustes muse --takes 1k-unique --seeds 3
    python benchmarks/methods.py --data DIR --methods lnmap --profile release --set autoencoder=linear --device cuda
    python benchmarks/methods.py --data DIR --methods lnmap --ablation

DIR (or LNMAP_BENCH_DATA) holds vectors/{en,fr,fi}.vec.gz and dictionaries/muse/PAIR.{0-5000,5000-6500}.txt. Each
direction is trained and scored on its own files. With `--dev` the scores are on the pairs of the training file whose
source words were not taken as seed: the only scores that settings may be chosen by. Results are added to `--out` one
JSON line a run, and runs that are there already are not repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path

import torch

import lnmap
from lnmap.errors import LnmapError
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
    vectors: dict[str, lnmap.Embeddings] = {}
    done = read_done(args.out)
    rows = []
    for name, values in variants(args):
        for pair in args.pairs:
            source, target = (load(vectors, args, language) for language in pair.split("-"))
            for take in args.takes:
                for seed in range(args.seeds if is_random(args.methods, name) else 1):
                    key = {"name": name, "profile": args.profile, "set": values, "pair": pair, "take": take}
                    key |= {"seed": seed, "dev": args.dev, "finnish": args.finnish, "one_way": args.one_way}
                    text = json.dumps(key, sort_keys=True)
                    if text not in done:
                        done[text] = run(args, name, values, pair, source, target, take, seed)
                        write_done(args.out, key, done[text])
                    rows.append(key | done[text])
                    print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    print(table(rows, args))
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
    parser.add_argument("--two-way", dest="one_way", action="store_false", help="train both directions")
    parser.add_argument("--dev", action="store_true", help="score on unused training pairs instead of the test file")
    parser.add_argument("--out", type=Path, help="file of results, one JSON line a run")
    args = parser.parse_args()
    if args.data is None:
        parser.error("give the data folder with --data or LNMAP_BENCH_DATA")
    if args.methods == ["all"]:
        args.methods = list(METHODS)
    if args.threads:
        torch.set_num_threads(args.threads)
    return args


def variants(args: argparse.Namespace) -> list[tuple[str, dict[str, str]]]:
    """Name and option values of each row."""
    own = dict(item.split("=", 1) for item in args.values)
    if not args.ablation:
        return [(name, own) for name in args.methods]
    used = make_method("lnmap", args.profile, own).options.autoencoder
    other = {"autoencoder": "linear" if used == "nonlinear" else "nonlinear"}
    return [(name, own | (other if values is None else values)) for name, values in ABLATION.items()]


def is_random(methods: list[str], name: str) -> bool:
    fixed = ("procrustes", "muse", "geomm", "artetxe2018aaai", "vecmap-sup", "contrastive")
    return name not in METHODS or name not in fixed


def load(vectors: dict[str, lnmap.Embeddings], args: argparse.Namespace, name: str) -> lnmap.Embeddings:
    if name not in vectors:
        limit = args.finnish if name == "fi" else None
        vectors[name] = lnmap.read(args.data / f"vectors/{name}.vec.gz", policy="muse", limit=limit)
    return vectors[name]


def run(args, name, values, pair, source, target, take, seed) -> dict:
    """Train and score once; a system that fails says so."""
    train = lnmap.read_lexicon(args.data / f"dictionaries/muse/{pair}.0-5000.txt")
    test = lnmap.read_lexicon(args.data / f"dictionaries/muse/{pair}.5000-6500.txt")
    if args.dev:
        seen = {s for s, _ in train.take(take, source, target)}
        test = lnmap.Lexicon([(s, t) for s, t in train if s not in seen])
    method = name if name in METHODS else "lnmap"
    supervised = METHODS[method].supervision != "none"
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        model = lnmap.align(
            source,
            target,
            train if supervised else None,
            method=method,
            profile=args.profile,
            options=values,
            take=take,
            seed=seed,
            device=args.device,
            one_way=args.one_way,
        )
    except LnmapError as error:
        return {"failed": str(error), "seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    seconds, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = model.evaluate(test)
    return {**found.to_dict(), "seconds": seconds, "cpu": cpu, "device": model.info["device"]}


def read_done(path: Path | None) -> dict[str, dict]:
    if path is None or not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {json.dumps(line["key"], sort_keys=True): line["result"] for line in lines}


def write_done(path: Path | None, key: dict, result: dict) -> None:
    if path is not None:
        with path.open("a") as file:
            file.write(json.dumps({"key": key, "result": result}) + "\n")


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
