"""A sample of the calls of every job; `make soak` takes them all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("strace follows processes of Linux", allow_module_level=True)

from tests import helpers
from tests.calls import __main__ as calls
from tests.calls import tracer
from tests.calls.cuts import cut
from tests.calls.faults import faulty, forked, spread, whole_program
from tests.calls.jobs import JOBS, Induce
from tests.calls.tracer import Fault
from tests.helpers import CannotMountError, small_disk
from tests.soak import keeping
from tests.soak.figures import Budget, Figures
from tests.soak.lab import open_lab


@pytest.fixture(scope="module")
def lab():
    with open_lab(size=(150, 20)) as made:
        yield made


def check(figures: Figures) -> None:
    if figures.skipped:
        pytest.skip(figures.skipped)
    assert not figures.failed, figures.failures
    assert figures.attempts


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("induce", "KILL"),
        ("induce, several files", "EIO"),
        ("export, text", "EROFS"),
        ("export, stores", "KILL"),
        ("vectors", "ENOSPC"),
        ("data get", "KILL"),
        ("marks", "EIO"),
        ("cache", "ENOSPC"),
        ("align, method lnmap", "KILL"),
        ("align, method auto", "EINTR"),
    ],
)
def test_faults(lab, name, fault):
    check(faulty(name, Fault(fault))(lab, Budget(4)))


@pytest.mark.parametrize("name", ["induce", "vectors", "data get", "marks", "align, method lnmap"])
def test_power_cuts(lab, name):
    check(cut(name)(lab, Budget(5)))


def test_a_program_as_a_user_starts_it(lab):
    check(faulty("induce", Fault("KILL"), whole_program)(lab, Budget(1)))


class Careless(Induce):
    """A program that writes nothing through, and half of it first."""

    def start(self, out, **more):
        return self.lab.launcher.start_call("tests.calls.test_calls:write_carelessly", out, **more)


def write_carelessly(out: str) -> str:
    for text in ("half", "half and half"):
        Path(out).write_text(text)
    return "done"


def test_the_harness_finds_what_is_wrong(lab, monkeypatch):
    monkeypatch.setitem(JOBS, "careless", Careless)
    killed = faulty("careless", Fault("KILL"))(lab, Budget(9))
    if killed.skipped:
        pytest.skip(killed.skipped)
    assert killed.attempts == 4
    assert killed.failed == 3  # all but the first, before which nothing has happened
    assert "write out: neither the old output nor the new" in killed.failures[0]
    failed = faulty("careless", Fault("EIO"))(lab, Budget(9))
    assert failed.failed == 4
    assert "exit code 99" in failed.failures[0]
    lost = cut("careless")(lab, Budget(99))
    assert any("lost, although '\"done\"' had been printed" in text for text in lost.failures)


def test_a_fault_that_hits_another_call_is_tried_again(lab):
    missed = []

    def trace(job, out, fault=None, call=None, **more):
        if call and not missed:
            missed.append(call)
            call = replace(call, nth=call.nth + 1)
        return forked(job, out, fault, call, **more)

    check(faulty("induce", Fault("KILL"), trace)(lab, Budget(1)))
    assert missed


def test_a_recorded_run_that_opened_a_file_more_is_recorded_again(lab):
    recorded = []

    def trace(job, out, fault=None, call=None, **more):
        ended, calls = forked(job, out, fault, call, **more)
        if call or recorded:
            return ended, calls
        recorded.append(out)
        return ended, [replace(one, nth=one.nth + 1) for one in calls]

    figures = faulty("induce", Fault("EIO"), trace)(lab, Budget(3))
    check(figures)
    assert recorded


def test_spread():
    assert spread(range(10), 3) == [0, 4, 9]
    assert spread(range(3), 10) == [0, 1, 2]
    assert spread(range(3), 1) == [0]


def test_without_strace(lab, monkeypatch):
    monkeypatch.setattr(tracer.shutil, "which", lambda name: None)
    for scenario in (faulty("induce", Fault("KILL")), cut("induce"), faulty("induce", Fault("EIO"), whole_program)):
        figures = scenario(lab, Budget(1))
        assert "strace is not installed" in figures.skipped
        assert not figures.attempts


def test_where_no_process_may_be_followed(lab, monkeypatch, tmp_path):
    fake = tmp_path / "strace"
    fake.write_text("#!/bin/sh\necho 'strace: attach: ptrace(PTRACE_SEIZE, 1): Operation not permitted' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(tracer, "strace", lambda: str(fake))
    assert "Operation not permitted" in faulty("marks", Fault("KILL"))(lab, Budget(1)).skipped


@pytest.fixture
def main(monkeypatch, tmp_path):
    """Run the command on two cells that take no time."""
    monkeypatch.setattr(calls, "SCENARIOS", {key: (_done, 9) for key in ("induce: KILL", "marks: EIO")})

    def run(*arguments, state=tmp_path / "state.json"):
        return calls.main([*map(str, arguments), "--state", str(state)])

    return run


def _done(lab, budget) -> Figures:
    figures = Figures()
    figures.count("calls", 3)
    with figures.attempt():
        pass
    return figures


def _interrupted(lab, budget):
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(5)


def test_the_table(main, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{calls.BEGIN}\nold\n{calls.END}\nafter\n")
    assert main("--out", page) == 0
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| induce | 3 | 1 |  |  |  |  |  | 0 |" in text
    assert "| all | 6 | 1 | 0 | 1 | 0 | 0 | 0 | 0 |" in text


def test_cells_that_are_run_again_are_named_in_the_table(main, monkeypatch, capsys):
    main()
    monkeypatch.setattr(calls, "commit", lambda: "later")
    assert main("--again", "marks") == 0
    printed = capsys.readouterr().out
    assert "At commit later: marks.\n" in printed
    assert "| all | 6 | 1 | 0 | 1 | 0 | 0 | 0 | 0 |" in printed


def test_an_interrupted_run_keeps_what_it_has_and_continues(main, monkeypatch, capsys):
    scenarios = calls.SCENARIOS
    monkeypatch.setattr(calls, "SCENARIOS", scenarios | {"marks: EIO": (_interrupted, 9)})
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 130
    assert "interrupted; finished rows: 1, kept in" in capsys.readouterr().out
    again = []
    monkeypatch.setattr(calls, "SCENARIOS", {key: (lambda *_: again.append(1) or _done(*_), 9) for key in scenarios})
    assert main() == 0
    assert len(again) == 1


def test_a_run_beside_another_is_refused(main, tmp_path):
    with keeping.alone(tmp_path / "state.json"), pytest.raises(SystemExit, match="another run is writing"):
        main()


def test_a_full_disk_loses_no_figure(main, tmp_path, capsys):
    try:
        with small_disk(tmp_path / "disk", 64) as place:
            state = place / "state.json"
            assert main("--only", "induce", state=state) == 0
            kept = json.loads(state.read_text())["done"]
            (place / "ballast").write_bytes(bytes(8192))
            with pytest.raises(OSError, match="No space"), (place / "ballast").open("ab") as file:
                file.write(bytes(1 << 20))
            assert main(state=state) == 1
            assert json.loads(state.read_text())["done"] == kept
    except CannotMountError as reason:
        pytest.skip(str(reason))
    printed = capsys.readouterr().out
    assert "the figures cannot be kept: cannot write the file" in printed
    assert "| all | 6 | 1 | 0 | 1 | 0 | 0 | 0 | 0 |" in printed


def test_a_mount_that_fails_without_a_word(tmp_path, monkeypatch):
    failed = subprocess.CompletedProcess([], 32, "", "")
    monkeypatch.setattr(helpers.os, "geteuid", lambda: 0)
    monkeypatch.setattr(helpers.shutil, "which", lambda _: "mount")
    monkeypatch.setattr(helpers.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(CannotMountError, match="mount gives no reason"), small_disk(tmp_path / "disk", 64):
        pass


@pytest.mark.parametrize("text", ["", "{", "[]", '{"done": 3}', '{"how": {}}'])
def test_a_state_that_cannot_be_read_is_started_over(main, tmp_path, text):
    (tmp_path / "state.json").write_text(text)
    assert main() == 0


def test_a_cell_that_breaks_is_a_failure_and_the_others_go_on(main, monkeypatch, capsys):
    monkeypatch.setitem(calls.SCENARIOS, "induce: KILL", (lambda *_: [][0], 9))
    assert main() == 1
    printed = capsys.readouterr().out
    assert "the row itself broke: IndexError" in printed
    assert "marks: EIO | 1 | 0" in printed


def test_the_soak_is_not_run_twice_at_once(tmp_path):
    command = [sys.executable, "-m", "tests.soak", "--few", "--only", "unsafe", "--state", str(tmp_path / "state.json")]
    with keeping.alone(tmp_path / "state.json"):
        done = subprocess.run(command, cwd=keeping.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("another run is writing")
    assert len(done.stderr.splitlines()) == 1


def test_every_job_has_its_row_on_the_page():
    page = (keeping.ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    table = page.partition(calls.BEGIN)[2].partition(calls.END)[0].splitlines()
    rows = [line.split(" | ")[0].removeprefix("| ") for line in table if line.startswith("| ")][2:-1]
    assert rows == list(dict.fromkeys(key.rpartition(": ")[0] for key in calls.SCENARIOS))
