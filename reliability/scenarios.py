"""Scenarios: all of them, in the order of the table, with their share of an hour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reliability import (
    api,
    bombs,
    concurrency,
    determinism,
    disk,
    fuzz,
    guided,
    kills,
    load,
    network,
    numbers,
    security,
)
from reliability.figures import Budget, Figures
from reliability.room import Room
from reliability.targets import TARGETS

Function = Callable[[Room, Budget], Figures]


@dataclass(frozen=True)
class Scenario:
    """One line of the table.

    :param attempts: most attempts of a soak.
    :param weight: share of the soak's time.
    :param few: attempts of a look that takes a few seconds.
    """

    group: str
    name: str
    function: Function
    attempts: int
    weight: float
    few: int


def _kill(name: str, function: Function, attempts: int, weight: float, few: int = 2) -> Scenario:
    return Scenario("Kills", name, function, attempts, weight, few)


SCENARIOS: tuple[Scenario, ...] = (
    _kill("align, method lnmap", kills.align_lnmap, 200, 6),
    _kill("align, method auto", kills.align_auto, 100, 6),
    _kill("induce", kills.induce, 300, 2, 3),
    _kill("export, text", kills.export_text, 200, 2, 3),
    _kill("export, stores", kills.export_store, 100, 1, 3),
    _kill("reproduce, local engine", kills.reproduce, 60, 6, 1),
    _kill("data get", network.data_get, 100, 2, 3),
    _kill("serve, while people mark", network.marks, 200, 3, 3),
    Scenario("Disk", "full, while a command writes", disk.full, 120, 1, 6),
    Scenario("Disk", "read-only", disk.read_only, 30, 0.5, 6),
    Scenario("Disk", "largest file reached", disk.quota, 120, 1, 6),
    Scenario("Disk", "folder removed under a run", disk.removed, 120, 1, 4),
    *(Scenario("Fuzz", name, fuzz.fuzz(name), 100_000, 0.8, 60) for name in TARGETS),
    Scenario("Fuzz", "model folder as a whole", fuzz.model_folder, 20_000, 0.8, 60),
    Scenario("Fuzz", "guided by coverage", guided.guided, 100_000, 6, 200),
    Scenario("Fuzz", "API by its description", api.described, 20_000, 3, 30),
    Scenario("Fuzz", "bombs", bombs.bombs, len(bombs.FILES), 3, len(bombs.FILES)),
    Scenario("Fuzz", "line of 1 GB from a pipe", bombs.long_line, 5, 0.5, 1),
    Scenario("Numbers", "every method on every case", numbers.numbers, 10_000, 4, 20),
    Scenario("Load", "100 requests a second", load.steady, 3600, 8, 5),
    Scenario("Load", "1 000 open connections", load.crowd, 2000, 0.5, 50),
    Scenario("Concurrency", "two runs into one folder", concurrency.two_aligns, 200, 1, 3),
    Scenario("Concurrency", "two runs fill one cache", concurrency.one_cache, 50, 1, 2),
    Scenario("Concurrency", "two servers on one model", concurrency.two_servers, 100, 2, 2),
    Scenario("Security", "requests and words that want more", security.requests, 1, 0.2, 1),
    Scenario("Security", "formulas in a dictionary", security.dictionary, 1, 0.2, 1),
    Scenario("Security", "unsafe calls in the code", security.calls, 10_000, 0.2, 10_000),
    Scenario("Determinism", "same seed, same bytes", determinism.same_bytes, 200, 4, 15),
)
