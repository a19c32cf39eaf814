"""An engine without processes: starting one takes longer than the trials of these tests."""

from __future__ import annotations

from lnmap.experiments.engines import Event
from lnmap.experiments.trial import Order
from lnmap.experiments.worker import Worker


class InProcess:
    """An engine of one worker in this process; a trial of the method `deadly` kills it."""

    size = 1

    def __init__(self, worker: Worker, deadly: str = "") -> None:
        self.worker, self.deadly, self.events, self.deaths = worker, deadly, [], 0

    def start(self):
        self.events.append(Event("one", "ready"))
        return "one"

    def give(self, worker, order: Order):
        if self.deadly and order.trial.method == self.deadly:
            self.deaths += 1
            self.events.append(Event("one", "lost", reason="SIGKILL"))
        else:
            self.events.append(Event("one", "done", self.worker.perform(order)))

    def wait(self, seconds):
        events, self.events = self.events, []
        return events

    def stop(self, worker):
        pass

    def close(self):
        pass
