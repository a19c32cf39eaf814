"""Run every scenario for its share of the time, and write the table of figures.

    python -m tests.soak --minutes 60 --out docs/reliability.md

The figures of finished scenarios are kept in the file --state, from which an interrupted soak of the same commit
continues. The exit code is 1 if anything failed.
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

from tests.soak.figures import Figures, markdown
from tests.soak.keeping import Kept, alone, commit, interruptible, publish, say
from tests.soak.lanes import Plan, run_lanes
from tests.soak.launcher import ROOT
from tests.soak.scenarios import SCENARIOS

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="time for everything together")
    parser.add_argument("--out", type=Path, help="page whose table is replaced; by default it is only printed")
    parser.add_argument("--state", type=Path, default=ROOT / "build" / "soak.json", help="finished figures")
    parser.add_argument("--fresh", action="store_true", help="start over instead of continuing")
    parser.add_argument("--few", action="store_true", help="make only a few attempts of each")
    parser.add_argument("--only", metavar="TEXT", help="only scenarios whose name contains this text")
    parser.add_argument("--again", nargs="+", metavar="TEXT", help="run these again and keep the figures of all others")
    parser.add_argument("--seed", type=int, default=0, help="of the random moments and bytes")
    return parser.parse_args()


def main() -> int:
    given = _arguments()
    how = {"commit": commit(), "minutes": given.minutes, "few": given.few, "seed": given.seed}
    with alone(given.state):
        kept = Kept(given.state, how, any_state=bool(given.again), fresh=given.fresh)
        texts = given.again or ([given.only] if given.only else [""])
        quick = given.few and texts == [""]
        named = [one for one in SCENARIOS if any(text.lower() in one.key.lower() for text in texts)]
        chosen = [one.key for one in named if not (quick and one.before)]
        left = [key for key in chosen if given.again or key not in kept.done]
        with interruptible(kept):
            _run_all(left, Plan(given.minutes, given.few, given.seed), kept)
        return publish(kept, table(kept.state), given.out, BEGIN, END)


def _run_all(keys: Sequence[str], plan: Plan, kept: Kept) -> None:
    for one in SCENARIOS:
        if one.before and one.key in keys:
            one.before()
    began, now = time.monotonic(), commit()
    for key, figures in run_lanes(keys, plan) if keys else ():
        date = time.strftime("%Y-%m-%d", time.gmtime())
        kept.done[key] = {**asdict(figures), "date": date, "commit": now}
        kept.save()
        say(f"{(time.monotonic() - began) / 60:4.1f} min | " + " | ".join(figures.row(key)))
        for failure in figures.failures:
            say(f"    failed: {failure}")
    kept.state["minutes_taken"] = kept.state.get("minutes_taken", 0) + (time.monotonic() - began) / 60
    kept.save()


def table(state: dict[str, Any]) -> str:
    """Return the figures as Markdown, with the date, the commit and the machine."""
    how, found = state["how"], state["done"]
    done = {key: dict(found[key]) for one in SCENARIOS if (key := one.key) in found}
    dates = sorted(one.pop("date", "") for one in done.values())
    commits = {key: one.pop("commit", how["commit"]) for key, one in done.items()}
    kind = f"A soak of {how['minutes']:g} minutes"
    if how["few"]:
        kind = "A few attempts of each, not a soak"
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    lines = f"{kind}: {dates[-1]}, commit {how['commit']}, seed {how['seed']}, {machine}, "
    lines += f"{state.get('minutes_taken', 0):.0f} minutes in all.\n\n"
    for later in sorted({one for one in commits.values() if one != how["commit"]}):
        names = ", ".join(key.partition(": ")[2] for key, one in commits.items() if one == later)
        lines += f"Run again afterwards, at commit {later}: {names}.\n\n"
    rows = [Figures(**one).row(key) for key, one in done.items()]
    failures = [f"- {key}: `{text}`\n" for key, one in done.items() for text in one["failures"][:3]]
    return lines + markdown(rows) + ("\nWhat failed:\n\n" + "".join(failures) if failures else "")


if __name__ == "__main__":
    sys.exit(main())
