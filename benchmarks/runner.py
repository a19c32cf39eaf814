"""What the runner costs beside its runs, on this machine and as a Ray cluster of this machine.

    python benchmarks/runner.py --jobs 1 --repeats 2

Closed-form systems on the bundled pair, both engines in turns, each time in a fresh folder. The cost is the time that
no worker spent on a run: starting workers, handing runs out, writing results, everything but the report.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from lnmap.data import bundled_pair
from lnmap.io import save_store, write_lexicon
from lnmap.progress import Silent
from lnmap.reproduce import Settings, make_plan, run
from lnmap.reproduce.data import OwnData
from lnmap.reproduce.records import MEASURE

SYSTEMS = ["procrustes", "vecmap-sup", "geomm", "artetxe2018aaai"]
TAKES = ["300-unique", "500-unique", "1k-unique", "2k-unique"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--engines", nargs="+", default=["local", "ray"])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = make_data(Path(folder))
        plan = [t for t in make_plan("own", systems=SYSTEMS, takes=TAKES, own_pairs=data.pairs) if t.method != MEASURE]
        print("| engine | runs | workers | wall s | s in runs | cost s | cost % |\n|---|---|---|---|---|---|---|")
        walls: dict[str, list[float]] = {engine: [] for engine in args.engines}
        for repeat in range(args.repeats):
            for engine in args.engines:
                out = Path(folder) / f"{engine}-{repeat}"
                found = run(plan, Settings(out, args.jobs, engine, device="cpu", own=data), Silent())
                spent = found.busy_seconds / found.workers
                walls[engine].append(found.wall_seconds)
                cost = found.wall_seconds - spent
                row = f"| {engine} | {found.ran} | {found.workers} | {found.wall_seconds:.1f} | {spent:.1f} "
                print(row + f"| {cost:.1f} | {100 * cost / found.wall_seconds:.1f} |", flush=True)
        if len(walls) == 2:
            first, second = (min(values) for values in walls.values())
            print(f"\n{args.engines[1]} / {args.engines[0]}, least wall seconds of each: {second / first:.2f}")
    return 0


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
