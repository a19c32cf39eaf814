"""Faults: each call of a job is killed, or fails with an error, one run per call."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tests.calls.jobs import Job, opened
from tests.calls.tracer import Call, Fault, program, traced
from tests.helpers import PROGRAM
from tests.soak.figures import Budget, Figures, Scenario
from tests.soak.lab import Lab, leftovers
from tests.soak.launcher import Ended

FAULTS = ("KILL", "ENOSPC", "EIO", "EROFS", "EINTR")
_UNCHANGED = "nothing that was there has been changed"
_TRIES = 3
_HASH = re.compile(r"[0-9a-f]{12,}")
T = TypeVar("T")
Traced = tuple[Ended, list[Call]]
Trace = Callable[..., Traced]


@dataclass(frozen=True)
class Recorded:
    """An undisturbed run of a job.

    :param calls: those that write to its folder, in their order.
    :param files: the names of all files afterwards.
    :param tried: what faults have left so far and a second run has dealt with.
    """

    calls: Sequence[Call]
    about: Sequence[str]
    new: Any
    result: Any
    files: Counter[str]
    tried: set[bytes] = field(default_factory=set)


def forked(job: Job, out: Path, fault: Fault | None = None, call: Call | None = None, **more: bool) -> Traced:
    """Run a job as a child of the launcher."""
    return traced(job.lab.launcher, lambda: job.start(out, hold=True), fault, call, **more)


def whole_program(job: Job, out: Path, fault: Fault | None = None, call: Call | None = None, **more: bool) -> Traced:
    """Run a job as a user does, from the start of Python on."""
    return program([*PROGRAM, *job.argv(out)], job.environment(out), fault, call)


def record(job: Job, out: Path | None = None, trace: Trace = forked, **more: bool) -> tuple[Recorded, list[Call]]:
    """Run a job undisturbed; return what it left, and all calls of its first thread.

    :param out: where it is prepared already.
    :param more: `data=True` records all that it writes, for a simulated disk.
    """
    if out is None:
        first, out = job.lab.fresh(), job.lab.fresh()
        for place in (first, out):
            job.prepare(place)
        job.run(first)  # what lnmap remembers of its input is in the cache from here on
    ended, calls = trace(job, out, **more)
    if ended.code:
        raise RuntimeError(f"the command fails without any fault: {ended.err[-300:]}")
    ours = [call for call in calls if call.touches(out.parent)]
    if len({call.thread for call in ours}) != 1:
        raise RuntimeError("calls of several threads cannot be told apart")
    calls = [call for call in calls if call.thread == ours[0].thread]
    about = [call.about(out.parent) for call in ours]
    return Recorded(ours, about, job.content(out), job.result(ended), files_of(out)), calls


def files_of(out: Path) -> Counter[str]:
    """Count the files and folders by name, whatever their content."""
    return Counter(_HASH.sub("*", str(path.relative_to(out.parent))) for path in out.parent.rglob("*"))


def state_of(out: Path) -> bytes:
    """Identify everything that is there, but for times in the log, which nothing reads."""
    found = []
    for path in out.parent.rglob("*"):
        name = _HASH.sub("*", str(path.relative_to(out.parent)))
        found.append((name, path.read_bytes() if path.is_file() and name != "out/training.jsonl" else b""))
    return hashlib.sha256(repr(sorted(found)).encode()).digest()


def faulty(name: str, fault: Fault, trace: Trace = forked) -> Scenario:
    """Return a scenario that lets the fault happen to every call of a job in turn."""

    def scenario(lab: Lab, budget: Budget) -> Figures:
        figures = Figures()
        with opened(name, lab) as job, figures.skipping():
            recorded, _ = record(job, trace=trace)
            figures.count("calls", len(recorded.calls))
            for number in spread(range(len(recorded.calls)), budget.attempts):
                with figures.attempt():
                    _try(job, recorded, number, fault, figures, trace)
        return figures

    return scenario


def spread(values: Sequence[T], most: int) -> list[T]:
    """Return all values, or as many as are wanted from the first to the last."""
    if most >= len(values):
        return list(values)
    return [values[round(i * (len(values) - 1) / max(1, most - 1))] for i in range(most)]


def _try(job: Job, recorded: Recorded, number: int, fault: Fault, figures: Figures, trace: Trace) -> None:
    about = recorded.about[number]
    try:
        out, old, ended = _strike(job, recorded, number, fault, trace)
        if fault.name == "KILL":
            figures.count("killed")
        else:
            figures.count("refused" if ended.code else "went on")
            _require_clear(job, ended, out, old, recorded)
        job.keeps(out, ended.out if fault.name == "KILL" or ended.code else "", old, recorded.new)
        figures.count("left over", leftovers(out.parent))
        if ended.code != 0 or files_of(out) != recorded.files:  # else it did all that a second run would do
            _repeat_once(job, out, recorded, figures)
    except AssertionError as error:
        raise AssertionError(f"{fault.name} at call {number + 1}, {about}: {error}") from error


def _strike(job: Job, recorded: Recorded, number: int, fault: Fault, trace: Trace) -> tuple[Path, Any, Ended]:
    """Let a fault happen to a call; return the place, what was there before, and how the run ended.

    On a busy machine a run may open a file more than another. Where another call was hit, the run is recorded again:
    this one or the recorded one may have been the odd one.
    """
    call, about, found = recorded.calls[number], recorded.about[number], list[str]()
    for _ in range(_TRIES):
        out = job.lab.fresh()
        job.prepare(out)
        old = job.content(out)
        ended, calls = trace(job, out, fault, call)
        hit = [one for one in calls if (one.result is None if fault.name == "KILL" else one.faulty)]
        found = [one.about(out.parent) for one in hit]
        if about in found:
            return out, old, ended
        again, _ = record(job, trace=trace)
        if again.about == recorded.about:
            call = again.calls[number]
    raise AssertionError(f"the harness hit {found} instead")


def _require_clear(job: Job, ended: Ended, out: Path, old: Any, recorded: Recorded) -> None:
    """Require success with the whole result, or exit code 3 with one line that tells the truth."""
    if "Traceback" in ended.err or ended.code not in (0, 3):
        raise AssertionError(f"exit code {ended.code}, signal {ended.signal}: {ended.err[-300:]}")
    if not ended.code:
        if job.result(ended) != recorded.result:
            raise AssertionError("it went on with another result")
        job.finished(out, recorded.new)
        return
    last = ended.err.strip().splitlines()[-1]
    if not last.startswith("error: "):
        raise AssertionError(f"unclear message: {last}")
    if _UNCHANGED in last and job.content(out) != old and not job.stepwise:
        raise AssertionError(f"the output has changed in spite of: {last}")


def _repeat_once(job: Job, out: Path, recorded: Recorded, figures: Figures) -> None:
    """Run the command again, unless another fault has left the very same files."""
    state = state_of(out)
    if state not in recorded.tried:
        figures.count("run again")
        require_repeat(job, out, recorded)
        recorded.tried.add(state)


def require_repeat(job: Job, out: Path, recorded: Recorded) -> None:
    """Run the same command again: it gives the same bits and leaves nothing else behind."""
    before, there = job.progress(out), job.once and job.content(out) == recorded.new
    second = job.run(out)
    if second.code != (3 if there else 0) or "Traceback" in second.err:
        raise AssertionError(f"the second run fails: {second.err[-300:]}")
    if job.content(out) != recorded.new or job.result(second) != recorded.result:
        raise AssertionError("the second run gives another result")
    if more := files_of(out) - recorded.files:
        raise AssertionError(f"the second run leaves {', '.join(more)}")
    if before and (again := job.repeated(before, out, second)):
        raise AssertionError(again)
