"""Which processes are killed, and when."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="needs POSIX processes and limits")

from tests.soak.aim import Aim, is_whole
from tests.soak.figures import Figures
from tests.soak.launcher import ROOT, Ended, Launcher
from tests.soak.processes import await_end, group_members


def ended(seconds: float, signal: int | None = None) -> Ended:
    return Ended(0 if signal is None else None, signal, seconds, 0.0, 0.0, "", "")


@pytest.fixture
def aim():
    """Aim at a command that takes 1 s once it is warm, and 5 s as a whole program."""
    seconds = iter([2.0, 1.0, 5.0])
    return Aim(random.Random(0), lambda whole: ended(next(seconds)))


def test_one_of_eight_is_a_whole_program():
    assert [number for number in range(1, 17) if is_whole(Figures(attempts=number - 1))] == [3, 11]


def moments(aim: Aim, attempts: int = 0) -> list[float]:
    return sorted(aim.next(Figures(attempts=attempts)).moment for _ in range(200))


def test_moments_are_spread_over_the_second_run(aim):
    found = moments(aim)
    assert found[0] < 0.05
    assert 0.95 < found[-1] <= 1
    assert not aim.next(Figures()).whole


def test_most_moments_of_a_program_come_after_it_has_loaded(aim):
    found = moments(aim, 2)
    assert 3.2 <= found[0] < 3.3
    assert 4.9 < found[-1] <= 5
    assert "as a whole program" in str(aim.next(Figures(attempts=2)))


def test_only_kills_that_come_in_time_are_counted(aim):
    figures = Figures()
    for attempts, signal in ((0, None), (2, None), (0, 9), (2, 9)):
        aim.count(aim.next(Figures(attempts=attempts)), ended(1.0, signal), figures)
    assert figures.also == {"killed": 2, "of these whole programs": 1}


def test_kills_that_come_too_late_make_the_next_come_earlier(aim):
    for _ in range(3):
        aim.count(aim.next(Figures()), ended(0.4), Figures())
        aim.count(aim.next(Figures(attempts=2)), ended(4.0), Figures())
    assert 0.26 < moments(aim)[-1] <= 0.4 * 0.9**3
    assert 2.8 < moments(aim, 2)[-1] <= 4 * 0.9**3


def test_after_kills_in_time_the_whole_run_is_aimed_at_again(aim):
    aim.count(aim.next(Figures()), ended(1.0), Figures())
    assert moments(aim)[-1] <= 0.9
    for _ in range(20):
        aim.count(aim.next(Figures()), ended(1.0, signal=9), Figures())
    assert 0.95 < moments(aim)[-1] <= 1


def test_the_last_runs_tell_when_to_kill(aim):
    for seconds in (3, 3, 3, 9, 2):
        aim.learn(ended(seconds))
    assert 2.9 < moments(aim)[-1] <= 3


def test_a_whole_program_loads_everything_itself():
    launcher, env = Launcher(), {"PYTHONPROFILEIMPORTTIME": "1"}
    try:
        forked, whole = (launcher.run(["--version"], whole=whole, env=env) for whole in (False, True))
    finally:
        launcher.close()
    assert forked.code == whole.code == 0
    assert forked.out == whole.out
    assert "import time:" in whole.err
    assert "import time:" not in forked.err


def test_children_end_with_their_launcher():
    launcher = Launcher()
    child = launcher.start_call("time:sleep", 600)
    assert group_members(child.pid)
    launcher.close()
    await_end(lambda: group_members(child.pid))


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this kernel does not group sessions")
def test_a_session_keeps_its_priority():
    code = "import os; os.nice(7); from tests.soak.launcher import own_session; own_session()"
    code += "; print(open('/proc/self/autogroup').read())"
    printed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed.split()[-2:] == ["nice", "7"]
