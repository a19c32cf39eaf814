"""A result of another version of a profile is never taken for one of this version; unknown settings never run."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lnmap import METHODS
from lnmap.cli import main
from lnmap.errors import InputError, OptionError
from lnmap.experiments import Results, Settings, Trial, make_plan, run
from lnmap.experiments.data import Fingerprints, Sources
from lnmap.experiments.report import write_report
from lnmap.experiments.report.versions import other_versions
from lnmap.experiments.results import key_of
from lnmap.experiments.tables import PAPER
from lnmap.progress import Silent
from lnmap.version import __version__

CONTENT = {"source": "a", "target": "b", "train": "c", "test": "d"}
TRIAL = Trial("own", "rcsls", "rcsls", "en-fr", "en-fr", "1k-unique", "rcsls", "original")
SCORES = {"p@1": 50.0, "p@5": 60.0, "p@10": 70.0, "mrr": 55.0, "coverage": 90.0, "n": 9, "n_all": 10}
SCORES |= {"p@1_interval": [40.0, 60.0], "test_pairs": 9, "test_pairs_seen_in_training": 0}
DONE = {"status": "done", "scores": SCORES, "resumed": False, "seconds": 1.0, "cpu_seconds": 1.0, "seed_pairs": 5}
DONE |= {"vocabulary": [10, 10], "versions": {"lnmap": __version__}, "device": "cpu"}


@pytest.fixture
def revised(monkeypatch):
    """Change what the profile `original` of `rcsls` computes."""

    def revise(number: int) -> None:
        monkeypatch.setattr(METHODS["rcsls"], "revisions", {"original": number})

    return revise


def test_a_revised_profile_is_another_trial(revised):
    revised(1)
    first, default = key_of(TRIAL, CONTENT, "cpu"), key_of(replace(TRIAL, profile=None), CONTENT, "cpu")
    revised(2)
    second = key_of(TRIAL, CONTENT, "cpu")
    revised(3)
    assert len({first, second, key_of(TRIAL, CONTENT, "cpu")}) == 3
    assert key_of(replace(TRIAL, profile=None), CONTENT, "cpu") == default
    revised(1)
    assert key_of(TRIAL, CONTENT, "cpu") == first


def keep(folder, *results):
    """Keep one result per seed of the trial."""
    kept = Results(folder)
    keyed = [(replace(TRIAL, seed=seed), f"{seed:020x}") for seed in range(len(results))]
    kept.remember(keyed)
    for (trial, key), result in zip(keyed, results, strict=True):
        kept.write(trial, key, {"trial": trial.to_dict(), **DONE, **result})


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ({"revision": 1}, "1 of 3 runs were made with revision 1 of the profile (now 2)."),
        ({"revision": 2, "versions": {"lnmap": "0.0.9"}}, f"with lnmap 0.0.9 (this is {__version__})."),
        ({"revision": 2, "options": {"steps": 77}}, "with steps=77 (now "),
    ],
)
def test_a_table_with_results_of_other_versions_says_so(tmp_path, capsys, revised, old, said):
    revised(2)
    now = {"revision": 2}
    keep(tmp_path, now, now, old)
    (table,) = write_report(tmp_path).tables
    (note,) = table.version_notes
    assert note.startswith("rcsls, profile original: 1 of 3 runs were made with ")
    assert said in note
    for name in ("report.md", "index.html", "own.tex"):
        text = (tmp_path / "report" / name).read_text()
        assert "Not all of it was made with this version of lnmap" in text, name
        assert note in text.replace(r"\_", "_"), name
    assert main(["report", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["other_versions"] == {"own": [note]}
    assert main(["report", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert "revision" in shown.err + shown.out or "lnmap 0.0.9" in shown.err + shown.out or "steps=77" in shown.err


def test_settings_that_are_gone_are_said(revised):
    revised(1)
    assert other_versions({**DONE, "trial": TRIAL.to_dict()}) == []
    (said,) = other_versions({**DONE, "trial": replace(TRIAL, profile="gone").to_dict()})
    assert "method 'rcsls' has no profile 'gone'" in said


def test_a_table_of_one_version_says_nothing(tmp_path, revised):
    revised(2)
    keep(tmp_path, {"revision": 2}, {"revision": 2})
    written = write_report(tmp_path)
    assert written.to_dict()["other_versions"] == {}
    assert "Not all of it" not in (tmp_path / "report/report.md").read_text()


def test_every_row_names_its_profile_and_its_options(tmp_path, capsys):
    results = Results(tmp_path)
    trials = [replace(TRIAL, options={"steps": 5}), replace(TRIAL, system="b", label="b", method="muse", profile=None)]
    results.remember((trial, f"{number:020x}") for number, trial in enumerate(trials))
    for number, trial in enumerate(trials):
        results.write(trial, f"{number:020x}", {"trial": trial.to_dict(), **DONE})
    write_report(tmp_path)
    text = {name: (tmp_path / "report" / name).read_text() for name in ("report.md", "index.html", "own.tex")}
    assert "| rcsls | original, steps=5 |" in text["report.md"]
    assert "| b | default |" in text["report.md"]
    assert "<th>rcsls<small>original, steps=5</small></th>" in text["index.html"]
    assert "% rcsls, rcsls: profile original, steps=5" in text["own.tex"]
    assert main(["report", str(tmp_path)]) == 0
    assert "original, steps=5" in capsys.readouterr().out


BAD = {
    "profile": ("systems: {a: {method: muse, profile: x}}", "method 'muse' has no profile 'x'"),
    "profile of a method without seed": ("systems: {a: {method: aae, profile: x}}", "method 'aae' has no profile 'x'"),
    "option": ("systems: {a: {method: muse, options: {x: 1}}}", "unknown option 'x'"),
    "option of one direction": (
        "systems: {a: {method: muse, options_by_direction: {en-fr: {x: 1}}}}",
        "unknown option 'x'",
    ),
    "value of an option": ("systems: {a: {method: rcsls, options: {steps: -4}}}", "steps"),
    "method": ("systems: {a: {method: x}}", "unknown method 'x'"),
    "seed rule": ("systems: {a: {method: muse}}", "unknown seed rule 'many'"),
    "seed rule that no system uses": ("systems: {a: {method: aae}}", "unknown seed rule 'many'"),
}


@pytest.mark.parametrize("what", BAD)
def test_unknown_settings_of_a_file_are_refused(tmp_path, monkeypatch, capsys, what):
    monkeypatch.setenv("LNMAP_DATA", str(tmp_path / "data"))
    systems, message = BAD[what]
    rule = "many" if "rule" in what else "1k-unique"
    (tmp_path / "mine.yaml").write_text(f"title: t\ndataset: open\npairs: [en-fr]\ntakes: [{rule}]\n{systems}\n")
    assert main(["reproduce", str(tmp_path / "mine.yaml"), "--no-get", "--out", str(tmp_path / "out")]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("table", [*PAPER, "open"])
@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"systems": ["lnmap", "x"]}, "has no system 'x'"),
        ({"takes": ["1k-unique", "many"]}, "seed rule 'many'"),
        ({"pairs": ["en-xx"]}, "has no pair 'en-xx'"),
        ({"seeds": 0}, "leaves nothing to run"),
    ],
)
def test_unknown_parts_of_a_table_are_refused(table, wanted, message):
    with pytest.raises(OptionError, match=message):
        make_plan(table, **wanted)


def test_a_trial_with_an_unknown_profile_is_refused_before_anything_runs(tmp_path, monkeypatch):
    for name in ("sources_of", "Fingerprints.of"):
        monkeypatch.setattr(f"lnmap.experiments.runner.{name}", lambda *_: CONTENT)
    monkeypatch.setattr("lnmap.experiments.runner._run_orders", lambda *_: pytest.fail("it runs"))
    for other in ({"profile": "x"}, {"options": {"x": 1}}, {"method": "x"}):
        with pytest.raises(InputError):
            run([replace(TRIAL, **other)], Settings(tmp_path / "out", device="cpu"), Silent())
    assert not (tmp_path / "out" / "plan.json").exists()


def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "en-fr.train.txt"
    path.write_text("dog chien\n", encoding="utf-8")
    sources = Sources({"train": path}, {}, "plain")
    states = iter([[1], [2]])
    monkeypatch.setattr("lnmap.experiments.data._state", lambda path: next(states))
    with pytest.raises(InputError, match="changed while it was read"):
        Fingerprints(tmp_path / "data.json").of(sources, Silent())
