"""Kill, fail and cut the power at every system call that writes, and write the table of figures.

    python -m tests.calls --out docs/reliability.md

The figures of finished rows are kept in the file --state, from which an interrupted run of the same commit continues.
The exit code is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.calls.cuts import cut
from tests.calls.faults import FAULTS, faulty, whole_program
from tests.calls.jobs import JOBS
from tests.calls.tracer import Fault
from tests.soak.figures import Budget, Figures, Scenario
from tests.soak.keeping import Kept, alone, commit, interruptible, publish, say
from tests.soak.lab import Lab, open_lab
from tests.soak.launcher import ROOT

BEGIN, END = "<!-- calls: begin -->", "<!-- calls: end -->"
_ALL = 10**9
_CUT = "power cuts"
_WHOLE, _SAMPLE = "as a whole program", 3  # faults per command that is started as a user starts it
_PROGRAMS = [name for name in JOBS if name not in ("marks", "cache")]


def _scenarios() -> dict[str, tuple[Scenario, int]]:
    """Return all cells of the table with the attempts that each may take."""
    found: dict[str, tuple[Scenario, int]] = {}
    for name in JOBS:
        found |= {f"{name}: {fault}": (faulty(name, Fault(fault)), _ALL) for fault in FAULTS}
        found[f"{name}: {_CUT}"] = (cut(name), _ALL)
    for name in _PROGRAMS:
        for fault in ("KILL", "ENOSPC"):
            found[f"{name}, {_WHOLE}: {fault}"] = (faulty(name, Fault(fault), whole_program), _SAMPLE)
    return found


SCENARIOS = _scenarios()


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.calls", description=__doc__)
    parser.add_argument("--out", type=Path, help="page whose table is replaced; by default it is only printed")
    parser.add_argument("--state", type=Path, default=ROOT / "build" / "calls.json", help="finished figures")
    parser.add_argument("--fresh", action="store_true", help="start over instead of continuing")
    parser.add_argument("--few", type=int, metavar="N", default=_ALL, help="N calls of each only")
    parser.add_argument("--only", metavar="TEXT", default="", help="only cells whose name contains this text")
    parser.add_argument("--again", metavar="TEXT", help="run these cells again and keep the figures of all others")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    given = _arguments(argv)
    with alone(given.state):
        how = {"commit": commit(), "few": given.few}
        kept = Kept(given.state, how, any_state=given.again is not None, fresh=given.fresh)
        left = [key for key in SCENARIOS if given.only in key and key not in kept.done]
        if given.again is not None:
            left = [key for key in SCENARIOS if given.again in key]
        with interruptible(kept):
            _run_all(left, given.few, kept)
        return publish(kept, table(kept.state), given.out, BEGIN, END)


def _run_all(keys: Sequence[str], few: int, kept: Kept) -> None:
    began, now = time.monotonic(), commit()
    if not keys:
        return
    with open_lab(size=(150, 20)) as lab:
        for key in keys:
            scenario, most = SCENARIOS[key]
            figures = _run(scenario, lab, Budget(min(most, few)))
            date = time.strftime("%Y-%m-%d", time.gmtime())
            kept.done[key] = {**asdict(figures), "date": date, "commit": now}
            kept.state["minutes"] = kept.state.get("minutes", 0) + (time.monotonic() - began) / 60
            began = time.monotonic()
            kept.save()
            say(" | ".join(figures.row(key)))
            for failure in figures.failures:
                say(f"    failed: {failure}")


def _run(scenario: Scenario, lab: Lab, budget: Budget) -> Figures:
    try:
        return scenario(lab, budget)
    except Exception as error:
        figures = Figures(attempts=1)
        figures.fail(f"the row itself broke: {type(error).__name__}: {error}")
        return figures


def table(state: dict[str, Any]) -> str:
    """Return the figures as Markdown, with the date, the commit and the machine."""
    how, done = state["how"], state["done"]
    columns = (*FAULTS, _CUT)
    rows = list(dict.fromkeys(key.rpartition(": ")[0] for key in SCENARIOS if key in done))
    cells = [[_cells(done, row, columns), row] for row in rows]
    total = [sum(part[i] for part, row in cells if i or row in JOBS) for i in range(len(columns) + 2)]
    lines = [("what is done", "calls that write", *columns, "failures"), ("---", *["--:"] * (len(columns) + 2))]
    lines += [(row, *(f"{value:,}" if value else "" for value in found[:-1]), f"{found[-1]:,}") for found, row in cells]
    lines.append(("all", *(f"{value:,}" for value in total)))
    kind = "Every call" if how["few"] == _ALL else f"{how['few']} calls of each"
    dates = sorted(one.get("date", "") for one in done.values()) or [""]
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    head = f"{kind}: {dates[-1]}, commit {how['commit']}, {machine}, {state.get('minutes', 0):.0f} minutes.\n\n"
    for later in sorted({one["commit"] for one in done.values()} - {how["commit"]}):
        head += f"At commit {later}: {'; '.join(_cells_at(done, later))}.\n\n"
    missing = len(SCENARIOS) - len(done)
    head += f"Not finished: {missing} of {len(SCENARIOS)} cells are missing.\n\n" if missing else ""
    skipped = sorted({one["skipped"] for one in done.values() if one["skipped"]})
    head += "".join(f"Not run: {reason}.\n\n" for reason in skipped)
    failures = [f"- {key}: `{text}`\n" for key, one in done.items() for text in one["failures"][:3]]
    page = head + "".join("| " + " | ".join(line) + " |\n" for line in lines)
    return page + ("\nWhat failed:\n\n" + "".join(failures) if failures else "")


def _cells_at(done: dict[str, Any], commit: str) -> list[str]:
    """Return the rows that were run at a commit, or the cells of those that were run in part."""
    names = []
    for row in dict.fromkeys(key.rpartition(": ")[0] for key in done):
        found = {key: one["commit"] == commit for key, one in done.items() if key.rpartition(": ")[0] == row}
        names += [row] if all(found.values()) else [key for key, here in found.items() if here]
    return names


def _cells(done: dict[str, Any], row: str, columns: Sequence[str]) -> list[int]:
    """Return the calls of a job, the attempts under each fault, and the failures."""
    found = [done.get(f"{row}: {column}", {}) for column in columns]
    calls = max((int(one.get("also", {}).get("calls", 0)) for one in found), default=0)
    return [calls, *(one.get("attempts", 0) for one in found), sum(one.get("failed", 0) for one in found)]


if __name__ == "__main__":
    sys.exit(main())
