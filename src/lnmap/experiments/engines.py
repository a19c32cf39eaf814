"""Engines: where workers live. Processes of this machine, or actors of a Ray cluster, behind one interface."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Hashable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Literal, Protocol

from lnmap.errors import InputError, MissingExtraError
from lnmap.experiments.trial import Order
from lnmap.experiments.worker import Worker

_GRACE_S = 5.0
_CONNECT_S = 10
_OBJECTS = 100 << 20  # bytes: orders and results are small, vectors are read where they are used


@dataclass(frozen=True)
class Event:
    """What became of a worker: it is ready for the first time, has finished a trial, or is lost."""

    worker: Hashable
    kind: Literal["ready", "done", "lost"]
    result: dict[str, Any] | None = None
    reason: str = ""


class Engine(Protocol):
    """Workers that trials are given to; `size` is how many there may be at once."""

    size: int

    def start(self) -> Hashable:
        """Start a worker; an event says when it is ready."""

    def give(self, worker: Hashable, order: Order) -> None:
        """Hand a ready worker its next trial."""

    def wait(self, seconds: float) -> list[Event]:
        """Return what has happened since, after at most so many seconds."""

    def stop(self, worker: Hashable) -> None:
        """End a worker that is not needed any more."""

    def close(self) -> None:
        """End all workers, whatever they are doing."""


class LocalEngine:
    """Processes of this machine, each at the end of a pipe; a pipe that closes tells that its process has died."""

    def __init__(self, jobs: int, threads: int, gpus: int = 0) -> None:
        self.size, self.threads, self.gpus = jobs, threads, gpus
        self._started = 0
        self._context = multiprocessing.get_context("spawn")
        self._workers: dict[Hashable, tuple[BaseProcess, Connection]] = {}

    def start(self) -> Hashable:
        """Start a process; the GPUs are dealt out in turn."""
        ours, theirs = self._context.Pipe()
        gpu = self._started % self.gpus if self.gpus else None
        self._started += 1
        process = self._context.Process(target=_serve, args=(theirs, self.threads, gpu), daemon=True)
        process.start()
        theirs.close()
        self._workers[process.pid] = process, ours
        return process.pid

    def give(self, worker: Hashable, order: Order) -> None:
        """Send an order; `wait` notices a process that has just died."""
        try:
            self._workers[worker][1].send(order)
        except OSError:
            return

    def wait(self, seconds: float) -> list[Event]:
        """Return what the processes have sent, and which of them have died."""
        ready = wait([pipe for _, pipe in self._workers.values()], seconds)
        return [self._receive(name) for name, (_, pipe) in list(self._workers.items()) if pipe in ready]

    def _receive(self, worker: Hashable) -> Event:
        process, pipe = self._workers[worker]
        try:
            return Event(worker, *pipe.recv())
        except (EOFError, OSError):
            process.join(_GRACE_S)
            self.stop(worker)
            return Event(worker, "lost", reason=_cause(process.exitcode))

    def stop(self, worker: Hashable) -> None:
        """Kill a process: leaving by itself takes it half a second."""
        process, pipe = self._workers.pop(worker)
        process.kill()
        pipe.close()
        process.join(_GRACE_S)

    def close(self) -> None:
        """Kill all processes."""
        for process, _ in self._workers.values():
            process.kill()
        for worker in list(self._workers):
            self.stop(worker)


def _serve(pipe: Connection, threads: int, gpu: int | None = None) -> None:
    """Be a worker process: take orders until the pipe closes or the parent dies."""
    if gpu is not None and "CUDA_VISIBLE_DEVICES" not in os.environ:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(gpu)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_die_with, args=(parent.sentinel,), daemon=True).start()
    worker = Worker(threads)
    answer: tuple[str, Any] = ("ready", None)
    while True:
        try:
            pipe.send(answer)
            order = pipe.recv()
        except (EOFError, OSError):
            return
        answer = ("done", worker.perform(order))


def _die_with(sentinel: int) -> None:
    """End this process as soon as its parent has ended, even in the middle of a trial."""
    wait([sentinel])
    os._exit(1)


def _cause(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name
    return f"{name}, perhaps because memory ran out" if -code == signal.SIGKILL else name


class RayWorker(Worker):
    """A worker that answers when it is there."""

    def ready(self) -> bool:
        """Answer as soon as the cluster has room for it."""
        return True


class RayEngine:
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
        self._started = 0

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
        except Exception as error:  # a node that is too slow to start raises just that
            first = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise InputError(f"no Ray cluster can be reached at {address or 'this machine'}: {first}") from error

    def _room(self, threads: int, gpus: float) -> int:
        there = self._ray.cluster_resources()
        room = int(there.get("CPU", 0)) // threads
        if gpus:
            room = min(room, int(there.get("GPU", 0) / gpus))
        if room < 1:
            need = f"{threads} CPU" + (f" and {gpus:g} GPU" if gpus else "")
            problem = f"the cluster has no node with {need} for a worker"
            raise InputError(problem, advice="add one, or choose {device:cpu}")
        return room

    def start(self) -> Hashable:
        """Ask for an actor; it may have to wait for a node."""
        self._started += 1
        actor = self._actors[self._started] = self._new()
        self._waiting[actor.ready.remote()] = self._started, False
        return self._started

    def give(self, worker: Hashable, order: Order) -> None:
        """Call the actor."""
        self._waiting[self._actors[worker].perform.remote(order)] = worker, True

    def wait(self, seconds: float) -> list[Event]:
        """Return what the actors have answered, and which of them are gone."""
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

    def stop(self, worker: Hashable) -> None:
        """End an actor."""
        self._ray.kill(self._actors.pop(worker))

    def close(self) -> None:
        """End the actors and leave the cluster."""
        for worker in list(self._actors):
            self.stop(worker)
        if self._ours:
            self._ray.shutdown()


def _knock(address: str) -> None:
    """Raise an error unless HOST:PORT answers; Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), _CONNECT_S).close()
