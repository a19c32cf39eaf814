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
from tests.soak.launcher import Child
from tests.soak.room import Room

_ORPHANS_S = 20.0
_AGENTS = ("ray::DashboardAgent", "ray::RuntimeEnvAgent")  # they try to report to the dead cluster for a minute
_AGENTS_S = 120.0
_WORKER = "ray::RayWorker"
_WORKER_S = 0.4  # a worker that is killed later than this has often done everything


class OnRay(Reproduce):
    """`lnmap reproduce --engine ray` with a cluster of its own on this machine."""

    def argv(self, out: Path) -> Sequence[object]:
        """Give the command."""
        return [*super().argv(out), "--engine", "ray"]


def reproduce_on_ray(room: Room, budget: Budget) -> Figures:
    """Kill the command and a worker in turn: every run is done once, finished ones are not done again."""
    figures = Figures()
    if importlib.util.find_spec("ray") is None:
        return Figures(skipped="Ray is not installed (extra cluster)")
    command, out = OnRay(room), room.fresh()
    env = {"RAY_TMPDIR": str(room.folder), "RAY_USAGE_STATS_ENABLED": "0"}
    whole = room.launcher.run(command.argv(out), env=env)
    if whole.code:
        raise RuntimeError(f"the command fails without any kill: {whole.err[-300:]}")
    expected, agents = command.content(out), dict[int, int]()
    while budget.more(figures):
        with figures.attempt():
            out, share = room.fresh(), budget.rng.random()
            moment = (0.4 + 0.6 * share) * whole.seconds  # the command works at the end, when Ray has started
            child = room.launcher.start(command.argv(out), env=env)
            if figures.attempts % 2:
                _kill_worker(room, child, share * _WORKER_S, figures)
            else:
                agents |= _kill_command(room, child, moment, figures)
            before = command.progress(out)
            second = room.launcher.run(command.argv(out), env=env)
            if second.code or command.content(out) != expected:
                raise AssertionError(f"killed after {moment:.2f} s, then another result: {second.err[-300:]}")
            if before:
                figures.count("continued")
                if again := command.repeats(before, out, second):
                    raise AssertionError(f"killed after {moment:.2f} s: {again}")
    with figures.attempt():
        _await_end(agents, _AGENTS_S)
    figures.attempts -= 1
    return figures


def _kill_command(room: Room, child: Child, moment: float, figures: Figures) -> dict[int, int]:
    """Kill the command alone; what it started has to notice. Give Ray's agents, which take their time."""
    time.sleep(moment)
    started = descendants(child.pid)
    births = {pid: _birth(pid) for pid in started}
    child.kill(everyone=False)
    figures.count("killed", room.launcher.finish(child).signal is not None)
    _await_end({pid: births[pid] for pid, name in started.items() if name not in _AGENTS}, _ORPHANS_S)
    return {pid: births[pid] for pid, name in started.items() if name in _AGENTS}


def _await_end(births: Mapping[int, int], seconds: float) -> None:
    end = time.monotonic() + seconds
    while alive := [_name(pid) for pid, birth in births.items() if birth and _birth(pid) == birth]:
        if time.monotonic() > end:
            raise AssertionError(f"{alive} outlive the command by {seconds:.0f} s")
        time.sleep(0.05)


def _kill_worker(room: Room, child: Child, moment: float, figures: Figures) -> None:
    """Kill a worker some time after it has come; the command itself goes on without it."""
    workers, end = list[int](), time.monotonic() + 60
    while not workers and time.monotonic() < end:
        workers = [pid for pid, name in descendants(child.pid).items() if name.startswith(_WORKER)]
        time.sleep(0.02)
    time.sleep(moment)
    for pid in workers:
        if _name(pid).startswith(_WORKER):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                figures.count("killed")
                figures.count("of these workers")
    ended = room.launcher.finish(child)
    if ended.code:
        raise AssertionError(f"a worker was killed after {moment:.2f} s, then: {ended.err[-300:]}")


def descendants(ancestor: int) -> Mapping[int, str]:
    """Give all processes that one has started, and those in turn, with their names."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found: set[int] = {ancestor}
    while new := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= new
    return {pid: name for pid in found - {ancestor} if (name := _name(pid))}


def _birth(pid: int) -> int:
    """Tell when a process began, which no other of its number did; 0 where it is gone."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[19]) if fields[0] not in "ZX" else 0
    return 0


def _name(pid: int) -> str:
    """Give the command line of a process; nothing where it is gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()[:200]
    return ""
