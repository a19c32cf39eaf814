"""Power cuts: after every recorded call of a job, what a power cut may leave is put on a disk and looked at."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.calls.faults import Recorded, record, require_repeat, spread
from tests.calls.jobs import Job, opened
from tests.calls.platter import Platter, Tree, read_tree, write_tree
from tests.calls.tracer import Call
from tests.soak.figures import Budget, Figures, Scenario
from tests.soak.lab import Lab


@dataclass(frozen=True)
class Moment:
    """What a power cut may leave at one moment.

    :param printed: what the command had printed by then.
    """

    how: str
    tree: Tree
    printed: str


def cut(name: str) -> Scenario:
    """Return a scenario that cuts the power after every call of a job."""

    def scenario(lab: Lab, budget: Budget) -> Figures:
        figures = Figures()
        with opened(name, lab) as job, figures.skipping():
            out = lab.fresh()
            job.prepare(out)
            old, platter = job.content(out), Platter(out.parent)
            recorded, calls = record(job, out, data=True)
            moments = list(_moments(platter, calls, out, figures))
            if platter.now() != read_tree(out.parent):
                raise RuntimeError("the simulated disk has not followed what the command did")
            for moment in spread(moments, budget.attempts):
                with figures.attempt():
                    _check(job, moment, old, recorded)
        return figures

    return scenario


def _moments(platter: Platter, calls: Sequence[Call], out: Path, figures: Figures) -> Iterator[Moment]:
    """Yield everything that a cut after any of the calls may leave, each once."""
    seen, printed = set(), ""
    for call in calls:
        platter.follow(call)
        if call.name == "write" and call.text.startswith("1<"):
            printed += call.strings[1].decode()
        elif not call.touches(out.parent):
            continue
        for how, tree in platter.cuts():
            figures.count("cuts")
            key = hashlib.sha256(repr((sorted(tree.items()), printed)).encode()).digest()
            if key not in seen:
                seen.add(key)
                yield Moment(f"{how} after {call.about(out.parent)}", tree, printed)


def _check(job: Job, moment: Moment, old: Any, recorded: Recorded) -> None:
    out = job.lab.fresh()
    write_tree(moment.tree, out.parent)
    try:
        job.keeps(out, moment.printed, old, recorded.new)
        require_repeat(job, out, recorded)
    except Exception as error:
        raise AssertionError(f"{moment.how}: {error}") from error
