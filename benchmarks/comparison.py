"""The table of all systems: every method, both pairs, both directions, four sizes of the seed, P@1 and seconds.

    python benchmarks/comparison.py --data DIR --jobs 2                 # run what is missing, rewrite the page
    python benchmarks/comparison.py --data DIR --device cuda --jobs 12  # the same on a GPU
    python benchmarks/comparison.py --data DIR --times cpu --threads 2  # seconds, one run at a time
    python benchmarks/comparison.py                                     # rewrite the page from what was run

DIR (or LNMAP_BENCH_DATA) is described in runs.py. Results are kept in benchmarks/results/, one JSON line a run; those
that are there are not run again. The page is docs/comparison.md.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from runs import Job, Place, execute, read_done, seeds_of

from lnmap.methods import METHODS

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "comparison.md"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
PAIRS = ("en-fr", "fr-en", "en-fi", "fi-en")
TAKES = {"100-unique": "100 pairs", "1k-unique": "1 000 pairs", "5k-unique": "5 000 words, one translation each"}
TAKES |= {"5k-all": "5 000 words, all translations"}
TIMED = ("en-fr", "1k-unique")


class System(NamedTuple):
    """A row of the tables."""

    name: str
    method: str
    profile: str | None = None
    values: dict[str, str] = {}

    @property
    def unsupervised(self) -> bool:
        """Whether it has no use for a seed."""
        return METHODS[self.method].supervision == "none"


SYSTEMS = (
    System("auto", "auto"),
    System("auto, vectors alone", "auto", None, {"spelling": "false"}),
    System("lnmap", "lnmap"),
    System("lnmap, release, linear", "lnmap", "release", {"autoencoder": "linear"}),
    System("lnmap, release, non-linear", "lnmap", "release", {"autoencoder": "nonlinear"}),
    *(System(name, name) for name in METHODS if name not in ("auto", "lnmap")),
)


def main() -> int:
    args = parse()
    if args.data is not None:
        place = Place(Path(args.data), args.device, args.threads)
        out = RESULTS / (f"times-{args.times}.jsonl" if args.times else "comparison.jsonl")
        chosen = [s for s in SYSTEMS if not args.systems or s.name in args.systems]
        jobs = timed_jobs(chosen) if args.times else all_jobs(chosen, args.seeds)
        out.parent.mkdir(exist_ok=True)
        execute(jobs, place, out, 1 if args.times else args.jobs, args.seconds)
    write_page(tables(args.seeds))
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("LNMAP_BENCH_DATA"))
    parser.add_argument("--systems", nargs="+", help="only these rows")
    parser.add_argument("--seeds", type=int, default=3, help="for methods that draw random numbers")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no run after this many seconds")
    parser.add_argument("--times", choices=["cpu", "cuda"], help="take seconds only, one run at a time")
    return parser.parse_args()


def all_jobs(systems: Sequence[System], seeds: int) -> list[Job]:
    """Every run, the first seed of all before the second of any."""
    jobs = [
        Job(s.name, s.method, pair, take, s.profile, s.values, seed)
        for s in systems
        for take in (("none",) if s.unsupervised else TAKES)
        for pair in PAIRS
        for seed in seeds_of(s.method, s.profile, s.values, seeds)
    ]
    return sorted(jobs, key=lambda job: job.seed)


def timed_jobs(systems: Sequence[System]) -> list[Job]:
    """One run of each, to be timed alone; a short one before them pays what only the first run of a process costs."""
    pair, take = TIMED
    first = Job("warming up", "lnmap", pair, take, None, {"iterations": "1", "epochs": "1"})
    return [first] + [
        Job(s.name, s.method, pair, "none" if s.unsupervised else take, s.profile, s.values) for s in systems
    ]


def tables(seeds: int) -> str:
    """All tables as Markdown."""
    done = read_done(RESULTS / "comparison.jsonl")
    times = {device: read_done(RESULTS / f"times-{device}.jsonl") for device in ("cpu", "cuda")}
    takes = {**TAKES, "none": "No seed"}
    parts = []
    for take, title in takes.items():
        systems = [s for s in SYSTEMS if s.unsupervised == (take == "none")]
        rows = [row(s, take, done, times, seeds) for s in systems]
        best = {p: max((r.scores[p] for r in rows if p in r.scores), default=0.0) for p in (*PAIRS, "mean")}
        ordered = sorted(rows, key=lambda r: -r.scores.get("mean", -1.0))
        head = f"## {title}\n\n| system | {' | '.join(PAIRS)} | mean | s, 2 cores | s, GPU |\n"
        head += "|---|" + "---:|" * (len(PAIRS) + 3) + "\n"
        parts.append(head + "".join(line(r, best) for r in ordered))
    return "\n".join(parts)


class Row(NamedTuple):
    """Means over seeds by pair, what is shown for each, and seconds."""

    name: str
    scores: dict[str, float]
    shown: dict[str, str]
    seconds: list[str]


def row(system: System, take: str, done: dict[str, Any], times: dict[str, dict[str, Any]], seeds: int) -> Row:
    """One system at one size of the seed."""
    scores, shown = {}, {}
    for pair in PAIRS:
        keys = [
            Job(system.name, system.method, pair, take, system.profile, system.values, seed).key
            for seed in seeds_of(system.method, system.profile, system.values, seeds)
        ]
        found = [done[key] for key in keys if key in done]
        right = [result["p@1"] for result in found if "p@1" in result]
        failed = len(found) - len(right)
        if right and not failed:
            scores[pair] = statistics.mean(right)
        shown[pair] = cell(right, failed)
    if len(scores) == len(PAIRS):
        scores["mean"] = statistics.mean(scores.values())
    pair, timed = TIMED
    key = Job("", system.method, pair, "none" if take == "none" else timed, system.profile, system.values).key
    seconds = [f"{times[device][key]['seconds']:.1f}" if key in times[device] else "-" for device in ("cpu", "cuda")]
    return Row(system.name, scores, shown, seconds)


def cell(right: list[float], failed: int) -> str:
    """Mean and standard deviation over seeds; how often it failed, if it did."""
    if not right:
        return "fails" if failed else "-"
    text = f"{statistics.mean(right):.1f}" + (f" ± {statistics.stdev(right):.1f}" if len(right) > 1 else "")
    return f"{text}, fails {failed} of {failed + len(right)}" if failed else text


def line(found: Row, best: dict[str, float]) -> str:
    """A row of Markdown, the best of each column in bold."""
    cells = [
        f"**{found.shown[pair]}**" if found.scores.get(pair) == best[pair] else found.shown[pair] for pair in PAIRS
    ]
    mean = f"{found.scores['mean']:.1f}" if "mean" in found.scores else "-"
    cells.append(f"**{mean}**" if found.scores.get("mean") == best["mean"] else mean)
    return f"| {found.name} | {' | '.join(cells + found.seconds)} |\n"


def write_page(text: str) -> None:
    """Put the tables between their marks."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{PAGE} has no place for the tables: {BEGIN} ... {END}")
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
