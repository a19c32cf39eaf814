"""How threads wait for each other: they look for work while the cores are free, and sleep while others want the cores.

GNU's OpenMP, which torch uses on Linux, lets a thread without work look for some 300 000 times, a few milliseconds,
before it sleeps. On free cores that is right: waking a thread takes as long as many a product. Beside other programs it
takes cores from the threads that have work. But a process with more threads than cores looks 100 times only (the manual
of libgomp, under GOMP_SPINCOUNT), so a second team of threads, which does nothing, changes the way of waiting at any
time, and neither the number of threads that compute nor a bit of what they compute.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

_SOON = "1000"  # turns where nobody watches: benchmarks/README.md has what others cost
_NOT_WATCHED = {"serve", "reproduce"}  # they live long, and the processes that they start inherit the setting
_PAUSE_S = 0.25
_MUCH = 0.25  # cores: a busy program has more, what a system does by itself less
_PARALLEL = 200_000  # numbers that torch adds to with all threads


@contextmanager
def considerate(arguments: Sequence[str]) -> Iterator[None]:
    """Choose before torch is imported how its threads wait, and watch who else wants the cores while a command runs."""
    watch = prepare(arguments)
    if watch is not None:
        watch.start()
    try:
        yield
    finally:
        if watch is not None:
            watch.end()


def prepare(arguments: Sequence[str]) -> Watch | None:
    """Set what OpenMP reads from the environment; return a watch where one is of use. What the user has set is kept."""
    there = cores()
    allowed = quota()
    if allowed is not None and allowed < there:
        os.environ.setdefault("OMP_NUM_THREADS", str(math.ceil(allowed)))
    if not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}.isdisjoint(os.environ):
        return None
    asked = os.environ.get("OMP_NUM_THREADS", "")
    fewer = asked.isdigit() and int(asked) < there  # a second team would not make them more than the cores
    command = next((word for word in arguments if not word.startswith("-")), None)
    if fewer or there == 1 or command in _NOT_WATCHED or look() is None:
        os.environ["GOMP_SPINCOUNT"] = _SOON
        return None
    return Watch()


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def quota(system: Path = Path("/")) -> float | None:
    """Return how many cores' time the control groups of this process allow, as a container's limit; None: no limit."""
    found: list[float] = []
    with suppress(OSError, ValueError):
        for line in (system / "proc/self/cgroup").read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            if kinds and "cpu" not in kinds.split(","):
                continue
            group = Path(path.lstrip("/"))
            for part in (group, *group.parents):  # in a container the path may be the one outside: its own is the root
                found += _limits(system / "sys/fs/cgroup" / kinds / part)
    return min(found, default=None)


def _limits(folder: Path) -> Iterator[float]:
    """Read the limit of one control group, of version 2 or 1."""
    with suppress(OSError, ValueError):
        most, period = (folder / "cpu.max").read_text().split()
        yield int(most) / int(period)
    with suppress(OSError, ValueError):
        most, period = ((folder / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        if int(most) > 0:
            yield int(most) / int(period)


class Look(NamedTuple):
    """Seconds: of the clock, of the cores that this process may use, in use by anybody, and in use by itself."""

    clock: float
    used: float
    own: float

    def others(self, before: Look) -> float:
        """Return how many cores other programs used since an earlier look."""
        return (self.used - before.used - self.own + before.own) / max(self.clock - before.clock, 1e-3)


def look(file: Path = Path("/proc/stat")) -> Look | None:
    """Look how busy the cores are; None where the system does not say."""
    with suppress(OSError, ValueError, AttributeError, IndexError):
        ours = {f"cpu{number}" for number in os.sched_getaffinity(0)}
        rows = [line.split() for line in file.read_text().splitlines() if line.split(" ", 1)[0] in ours]
        # user, nice, system, -, -, interrupts, their second halves, stolen by other virtual machines; - is idle
        ticks = sum(int(row[at]) for row in rows for at in (1, 2, 3, 6, 7, 8))
        return Look(time.monotonic(), ticks / os.sysconf("SC_CLK_TCK"), time.process_time()) if rows else None
    return None


class Watch(threading.Thread):
    """Looks four times a second, and keeps a second team while other programs use the cores."""

    def __init__(self, see: Callable[[], Look | None] = look, pause: float = _PAUSE_S) -> None:
        super().__init__(name="lnmap-watch", daemon=True)
        self.team: Team | None = None
        self._see, self._pause, self._ended = see, pause, threading.Event()

    def run(self) -> None:
        """Watch until `end` is called."""
        before = self._see()
        while not self._ended.wait(self._pause):
            now = self._see()
            # fewer seconds in use than our own: the system does not count ours, and so nothing is known of others
            wanted = before is None or now is None or abs(now.others(before)) > _MUCH
            before = now
            if wanted and self.team is None and "torch" in sys.modules:
                self.team = Team()
                self.team.start()
            elif not wanted:
                self._let_go()
        self._let_go()

    def end(self) -> None:
        """Stop, and give up the second team."""
        self._ended.set()
        self.join(timeout=1)

    def _let_go(self) -> None:
        if self.team is not None:
            self.team.ended.set()
            self.team = None


class Team(threading.Thread):
    """A thread with a team of OpenMP's threads, which sleep until this one ends, and end with it."""

    def __init__(self) -> None:
        super().__init__(name="lnmap-team", daemon=True)
        self.there, self.ended = threading.Event(), threading.Event()

    def run(self) -> None:
        """Let torch compute something with all threads, so that it starts them, and wait."""
        import torch  # waits where another thread has not finished importing it

        torch.zeros(_PARALLEL).add_(1)
        self.there.set()
        self.ended.wait()
