"""What a table consists of, and what a result is found again by."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from lnmap import METHODS
from lnmap.cli.flags import as_flag
from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, LnmapError, OptionError
from lnmap.experiments import Settings, Trial, make_plan, run
from lnmap.experiments.data import OwnData, Sources
from lnmap.experiments.estimate import expected_seconds
from lnmap.experiments.plan import duration, preview
from lnmap.experiments.results import key_of
from lnmap.experiments.tables import PAPER, TABLES, load_table
from lnmap.experiments.trial import MEASURE, OTHER_TEST, Order
from lnmap.io import save_store
from lnmap.progress import Silent

CONTENT = {"source": "a", "target": "b", "train": "c", "test": "d"}
TRIAL = Trial("table2", "lnmap", "LNMap", "en-es", "en-es", "1k-unique", "lnmap", "paper", {"reconstruction": 0.5})


def trained(trials):
    return [trial for trial in trials if trial.method != MEASURE]


@pytest.mark.parametrize("table", PAPER)
def test_every_cell_of_the_paper_is_planned_once(table):
    paper, trials = load_table(table), trained(make_plan(table, seeds=1))
    wanted = {(c.take, c.system, c.direction, c.published, c.method, c.profile, str(c.options)) for c in paper.cells}
    found = [(t.take, t.system, t.direction, t.published, t.method, t.profile, str(t.options)) for t in trials]
    assert len(found) == len(paper.cells)
    assert set(found) == wanted


def test_seeds_only_where_they_matter():
    trials = trained(make_plan("open", pairs=["en-fr"], takes=["1k-unique"], seeds=4))
    seeds = {name: {t.seed for t in trials if t.system == name} for name in METHODS}
    assert seeds["lnmap"] == {0, 1, 2, 3}
    assert seeds["procrustes"] == seeds["muse"] == seeds["geomm"] == {0}


def test_open_has_every_method_of_the_registry():
    trials = trained(make_plan("open", seeds=1))
    assert {trial.method for trial in trials} == set(METHODS)
    assert {trial.take for trial in trials if METHODS[trial.method].supervision == "none"} == {"none"}
    assert {trial.take for trial in trials if METHODS[trial.method].supervision != "none"} == {"1k-unique", "5k-unique"}


def test_pairs_come_in_both_directions_and_one_after_the_other():
    trials = make_plan("table1", pairs=["en-fi", "en-ms"], systems=["muse"], takes=["1k-unique"])
    assert [t.direction for t in trained(trials)] == ["en-fi", "fi-en", "en-ms", "ms-en"]
    assert [t.direction for t in trials if t.method == MEASURE] == ["en-fi", "en-ms"]
    one_way = make_plan("table1", pairs=["fi-en"], systems=["muse"], takes=["1k-unique"], one_way=True)
    assert {t.direction for t in one_way} == {"fi-en"}


def test_systems_are_named_by_row_or_by_method():
    assert {t.system for t in trained(make_plan("table1", systems=["lnmap"]))} == {"lnmap"}
    assert {t.system for t in trained(make_plan("table4", systems=["linear-mapper"]))} == {"linear-mapper"}
    assert {t.system for t in trained(make_plan("table3", systems=["rcsls", "muse"]))} == {"rcsls", "muse"}


def test_take_leaves_systems_without_a_seed_alone():
    trials = trained(make_plan("table2", takes=["5k-all"]))
    assert {t.take for t in trials} == {"5k-all", "none"}


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (
            {"table": "table9"},
            "choose from table1, table2, table3, table4, auto, comparison, .*, open, own, .*, or name a YAML file",
        ),
        ({"table": "table1", "pairs": ["en-xx"]}, "it has en-ms, ms-en"),
        ({"table": "table1", "systems": ["magic"]}, "it has artetxe2018acl, muse-unsup"),
        ({"table": "table1", "takes": ["2k-unique"]}, "it has none, 1k-unique, 5k-unique, 5k-all"),
        ({"table": "open", "takes": ["many"]}, "unknown seed rule 'many'"),
        ({"table": "open", "seeds": 0}, "give seeds 1 or more"),
    ],
)
def test_bad_input_is_told_what_there_is(arguments, what):
    with pytest.raises(OptionError, match=what):
        make_plan(**arguments)


def test_key_is_the_same_in_another_process():
    program = (
        "from lnmap.experiments.results import key_of; from lnmap.experiments import Trial; import json, sys;"
        "print(key_of(Trial(**json.loads(sys.argv[1])), json.loads(sys.argv[2]), 'cpu'))"
    )
    arguments = [json.dumps(TRIAL.to_dict()), json.dumps(dict(reversed(CONTENT.items())))]
    found = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == key_of(TRIAL, CONTENT, "cpu")


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 1},
        {"take": "5k-unique"},
        {"method": "lnmap", "profile": "release"},
        {"options": {"reconstruction": 0.25}},
        {"score": "development"},
        {"one_way": False},
        {"method": "muse", "profile": None, "options": {}},
    ],
)
def test_key_tells_trials_apart(other):
    assert key_of(replace(TRIAL, **other), CONTENT, "cpu") != key_of(TRIAL, CONTENT, "cpu")


def test_only_development_keys_depend_on_the_other_test_file():
    with_other, development = {**CONTENT, OTHER_TEST: "e"}, replace(TRIAL, score="development")
    assert key_of(TRIAL, with_other, "cpu") == key_of(TRIAL, CONTENT, "cpu")
    assert key_of(development, with_other, "cpu") != key_of(development, CONTENT, "cpu")


def test_key_tells_data_and_devices_apart():
    keys = {key_of(TRIAL, {**CONTENT, role: "x"}, "cpu") for role in CONTENT}
    assert len(keys | {key_of(TRIAL, CONTENT, "cpu"), key_of(TRIAL, CONTENT, "cuda")}) == 6


def test_tables_share_what_they_have_in_common():
    written_out = {**TRIAL.options, "mapper": "nonlinear"}  # the default, spelt out
    same = replace(TRIAL, table="table4", system="other", label="other", published=1.0, options=written_out)
    assert key_of(same, CONTENT, "cpu") == key_of(TRIAL, CONTENT, "cpu")


def test_preview_needs_no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("LNMAP_DATA", str(tmp_path / "nothing"))
    trials = make_plan("table1", pairs=["en-fi"], systems=["muse", "lnmap"], seeds=2)
    found = preview(trials, None, tmp_path / "out")
    assert len(found.rows()) == len(trials)
    assert {run["state"] for run in found.runs} == {"no data"}
    assert {run["data"] for run in found.runs if run["direction"] == "fi-en"} == {
        "wiki.fi.vec, wiki.en.vec, fi-en.0-5000.txt, fi-en.5000-6500.txt"
    }
    assert "lnmap.datasets.get('muse', ['en-fi'])" in found.summary(None)
    told = preview(trials, None, tmp_path / "out", spell=as_flag).summary(None)
    assert "lnmap data get muse --pairs en-fi" in told


def test_time_grows_with_the_vocabulary():
    one = Trial("t", "muse", "", "en-fi", "en-fi", "1k-unique", "muse")
    small, large = (replace(one, dataset=name) for name in ("open", "muse"))
    assert expected_seconds(large) > 10 * expected_seconds(small) > 100
    assert [duration(s) for s in (None, 5, 300, 90_000)] == ["?", "5 s", "5 min", "25 h"]


@pytest.mark.parametrize("table", PAPER)
def test_every_trial_of_the_paper_has_a_time(table):
    assert all(expected_seconds(trial) for trial in make_plan(table, seeds=1))


def test_own_data_are_found_by_their_names(tmp_path):
    for name in ("wiki.en.vec", "cc.fi.300.vec.gz", "et.txt", "notes.txt", "deep/en-fi.0-5000.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    with pytest.raises(InputError, match=r"has no complete pair.*found et, en, fi|found .*en-fi\.train"):
        OwnData(tmp_path)
    for name in ("deep/en-fi.5000-6500.txt", "fi-et.train.tsv", "fi-et.test.tsv"):
        (tmp_path / name).write_text("")
    own = OwnData(tmp_path)
    assert own.pairs == ["en-fi", "fi-et"]
    assert own.files("en-fi").target.name == "cc.fi.300.vec.gz"
    with pytest.raises(InputError, match=r"has no dictionary fi-en\.train\.txt; it has en-fi, fi-et"):
        own.files("fi-en")
    with pytest.raises(LnmapError, match="has no vectors of xx"):
        own.files("en-xx")


@pytest.mark.parametrize("table", TABLES)
def test_every_table_can_be_planned(table):
    trials = trained(make_plan(table, own_pairs=["en-fr", "fr-en"]))
    assert {trial.table for trial in trials} == {table}
    assert {trial.system for trial in trials} == set(load_table(table, ["en-fr"]).systems)


def test_comparison_has_every_method_and_lnmap_as_released():
    trials = trained(make_plan("comparison"))
    assert {trial.method for trial in trials} == set(METHODS)
    assert {t.profile for t in trials if t.method == "lnmap"} == {None, "release"}
    assert {t.direction for t in trials} == {"en-fr", "fr-en", "en-fi", "fi-en"}
    assert {t.seed for t in trials} == {0, 1, 2}
    assert {t.seed for t in trained(make_plan("times"))} == {0}


def test_words_of_a_language_are_limited(tmp_path):
    for name in ("en.vec", "fi.vec", "en-fi.train.txt", "en-fi.test.txt"):
        (tmp_path / name).write_text("")
    trial = next(t for t in make_plan("lnmap") if t.direction == "en-fi")
    assert Sources.of(trial, OwnData(tmp_path).files("en-fi")).limits == {"source": 200_000, "target": 22_000}
    assert Sources.of(trial, OwnData(tmp_path, 500).files("en-fi")).limits == {"source": 500, "target": 500}
    assert Sources.of(trial, OwnData(tmp_path, None).files("en-fi")).limits == {"source": None, "target": 22_000}


def test_trials_of_one_run_may_read_different_parts_of_a_file(pair, tmp_path, monkeypatch):
    for name, side in (("en", pair.source), ("fr", pair.target)):
        save_store(Embeddings.from_arrays(side.words[:300], side.vectors[:300, :20]), tmp_path / name)
    for part in ("train", "test"):
        (tmp_path / f"en-fr.{part}.txt").write_text("".join(f"{a}\t{b}\n" for a, b in pair.train))
    first = Trial("mine", "all", "all", "en-fr", "en-fr", "1k-unique", "procrustes")
    trials = [first, replace(first, system="cut", words={"fr": 200})]
    given: list[Order] = []
    monkeypatch.setattr("lnmap.experiments.runner._run_orders", lambda orders, *_: given.extend(orders))
    run(trials, Settings(tmp_path / "out", own=OwnData(tmp_path), device="cpu"), Silent())
    assert [order.limits["target"] for order in given] == [200_000, 200]
    assert given[0].content["target"] != given[1].content["target"]


def test_table_of_the_users_own(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "title: mine\ndirections: [en-fr]\ntakes: [300-unique]\nscore: development\none_way: false\nseeds: 2\n"
        "systems: {a: {method: lnmap, options: {iterations: 2}}, b: {method: aae, profile: original}}\n"
    )
    trials = trained(make_plan(str(path)))
    assert [(t.table, t.system, t.take, t.seed) for t in trials] == [
        *(("mine", "a", "300-unique", seed) for seed in (0, 1)),
        *(("mine", "b", "none", seed) for seed in (0, 1)),
    ]
    assert {(t.score, t.one_way, t.dataset) for t in trials} == {("development", False, None)}
    assert trials[2].profile == "original"


MINE = "title: t\ndirections: [en-fi]\ntakes: [1k-unique]\nwords: {fi: 5}\nsystems: {a: {method: muse}}\n"


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("title", "score: everything\ntitle", "unknown score 'everything'; choose from test, development"),
        ("fi: 5", "fi: many", "words must map languages to numbers above 0, got 'many'"),
        ("1k-unique", "1", "a seed rule must be text, got 1"),
        ("1k-unique", "many", "unknown seed rule 'many'"),
        ("takes: [1k-unique]", "seeds: 1", "'takes' is missing"),
        ("en-fi", "finnish", "unknown pair 'finnish'"),
        ("en-fi", "en-fi, en-fi", "without repetitions"),
        ("method: muse", "method: muse, profile: x", "method 'muse' has no profile 'x'"),
        ("method: muse", "method: muse, options: {x: 1}", "unknown option 'x'"),
        ("title", "one_way: maybe\ntitle", "one_way must be true or false, got 'maybe'"),
        ("title", "colour: red\ntitle", "unknown colour"),
    ],
)
def test_mistakes_in_an_own_table_are_named(tmp_path, old, new, what):
    path = tmp_path / "mine.yaml"
    path.write_text(MINE)
    assert make_plan(str(path))
    path.write_text(MINE.replace(old, new, 1))
    with pytest.raises(InputError, match=what):
        make_plan(str(path))


def test_score_can_be_changed_and_nothing_else_is_taken():
    assert {t.score for t in trained(make_plan("nonlinear", seeds=1))} == {"development"}
    assert {t.score for t in trained(make_plan("nonlinear", seeds=1, score="test"))} == {"test"}
    with pytest.raises(OptionError, match="development"):
        make_plan("nonlinear", score="dev")
