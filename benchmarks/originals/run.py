"""Run original programs and ours on the same files, and score both with the package's scorer.

    python benchmarks/originals/run.py --data DIR --clones DIR --out DIR            # everything, one job at a time
    python benchmarks/originals/run.py --data DIR --clones DIR --out DIR --device cuda --workers 8 --seconds 570
    python benchmarks/originals/run.py ... --only 'rcsls-*:*:en-fr:*:*'             # system:who:pair:seed rule:seed

DIR of --data (or LNMAP_BENCH_DATA) holds vectors/{en,fr,fi}.vec.gz and dictionaries/muse/; DIR of --clones (or
LNMAP_BENCH_CLONES) holds the clones. Each job writes one JSON file to OUT as soon as it is done; a job whose file is
there is not run again. --pack FILE writes all results of OUT into one file, --unpack FILE takes them out.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from inputs import prepare
from jobs import finished, select
from peers import missing
from pool import run_all
from systems import SYSTEMS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("LNMAP_BENCH_DATA"))
    parser.add_argument("--clones", type=Path, default=os.environ.get("LNMAP_BENCH_CLONES"))
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--work", type=Path, default=Path("originals-work"), help="folder for prepared files")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop everything after so many seconds")
    parser.add_argument("--only", nargs="+", default=["*"], help="patterns system:who:pair:seed rule:random seed")
    parser.add_argument("--cut", type=int, help="words of each language, for a trial")
    parser.add_argument("--trial", action="store_true", help="a few steps only, to see that the programs run")
    parser.add_argument("--list", action="store_true", help="list the jobs and stop")
    parser.add_argument("--pack", type=Path, metavar="FILE")
    parser.add_argument("--unpack", type=Path, metavar="FILE")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    if args.unpack:
        return unpack(args.unpack, args.out)
    jobs = [job for job in select(args.only) if not finished(job, args.out)]
    if args.list:
        print("\n".join(f"{job.key}  {job.seconds} s" for job in jobs))
        return 0
    if args.data is None or args.clones is None:
        parser.error("give --data and --clones, or LNMAP_BENCH_DATA and LNMAP_BENCH_CLONES")
    lacking = missing(args.clones, {SYSTEMS[job.system].peer for job in jobs if job.who == "original"})
    if lacking:
        print(f"in {args.clones}:", *lacking, sep="\n  ", file=sys.stderr)
        return 2
    pairs = sorted({job.pair for job in jobs})
    pairs = sorted({*pairs, *("-".join(reversed(pair.split("-"))) for pair in pairs)})  # lnmap.py reads both ways
    takes = sorted({job.take for job in jobs})
    prepare(args.data, args.work / "inputs", pairs, takes, args.cut)
    failed = run_all(jobs, args)
    if args.pack:
        pack(args.out, args.pack)
    return int(failed > 0)


def pack(folder: Path, file: Path) -> None:
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    file.write_text(json.dumps(found, indent=1), encoding="utf-8")


def unpack(file: Path, folder: Path) -> int:
    for name, result in json.loads(file.read_text(encoding="utf-8")).items():
        if result["status"] == "done":
            (folder / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        else:
            print(name, result["status"], result["reason"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
