"""Write the table of docs/originals.md from the results in benchmarks/results/originals.

python benchmarks/originals/table.py
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any, NamedTuple

from jobs import JOBS, Job
from systems import SYSTEMS

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "originals"
PAGE = ROOT / "docs" / "originals.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
HEADS = ("system", "original", "setting", "data", "original P@1", "ours P@1", "verdict")
EQUAL = 0.1
NOTHING = 5.0  # a run without a seed that has not found the way scores less
WHY = {  # reasons of differences, by system, pair and seed rule; "*" for any
    ("artetxe2017", "en-fr", "5k-unique"): "rounding, which self-learning amplifies; they agree in float64, see below",
    (
        "vecmap-semi-short",
        "*",
        "*",
    ): "three short runs each (exact rank test: p = 0.1); with the whole budget they agree",
    ("geomm", "*", "*"): "its 150 iterations stop before the minimum, which ours computes exactly",
    ("aae", "*", "*"): "a tenth of the published game ends before it is decided; 1 of 3 beside 3 of 3 may be chance",
}


class Scores(NamedTuple):
    """P@1 of the runs of one program."""

    values: list[float]

    @property
    def found(self) -> list[float]:
        """The runs that have found the way."""
        return [value for value in self.values if value >= NOTHING]

    @property
    def mean(self) -> float:
        return statistics.mean(self.found or self.values)

    @property
    def spread(self) -> float:
        """Largest minus smallest."""
        return max(self.found or self.values) - min(self.found or self.values)

    def __str__(self) -> str:
        shown = self.found or self.values
        text = f"{self.mean:.1f}" + (f" ({min(shown):.1f} to {max(shown):.1f})" if len(shown) > 1 else "")
        return f"{text}, {len(shown)} of {len(self.values)} runs" if len(shown) < len(self.values) else text


def main() -> None:
    if sys.argv[1:] == ["--print"]:
        print(table())
        return
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{PAGE} has no place for the table: {BEGIN} ... {END}")
    PAGE.write_text(f"{before}{BEGIN}\n\n{table()}\n{END}{after}", encoding="utf-8")


def table() -> str:
    """One row per system, pair of languages and seed rule that both programs have results of."""
    lines = [f"| {' | '.join(HEADS)} |", "|---|---|---|---|---:|---:|---|"]
    rows = dict.fromkeys(job[:1] + job[2:4] for job in JOBS)
    for name, pair, take in sorted(rows, key=lambda row: list(SYSTEMS).index(row[0])):
        system = SYSTEMS[name]
        theirs, ours = (scores(name, who, pair, take) for who in ("original", "ours"))
        if not (theirs.values and ours.values):
            continue
        peer = system.peer
        where = f"{peer.address} at {peer.commit[:10]}"
        profile = system.profile and system.profile.format(size=take.partition("-")[0])
        method = f"`{system.method}`" + (f", `{profile}`" if profile else "")
        data = f"{pair}, {'no seed' if name in NO_SEED else take}"
        row = (
            method,
            where,
            system.setting,
            data,
            theirs,
            ours,
            verdict(system.random, theirs, ours, name, pair, take),
        )
        lines.append(f"| {' | '.join(map(str, row))} |")
    return "\n".join(lines) + "\n"


NO_SEED = ("artetxe2018acl", "artetxe2018acl-short", "muse-unsup", "aae")


def scores(name: str, who: str, pair: str, take: str) -> Scores:
    found = [read(job) for job in JOBS if (job.system, job.who, job.pair, job.take) == (name, who, pair, take)]
    return Scores([result["scores"]["p@1"] for result in found if result and result["status"] == "done"])


def read(job: Job) -> dict[str, Any] | None:
    path = RESULTS / job.file
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def verdict(random: bool, theirs: Scores, ours: Scores, *key: str) -> str:
    """Compare: closed forms to 0.1, random ones by the larger of the two spreads."""
    why = WHY.get(key) or WHY.get((key[0], "*", "*"), "")
    difference = ours.mean - theirs.mean
    if not theirs.found and not ours.found:
        return "both fail"
    if any(len(side.found) < len(side.values) for side in (theirs, ours)):
        failed = [f"{len(side.found)} of {len(side.values)}" for side in (theirs, ours)]
        return f"found by {failed[0]} and {failed[1]} runs, apart by {difference:+.2f}" + (f": {why}" if why else "")
    if abs(difference) <= EQUAL:
        return "equal"
    if random and len(theirs.values) == len(ours.values) == 1:
        return f"apart by {difference:+.2f}, one run each"
    if random and abs(difference) <= max(theirs.spread, ours.spread):
        return "within spread"
    return f"different by {difference:+.2f}" + (f": {why}" if why else "")


if __name__ == "__main__":
    main()
