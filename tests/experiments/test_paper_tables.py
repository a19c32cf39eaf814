"""The paper's tables as data: complete, exact, and tied to methods that exist."""

from __future__ import annotations

import hashlib
import pickle
import re
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path
from types import SimpleNamespace

import pytest
from scripts import averages

from lnmap.errors import InputError, LnmapError, MissingExtraError, OptionError
from lnmap.experiments.tables import FOLDER, PAPER, load_table, read_table
from lnmap.methods import METHODS, make_method

PAGE = Path(__file__).parents[2] / "docs" / "paper-tables.md"
UNSUPERVISED = ["artetxe2018acl", "muse-unsup", "aae"]
SUPERVISED = ["artetxe2017", "artetxe2018aaai", "muse", "rcsls", "geomm", "bliss", "lnmap", "lnmap-linear"]
ABLATION = ["lnmap", "no-reconstruction", "no-back-translation", "linear-mapper", "procrustes", "lnmap-linear"]
COMPARISON = {"none": UNSUPERVISED, **dict.fromkeys(["1k-unique", "5k-unique", "5k-all"], SUPERVISED)}

# `digest`: of all printed numbers in reading order (GH row, then cells and average of each row), taken from the paper's
# source and not from the YAML files, so that any cell that is changed or moved fails.
EXPECTED = {
    "table1": SimpleNamespace(
        dataset="muse", pairs=10, rows=COMPARISON, cells=540, gh=10, averages=27, digest="5559894728d606f0"
    ),
    "table2": SimpleNamespace(
        dataset="muse", pairs=5, rows=COMPARISON, cells=270, gh=5, averages=27, digest="bee2d407f41d7268"
    ),
    "table3": SimpleNamespace(
        dataset="vecmap", pairs=4, rows=COMPARISON, cells=216, gh=0, averages=27, digest="7416917de298603d"
    ),
    "table4": SimpleNamespace(
        dataset="muse", pairs=4, rows={"1k-unique": ABLATION}, cells=48, gh=0, averages=0, digest="c40b71f9e7e3c284"
    ),
}

# (table, seed, system): the average as printed, and what the cells of the row give.
WRONG_AVERAGES = {
    ("table1", "1k-unique", "artetxe2017"): (33.5, 33.4),
    ("table1", "1k-unique", "rcsls"): (25.6, 25.5),
    ("table1", "1k-unique", "lnmap-linear"): (42.1, 42.0),
    ("table1", "5k-unique", "rcsls"): (45.2, 45.1),
    ("table1", "5k-unique", "lnmap"): (46.9, 47.0),
    ("table1", "5k-all", "bliss"): (43.3, 43.2),
    ("table1", "5k-all", "lnmap-linear"): (46.7, 45.7),
    ("table2", "1k-unique", "artetxe2018aaai"): (56.2, 56.1),
    ("table2", "1k-unique", "rcsls"): (52.8, 52.7),
    ("table2", "1k-unique", "lnmap-linear"): (68.8, 68.9),
    ("table2", "5k-unique", "artetxe2018aaai"): (68.7, 68.6),
    ("table2", "5k-unique", "muse"): (66.0, 65.9),
    ("table2", "5k-unique", "rcsls"): (70.4, 70.3),
    ("table2", "5k-unique", "geomm"): (68.9, 69.0),
    ("table2", "5k-unique", "bliss"): (69.5, 67.7),
    ("table2", "5k-all", "muse"): (66.0, 65.9),
    ("table2", "5k-all", "rcsls"): (70.9, 70.8),
    ("table2", "5k-all", "lnmap-linear"): (69.6, 69.7),
    ("table3", "1k-unique", "rcsls"): (24.4, 24.3),
    ("table3", "5k-unique", "artetxe2018aaai"): (40.2, 40.5),
    ("table3", "5k-unique", "geomm"): (40.2, 40.3),
    ("table3", "5k-unique", "lnmap-linear"): (40.3, 40.4),
    ("table3", "5k-all", "muse"): (37.7, 37.6),
    ("table3", "5k-all", "bliss"): (39.4, 38.6),
}


@pytest.fixture(params=EXPECTED)
def table(request):
    return load_table(request.param)


def number(table, take, system, direction):
    return next(c for c in table.cells if (c.take, c.system, c.direction) == (take, system, direction)).published


def test_all_four_tables_are_there():
    assert list(EXPECTED) == PAPER
    assert sum(len(load_table(name).cells) for name in PAPER) == 1074


def test_every_cell_is_there(table):
    expected = EXPECTED[table.name]
    assert table.dataset == expected.dataset
    assert len(table.pairs) == expected.pairs
    assert [(row.take, row.system.name) for row in table.rows] == [
        (t, s) for t in expected.rows for s in expected.rows[t]
    ]
    assert len(table.cells) == len(table.rows) * 2 * len(table.pairs) == expected.cells
    keys = {(cell.take, cell.system, cell.direction) for cell in table.cells}
    assert len(keys) == expected.cells
    assert len(table.gh) == expected.gh
    assert len([row for row in table.rows if row.average is not None]) == expected.averages
    for row in table.rows:
        directions = [direction for pair in table.pairs for direction in (pair, f"{pair[3:]}-{pair[:2]}")]
        assert [cell.direction for cell in row.cells] == directions


def test_numbers_are_those_of_the_paper(table):
    assert all(0 <= cell.published <= 100 for cell in table.cells)
    assert all(0 < value < 1 for value in table.gh.values())
    printed = [str(value) for value in table.gh.values()]
    for row in table.rows:
        printed += [*row.printed] + [str(row.average)] * (row.average is not None)
    assert hashlib.sha256(" ".join(printed).encode()).hexdigest()[:16] == EXPECTED[table.name].digest


def test_every_row_is_one_of_our_methods(table):
    for row in table.rows:
        system = row.system
        method = make_method(system.method, system.profile, dict(system.options))
        assert (method.supervision == "none") == (row.take == "none")
        assert system.label
        for cell in row.cells:
            assert (cell.method, cell.profile, cell.label) == (system.method, system.profile, system.label)
            make_method(cell.method, cell.profile, dict(cell.options))


def test_averages_differ_exactly_where_stated():
    found = {
        (one.table.name, one.row.take, one.row.system.name): (one.printed, one.rounded)
        for one in averages.averages()
        if one.differs
    }
    assert found == WRONG_AVERAGES


def test_page_lists_the_averages_that_differ():
    assert averages.main() in PAGE.read_text(encoding="utf-8")
    assert averages.main().count("\n") + 1 == 2 + len(WRONG_AVERAGES)


def test_example_prints_what_the_page_says(capsys):
    code, printed = re.search(r"```python\n(.*?)```\n```text\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL).groups()
    exec(compile(code, PAGE.name, "exec"), {})
    assert capsys.readouterr().out == printed


def test_oddly_printed_cells():
    rows = [row for name in PAPER for row in load_table(name).rows]
    cells = [(text, c.published) for row in rows for text, c in zip(row.printed, row.cells, strict=True)]
    odd = {(text, number) for text, number in cells if len(text) > 4}
    assert odd == {("60..9", 60.9), ("32.27", 32.27), ("48.93", 48.93)}


def test_ablation_repeats_the_other_tables_but_for_one_cell():
    others = {"en-es": "table2", "en-it": "table2", "en-ta": "table1", "en-bn": "table1"}
    differ = [
        (cell.system, cell.direction, cell.published, there)
        for cell in load_table("table4").cells
        if cell.system in ("lnmap", "lnmap-linear")
        if cell.published != (there := number(load_table(others[cell.pair]), cell.take, cell.system, cell.direction))
    ]
    assert differ == [("lnmap", "it-en", 75.3, 75.2)]


def test_ablation_rows_change_one_option():
    paper = METHODS["lnmap"].profiles["paper"]
    changed = {row.system.name: dict(row.system.options) for row in load_table("table4").rows}
    assert changed.pop("lnmap") == {}
    for options in changed.values():
        ((name, value),) = options.items()
        assert value != paper.get(name, getattr(METHODS["lnmap"].Options(), name))


def test_options_of_one_direction():
    cells = {cell.direction: cell for cell in load_table("table2").cells if cell.system == "geomm"}
    assert cells["en-es"].options == {"regularization": 1000.0}
    assert cells["es-en"].options == {}


def test_tables_cannot_be_changed_but_can_be_sent(table):
    with pytest.raises(FrozenInstanceError):
        table.cells[0].published = 100.0
    assert pickle.loads(pickle.dumps(table)) == table
    assert len({hash(cell) for cell in table.cells}) == len(table.cells)


def test_unknown_table():
    with pytest.raises(OptionError, match="unknown table 'table9'; choose from table1, "):
        load_table("table9")


GOOD = (FOLDER / "table1.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("method: muse\n", "method: musee\n", "systems, muse: unknown method 'musee'; choose from auto"),
        ("profile: paper", "profile: papers", "method 'lnmap' has no profile 'papers'; its profiles: default, paper"),
        ("{autoencoder: linear}", "{autoencode: linear}", "lnmap-linear: unknown option 'autoencode'"),
        ("{autoencoder: linear}", "{autoencoder: lin}", "autoencoder='lin': choose from nonlinear, linear"),
        ("{autoencoder: linear}", "{hidden: [1]}", "systems, lnmap-linear"),
        ("{autoencoder: linear}", "[linear]", "options must be a mapping"),
        ("pairs: [en-ms", "pairs: [en-mz", "unknown pair 'en-mz'; muse has en-ms, en-fi"),
        ("{en-ms: [54.1", "{en-mz: [54.1", "none, aae, cells: 'en-ms' is missing; found en-mz"),
        ("[54.1, 51.7]", "[54.1, 51.7], en-es: [1.0, 2.0]", "none, aae, cells: unknown en-es"),
        ("[54.1, 51.7]", "[54.1]", "en-ms must hold two numbers"),
        ("[54.1, 51.7]", "[541, 51.7]", "expected a number from 0 to 100, got 541"),
        ("[54.1, 51.7]", "[54..1, 51.7]", "got '54..1'; declare a misprint"),
        ("average: 35.0", "average: yes", "expected a number from 0 to 100, got True"),
        ("average: 35.0", "mean: 35.0", "none, aae: unknown mean"),
        ("en-hi: 0.56", "en-es: 0.56", "gh: 'en-hi' is missing"),
        ("dataset: muse", "dataset: musee", "unknown dataset 'musee'; choose from muse, vecmap, open"),
        ("number: 1", "number: one", "number must be a whole number, got 'one'"),
        ("metric: P@1", "metrics: P@1", "'metric' is missing"),
        ("  5k-all:", "  5k-most:", "unknown seed rule '5k-most'"),
        ("  none:", "  unique:", "'artetxe2018acl' does not go with the seed rule 'unique'"),
        ("    artetxe2017:\n", "    artetxe2016:\n", "systems: 'artetxe2016' is missing"),
        ("  aae:\n", "  ea:\n    label: x\n    method: aae\n  aae:\n", "no row of results for ea"),
        ("number: 1", "number: [1", "not a readable YAML file"),
    ],
)
def test_mistakes_are_named(tmp_path, old, new, message):
    assert old in GOOD
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(LnmapError) as caught:
        read_table(path)
    assert message in str(caught.value)
    assert "mine.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"- 1\n", b"\xff\xfe\x00", b"!!python/object/apply:os.getcwd []\n"])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "x.yaml").write_bytes(content)
    with pytest.raises(InputError, match=r"x\.yaml"):
        read_table(tmp_path / "x.yaml")
    with pytest.raises(InputError, match=r"missing\.yaml"):
        read_table(tmp_path / "missing.yaml")


def test_without_pyyaml(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lnmap\[reproduce\]'"):
        load_table("table1")


def test_a_table_nested_without_end_is_refused(tmp_path):
    path = tmp_path / "deep.yaml"
    path.write_text("[" * 100_000)
    with pytest.raises(InputError, match="not a readable YAML file"):
        read_table(path)
