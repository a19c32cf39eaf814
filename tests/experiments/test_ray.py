"""The same trials on a real Ray cluster of two nodes, one of which is killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from lnmap.embeddings import Embeddings
from lnmap.errors import InputError
from lnmap.experiments import Settings, make_plan, run
from lnmap.experiments.data import OwnData
from lnmap.io import save_store, write_lexicon
from lnmap.progress import Silent

ray = pytest.importorskip("ray", reason="Ray is not installed (extra 'cluster')")
OBJECTS = 100 << 20


@pytest.fixture
def data(pair, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name, side in (("en", pair.source), ("fr", pair.target)):
        save_store(Embeddings.from_arrays(side.words[:1500], side.vectors[:1500, :100]), folder / name)
    for part, pairs in (("train", pair.train), ("test", pair.test)):
        write_lexicon(folder / f"en-fr.{part}.txt", pairs)
        write_lexicon(folder / f"fr-en.{part}.txt", pairs.reversed())
    return OwnData(folder)


@pytest.fixture
def cluster():
    """A head without processors and two nodes with one each."""
    from ray.cluster_utils import Cluster

    made = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 0,
            "object_store_memory": OBJECTS,
            "include_dashboard": False,
            "_system_config": {"worker_niceness": 0},  # else other programs on the machine starve the workers
        },
    )
    nodes = [made.add_node(num_cpus=1, object_store_memory=OBJECTS) for _ in range(2)]
    yield made, nodes
    if ray.is_initialized():
        ray.shutdown()
    made.shutdown()


class Watched(Silent):
    """Note when the first result is there."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()

    def note(self, message: str) -> None:
        super().note(message)
        if " of 13: " in message:
            self.begun.set()


class NodeKiller(threading.Thread):
    """Kill a node that a trial is running on, and everything else on that node, once there is a result.

    Some node is always at work while results are missing. A worker is halted before it is looked at again, so that its
    trial cannot end between the look and the kill.
    """

    def __init__(self, nodes, begun: threading.Event) -> None:
        super().__init__(daemon=True)
        self.nodes, self.begun, self.over, self.killed = nodes, begun, threading.Event(), None

    def run(self) -> None:
        self.begun.wait()
        while self.killed is None and not self.over.wait(0.02):
            self.killed = next((node for node in self.nodes if self._kill_at_work(node)), None)

    def _kill_at_work(self, node) -> bool:
        workers = [pid for pid in processes(node) if at_work(pid)]
        send(workers, signal.SIGSTOP)
        if not any(map(at_work, workers)):
            send(workers, signal.SIGCONT)
            return False
        send(processes(node), signal.SIGKILL)
        return True

    def end(self) -> None:
        self.over.set()
        self.begun.set()
        self.join()


def at_work(pid: int) -> bool:
    """Return whether a process is running a trial: Ray names it after the call it is in."""
    try:
        return b"RayWorker.perform" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def send(pids, sent: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, sent)


def processes(node) -> set[int]:
    """All processes of a node: workers would first notice after a while that it is gone."""
    own = {one.process.pid for processes in node.all_processes.values() for one in processes}
    return own | children(own)


def children(parents: set[int]) -> set[int]:
    """All processes started by these, and by those in turn."""
    parent_of = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent_of[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found: set[int] = set()
    while new := {pid for pid, parent in parent_of.items() if parent in parents | found} - found:
        found |= new
    return found


@pytest.fixture
def plan(data):
    systems, takes = ["procrustes", "vecmap-sup", "muse"], ["300-unique", "200-unique"]
    return make_plan("own", systems=systems, takes=takes, own_pairs=data.pairs)


def assert_each_once(plan, settings, outcome, notes) -> None:
    assert outcome.ran == len(plan) == 13
    assert not outcome.failed
    files = [json.loads(path.read_text()) for path in (settings.out / "results").iterdir()]
    assert len({result["key"] for result in files}) == len(files) == len(plan)
    assert sum(" of 13: " in note for note in notes) == len(plan)
    assert run(plan, settings, Silent()).ran == 0


def test_killed_node_costs_no_trial_and_doubles_none(cluster, data, plan, tmp_path):
    made, nodes = cluster
    progress = Watched()
    settings = Settings(tmp_path / "out", engine="ray", address=made.address, own=data, device="cpu", jobs=2)
    killer = NodeKiller(nodes, progress.begun)
    killer.start()
    try:
        outcome = run(plan, settings, progress)
    finally:
        killer.end()
    assert killer.killed is not None
    assert sum("its worker was lost" in note for note in progress.notes) == 1, progress.notes
    assert_each_once(plan, settings, outcome, progress.notes)


def test_node_that_dies_before_its_worker_has_begun(cluster, data, plan, tmp_path):
    made, nodes = cluster
    settings = Settings(tmp_path / "out", engine="ray", address=made.address, own=data, device="cpu", jobs=2)
    send(processes(nodes[1]), signal.SIGSTOP)  # takes a worker, and never starts it
    progress = Watched()
    killer = threading.Thread(target=lambda: progress.begun.wait() and send(processes(nodes[1]), signal.SIGKILL))
    killer.start()
    try:
        outcome = run(plan, settings, progress)
    finally:
        progress.begun.set()
        killer.join()
    assert not any("its worker was lost" in note for note in progress.notes), progress.notes
    assert_each_once(plan, settings, outcome, progress.notes)


def test_cluster_that_is_not_there(data, tmp_path):
    plan = make_plan("own", systems=["procrustes"], takes=["200-unique"], own_pairs=data.pairs)
    settings = Settings(tmp_path / "out", engine="ray", address="127.0.0.1:1", own=data, device="cpu", jobs=1)
    with pytest.raises(InputError, match=r"no Ray cluster can be reached at 127\.0\.0\.1:1"):
        run(plan, settings, Silent())


def test_cluster_that_does_not_start_on_a_busy_machine(data, tmp_path, monkeypatch):
    """Ray raises no more than an Exception."""

    def time_out(**_: object) -> None:
        raise Exception("The current node timed out during startup. This could happen")

    monkeypatch.setattr(ray, "init", time_out)
    plan = make_plan("own", systems=["procrustes"], takes=["200-unique"], own_pairs=data.pairs)
    settings = Settings(tmp_path / "out", engine="ray", own=data, device="cpu", jobs=1)
    with pytest.raises(InputError, match="no Ray cluster can be reached at this machine: The current node timed out"):
        run(plan, settings, Silent())
