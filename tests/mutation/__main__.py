"""Hunt mutants and print the table of docs/testing.md.

    python -m tests.mutation                       # all modules, as far as the time goes
    python -m tests.mutation --minutes 10 lexicon  # one of them
    python -m tests.mutation --survivors lexicon   # what no test noticed, with the lines

Results are kept in build/mutation: a second run continues where the first one stopped, and starts a module again when
the module or its tests have changed.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from tests.mutation.accepted import ACCEPTED
from tests.mutation.modules import MODULES
from tests.mutation.run import KILLED, SURVIVED, TIMED_OUT, hunt, load_libraries


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description="Hunt mutants.")
    parser.add_argument("modules", nargs="*", choices=[[], *MODULES], metavar="MODULE", help="all if none is named")
    parser.add_argument("--minutes", type=float, default=600, help="stop after this long; run again to continue")
    parser.add_argument("--survivors", action="store_true", help="list what no test noticed")
    parser.add_argument("--folder", type=Path, default=Path("build/mutation"), help="where results are kept")
    options = parser.parse_args()
    load_libraries()
    end = time.monotonic() + 60 * options.minutes
    print("| module | mutants | tried | killed | timed out | survived | of these explained | killed, % |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: |")
    for name in options.modules or MODULES:
        found, results = hunt(f"lnmap.{name}", MODULES[name], options.folder, (end - time.monotonic()) / 60)
        by = {
            result: [one for one in found if results.get(one.key) == result] for result in (KILLED, TIMED_OUT, SURVIVED)
        }
        explained = [one for one in by[SURVIVED] if one.key in ACCEPTED.get(name, {})]
        tried = sum(map(len, by.values()))
        killed = len(by[KILLED]) + len(by[TIMED_OUT])
        share = f"{100 * killed / tried:.1f}" if tried else "-"
        counts = (len(found), tried, len(by[KILLED]), len(by[TIMED_OUT]), len(by[SURVIVED]), len(explained))
        print(f"| {name} | {' | '.join(map(str, counts))} | {share} |", flush=True)
        if options.survivors:
            for one in by[SURVIVED]:
                print(f"    {'explained' if one in explained else 'OPEN'} {one.line}: {one.key}")


if __name__ == "__main__":
    main()
