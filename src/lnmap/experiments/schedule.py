"""Hand trials to workers: those of one pair of languages to the same worker, those of a lost worker to another."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lnmap.errors import TrainingError
from lnmap.experiments.records import Order
from lnmap.experiments.task import failed

ATTEMPTS = 3  # workers that may be lost over one trial
TICK_S = 1.0


@dataclass(frozen=True)
class Event:
    """What became of a worker: it is ready for the first time, has done its work, or is lost."""

    worker: Hashable
    kind: Literal["ready", "done", "lost"]
    result: dict[str, Any] | None = None
    reason: str = ""


class Crew(Protocol):
    """The workers of an engine."""

    size: int

    def hire(self) -> Hashable:
        """Start a worker; an event tells when it is ready."""

    def give(self, worker: Hashable, order: Order) -> None:
        """Hand a ready worker its next trial."""

    def wait(self, seconds: float) -> list[Event]:
        """Give what has happened since, after at most so many seconds."""

    def dismiss(self, worker: Hashable) -> None:
        """Let a worker go that is not needed any more."""

    def close(self) -> None:
        """Let everything go, whatever it is doing."""


class Queue:
    """Trials that wait, handed out so that a worker keeps its vectors as long as it can."""

    def __init__(self, orders: Iterable[Order]) -> None:
        self.groups: dict[Hashable, list[Order]] = {}
        for order in orders:
            self.groups.setdefault(order.vectors, []).append(order)

    def __len__(self) -> int:
        return sum(len(group) for group in self.groups.values())

    def next(self, held: Hashable, others: Iterable[Hashable]) -> Order | None:
        """Give a trial on the vectors that are held, else on those fewest others work with."""
        others = list(others)
        waiting = [name for name, group in self.groups.items() if group]
        if not waiting:
            return None
        name = held if held in waiting else min(waiting, key=lambda one: (others.count(one), waiting.index(one)))
        return self.groups[name].pop(0)

    def back(self, order: Order) -> None:
        """Take a trial back whose worker was lost."""
        self.groups.setdefault(order.vectors, []).insert(0, order)


class Conductor:
    """Keeps a crew busy until every trial has a result."""

    def __init__(
        self,
        crew: Crew,
        orders: Iterable[Order],
        done: Callable[[Order, dict[str, Any]], None],
        tick: Callable[[Iterable[Order]], None],
        note: Callable[[str], None],
    ) -> None:
        self.crew, self.queue, self.done, self.tick, self.note = crew, Queue(orders), done, tick, note
        self.busy: dict[Hashable, Order] = {}
        self.held: dict[Hashable, Hashable] = {}
        self.lost: dict[str, int] = {}
        self.stillborn = 0

    def run(self) -> None:
        """Carry everything out; workers are let go even when this is interrupted."""
        try:
            for _ in range(min(self.crew.size, len(self.queue))):
                self.crew.hire()
            while len(self.queue) or self.busy:
                for event in self.crew.wait(TICK_S):
                    self._take(event)
                self.tick(self.busy.values())
        finally:
            self.crew.close()

    def _take(self, event: Event) -> None:
        if event.kind == "lost":
            self._replace(event)
            return
        order = self.busy.pop(event.worker, None)
        if order is not None and event.result is not None:
            self.done(order, event.result)
        self._feed(event.worker)

    def _feed(self, worker: Hashable) -> None:
        others = [held for other, held in self.held.items() if other != worker]
        order = self.queue.next(self.held.get(worker), others)
        if order is None:
            self.held.pop(worker, None)
            self.crew.dismiss(worker)
            return
        self.busy[worker], self.held[worker] = order, order.vectors
        self.crew.give(worker, order)

    def _replace(self, event: Event) -> None:
        """Put the trial of a lost worker back, and start another worker."""
        self.held.pop(event.worker, None)
        order = self.busy.pop(event.worker, None)
        if order is None:
            self.stillborn += 1
            if self.stillborn > ATTEMPTS * self.crew.size:
                raise TrainingError(f"the workers cannot be started: {event.reason}")
            self.note(f"a worker was lost before it had a run ({event.reason})")
        else:
            self.lost[order.key] = self.lost.get(order.key, 0) + 1
            if self.lost[order.key] < ATTEMPTS:
                self.note(f"{order.trial.name}: its worker was lost ({event.reason}); another one takes over")
                self.queue.back(order)
            else:
                reason = f"{ATTEMPTS} workers were lost over it, the last because: {event.reason}"
                result = failed(reason, "WorkerLost", final=False)
                self.done(order, {"trial": order.trial.to_dict(), **result, "data": dict(order.content)})
        if len(self.queue):
            self.crew.hire()
