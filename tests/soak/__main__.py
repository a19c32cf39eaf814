"""Run every scenario for its share of the time, and write the table of figures.

    python -m tests.soak --minutes 60 --out docs/reliability.md

The figures of finished scenarios are kept in the file --state, from which an interrupted soak of the same commit
continues. The exit code is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.soak.figures import Figures, markdown
from tests.soak.lanes import Plan, run_lanes
from tests.soak.launcher import ROOT
from tests.soak.scenarios import SCENARIOS

from lnmap.io.atomic import atomic_file, write_json

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def _commit() -> str:
    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()

    changes = " with changes" if git("status", "-s", "src") else ""
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + changes


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
    how = {"commit": _commit(), "minutes": given.minutes, "few": given.few, "seed": given.seed}
    state = _load(given.state, None if given.again else how) if not given.fresh else {"how": how, "done": {}}
    state.setdefault("how", how)
    texts = given.again or ([given.only] if given.only else [""])
    chosen = [one.key for one in SCENARIOS if any(text.lower() in one.key.lower() for text in texts)]
    left = [key for key in chosen if given.again or key not in state["done"]]
    began = time.monotonic()
    for key, figures in run_lanes(left, Plan(given.minutes, given.few, given.seed)) if left else ():
        date = time.strftime("%Y-%m-%d", time.gmtime())
        state["done"][key] = {**asdict(figures), "date": date, "commit": how["commit"]}
        write_json(given.state, state)
        _say(f"{(time.monotonic() - began) / 60:4.1f} min | " + " | ".join(figures.row(key)))
        for failure in figures.failures:
            _say(f"    failed: {failure}")
    state["minutes_taken"] = state.get("minutes_taken", 0) + (time.monotonic() - began) / 60
    write_json(given.state, state)
    page = table(state)
    _say(page)
    if given.out:
        _replace(given.out, page)
    return int(any(done["failed"] for done in state["done"].values()))


def _load(path: Path, how: dict[str, Any] | None) -> dict[str, Any]:
    """Return the figures of finished scenarios if they were made in the same way, or in any way if `how` is None."""
    try:
        state: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        state = {}
    if how is None:
        return {"done": {}, **state}
    return state if state.get("how") == how else {"how": how, "done": {}}


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
    for commit in sorted({one for one in commits.values() if one != how["commit"]}):
        names = ", ".join(key.partition(": ")[2] for key, one in commits.items() if one == commit)
        lines += f"Run again afterwards, at commit {commit}: {names}.\n\n"
    rows = [Figures(**one).row(key) for key, one in done.items()]
    failures = [f"- {key}: `{text}`\n" for key, one in done.items() for text in one["failures"][:3]]
    return lines + markdown(rows) + ("\nWhat failed:\n\n" + "".join(failures) if failures else "")


def _replace(path: Path, page: str) -> None:
    """Replace the table between its marks in a page."""
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{path} has no place for the figures: {BEGIN} ... {END}")
    with atomic_file(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n\n{page}\n{END}{after}")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
