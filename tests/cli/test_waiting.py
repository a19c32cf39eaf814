"""Threads look for work while the cores are free, and sleep while other programs want them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

import pytest

from lnmap.cli import waiting
from lnmap.cli.waiting import Look, Watch

OPENMPS_OWN = "300000"
WORKER = """
from lnmap.cli import main
if __name__ == "__main__":
    main(["report", "--help"])
    from lnmap.cli.waiting import prepare
    prepare(["reproduce"])
    from lnmap.experiments.engines import LocalEngine
    engine = LocalEngine(jobs=1, threads=2)
    engine.start()
    print(engine.wait(60)[0].kind)
    engine.close()
"""
SPINNING = """
import time, torch
from lnmap.cli.waiting import Look, Watch

def while_it_waits():
    torch.zeros(400_000).add_(1)
    before = time.process_time()
    time.sleep(0.4)
    return time.process_time() - before

others = 0.0
def see():
    see.used += 0.02 * others
    see.clock += 0.02
    return Look(see.clock, see.used, 0.0)
see.used = see.clock = 0.0

torch.set_num_threads(2)
watch = Watch(see, pause=0.02)
watch.start()
for others in (0.0, 1.0, 0.0):
    time.sleep(0.3)
    if watch.team is not None:
        watch.team.there.wait()
    print(watch.team is not None, while_it_waits())
watch.end()
"""

two_cores = pytest.mark.skipif(waiting.cores() < 2 or waiting.look() is None, reason="needs two cores of Linux")


@pytest.fixture
def own(monkeypatch):
    """Forget what the environment of the tests sets, and let OpenMP print what it has read."""
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_DISPLAY_ENV", "verbose")
    return monkeypatch


def run(*arguments: str, **environment: str) -> str:
    command = [sys.executable, "-m", "lnmap", *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    return done.stderr


def turns(printed: str) -> set[str]:
    """How often the threads of each process look whether there is work before they sleep, as OpenMP prints it."""
    found = set(re.findall(r"GOMP_SPINCOUNT *= *'(\w+)'", printed))
    if not found:
        pytest.skip("torch does not use GNU's OpenMP here")
    return found


@two_cores
def test_where_the_cores_are_watched_openmp_waits_in_its_own_way(own):
    assert turns(run("methods", "procrustes")) == {OPENMPS_OWN}


def test_fewer_threads_than_cores_soon_sleep(own):
    assert turns(run("methods", "procrustes", OMP_NUM_THREADS="1")) == {"1000" if waiting.cores() > 1 else OPENMPS_OWN}


def test_the_users_own_way_to_wait_is_kept(own):
    assert turns(run("methods", "procrustes", OMP_WAIT_POLICY="PASSIVE")) == {"0"}
    assert turns(run("methods", "procrustes", GOMP_SPINCOUNT="5")) == {"5"}


def test_threads_of_workers_soon_sleep(own, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(WORKER)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert (done.stdout.split()[-1], turns(done.stderr)) == ("ready", {"1000"})


@pytest.mark.parametrize("command", [["serve", "model"], ["-q", "reproduce", "open"]])
def test_what_starts_other_processes_is_not_watched(own, command):
    assert waiting.prepare(command) is None
    assert os.environ["GOMP_SPINCOUNT"] == "1000"


def test_where_nothing_is_known_of_the_cores_threads_soon_sleep(own):
    own.setattr(waiting, "look", lambda: None)
    assert waiting.prepare(["align"]) is None
    assert os.environ["GOMP_SPINCOUNT"] == "1000"


@two_cores
def test_waiting_threads_sleep_while_others_use_the_cores(own):
    """Threads that would look for minutes: the seconds in which the process waits say whether they do."""
    done = subprocess.run(
        [sys.executable, "-c", SPINNING],
        env={**os.environ, "GOMP_SPINCOUNT": "30000000000", "OMP_NUM_THREADS": str(waiting.cores())},
        capture_output=True,
        text=True,
        check=True,
    )
    if not re.search("GOMP_SPINCOUNT", done.stderr):
        pytest.skip("torch does not use GNU's OpenMP here")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [team for team, _ in rows] == ["False", "True", "False"]
    free, busy, again = (float(seconds) for _, seconds in rows)
    assert min(free, again) > 5 * busy


def test_a_look_tells_others_from_oneself():
    before, now = Look(1.0, 10.0, 3.0), Look(3.0, 13.0, 5.0)
    assert now.others(before) == pytest.approx(0.5)


@two_cores
def test_a_loop_beside_it_is_seen():
    def others() -> float:
        before = waiting.look()
        time.sleep(1)
        return waiting.look().others(before)

    loop = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.2)
        assert others() > 0.25
    finally:
        loop.kill()
        loop.wait()


def test_own_work_is_not_that_of_others(monkeypatch, tmp_path):
    file = tmp_path / "stat"
    file.write_text("cpu 9 9 9 9 9 9 9 9 0 0\n" + "".join(f"cpu{i} 100 20 3 999 999 1 2 4 0 0\n" for i in range(2)))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1}, raising=False)
    monkeypatch.setattr(os, "sysconf", lambda _: 100, raising=False)
    assert waiting.look(file).used == pytest.approx(1.30)
    file.write_text("intr 1\n")
    assert waiting.look(file) is None
    assert waiting.look(tmp_path / "nothing") is None


def test_a_system_that_does_not_count_us_is_not_believed():
    """Own seconds that no core was in use for: others may be there as well."""
    looks = iter([Look(0.0, 0.0, 0.0), *(Look(float(i), 0.0, float(i)) for i in range(1, 100))])
    watch = Watch(lambda: next(looks, None), pause=0.01)
    watch.start()
    deadline = time.monotonic() + 10
    while watch.team is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert watch.team is not None
    watch.end()
    assert not watch.is_alive()
    assert watch.team is None


LIMITS = [
    ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5),
    ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
    ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "50000 100000\n"}, 0.5),
    (
        {
            "proc/self/cgroup": "3:cpu,cpuacct:/docker/x\n0::/docker/x\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "200000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        },
        2.0,
    ),
    (
        {
            "proc/self/cgroup": "1:cpu:/\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
        None,
    ),
    ({}, None),
]


@pytest.mark.parametrize(("files", "cores"), LIMITS)
def test_limits_of_containers_are_read(tmp_path, files, cores):
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert waiting.quota(tmp_path) == cores


def test_a_container_gets_as_many_threads_as_it_may_use_cores(own):
    own.setattr(waiting, "cores", lambda: 8)
    own.setattr(waiting, "quota", lambda: 1.5)
    waiting.prepare(["align"])
    assert os.environ["OMP_NUM_THREADS"] == "2"
    own.setenv("OMP_NUM_THREADS", "5")
    waiting.prepare(["align"])
    assert os.environ["OMP_NUM_THREADS"] == "5"
