"""The runner on real data: what is kept, what is done again, and what is said about it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import lnmap
from lnmap.cli import main
from lnmap.errors import OutputError
from lnmap.experiments import Results, Settings, run
from lnmap.experiments.data import OwnData
from lnmap.io.atomic import locked
from lnmap.progress import Silent


@pytest.fixture(scope="module")
def finished(data, plan, tmp_path_factory):
    """A folder in which everything has been run once."""
    out = tmp_path_factory.mktemp("out")
    outcome = run(plan, Settings(out, jobs=2, own=OwnData(data), device="cpu"), Silent())
    return out, outcome


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


def test_second_command_in_the_same_folder_is_refused(data, plan, tmp_path):
    with locked(tmp_path), pytest.raises(OutputError, match="being written by another run"):
        run(plan, Settings(tmp_path, own=OwnData(data), device="cpu"), Silent())


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
