"""What the runner costs beside its runs, on this machine and as a Ray cluster of this machine.

    python benchmarks/runner.py --jobs 2 --long          # runs as long as those of a real table: the share to believe
    python benchmarks/runner.py --jobs 1 --repeats 2     # 32 closed forms of a second or two: the worst case

The bundled pair, both engines in turns, each time in a fresh folder. The cost is what no worker spent on a run:
starting workers, handing runs out, writing results, waiting for the last one; everything but the report.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from lnmap.datasets import bundled_pair
from lnmap.experiments import Settings, make_plan, run
from lnmap.experiments.data import OwnData
from lnmap.experiments.trial import MEASURE
from lnmap.io import save_store, write_lexicon
from lnmap.progress import Silent

SHORT = {
    "systems": ["procrustes", "vecmap-sup", "geomm", "artetxe2018aaai"],
    "takes": ["300-unique", "500-unique", "1k-unique", "2k-unique"],
}
LONG = {"systems": ["lnmap"], "takes": ["500-unique", "1k-unique"]}
HEADS = ("engine", "runs", "workers", "wall s", "s in runs", "cost %", "CPU s in runs")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--engines", nargs="+", default=["local", "ray"])
    parser.add_argument("--long", action="store_true", help="lnmap with its defaults, instead of closed forms")
    parser.add_argument("--seeds", type=int, default=2, help="random seeds of each long run; there are 4 x SEEDS runs")
    args = parser.parse_args()
    wanted = {**LONG, "seeds": args.seeds} if args.long else SHORT
    with tempfile.TemporaryDirectory() as folder:
        data = make_data(Path(folder))
        plan = [t for t in make_plan("own", own_pairs=data.pairs, **wanted) if t.method != MEASURE]
        print(f"| {' | '.join(HEADS)} |\n{'|---' * len(HEADS)}|")
        found = {engine: [] for engine in args.engines}
        for repeat in range(args.repeats):
            for engine in args.engines:
                settings = Settings(Path(folder) / f"{engine}-{repeat}", args.jobs, engine, device="cpu", own=data)
                found[engine].append(measure(plan, settings))
    if len(found) == 2:
        first, second = (min(walls) for walls in found.values())
        print(f"\n{args.engines[1]} / {args.engines[0]}, least wall seconds of each: {second / first:.3f}")
    return 0


def measure(plan, settings: Settings) -> float:
    """Run a plan once, print what it took, and give the seconds of the wall."""
    done = run(plan, settings, Silent())
    wall, spent = done.wall_seconds, done.busy_seconds / done.workers
    cpu = sum(result["cpu_seconds"] for result in done.results)
    row = [settings.engine, done.ran, done.workers, f"{wall:.1f}", f"{spent:.1f}", f"{100 * (1 - spent / wall):.1f}"]
    print(f"| {' | '.join(map(str, [*row, f'{cpu:.1f}']))} |", flush=True)
    return wall


def make_data(folder: Path) -> OwnData:
    pair = bundled_pair()
    for name, side in (("en", pair.source), ("fr", pair.target)):
        save_store(side, folder / "data" / name)
    for part, words in (("train", pair.train), ("test", pair.test)):
        write_lexicon(folder / "data" / f"en-fr.{part}.txt", words)
        write_lexicon(folder / "data" / f"fr-en.{part}.txt", words.reversed())
    return OwnData(folder / "data")


if __name__ == "__main__":
    sys.exit(main())
