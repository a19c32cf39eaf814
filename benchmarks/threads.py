"""What two threads are worth beside other programs: a Markdown table of wall seconds, and multiples of one thread's.

    python benchmarks/threads.py --data DIR [--runs 3] [--commands align induce] [--spins 0 300]

English and French, 1 000 pairs, `--profile fast` (`--profile default` for the default). Other programs are loops that
never wait. Each command runs on two cores, with one thread and with two: as OpenMP waits by itself, as the command line
makes it wait, and with other numbers of turns that a thread spins before it sleeps (`--spins`). All settings run in
turns, so that what else runs meets each of them; the last column is the load when a row began, its own loops left out.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LNMAP = "import sys; from lnmap.cli import main; sys.exit(main())"
ONE, OPENMP, OURS = "one thread", "two, OpenMP's way", "two, lnmap's way"


@contextmanager
def others(count: int) -> Iterator[None]:
    """Run loops that never wait."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def settings(spins: list[int]) -> dict[str, dict[str, str]]:
    """Return the environment of each setting; a number of turns that is set is kept by lnmap."""
    two = {"OMP_NUM_THREADS": "2"}
    counts = {f"two, {count} turns": {**two, "GOMP_SPINCOUNT": str(count)} for count in spins}
    own = {**two, "GOMP_SPINCOUNT": "300000"}
    return {ONE: {"OMP_NUM_THREADS": "1"}, OPENMP: own, OURS: two, **counts}


def timed(environment: dict[str, str], arguments: list[str]) -> float:
    """Run a command; return its wall seconds."""
    began = time.monotonic()
    command = [sys.executable, "-c", LNMAP, *arguments]
    subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True)
    return time.monotonic() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("LNMAP_BENCH_DATA"))
    parser.add_argument("--commands", nargs="+", default=["align", "induce"], choices=["align", "induce"])
    parser.add_argument("--others", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--spins", nargs="*", type=int, default=[])
    parser.add_argument("--profile", default="fast", help="of auto; default for none")
    given = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])  # the commands inherit it
    ways = settings(given.spins)
    with tempfile.TemporaryDirectory() as folder:
        vectors = [str(given.data / f"vectors/{language}.vec.gz") for language in ("en", "fr")]
        seed = ["--pairs", str(given.data / "dictionaries/muse/en-fr.0-5000.txt"), "--take", "1k-unique"]
        profile = [] if given.profile == "default" else ["--profile", given.profile]
        align = ["align", *vectors, *seed, *profile, "--out", f"{folder}/model"]
        work = {"align": [*align, "--fresh"], "induce": ["induce", f"{folder}/model", "--out", "-"]}
        timed({}, align)  # fills the cache
        print(f"| command | other programs | {' | '.join(ways)} | load |")
        print("|---|---:|" + "---:|" * (len(ways) + 1))
        for name in given.commands:
            for count in given.others:
                seconds, load = defaultdict(list), os.getloadavg()[0]
                with others(count):
                    for _ in range(given.runs):
                        for way, environment in ways.items():
                            seconds[way].append(timed(environment, work[name]))
                middle = [statistics.median(each) for each in seconds.values()]
                cells = [f"{each:.1f} s, {each / middle[0]:.2f}" for each in middle]
                print(f"| {name} | {count} | {' | '.join(cells)} | {load:.1f} |", flush=True)


if __name__ == "__main__":
    main()
