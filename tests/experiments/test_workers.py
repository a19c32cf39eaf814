"""Workers that fail, die or are killed: what is kept, and what the next command does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.experiments.in_process import InProcess

from lnmap.errors import TrainingError
from lnmap.experiments import Settings, run
from lnmap.experiments.data import OwnData
from lnmap.experiments.engines import Event, LocalEngine
from lnmap.experiments.runner import Schedule
from lnmap.experiments.trial import Order
from lnmap.experiments.worker import Worker
from lnmap.progress import Silent


class Failing(Worker):
    """A worker whose geomm never works out."""

    def _train(self, order, progress):
        if order.trial.method == "geomm":
            raise TrainingError("geomm diverged")
        return super()._train(order, progress)


@pytest.mark.parametrize("cause", ["fails", "kills"])
def test_failed_trial_is_a_result_and_the_rest_goes_on(data, plan, tmp_path, monkeypatch, cause):
    engine = InProcess(Failing()) if cause == "fails" else InProcess(Worker(), "geomm")
    monkeypatch.setattr("lnmap.experiments.runner.make_engine", lambda *_: engine)
    settings = Settings(tmp_path, own=OwnData(data), device="cpu")
    outcome = run(plan, settings, Silent())
    assert outcome.ran == len(plan)
    assert {result["trial"]["method"] for result in outcome.failed} == {"geomm"}
    assert len(outcome.failed) == 2
    again = run(plan, settings, Silent())
    if cause == "fails":
        assert outcome.failed[0]["reason"] == "geomm diverged"
        assert "scores" not in outcome.failed[0]
        assert again.ran == 0
        assert run(plan, Settings(tmp_path, own=OwnData(data), device="cpu", retry=True), Silent()).ran == 2
    else:  # three workers died over each: that may be the machine's fault, so the next command tries again
        assert "3 workers were lost over it" in outcome.failed[0]["reason"]
        assert engine.deaths == 12
        assert again.ran == 2


def test_workers_that_cannot_start_end_the_run(plan):
    class Stillborn(InProcess):
        def start(self):
            self.events.append(Event("one", "lost", reason="exit code 1"))
            return "one"

    order = Order("k", plan[0], {"source": "a", "target": "b"}, {}, {}, "muse", "cpu", "")
    schedule = Schedule(Stillborn(Worker()), [order], print, print, print)
    with pytest.raises(TrainingError, match="cannot be started: exit code 1"):
        schedule.run()


def test_dead_process_is_noticed():
    engine = LocalEngine(1, 1)
    try:
        worker = engine.start()
        assert [event.kind for event in wait_for(engine)] == ["ready"]
        os.kill(worker, signal.SIGKILL)
        (event,) = wait_for(engine)
        assert (event.kind, event.reason[:7]) == ("lost", "SIGKILL")
    finally:
        engine.close()


def wait_for(engine: LocalEngine) -> list[Event]:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if events := engine.wait(1.0):
            return events
    raise AssertionError("nothing happened")


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_killed_command_is_continued(data, tmp_path):
    """SIGKILL in the middle of a run: what was finished stays, the run under way goes on from its checkpoint."""
    out = tmp_path / "out"
    arguments = ["reproduce", "own", "--data", str(data), "--systems", "procrustes,lnmap", "--take", "200-unique"]
    arguments += ["--pairs", "en-fr", "--one-way", "--seeds", "1", "--jobs", "1", "--device", "cpu", "--out", str(out)]
    program = [sys.executable, "-c", "import sys; from lnmap.cli import main; sys.exit(main())", *arguments]
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    first = wait_for_file(out, "results/*.isometry.*.json", process)
    wait_for_file(out, "work/*/checkpoint.safetensors", process)
    process.kill()
    process.communicate()
    before = first.stat().st_mtime_ns, first.read_bytes()
    assert not list(out.glob("results/*.lnmap.*"))
    done = subprocess.run([*program, "--json"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["run"]["kept"] >= 1
    assert (first.stat().st_mtime_ns, first.read_bytes()) == before
    (path,) = out.glob("results/*.lnmap.*.json")
    result = json.loads(path.read_text())
    assert result["resumed"] is True
    assert "continuing the unfinished run" in result["notes"][0]
    assert not list((out / "work").iterdir())


def wait_for_file(out: Path, pattern: str, process: subprocess.Popen) -> Path:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if found := next(out.glob(pattern), None):
            return found
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    raise AssertionError(f"{pattern} did not come")
