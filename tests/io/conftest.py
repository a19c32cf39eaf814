from __future__ import annotations

import signal

import pytest


@pytest.fixture
def no_deadlock():
    """Fail after a while instead of waiting forever for a lock that is never freed."""
    if not hasattr(signal, "SIGALRM"):  # Windows, where nothing is locked
        yield
        return

    def stop(*_: object) -> None:
        raise AssertionError("waited too long")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 30)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
