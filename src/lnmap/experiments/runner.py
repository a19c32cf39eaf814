"""Run a plan: skip what is finished, carry the rest out, keep every result."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from lnmap.datasets import PairFiles
from lnmap.errors import LnmapError, OptionError
from lnmap.experiments.data import Fingerprints, OwnData, find_files
from lnmap.experiments.estimate import expected_seconds
from lnmap.experiments.plan import benchmark_of
from lnmap.experiments.records import Order, Trial
from lnmap.experiments.schedule import Conductor, Crew
from lnmap.experiments.store import Results, key_of
from lnmap.experiments.task import DONE, FAILED
from lnmap.io.atomic import locked
from lnmap.model.device import pick_device
from lnmap.progress import Progress, Task

ENGINES = ("local", "ray")
_ROLES = ("source", "target", "train", "test")
_WORKER_BYTES = 2 << 30  # what a worker with two large vocabularies may take
_ALMOST = 0.95  # share of its expected time that a running trial is shown to have done at most


@dataclass(frozen=True)
class Settings:
    """How a plan is carried out.

    :param jobs: workers; as many as there are processors and memory for by default.
    :param address: the Ray cluster to join; one of this machine alone by default.
    :param own: the user's data, instead of the catalogue's.
    :param retry: run trials again that have failed for good.
    """

    out: Path
    jobs: int | None = None
    engine: str = "local"
    address: str | None = None
    device: str = "auto"
    own: OwnData | None = None
    retry: bool = False


@dataclass
class Outcome:
    """What became of a plan."""

    results: list[dict[str, Any]] = field(default_factory=list)
    ran: int = 0
    wall_seconds: float = 0.0
    busy_seconds: float = 0.0
    workers: int = 1

    @property
    def failed(self) -> list[dict[str, Any]]:
        """List the trials that gave no number."""
        return [result for result in self.results if result["status"] == FAILED]

    @property
    def broken(self) -> list[dict[str, Any]]:
        """List the failures that are no finding about a system: repeating the command tries them again."""
        return [result for result in self.failed if not result["final"]]


@dataclass
class Prepared:
    """A plan whose data are known: what is finished, and what is to do."""

    results: list[dict[str, Any]]
    orders: list[Order]


def prepare(trials: Sequence[Trial], settings: Settings, results: Results, progress: Progress) -> Prepared:
    """Find the data of every trial and sort the finished ones out."""
    files = files_of(trials, settings.own)
    device = pick_device(settings.device).type
    prints = Fingerprints(settings.out / "data.json")
    with progress.task("reading the vectors", len(files)) as task:
        contents = {}
        for direction, found in files.items():
            contents[direction] = prints.of(found, progress)
            task.advance()
    keyed = [(trial, key_of(trial, contents[trial.direction], device)) for trial in trials]
    results.remember(keyed)
    found_results, orders, seen = [], [], set()
    for trial, key in keyed:
        result = results.read(trial, key)
        if result is not None and (result["status"] == DONE or (result["final"] and not settings.retry)):
            found_results.append({**result, "trial": trial.to_dict()})
        elif key not in seen:
            seen.add(key)
            orders.append(_order(trial, key, files[trial.direction], contents[trial.direction], device, results))
    return Prepared(found_results, orders)


def files_of(trials: Iterable[Trial], own: OwnData | None) -> dict[str, PairFiles]:
    """Give the files of every direction; the first that is missing is an error that says how to get it."""
    tables = {trial.direction: trial.table for trial in trials}
    benchmarks = {table: None if own is not None else benchmark_of(table) for table in set(tables.values())}
    return {direction: find_files(benchmarks[table], direction, own) for direction, table in tables.items()}


def _order(trial: Trial, key: str, files: PairFiles, content: dict[str, str], device: str, results: Results) -> Order:
    return Order(
        key=key,
        trial=trial,
        files={role: str(Path(getattr(files, role)).absolute()) for role in _ROLES},
        content=content,
        limit=files.limit,
        policy=files.policy,
        device=device,
        work=str(results.work(key).absolute()),
        expected_s=expected_seconds(trial, device) or 60.0,
    )


def run(trials: Sequence[Trial], settings: Settings, progress: Progress) -> Outcome:
    """Carry a plan out. Every result is kept as soon as it is there; repeating the call does what is left."""
    if settings.engine not in ENGINES:
        raise OptionError(f"unknown engine {settings.engine!r}; choose from {', '.join(ENGINES)}")
    if settings.jobs is not None and settings.jobs < 1:
        raise OptionError(f"--jobs {settings.jobs} leaves nobody to work; give 1 or more")
    results = Results(settings.out)
    with locked(settings.out):
        prepared = prepare(trials, settings, results, progress)
        for note in results.notes:
            progress.note(note)
        outcome = Outcome(list(prepared.results))
        if prepared.orders:
            _carry_out(prepared, settings, results, outcome, progress)
    return outcome


def _carry_out(prepared: Prepared, settings: Settings, results: Results, outcome: Outcome, progress: Progress) -> None:
    orders, started = prepared.orders, time.perf_counter()
    crew = make_crew(settings, len(orders), orders[0].device)
    outcome.workers = min(crew.size, len(orders))
    done_before = len(prepared.results)
    title = f"{len(orders)} trials" + (f" ({done_before} are done)" if done_before else "")
    with progress.task(title, sum(order.expected_s for order in orders)) as task:
        clock = _Clock(task)

        def keep(order: Order, result: dict[str, Any]) -> None:
            kept = results.write(order.trial, order.key, result)
            outcome.results.append(kept)
            outcome.ran += 1
            outcome.busy_seconds += result.get("seconds", 0.0)
            clock.finish(order)
            progress.note(f"{outcome.ran} of {len(orders)}: {order.trial.name}: {describe(kept)}")

        Conductor(crew, orders, keep, clock.tick, progress.note).run()
    outcome.wall_seconds = time.perf_counter() - started


def make_crew(settings: Settings, trials: int, device: str) -> Crew:
    """Start the engine that was asked for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    gpus = torch.cuda.device_count() if device == "cuda" else 0
    if settings.engine == "ray" and settings.address is not None:
        return _ray_crew(settings.address, settings.jobs, 1, device)
    jobs = min(settings.jobs or gpus or _jobs(cores), trials)
    threads = max(1, min(torch.get_num_threads(), cores // jobs))  # torch knows what OMP_NUM_THREADS allows
    if settings.engine == "ray":
        return _ray_crew(None, jobs, threads, device)
    from lnmap.experiments.local import LocalCrew

    return LocalCrew(jobs, threads, gpus)


def _ray_crew(address: str | None, jobs: int | None, threads: int, device: str) -> Crew:
    from lnmap.experiments.cluster import RayCrew

    return RayCrew(address, jobs, threads, gpus=1.0 if device == "cuda" else 0.0)


def _jobs(cores: int) -> int:
    """One worker a processor, if memory allows: two small trials side by side beat one that shares its steps."""
    try:
        memory = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        memory = cores * _WORKER_BYTES
    return max(1, min(cores, memory // _WORKER_BYTES))


def describe(result: dict[str, Any]) -> str:
    """Tell in a few words what a trial gave."""
    seconds = f" ({result.get('seconds', 0):.1f} s)"
    if result["status"] == FAILED:
        return f"failed: {result['reason']}"
    if "isometry" in result:
        return f"GH distance {result['isometry']['gh']:.3f}{seconds}"
    return f"P@1 {result['scores']['p@1']:.1f}{' (continued)' if result['resumed'] else ''}{seconds}"


class _Clock:
    """Moves the bar on with time, as far as the trials under way are expected to have come."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.started: dict[str, float] = {}
        self.shown: dict[str, float] = {}

    def tick(self, busy: Iterable[Order]) -> None:
        """Show how far the trials under way may be."""
        now = time.monotonic()
        for order in busy:
            since = now - self.started.setdefault(order.key, now)
            self._show(order, min(since, _ALMOST * order.expected_s))

    def finish(self, order: Order) -> None:
        """Show all of a trial."""
        self._show(order, order.expected_s)

    def _show(self, order: Order, seconds: float) -> None:
        more = seconds - self.shown.get(order.key, 0.0)
        self.shown[order.key] = max(seconds, self.shown.get(order.key, 0.0))
        self.task.advance(max(more, 0.0))


def missing_data(trials: Sequence[Trial], own: OwnData | None) -> str | None:
    """Say what is missing, or None when everything is there."""
    try:
        files_of(trials, own)
    except LnmapError as error:
        return str(error)
    return None
