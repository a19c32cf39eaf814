"""The engine of a cluster: workers are Ray actors, each with the processors or the GPU it needs."""

from __future__ import annotations

import logging
import socket
from collections.abc import Hashable
from typing import Any

from lnmap.errors import InputError, MissingExtraError
from lnmap.experiments.records import Order
from lnmap.experiments.schedule import Event
from lnmap.experiments.task import Worker

_OBJECTS = 100 << 20  # bytes: orders and results are small, vectors are read where they are used
_CONNECT_S = 10


class RayWorker(Worker):
    """A worker that can say that it is there."""

    def ready(self) -> bool:
        """Answer as soon as there is room for it in the cluster."""
        return True


class RayCrew:
    """Actors on whatever nodes the cluster has; a node that dies loses its actors, not their trials."""

    def __init__(self, address: str | None, jobs: int | None, threads: int, gpus: float = 0.0) -> None:
        try:
            import ray
        except ImportError as error:
            raise MissingExtraError("ray", "cluster", "running on a cluster") from error
        self._ray: Any = ray
        self._connect(address, jobs, threads)
        self.size = jobs or self._room(threads, gpus)
        actor: Any = ray.remote(num_cpus=threads, num_gpus=gpus, max_restarts=0)(RayWorker)
        self._new = lambda: actor.remote(threads)
        self._actors: dict[Hashable, Any] = {}
        self._waiting: dict[Any, tuple[Hashable, bool]] = {}  # reference: worker, whether it is about a trial
        self._hired = 0

    def _connect(self, address: str | None, jobs: int | None, threads: int) -> None:
        """Join the cluster at an address, or start one on this machine."""
        quiet = {"log_to_driver": False, "logging_level": logging.ERROR, "ignore_reinit_error": True}
        self._ours = not self._ray.is_initialized()
        try:
            if address is not None:
                _knock(address)
                self._ray.init(address=address, **quiet)
            else:
                own: dict[str, Any] = {"num_cpus": jobs * threads} if jobs else {}
                own |= {"object_store_memory": _OBJECTS, "_system_config": {"worker_niceness": 0}}  # Ray's own is 15
                self._ray.init(address="local", include_dashboard=False, **own, **quiet)
        except (OSError, ValueError, RuntimeError) as error:
            first = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise InputError(f"no Ray cluster can be reached at {address or 'this machine'}: {first}") from error

    def _room(self, threads: int, gpus: float) -> int:
        """Say how many workers the cluster has room for."""
        there = self._ray.cluster_resources()
        room = int(there.get("CPU", 0)) // threads
        if gpus:
            room = min(room, int(there.get("GPU", 0) / gpus))
        if room < 1:
            need = f"{threads} CPU" + (f" and {gpus:g} GPU" if gpus else "")
            raise InputError(f"the cluster has no node with {need} for a worker; add one, or choose --device cpu")
        return room

    def hire(self) -> Hashable:
        """Ask for an actor; it may have to wait for a node."""
        self._hired += 1
        actor = self._actors[self._hired] = self._new()
        self._waiting[actor.ready.remote()] = self._hired, False
        return self._hired

    def give(self, worker: Hashable, order: Order) -> None:
        """Call the actor."""
        self._waiting[self._actors[worker].perform.remote(order)] = worker, True

    def wait(self, seconds: float) -> list[Event]:
        """Collect what the actors have answered, and which of them are gone."""
        if not self._waiting:
            return []
        ready, _ = self._ray.wait(list(self._waiting), num_returns=1, timeout=seconds)
        return [self._collect(reference) for reference in ready]

    def _collect(self, reference: Any) -> Event:
        worker, at_work = self._waiting.pop(reference)
        try:
            answer = self._ray.get(reference)
            return Event(worker, "done", answer) if at_work else Event(worker, "ready")
        except self._ray.exceptions.RayError as error:
            self._actors.pop(worker, None)
            return Event(worker, "lost", reason=f"{type(error).__name__}: {str(error).strip().splitlines()[0]}")

    def dismiss(self, worker: Hashable) -> None:
        """End an actor."""
        self._ray.kill(self._actors.pop(worker))

    def close(self) -> None:
        """Leave the cluster; the actors end with it."""
        for actor in self._actors.values():
            self._ray.kill(actor)
        self._actors.clear()
        if self._ours:
            self._ray.shutdown()


def _knock(address: str) -> None:
    """See whether anybody answers at HOST:PORT; Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), _CONNECT_S).close()
