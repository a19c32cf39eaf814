"""The runner on real data: what is kept, what is done again, and what is said about it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lnmap
from lnmap.cli import main
from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, OutputError, TrainingError
from lnmap.experiments import Results, Settings, make_plan, run
from lnmap.experiments.data import OwnData
from lnmap.experiments.engines import Event, LocalEngine
from lnmap.experiments.report import write_report
from lnmap.experiments.runner import Schedule
from lnmap.experiments.trial import Order
from lnmap.experiments.worker import Worker
from lnmap.io import save_store
from lnmap.io.atomic import locked
from lnmap.progress import Silent

WORDS = 1000


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


@pytest.fixture(scope="module")
def data(pair, tmp_path_factory) -> Path:
    """The bundled pair, cut, as files of a user's own."""
    folder = tmp_path_factory.mktemp("data")
    for name, side in (("en", pair.source), ("fr", pair.target)):
        save_store(Embeddings.from_arrays(side.words[:WORDS], side.vectors[:WORDS, :60]), folder / name)
    for part, pairs in (("train", pair.train), ("test", pair.test)):
        (folder / f"en-fr.{part}.txt").write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
        (folder / f"fr-en.{part}.txt").write_text("".join(f"{target}\t{source}\n" for source, target in pairs))
    return folder


@pytest.fixture(scope="module")
def plan(data):
    return make_plan("own", systems=["procrustes", "geomm"], takes=["200-unique"], own_pairs=OwnData(data).pairs)


@pytest.fixture(scope="module")
def finished(data, plan, tmp_path_factory):
    """A folder in which everything has been run once."""
    out = tmp_path_factory.mktemp("out")
    outcome = run(plan, Settings(out, jobs=2, own=OwnData(data), device="cpu"), Silent())
    return out, outcome


@pytest.fixture
def here(monkeypatch):
    """Work in this process: starting one takes longer than these trials."""
    monkeypatch.setattr("lnmap.experiments.runner.make_engine", lambda *_: InProcess(Worker()))


def state(out: Path) -> dict[str, tuple[int, bytes]]:
    return {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in sorted((out / "results").iterdir())}


def test_every_trial_has_one_file(finished, plan):
    out, outcome = finished
    assert outcome.ran == len(plan) == len(state(out)) == 5
    assert not outcome.failed
    assert not list((out / "work").glob("*/*"))


def test_numbers_are_those_of_align(finished, data):
    out, _ = finished
    model = lnmap.align(
        data / "en", data / "fr", data / "en-fr.train.txt", method="procrustes", take="200-unique", device="cpu"
    )
    expected = model.evaluate(lnmap.read_lexicon(data / "en-fr.test.txt")).to_dict()
    (path,) = (out / "results").glob("en-fr.procrustes.*")
    assert json.loads(path.read_text())["scores"] == expected


def test_finished_trials_are_not_done_again(finished, data, plan):
    out, _ = finished
    before = state(out)
    outcome = run(plan, Settings(out, jobs=1, own=OwnData(data), device="cpu"), Silent())
    assert outcome.ran == 0
    assert len(outcome.results) == len(plan)
    assert state(out) == before


@pytest.mark.parametrize("damage", ["cut", "digit", "foreign", "binary"])
def test_broken_result_is_set_aside_and_done_again(finished, data, plan, damage, here):
    out, _ = finished
    path = next((out / "results").glob("fr-en.geomm.*.json"))
    good = path.read_text()
    score = json.loads(good)["scores"]["p@1"]
    bad = {
        "cut": good[: len(good) // 2],
        "digit": good.replace(f'"p@1": {score}', '"p@1": 99.9', 1),
        "foreign": '{"format": "something else"}',
        "binary": "\0\1\2",
    }[damage]
    assert bad != good
    path.write_text(bad)
    progress = Silent()
    outcome = run(plan, Settings(out, jobs=1, own=OwnData(data), device="cpu"), progress)
    assert outcome.ran == 1
    assert json.loads(path.read_text())["scores"]["p@1"] == score
    assert path.with_name(f"{path.name}.bad").read_text() == bad
    assert any("set aside" in note for note in progress.notes)
    path.with_name(f"{path.name}.bad").unlink()


def test_other_data_are_other_trials(finished, data, plan, tmp_path, here):
    out, _ = finished
    changed = tmp_path / "data"
    changed.mkdir()
    for path in data.iterdir():
        (changed / path.name).symlink_to(path)
    (changed / "en-fr.test.txt").unlink()
    lines = (data / "en-fr.test.txt").read_text().splitlines()
    (changed / "en-fr.test.txt").write_text("\n".join(lines[:-1]) + "\n")
    forward = [trial for trial in plan if trial.direction == "en-fr" and trial.method == "procrustes"]
    before = state(out)
    outcome = run(forward, Settings(out, jobs=1, own=OwnData(changed), device="cpu"), Silent())
    assert outcome.ran == 1
    new = set(state(out)) - set(before)
    assert len(new) == 1
    (out / "results" / new.pop()).unlink()


DEVELOPMENT = "title: t\ndirections: [en-fr]\ntakes: [200-unique]\nscore: development\n"


@pytest.fixture
def develop(data, tmp_path, here):
    """Run Procrustes on development pairs; return its result and the training pairs outside the seed."""

    def develop_on(folder: Path) -> tuple[dict, list[tuple[str, str]]]:
        path = tmp_path / "mine.yaml"
        path.write_text(DEVELOPMENT + "systems: {p: {method: procrustes}}\n")
        outcome = run(make_plan(str(path)), Settings(tmp_path / "out", own=OwnData(folder), device="cpu"), Silent())
        train = lnmap.read_lexicon(folder / "en-fr.train.txt")
        seed = train.take("200-unique", lnmap.read(folder / "en"), lnmap.read(folder / "fr"))
        words = {source for source, _ in seed}
        return outcome.results[-1], [pair for pair in train if pair[0] not in words]

    return develop_on


def test_development_pairs_are_those_outside_the_seed(data, develop, tmp_path):
    result, unused = develop(data)
    assert result["scores"]["test_pairs_seen_in_training"] == 0
    assert result["scores"]["test_pairs"] == len(set(unused))
    assert result["development"] == {"pairs": len(unused), "removed": 0, "test_files": 2}
    assert set(result["words"]["source"]) <= {source for source, _ in unused}
    write_report(tmp_path / "out")
    assert "less all test pairs of both directions" in (tmp_path / "out/report/report.md").read_text()


@pytest.mark.parametrize("file", ["fr-en.test.txt", "en-fr.test.txt"])
def test_no_test_pair_of_either_direction_is_a_development_pair(data, develop, tmp_path, file):
    before, unused = develop(data)
    word, answer = next(
        p for p in unused if [s for s, _ in unused].count(p[0]) == 1 and p[0] in before["words"]["source"]
    )
    changed = tmp_path / "changed"
    changed.mkdir()
    for path in data.iterdir():
        (changed / path.name).symlink_to(path)
    planted = (word, answer) if file.startswith("en") else (answer, word)
    (changed / file).unlink()
    (changed / file).write_text("{}\t{}\n".format(*planted).upper() + (data / file).read_text())
    result, _ = develop(changed)
    assert result["development"] == {"pairs": len(unused) - 1, "removed": 1, "test_files": 2}
    assert set(before["words"]["source"]) - set(result["words"]["source"]) == {word}


def test_a_missing_other_test_file_is_counted(data, develop, tmp_path):
    changed = tmp_path / "changed"
    changed.mkdir()
    for path in data.iterdir():
        if path.name != "fr-en.test.txt":
            (changed / path.name).symlink_to(path)
    assert develop(changed)[0]["development"]["test_files"] == 1


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


def test_second_command_in_the_same_folder_is_refused(data, plan, tmp_path):
    with locked(tmp_path), pytest.raises(OutputError, match="being written by another run"):
        run(plan, Settings(tmp_path, own=OwnData(data), device="cpu"), Silent())


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


def test_plan_is_kept_beside_the_results(finished, plan):
    out, _ = finished
    assert [trial for trial, _ in Results(out).plan()["own"]] == plan


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["own"], "name their folder with --data DIR"),
        (["table1", "--limit", "5"], "--limit goes with --data"),
        (["open", "--engine", "abacus"], "choose from local, ray"),
        (["open", "--jobs", "0", "--no-get"], "is missing; fetch it with|give --jobs 1"),
        (["comparison"], "'comparison' is made from data of yours; name their folder with --data DIR"),
        (["nothing.yaml"], r"nothing\.yaml: not a readable YAML file"),
        (["table1", "--pairs", "en-fi"], "fetch it with: lnmap data get muse --pairs en-fi"),
        (["own", "--data", "nowhere"], "there is no data folder nowhere"),
    ],
)
def test_bad_command_is_one_clear_line(arguments, what, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LNMAP_DATA", str(tmp_path / "data"))
    assert main(["reproduce", *arguments]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()[-1:]
    assert re.search(what, line), line


def test_dry_run_runs_nothing(data, tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["reproduce", "own", "--data", str(data), "--out", str(out), "--dry-run", "--json"]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["runs"]) > 50
    assert {one["state"] for one in found["runs"]} == {"to do"}
    assert not out.exists()


SECOND = """
title: one direction after the other
directions: [fr-en]
takes: [200-unique]
systems:
  second: {method: lnmap, profile: release, second: true, options: SHORT}
  alone: {method: lnmap, profile: release, options: SHORT}
"""
SHORT = "{code: 60, hidden: 64, mapper_hidden: 64, ae_epochs: 1, ae_draws: 300, epochs: 2, iterations: 1}"


def test_second_direction_is_trained_after_the_first_on_its_own_dictionary(data, tmp_path, here):
    (tmp_path / "second.yaml").write_text(SECOND.replace("SHORT", SHORT))
    trials = [t for t in make_plan(str(tmp_path / "second.yaml"), seeds=1) if t.method == "lnmap"]
    outcome = run(trials, Settings(tmp_path / "out", own=OwnData(data), device="cpu"), Silent())
    logs = {r["trial"]["system"]: [row["stage"] for row in r["log"] if "iteration" in row] for r in outcome.results}
    assert logs == {"alone": ["forward"], "second": ["forward", "backward"]}
    model = lnmap.align(
        data / "en",
        data / "fr",
        data / "en-fr.train.txt",
        back_pairs=data / "fr-en.train.txt",
        take="200-unique",
        method="lnmap",
        profile="release",
        options=dict(trials[0].options),
        device="cpu",
    )
    expected = model.evaluate(lnmap.read_lexicon(data / "fr-en.test.txt"), "backward").to_dict()
    assert next(r for r in outcome.results if r["trial"]["system"] == "second")["scores"] == expected


def test_second_direction_needs_a_method_and_a_dictionary_for_it(data, tmp_path, here):
    path = tmp_path / "second.yaml"
    path.write_text(SECOND.replace("method: lnmap, profile: release", "method: procrustes").replace("SHORT", "{}"))
    with pytest.raises(InputError, match="procrustes learns both directions from one seed"):
        make_plan(str(path))
    path.write_text(SECOND.replace("SHORT", SHORT))
    own = OwnData(data)
    del own.dictionaries["en-fr", "train"]
    with pytest.raises(InputError, match="trains en-fr first, which has no dictionary"):
        run(make_plan(str(path), systems=["second"]), Settings(tmp_path / "out", own=own, device="cpu"), Silent())
