"""A progress that keeps what it was told."""

from __future__ import annotations

from contextlib import contextmanager

from lnmap.progress import Silent


class Watched(Silent):
    """Keep title, total and steps of every task."""

    def __init__(self):
        super().__init__()
        self.tasks = []

    @contextmanager
    def task(self, title, total):
        steps = []
        self.tasks.append((title, total, steps))

        class Task:
            def advance(self, amount=1):
                steps.append(amount)

        yield Task()

    @property
    def titles(self):
        """Titles of the tasks, each of which must have come to its end."""
        assert all(sum(steps) == total for _, total, steps in self.tasks)
        return [title for title, _, _ in self.tasks]
