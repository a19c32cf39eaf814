"""Kills of `reproduce --engine ray`: of the command itself, and of a worker of its real Ray cluster."""

from __future__ import annotations

import importlib.util
import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.soak.figures import Budget, Figures
from tests.soak.kills import Reproduce
from tests.soak.lab import Lab
from tests.soak.launcher import Child
from tests.soak.processes import await_end, birth, command_line, descendants

# Of Ray itself: for a minute agents try to report to the dead cluster, and workers that were just starting to join it.
_SLOW = ("ray::DashboardAgent", "ray::RuntimeEnvAgent", "ray::IDLE")
_SLOW_S = 120.0
_WORKER = "ray::RayWorker"
_WORKER_S = 0.4  # a worker that is killed later than this has often done everything


class OnRay(Reproduce):
    """`lnmap reproduce --engine ray` with a cluster of its own on this machine."""

    def argv(self, out: Path) -> Sequence[object]:
        return [*super().argv(out), "--engine", "ray"]


def reproduce_on_ray(lab: Lab, budget: Budget) -> Figures:
    """Kill the command and a worker in turn: every run is done once, and finished ones are not done again."""
    if importlib.util.find_spec("ray") is None:
        return Figures(skipped="Ray is not installed (extra cluster)")
    figures, command, out = Figures(), OnRay(lab), lab.fresh()
    env = {"RAY_TMPDIR": str(lab.folder), "RAY_USAGE_STATS_ENABLED": "0"}
    whole = lab.launcher.run(command.argv(out), env=env)
    if whole.code:
        raise RuntimeError(f"the command fails without any kill: {whole.err[-300:]}")
    expected, slow = command.content(out), dict[int, int]()
    while budget.more(figures):
        with figures.attempt():
            out, share = lab.fresh(), budget.rng.random()
            moment = (0.4 + 0.6 * share) * whole.seconds  # before that Ray is still starting
            child = lab.launcher.start(command.argv(out), env=env)
            if figures.attempts % 2:
                _kill_worker(lab, child, share * _WORKER_S, figures)
            else:
                slow |= _kill_command(lab, child, moment, figures)
            before = command.progress(out)
            second = lab.launcher.run(command.argv(out), env=env)
            if second.code or command.content(out) != expected:
                raise AssertionError(f"killed after {moment:.2f} s, then another result: {second.err[-300:]}")
            if before:
                figures.count("continued")
                if again := command.repeated(before, out, second):
                    raise AssertionError(f"killed after {moment:.2f} s: {again}")
    with figures.attempt():
        _await_end(slow, _SLOW_S)
    figures.attempts -= 1
    return figures


def _kill_command(lab: Lab, child: Child, moment: float, figures: Figures) -> dict[int, int]:
    """Kill the command alone; what it started has to end. Return Ray's own processes that need longer."""
    time.sleep(moment)
    started = descendants(child.pid)
    births = {pid: birth(pid) for pid in started}
    child.kill(everyone=False)
    figures.count("killed", lab.launcher.finish(child).signal is not None)
    _await_end({pid: births[pid] for pid, name in started.items() if name not in _SLOW})
    return {pid: births[pid] for pid, name in started.items() if name in _SLOW}


def _await_end(births: Mapping[int, int], *seconds: float) -> None:
    await_end(lambda: [command_line(pid) for pid, began in births.items() if began and birth(pid) == began], *seconds)


def _kill_worker(lab: Lab, child: Child, moment: float, figures: Figures) -> None:
    """Kill a worker some time after it has started; the command goes on without it."""
    workers, end = list[int](), time.monotonic() + 60
    while not workers and time.monotonic() < end:
        workers = [pid for pid, name in descendants(child.pid).items() if name.startswith(_WORKER)]
        time.sleep(0.02)
    time.sleep(moment)
    for pid in workers:
        if command_line(pid).startswith(_WORKER):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                figures.count("killed")
                figures.count("of these workers")
    ended = lab.launcher.finish(child)
    if ended.code:
        raise AssertionError(f"a worker was killed after {moment:.2f} s, then: {ended.err[-300:]}")
