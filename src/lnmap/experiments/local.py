"""The engine of one machine: worker processes that are told what to do through pipes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Hashable
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from lnmap.experiments.records import Order
from lnmap.experiments.schedule import Event

_GRACE_S = 5.0


class LocalCrew:
    """Processes started afresh, so that nothing but what they are handed is shared."""

    def __init__(self, jobs: int, threads: int, gpus: int = 0) -> None:
        self.size, self.threads, self.gpus = jobs, threads, gpus
        self._hired = 0
        self._context = multiprocessing.get_context("spawn")
        self._workers: dict[Hashable, tuple[BaseProcess, Connection]] = {}

    def hire(self) -> Hashable:
        """Start a process."""
        ours, theirs = self._context.Pipe()
        gpu = self._hired % self.gpus if self.gpus else None
        self._hired += 1
        process = self._context.Process(target=serve, args=(theirs, self.threads, gpu), daemon=True)
        process.start()
        theirs.close()
        self._workers[process.pid] = process, ours
        return process.pid

    def give(self, worker: Hashable, order: Order) -> None:
        """Send an order; a process that has just died is found out by `wait`."""
        try:
            self._workers[worker][1].send(order)
        except OSError:
            return

    def wait(self, seconds: float) -> list[Event]:
        """Collect what the processes have sent."""
        ready = wait([pipe for _, pipe in self._workers.values()], seconds)
        return [self._receive(name) for name, (_, pipe) in list(self._workers.items()) if pipe in ready]

    def dismiss(self, worker: Hashable) -> None:
        """End a process that has nothing to do, at once: leaving by itself takes it half a second."""
        process, pipe = self._workers.pop(worker)
        process.kill()
        pipe.close()
        process.join(_GRACE_S)

    def close(self) -> None:
        """End all processes at once."""
        for process, pipe in self._workers.values():
            process.kill()
            pipe.close()
        for process, _ in self._workers.values():
            process.join(_GRACE_S)
        self._workers.clear()

    def _receive(self, worker: Hashable) -> Event:
        process, pipe = self._workers[worker]
        try:
            kind, result = pipe.recv()
            return Event(worker, kind, result)
        except (EOFError, OSError):
            process.join(_GRACE_S)
            del self._workers[worker]
            pipe.close()
            return Event(worker, "lost", reason=_cause(process.exitcode))


def serve(pipe: Connection, threads: int, gpu: int | None = None) -> None:
    """Live as a worker process: take orders until the pipe closes or the parent dies."""
    if gpu is not None and "CUDA_VISIBLE_DEVICES" not in os.environ:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(gpu)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()
    from lnmap.experiments.task import Worker

    worker = Worker(threads)
    answer: tuple[str, Any] = ("ready", None)
    while True:
        try:
            pipe.send(answer)
            order = pipe.recv()
        except (EOFError, OSError):
            return
        answer = ("done", worker.perform(order))


def _follow(sentinel: int) -> None:
    """End at once when the parent has ended, even in the middle of a trial."""
    wait([sentinel])
    os._exit(1)


def _cause(code: int | None) -> str:
    """Tell in words how a process ended."""
    if code is None or code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name
    return f"{name}, perhaps because memory ran out" if -code == signal.SIGKILL else name
