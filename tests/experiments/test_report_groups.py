"""Groups of words in the report: those of the results, old ones too, and nothing where nothing is known."""

from __future__ import annotations

import csv
import json
import random
import re
import shutil
from pathlib import Path

import pytest

from lnmap.cli import main
from lnmap.evaluate import Evaluation, WordResult
from lnmap.experiments import Results, make_plan
from lnmap.experiments.report import write_report
from lnmap.experiments.report.groups import groups_of, mean_groups
from lnmap.experiments.trial import MEASURE
from lnmap.experiments.worker import word_columns

ROOT = Path(__file__).parents[2]
TITLE = "P@1 by group of words"
WORDS = 300


def score_of(rng, sure):
    """An evaluation with names, frequent and rare words; a confidence, if asked for, that is a little too high."""
    rows = []
    for i in range(WORDS):
        name = rng.random() < 0.3
        right = rng.random() < (0.9 if name else 0.6)
        gold = (f"word{i}",) if name else (f"mot{i}",)
        answer = gold[0] if right else f"Word{i}" if rng.random() < 0.3 else "non"
        own = min(1.0, 0.6 + rng.random() / 2) if sure else None
        rows.append(WordResult(f"word{i}", gold, (answer,), 0 if right else 2, rng.randrange(8000), own))
    return Evaluation(rows, WORDS, 0, WORDS)


def make(out, kind):
    """Write results of two systems, of which `muse` has a confidence: as now, or as they were kept before."""
    rng, results = random.Random(1), Results(out)
    plan = make_plan("table2", pairs=["en-es"], systems=["lnmap", "muse"], takes=["1k-unique"], seeds=2)
    keyed = [(trial, f"{number:020x}") for number, trial in enumerate(plan) if trial.method != MEASURE]
    results.remember(keyed)
    for trial, key in keyed:
        score = score_of(rng, sure=trial.system == "muse")
        found = {"trial": trial.to_dict(), "resumed": False, "device": "cpu", "seconds": 2.0, "cpu_seconds": 1.5}
        found |= {"status": "done", "scores": score.to_dict(), "seed_pairs": 1000, "vocabulary": [8000, 8000]}
        found |= {"words": word_columns(score)}
        if kind != "new":
            found["scores"].pop("groups")
            found["words"].pop("confidence", None)
        if kind == "without words":
            found.pop("words")
        if kind == "scores alone":
            found["scores"]["groups"] = score.to_dict()["groups"]
            found.pop("words")
        results.write(trial, key, found)
    return write_report(out)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return make(tmp_path_factory.mktemp("new"), "new")


def text_of(written, name="report.md"):
    return (written.folder / name).read_text(encoding="utf-8")


def sheet(text, title):
    """Return the rows of a section's first table by their heads."""
    lines = text.split(f"### {title}\n\n")[1].split("\n\n")[0].splitlines()
    heads, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(heads, row, strict=True)) for row in rows]


def test_markdown_has_p1_with_and_without_identical_gold_and_by_band(written):
    (table,) = written.tables
    (muse,) = (row for row in sheet(text_of(written), TITLE) if "Conneau" in row["system"])
    expected = mean_groups([table.cells["1k-unique", "muse", way].groups for way in ("en-es", "es-en")])
    assert muse["gold is another word"] == f"{expected['gold_differs']['p@1']:.1f}"
    assert float(muse["gold is another word"]) < float(muse["all words"]) < float(muse["gold is the word itself"])
    assert muse["rank 1-1,000"] == f"{expected['rank_1_1000']['p@1']:.1f}"
    assert "rank 20,001 and above" not in muse
    assert muse["words answered by the word itself"] == f"{expected['answer_identical']['n']:.1f}"


def test_sizes_of_the_groups_are_in_the_data(written):
    for row in sheet(text_of(written), "Data"):
        bands = [int(value) for head, value in row.items() if head.startswith("rank ")]
        assert len(bands) == 3
        assert sum(bands) == int(row["test words"]) == WORDS
        assert 0 < int(row["gold is the word itself"]) < WORDS / 2


def test_confidence_of_those_who_have_one(written):
    (row,) = sheet(text_of(written), "Is the confidence right?")
    assert "Conneau" in row["system"]
    (table,) = written.tables
    expected = mean_groups([table.cells["1k-unique", "muse", way].groups for way in ("en-es", "es-en")])
    assert row["ECE"] == f"{expected['all']['ece']:.3f}"
    (ours,) = (line.ours for line in table.lines("1k-unique") if line.system == "muse")
    assert row["P@1"] == f"{ours:.1f}"
    assert row["mean confidence"] == f"{100 * expected['all']['mean_confidence']:.1f} %"
    assert row["ECE, rank 1,001-5,000"] == f"{expected['rank_1001_5000']['ece']:.3f}"
    assert row["ECE, answered by the word itself"] == f"{expected['answer_identical']['ece']:.3f}"


def test_every_format_has_them(written):
    page, latex = text_of(written, "index.html"), text_of(written, "table2-groups.tex")
    for text in (page, latex):
        assert "expected calibration error" in text
        assert "whatever the letter case" in text
    rows = [line for line in latex.splitlines() if line.endswith(r" \\")]
    assert len({line.replace(r"\&", "").count("&") for line in rows}) == 2  # two tables
    cells = written.to_dict()["tables"]["table2"]
    assert all(cell["groups"]["all"]["n"] == WORDS for cell in cells)
    assert {"ece" in cell["groups"]["all"] for cell in cells if cell["system"] == "lnmap"} == {False}


def test_csv_adds_up(written):
    for row in csv.DictReader(text_of(written, "runs.csv").splitlines()):
        bands = [name.removeprefix("n_") for name in row if name.startswith("n_rank_") and row[name]]
        weighted = sum(int(row[f"n_{band}"]) * float(row[f"p@1_{band}"]) for band in bands) / int(row["n"])
        assert weighted == pytest.approx(float(row["p@1"]), abs=0.02)
        assert bool(row["ece_all"]) == (row["system"] == "muse")


def test_words_of_older_results_are_measured_again(tmp_path, written):
    """Files from before the groups hold the words, without a confidence."""
    old = make(tmp_path, "words alone")
    assert sheet(text_of(old), TITLE) == sheet(text_of(written), TITLE)
    assert "calibration" not in text_of(old)
    assert "calibration" not in text_of(old, "index.html")
    assert "ece" not in text_of(old, "runs.csv").splitlines()[0]


def test_groups_outlive_the_words(tmp_path, written):
    stored = make(tmp_path, "scores alone")
    for title in (TITLE, "Is the confidence right?", "Data"):
        assert sheet(text_of(stored), title) == sheet(text_of(written), title)


def test_results_without_words_lack_these_columns(tmp_path):
    old = make(tmp_path, "without words")
    for name in ("report.md", "index.html"):
        assert "group of words" not in text_of(old, name)
        assert "rank 1-1,000" not in text_of(old, name)
    assert "gold" not in text_of(old, "runs.csv")
    assert not (old.folder / "table2-groups.tex").exists()
    assert all(cell["groups"] == {} for cell in old.to_dict()["tables"]["table2"])


def test_report_of_the_stored_comparison(tmp_path, capsys):
    shutil.copytree(ROOT / "benchmarks/results/comparison", tmp_path / "out")
    assert main(["report", str(tmp_path / "out"), "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    text = (tmp_path / "out/report/report.md").read_text(encoding="utf-8")
    stored = any(cell["groups"] for cells in tables.values() for cell in cells)
    assert (TITLE in text) == stored
    assert re.search(r"\| 1k-unique \| .*\d\d\.\d", text)


def test_a_measure_that_some_lack_is_left_out():
    sure = {"all": {"n": 4, "p@1": 50.0, "mean_confidence": 0.5, "ece": 0.1}}
    bare = {"all": {"n": 2, "p@1": 100.0}}
    assert mean_groups([sure, bare]) == {"all": {"n": 3, "p@1": 75}}
    assert mean_groups([sure, {"all": {"n": 0}}]) == {"all": {**sure["all"], "n": 2}}
    assert mean_groups([]) == {}
    assert groups_of({"scores": {"p@1": 3.0}}) == {}
    assert groups_of({"status": "failed"}) == {}
