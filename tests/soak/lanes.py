"""Lanes: groups of scenarios that run beside each other, each in a process with its own room and its own core.

The load has a core to itself: with a neighbour of the idle class there, its slowest answers were far slower in the one
trial made. The slowest readers take what the faults leave of the other cores; the faults help when they are done.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import queue
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tests.soak.figures import Budget, Figures
from tests.soak.room import Room, room
from tests.soak.scenarios import SCENARIOS, Scenario

LOAD, READERS, FAULTS = LANES = ("load", "readers", "faults")


@dataclass(frozen=True)
class Plan:
    """How long a soak takes, and what it draws.

    :param few: a few attempts of each instead.
    """

    minutes: float
    few: bool = False
    seed: int = 0


def run_lanes(keys: Sequence[str], plan: Plan) -> Iterator[tuple[str, Figures]]:
    """Run scenarios by their keys; give each one's figures when it is done."""
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
    for lane in lanes:
        lane.join()
    for key in sorted(missing):
        yield key, _broken("its lane has died")


def _run_lane(lane: str, chosen: Mapping[str, Sequence[str]], plan: Plan, shared: Any, done: Any) -> None:
    """Be the process of a lane. What a scenario does not need of its time goes to those after it."""
    _settle_down(lane)
    end = time.monotonic() + 60 * plan.minutes
    by_key = {one.key: one for one in SCENARIOS}
    own = chosen[lane] if lane != READERS else ()
    with room() as place:
        for key in itertools.chain(own, _taken(shared) if lane != LOAD else ()):
            scenario, among = by_key[key], chosen[by_key[key].lane]
            later = sum(by_key[one].weight for one in among[among.index(key) :])
            seconds = max(1.0, (end - time.monotonic()) * scenario.weight / later)
            few = Budget(scenario.few, seed=plan.seed)
            done.put((key, _run(scenario, place, few if plan.few else Budget(scenario.attempts, seconds, plan.seed))))


def _taken(shared: Any) -> Iterator[str]:
    """Take scenarios that nobody else has taken."""
    with suppress(queue.Empty):
        while True:
            yield shared.get(timeout=2.0)


def _settle_down(lane: str) -> None:
    """Take the lane's cores; the readers step back behind the faults."""
    with suppress(OSError, AttributeError):  # not Linux, or not allowed: they share everything
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cores[:1] if lane == LOAD else cores[1:] or cores)
        if lane == READERS:
            os.nice(10)


def _run(scenario: Scenario, place: Room, budget: Budget) -> Figures:
    try:
        return scenario.function(place, budget)
    except Exception as error:
        return _broken(f"{type(error).__name__}: {error}")


def _broken(reason: str) -> Figures:
    figures = Figures(attempts=1)
    figures.fail(f"the scenario itself broke: {reason}")
    return figures
