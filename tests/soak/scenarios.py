"""All scenarios, in the order of the table, with their shares of the time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.soak import (
    api,
    bombs,
    cluster,
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
    served,
)
from tests.soak.figures import Scenario as Function
from tests.soak.targets import TARGETS


@dataclass(frozen=True)
class Scenario:
    """One row of the table.

    :param attempts: how many at most in a soak.
    :param weight: share of the soak's time.
    :param few: attempts with --few.
    :param lane: the scenarios of a lane run one after the other, lanes side by side.
    :param before: makes what it needs before the time begins.
    """

    group: str
    name: str
    function: Function
    attempts: int
    weight: float
    few: int
    lane: str = "faults"
    before: Callable[[], object] | None = None

    @property
    def key(self) -> str:
        """Its name in the table."""
        return f"{self.group}: {self.name}"


def _kill(name: str, function: Function, attempts: int, weight: float, few: int = 2) -> Scenario:
    return Scenario("Kills", name, function, attempts, weight, few)


def _reader(name: str) -> Scenario:
    # text vectors take most of the time by far: each input is read by two parsers
    slow = name.startswith("text")
    return Scenario("Fuzz", name, fuzz.fuzz(name), 100_000, 8 if slow else 1.2, 60, "readers" if slow else "faults")


SCENARIOS: tuple[Scenario, ...] = (
    _kill("align, method lnmap", kills.align_lnmap, 300, 10),
    _kill("align, method auto", kills.align_auto, 300, 9),
    _kill("align-many", kills.align_many, 400, 8, 3),
    _kill("vectors", kills.vectors, 400, 7, 3),
    _kill("induce", kills.induce, 450, 9, 3),
    _kill("export, text", kills.export_text, 400, 7, 3),
    _kill("export, stores", kills.export_store, 400, 7, 3),
    _kill("reproduce, local engine", kills.reproduce, 40, 4, 1),
    _kill("reproduce, Ray", cluster.reproduce_on_ray, 16, 9, 1),
    _kill("data get", network.data_get, 300, 9, 3),
    _kill("serve, while words are marked", network.marks, 400, 10, 3),
    Scenario("Disk", "full, while a command writes", disk.full, 120, 1, 6),
    Scenario("Disk", "read-only", disk.read_only, 30, 0.5, 6),
    Scenario("Disk", "largest file reached", disk.quota, 120, 1, 6),
    Scenario("Disk", "folder removed during a run", disk.removed, 120, 1, 4),
    *(_reader(name) for name in TARGETS),
    Scenario("Fuzz", "model folder as a whole", fuzz.model_folder, 100_000, 2, 60),
    Scenario("Fuzz", "guided by coverage", guided.guided, 100_000, 6, 200, "readers"),
    Scenario("Fuzz", "API by its description", api.described, 20_000, 3, 30),
    Scenario("Fuzz", "bombs", bombs.bombs, len(bombs.FILES), 3, len(bombs.FILES)),
    Scenario("Fuzz", "line of 1 GB from a pipe", bombs.long_line, 5, 0.5, 1),
    Scenario("Numbers", "every method on every case", numbers.numbers, 10_000, 6, 20),
    Scenario("Load", "100 requests per second", load.steady, 3600, 3, 5, "load"),
    Scenario("Load", "200 000 words per side", load.large, 3600, 1, 20, "load", served.large_model),
    Scenario("Load", "1 000 open connections", load.crowd, 2000, 0.5, 50),
    Scenario("Concurrency", "two runs into one folder", concurrency.two_aligns, 200, 1, 3),
    Scenario("Concurrency", "two runs fill one cache", concurrency.one_cache, 50, 1, 2),
    Scenario("Concurrency", "two servers on one model", concurrency.two_servers, 60, 2, 2),
    Scenario("Security", "hostile requests and words", security.requests, 1, 0.2, 1),
    Scenario("Security", "formulas in a dictionary", security.dictionary, 1, 0.2, 1),
    Scenario("Security", "unsafe calls in the code", security.calls, 10_000, 0.2, 10_000),
    Scenario("Determinism", "same seed, same bytes", determinism.same_bytes, 30, 4, 15),
)
