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

import torch  # before any fork, which then need not load it
from tests.mutation.accepted import ACCEPTED
from tests.mutation.modules import MODULES
from tests.mutation.mutate import mutants
from tests.mutation.run import KILLED, SURVIVED, TIMED_OUT, hunt
from tests.mutation.state import State, path_of
from tests.soak.keeping import alone, terminable

KINDS = (KILLED, TIMED_OUT, SURVIVED)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description="Hunt mutants.")
    parser.add_argument("modules", nargs="*", choices=[[], *MODULES], metavar="MODULE", help="all if none is named")
    parser.add_argument("--minutes", type=float, default=600, help="stop after this long; run again to continue")
    parser.add_argument("--survivors", action="store_true", help="list what no test noticed")
    parser.add_argument("--folder", type=Path, default=Path("build/mutation"), help="where results are kept")
    options = parser.parse_args()
    with alone(options.folder / "hunt", "--folder"):
        try:
            with terminable():
                _hunt(options)
        except KeyboardInterrupt:
            raise SystemExit(
                f"interrupted; {options.folder} keeps what was found, and the same command continues"
            ) from None


def _hunt(options: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    torch.testing.assert_close(torch.zeros(1), torch.zeros(1))  # imports what every fork would import again
    end = time.monotonic() + 60 * options.minutes
    print("| module | mutants | tried | killed | timed out | survived | of these explained | killed, % |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: |")
    for name in options.modules or MODULES:
        module, tests = f"lnmap.{name}", MODULES[name]
        found = list(mutants(path_of(module).read_text(encoding="utf-8"), str(path_of(module))))
        state = State(options.folder, module, tests)
        hunt(module, tests, state, found, end)
        by = {kind: [one for one in found if state.results.get(one.key) == kind] for kind in KINDS}
        explained = [one for one in by[SURVIVED] if one.key in ACCEPTED.get(name, {})]
        tried = sum(map(len, by.values()))
        killed = len(by[KILLED]) + len(by[TIMED_OUT])
        share = f"{100 * killed / tried:.1f}" if tried else "-"
        counts = (len(found), tried, len(by[KILLED]), len(by[TIMED_OUT]), len(by[SURVIVED]), len(explained))
        print(f"| {name} | {' | '.join(map(str, counts))} | {share} |", flush=True)
        for key in sorted(set(ACCEPTED.get(name, {})) - {one.key for one in found}):
            print(f"    no longer there, to be removed from accepted.py: {key}")
        if options.survivors:
            for one in by[SURVIVED]:
                print(f"    {'explained' if one in explained else 'OPEN'} {one.line}: {one.key}")


if __name__ == "__main__":
    main()
