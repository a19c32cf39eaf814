"""Run a plan: skip what is finished, give the rest to workers, keep every result."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from lnmap.errors import OptionError, TrainingError
from lnmap.experiments.data import Fingerprints, OwnData, sources_of
from lnmap.experiments.engines import Engine, Event, LocalEngine, RayEngine
from lnmap.experiments.estimate import expected_seconds
from lnmap.experiments.results import DONE, FAILED, Results, failed, key_of
from lnmap.experiments.trial import Order, Trial
from lnmap.io.atomic import locked
from lnmap.model.device import pick_device
from lnmap.progress import Progress, Task

ENGINES = ("local", "ray")
ATTEMPTS = 3  # workers that may be lost over one trial
_TICK_S = 1.0
_WORKER_BYTES = 2 << 30  # what a worker with two large vocabularies may take
_ALMOST = 0.95  # share of its expected time that a running trial is shown to have done at most


@dataclass(frozen=True)
class Settings:
    """How to run a plan.

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
        """Return the trials that gave no number."""
        return [result for result in self.results if result["status"] == FAILED]

    @property
    def broken(self) -> list[dict[str, Any]]:
        """Return the failures that say nothing about a system: repeating the command tries them again."""
        return [result for result in self.failed if not result["final"]]


def run(trials: Sequence[Trial], settings: Settings, progress: Progress) -> Outcome:
    """Run a plan. Every result is kept as soon as it is there; repeating the call does what is left."""
    if settings.engine not in ENGINES:
        raise OptionError(f"unknown engine {settings.engine!r}; choose from {', '.join(ENGINES)}")
    if settings.jobs is not None and settings.jobs < 1:
        raise OptionError(f"jobs={settings.jobs} leaves no worker", advice="give {jobs} 1 or more")
    results = Results(settings.out)
    with locked(settings.out):
        outcome = Outcome()
        orders = _prepare(trials, settings, results, outcome, progress)
        for note in results.notes:
            progress.note(note)
        if orders:
            _run_orders(orders, settings, results, outcome, progress)
    return outcome


def _prepare(
    trials: Sequence[Trial], settings: Settings, results: Results, outcome: Outcome, progress: Progress
) -> list[Order]:
    """Find the data of every trial, add finished ones to the outcome, and return orders for the others."""
    sources = {trial.data: sources_of(trial, settings.own) for trial in trials}
    device = pick_device(settings.device).type
    prints = Fingerprints(settings.out / "data.json")
    contents = {}
    with progress.task("reading the vectors", len(sources)) as task:
        for data, found in sources.items():
            contents[data] = prints.of(found, progress)
            task.advance()
    keyed = [(trial, key_of(trial, contents[trial.data], device)) for trial in trials]
    results.remember(keyed)
    orders: dict[str, Order] = {}
    for trial, key in keyed:
        result = results.read(trial, key)
        if result is not None and (result["status"] == DONE or (result["final"] and not settings.retry)):
            outcome.results.append({**result, "trial": trial.to_dict()})
        elif key not in orders:
            where = sources[trial.data]
            orders[key] = Order(
                key=key,
                trial=trial,
                files={role: str(path.absolute()) for role, path in where.paths.items()},
                content=contents[trial.data],
                limits=where.limits,
                policy=where.policy,
                device=device,
                work=str(results.work(key).absolute()),
                expected_s=expected_seconds(trial, device) or 60.0,
            )
    return list(orders.values())


def _run_orders(
    orders: Sequence[Order], settings: Settings, results: Results, outcome: Outcome, progress: Progress
) -> None:
    started, kept = time.perf_counter(), len(outcome.results)
    engine = make_engine(settings, len(orders), orders[0].device)
    outcome.workers = min(engine.size, len(orders))
    title = f"{len(orders)} trials" + (f" ({kept} are done)" if kept else "")
    with progress.task(title, sum(order.expected_s for order in orders)) as task:
        clock = _Clock(task)

        def keep(order: Order, result: dict[str, Any]) -> None:
            written = results.write(order.trial, order.key, result)
            outcome.results.append(written)
            outcome.ran += 1
            outcome.busy_seconds += result.get("seconds", 0.0)
            clock.show(order, order.expected_s)
            progress.note(f"{outcome.ran} of {len(orders)}: {order.trial.name}: {describe(written)}")

        Schedule(engine, orders, keep, clock.tick, progress.note).run()
    outcome.wall_seconds = time.perf_counter() - started


def make_engine(settings: Settings, trials: int, device: str) -> Engine:
    """Start the engine that was asked for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    gpus = torch.cuda.device_count() if device == "cuda" else 0
    share = 1.0 if device == "cuda" else 0.0
    if settings.engine == "ray" and settings.address is not None:
        return RayEngine(settings.address, settings.jobs, 1, share)
    jobs = min(settings.jobs or gpus or _jobs(cores), trials)
    threads = max(1, min(torch.get_num_threads(), cores // jobs))  # torch knows what OMP_NUM_THREADS allows
    return RayEngine(None, jobs, threads, share) if settings.engine == "ray" else LocalEngine(jobs, threads, gpus)


def _jobs(cores: int) -> int:
    """Return one worker per core, if memory allows: two trials side by side beat one with two threads."""
    try:
        memory = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        memory = cores * _WORKER_BYTES
    return max(1, min(cores, memory // _WORKER_BYTES))


def describe(result: dict[str, Any]) -> str:
    """Return a few words about what a trial gave."""
    seconds = f" ({result.get('seconds', 0):.1f} s)"
    if result["status"] == FAILED:
        return f"failed: {result['reason']}"
    if "isometry" in result:
        return f"GH distance {result['isometry']['gh']:.3f}{seconds}"
    return f"P@1 {result['scores']['p@1']:.1f}{' (continued)' if result['resumed'] else ''}{seconds}"


class Schedule:
    """Keeps workers busy until every trial has a result.

    A worker gets trials on the vectors it holds as long as there are any; the trial of a lost worker goes to another.
    """

    def __init__(
        self,
        engine: Engine,
        orders: Iterable[Order],
        done: Callable[[Order, dict[str, Any]], None],
        tick: Callable[[Iterable[Order]], None],
        note: Callable[[str], None],
    ) -> None:
        self.engine, self.done, self.tick, self.note = engine, done, tick, note
        self.waiting = list(orders)
        self.busy: dict[Hashable, Order] = {}
        self.held: dict[Hashable, Hashable] = {}  # the vectors that each worker has read
        self.losses: dict[str, int] = {}  # workers lost over each trial
        self.unborn = 0

    def run(self) -> None:
        """Run everything; workers are ended even when this is interrupted."""
        try:
            for _ in range(min(self.engine.size, len(self.waiting))):
                self.engine.start()
            while self.waiting or self.busy:
                for event in self.engine.wait(_TICK_S):
                    self._lose(event) if event.kind == "lost" else self._feed(event)
                self.tick(self.busy.values())
        finally:
            self.engine.close()

    def _feed(self, event: Event) -> None:
        """Take a worker's result and give it another trial: on the vectors it holds, or on those fewest others do."""
        worker, finished = event.worker, self.busy.pop(event.worker, None)
        if finished is not None and event.result is not None:
            self.done(finished, event.result)
        mine = self.held.pop(worker, None)
        if not self.waiting:
            self.engine.stop(worker)
            return
        others = list(self.held.values())
        order = min(self.waiting, key=lambda one: (one.vectors != mine, others.count(one.vectors)))
        self.waiting.remove(order)
        self.busy[worker], self.held[worker] = order, order.vectors
        self.engine.give(worker, order)

    def _lose(self, event: Event) -> None:
        """Put the trial of a lost worker back, and start another worker."""
        self.held.pop(event.worker, None)
        order = self.busy.pop(event.worker, None)
        if order is None:
            self.unborn += 1
            if self.unborn > ATTEMPTS * self.engine.size:
                raise TrainingError(f"the workers cannot be started: {event.reason}")
            self.note(f"a worker was lost before it had a run ({event.reason})")
        else:
            self.losses[order.key] = self.losses.get(order.key, 0) + 1
            if self.losses[order.key] < ATTEMPTS:
                self.note(f"{order.trial.name}: its worker was lost ({event.reason}); another one takes over")
                self.waiting.insert(0, order)
            else:
                reason = f"{ATTEMPTS} workers were lost over it, the last because: {event.reason}"
                result = failed(reason, "WorkerLost", final=False)
                self.done(order, {"trial": order.trial.to_dict(), **result, "data": dict(order.content)})
        if self.waiting:
            self.engine.start()


class _Clock:
    """Moves the bar with time, as far as the trials under way are expected to have come."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.started: dict[str, float] = {}
        self.shown: dict[str, float] = {}

    def tick(self, busy: Iterable[Order]) -> None:
        now = time.monotonic()
        for order in busy:
            since = now - self.started.setdefault(order.key, now)
            self.show(order, min(since, _ALMOST * order.expected_s))

    def show(self, order: Order, seconds: float) -> None:
        before = self.shown.get(order.key, 0.0)
        self.shown[order.key] = max(seconds, before)
        self.task.advance(self.shown[order.key] - before)
