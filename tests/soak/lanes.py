"""Lanes: groups of scenarios that run side by side, each in a process of its own.

The load has a core to itself, since anything else on that core makes its slowest answers far slower. The slowest
readers get what the faults leave of the other cores; the faults' process helps with them when it is done.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import queue
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tests.soak.figures import Budget, Figures
from tests.soak.lab import Lab, open_lab
from tests.soak.launcher import own_session
from tests.soak.scenarios import SCENARIOS, Scenario

LOAD, READERS, FAULTS = LANES = ("load", "readers", "faults")


@dataclass(frozen=True)
class Plan:
    """How long a soak takes, and its seed.

    :param few: make only a few attempts of each scenario.
    """

    minutes: float
    few: bool = False
    seed: int = 0


def run_lanes(keys: Sequence[str], plan: Plan) -> Iterator[tuple[str, Figures]]:
    """Run scenarios by their keys; yield the figures of each when it is done."""
    context = multiprocessing.get_context("spawn")
    done: Any = context.Queue()
    shared: Any = context.Queue()
    chosen = {lane: [one.key for one in SCENARIOS if one.lane == lane and one.key in keys] for lane in LANES}
    for key in chosen[READERS]:
        shared.put(key)
    lanes = [
        context.Process(target=_run_lane, args=(lane, chosen, plan, shared, done)) for lane in LANES if chosen[lane]
    ]
    for lane in lanes:
        lane.start()
    missing = set(keys)
    try:
        while missing:
            ended = not any(lane.is_alive() for lane in lanes)
            try:
                key, figures = done.get(timeout=1.0)
            except queue.Empty:
                if ended:
                    break
                continue
            missing.discard(key)
            yield key, figures
    except KeyboardInterrupt:
        for lane in lanes:
            lane.terminate()
        raise
    finally:
        for lane in lanes:
            lane.join()
    for key in sorted(missing):
        yield key, _broken("its lane has died")


def _run_lane(lane: str, chosen: Mapping[str, Sequence[str]], plan: Plan, shared: Any, done: Any) -> None:
    """Run as the process of a lane. Time that a scenario does not need goes to the later ones."""
    _settle_down(lane)
    end = time.monotonic() + 60 * plan.minutes
    by_key = {one.key: one for one in SCENARIOS}
    own = chosen[lane] if lane != READERS else ()
    with open_lab() as lab:
        for key in itertools.chain(own, _taken(shared) if lane != LOAD else ()):
            scenario, among = by_key[key], chosen[by_key[key].lane]
            later = sum(by_key[one].weight for one in among[among.index(key) :])
            seconds = max(1.0, (end - time.monotonic()) * scenario.weight / later)
            few = Budget(scenario.few, seed=plan.seed)
            done.put((key, _run(scenario, lab, few if plan.few else Budget(scenario.attempts, seconds, plan.seed))))


def _taken(shared: Any) -> Iterator[str]:
    """Yield scenarios that no other lane has taken."""
    with suppress(queue.Empty):
        while True:
            yield shared.get(timeout=2.0)


def _settle_down(lane: str) -> None:
    """Choose the lane's cores; the readers get a lower priority than the faults. Leave interrupts to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the lab is tidied up
    with suppress(OSError, AttributeError):  # not Linux, or not allowed: all share the cores
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cores[:1] if lane == LOAD else cores[1:] or cores)
        if lane == READERS:
            os.nice(10)
            own_session()


def _run(scenario: Scenario, lab: Lab, budget: Budget) -> Figures:
    try:
        return scenario.function(lab, budget)
    except Exception as error:
        return _broken(f"{type(error).__name__}: {error}")


def _broken(reason: str) -> Figures:
    figures = Figures(attempts=1)
    figures.fail(f"the scenario itself broke: {reason}")
    return figures
