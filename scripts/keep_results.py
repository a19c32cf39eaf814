"""Copy finished results of `lnmap reproduce` without their words, small enough for the repository.

python scripts/keep_results.py FOLDER benchmarks/results/TABLE [TABLE]

FOLDER is one that `lnmap reproduce` wrote; name the table if it holds several. A newer result of a cell and seed takes
the place of the one that is there.
"""

from __future__ import annotations

import sys
from pathlib import Path

from lnmap.experiments import Results
from lnmap.experiments.report.groups import groups_of
from lnmap.experiments.results import DONE

LEFT_OUT = ("words", "format", "version", "key", "sha256")  # written anew, but for the words


def keep(source: Path, target: Path, table: str | None = None) -> int:
    """Return how many results were copied; other cells of the target stay as they are."""
    there, here = Results(source), Results(target)
    trials = [entry for name, entries in there.plan().items() if table in (None, name) for entry in entries]
    kept = []
    for trial, key in trials:
        result = there.read(trial, key)
        if result is not None and result["status"] == DONE:
            found = {name: value for name, value in result.items() if name not in LEFT_OUT}
            if "words" in result:  # what the report says about groups of them stays
                found["scores"] = {**result["scores"], "groups": groups_of(result)}
            here.write(trial, key, {**found, "trial": trial.to_dict()})  # tables may share a result
            kept.append((trial, key))
    before = files(here)
    here.remember(kept)
    for old in before - files(here):
        old.unlink(missing_ok=True)
    return len(kept)


def files(results: Results) -> set[Path]:
    """Return the files that a plan speaks of."""
    if not (results.folder / "plan.json").exists():
        return set()
    return {results.path(trial, key) for entries in results.plan().values() for trial, key in entries}


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    print(keep(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:]))
