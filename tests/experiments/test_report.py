"""The report says what the files of results say, in every format, whatever words they hold."""

from __future__ import annotations

import csv
import importlib.util
import json
import random
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lnmap.cli import main
from lnmap.errors import InputError
from lnmap.evaluate import compare
from lnmap.experiments import Results, make_plan
from lnmap.experiments.report import write_report
from lnmap.experiments.report.collect import collect
from lnmap.experiments.report.drawing import spread
from lnmap.experiments.report.latex import latex, latex_groups
from lnmap.experiments.report.mistakes import is_form, sort_mistakes
from lnmap.experiments.trial import MEASURE
from lnmap.progress import Silent

ROOT = Path(__file__).parents[2]
FIGURES = ("systems", "seed-size", "distance", "self-training", "errors", "frequency")
WORDS = 120
NASTY = '<b>"&{ink}</b>|\n'


def made_up(trial, rng):
    """A file of results as the runner writes it, with numbers that stand for nothing."""
    common = {"trial": trial.to_dict(), "resumed": False, "device": "cpu", "seconds": 2.0, "cpu_seconds": 1.5}
    if trial.method == MEASURE:
        return common | {"status": "done", "isometry": {"gh": rng.random() / 10, "gh_rows": 0.1 + rng.random()}}
    if trial.take == "none":
        reason = f"no alignment {NASTY.strip()}"
        return common | {"status": "failed", "reason": reason, "error": "TrainingError", "final": True}
    rank = [rng.choice([0, 0, 1, 5, 30]) for _ in range(WORDS)]
    p1 = round(100 * rank.count(0) / WORDS, 2)
    scores = {"p@1": p1, "p@5": p1, "p@10": p1, "mrr": p1, "coverage": 90.0, "n": WORDS, "n_all": 133}
    scores |= {"p@1_interval": [p1 - 1, p1 + 1], "test_pairs": 200, "test_pairs_seen_in_training": 0}
    return common | {
        "status": "done",
        "scores": scores,
        "seed_pairs": 1000 if trial.take == "1k-unique" else 4000,
        "vocabulary": [2000, 3000],
        "log": [{"iteration": i, "similarity": rng.random(), "pairs": 100 * i} for i in range(1, 5)],
        "words": {
            "source": [f"word{i}" for i in range(WORDS)],
            "frequency_rank": [rng.randrange(2000) for _ in range(WORDS)],
            "rank": rank,
            "answer": [f"answer{i % 7}{NASTY}" for i in range(WORDS)],
            "gold": [[f"gold{i}"] for i in range(WORDS)],
        },
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three systems of Table 2 on two pairs; one run is missing."""
    out, rng = tmp_path_factory.mktemp("out"), random.Random(1)
    trials = make_plan("table2", pairs=["en-es", "en-de"], systems=["lnmap", "muse", "muse-unsup"], seeds=2)
    keyed = [(trial, f"{number:020x}") for number, trial in enumerate(trials)]
    results = Results(out)
    results.remember(keyed)
    for trial, key in keyed[:-1]:
        results.write(trial, key, made_up(trial, rng))
    return out


@pytest.fixture(scope="module")
def written(folder):
    return write_report(folder)


def raw(folder):
    return [json.loads(path.read_text()) for path in (folder / "results").glob("*.json")]


def test_cells_are_the_means_of_the_files(folder, written):
    (table,) = written.tables
    for (take, system, direction), cell in table.cells.items():
        files = [
            r["scores"]["p@1"]
            for r in raw(folder)
            if r["status"] == "done"
            and (r["trial"]["take"], r["trial"]["system"], r["trial"]["direction"]) == (take, system, direction)
            and "scores" in r
        ]
        assert sorted(cell.scores) == sorted(files)
        if files:
            assert cell.mean == pytest.approx(sum(files) / len(files))
    assert table.missing == 1


def test_markdown_shows_ours_paper_and_difference(written):
    (table,) = written.tables
    cell = table.cells["1k-unique", "muse", "en-es"]
    line = next(
        line for line in (written.folder / "report.md").read_text().splitlines() if "1k-unique | Conneau" in line
    )
    first = line.split("|")[4]
    assert f"{cell.mean:.1f}" in first
    assert f"/ {cell.published}" in first
    assert float(re.search(r"\((.*)\)", first)[1].replace("−", "-")) == pytest.approx(
        round(cell.mean, 1) - cell.published, abs=0.05
    )


def test_csv_has_one_line_per_run(folder, written):
    rows = list(csv.DictReader((written.folder / "runs.csv").read_text().splitlines()))
    trained = [r for r in raw(folder) if r["trial"]["method"] != MEASURE]
    assert len(rows) == len(trained)
    expected = {r["key"]: r["scores"]["p@1"] for r in trained if r["status"] == "done"}
    assert {row["key"]: float(row["p@1"]) for row in rows if row["status"] == "done"} == expected


def test_distances_beside_the_papers_are_of_their_kind(written):
    (table,) = written.tables
    line = next(x for x in (written.folder / "report.md").read_text().splitlines() if x.startswith("| en-es | 2,000"))
    ours, paper = (float(cell) for cell in line.split("|")[-3:-1])
    assert ours == pytest.approx(table.measures["en-es"]["gh_rows"], abs=0.001)
    assert ours == pytest.approx(table.gh("en-es"), abs=0.001)
    assert paper == 0.21


def test_significance_is_that_of_evaluate(written):
    (table,) = written.tables
    ours, reference = (table.cells["1k-unique", name, "en-es"] for name in ("muse", "lnmap"))
    assert ours.against == compare(ours.evaluation(), reference.evaluation())
    assert reference.against is None


class Strict(HTMLParser):
    """Collect the tags, and fail on one that is closed before it is opened."""

    void = frozenset(("meta", "br", "link"))

    def __init__(self) -> None:
        super().__init__()
        self.open, self.seen, self.text = [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_page_is_whole_and_needs_nothing_else(written):
    text = written.page.read_text()
    page = Strict()
    page.feed(text)
    assert page.open == []
    for tag, attributes in page.seen:
        assert tag not in ("script", "link", "img", "iframe")
        assert not attributes.get("src")
        assert attributes.get("href", "#").startswith("#")
    assert not re.search(r"url\((?!#)", text)
    assert "@import" not in text
    assert sum(tag == "svg" for tag, _ in page.seen) == 6
    assert "{ink}" in "".join(page.text), "a word's own braces are no colour"
    assert "<b>&quot;" not in text.replace("&lt;b&gt;", "")


def test_figures_are_xml_with_plain_colours(written):
    files = sorted(written.folder.glob("*.svg"))
    assert [path.stem.removeprefix("table2-") for path in files] == sorted(FIGURES)
    for path in files:
        text = path.read_text()
        ElementTree.fromstring(text)
        assert "var(" not in text
        assert "<title>P@1 by system, table2</title>" in text or path.stem != "table2-systems"
        width, height = (float(n) for n in re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text).groups())
        places = [(float(x), float(y)) for x, y in re.findall(r'<text[^>]* x="([-\d.]+)" y="([-\d.]+)"', text)]
        assert places
        assert all(-1 <= x <= width and -1 <= y <= height for x, y in places), path.name


def test_figures_follow_the_theme_of_the_page(written):
    text = written.page.read_text()
    for picture in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        assert not re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", picture)
    assert "prefers-color-scheme:dark" in text
    assert re.search(r"<g><title>lnmap, en-es, 1k-unique: [\d.]+ ± [\d.]+</title>", text), "marks have tooltips"


def test_same_results_give_the_same_figures(folder, written):
    before = {path.name: path.read_bytes() for path in written.folder.glob("*.svg")}
    write_report(folder)
    assert {path.name: path.read_bytes() for path in written.folder.glob("*.svg")} == before


def test_without_matplotlib_only_the_figures_are_missing(folder, tmp_path, monkeypatch):
    shutil.copytree(folder, tmp_path / "out", ignore=shutil.ignore_patterns("report"))
    for name in ("figures", "drawing"):
        monkeypatch.delitem(sys.modules, f"lnmap.experiments.report.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    progress = Silent()
    found = write_report(tmp_path / "out", progress)
    assert any("pip install 'lnmap[report]'" in note for note in progress.notes)
    assert not list(found.folder.glob("*.svg"))
    names = {"index.html", "report.md", "runs.csv", "table2.tex", "table2-groups.tex"}
    assert {path.name for path in found.folder.iterdir()} == names


def test_results_without_words_are_reported(tmp_path):
    rng, results = random.Random(1), Results(tmp_path)
    trials = make_plan("table2", pairs=["en-es"], systems=["lnmap", "muse"], takes=["1k-unique"], seeds=1)
    keyed = [(trial, f"{number:020x}") for number, trial in enumerate(trials)]
    results.remember(keyed)
    for trial, key in keyed:
        results.write(trial, key, {n: v for n, v in made_up(trial, rng).items() if n not in ("words", "log")})
    (table,) = write_report(tmp_path).tables
    assert table.reference is None
    assert table.mistakes == []


@pytest.fixture(scope="module")
def table1(tmp_path_factory):
    """All of Table 1: the widest and the highest one."""
    results, rng = Results(tmp_path_factory.mktemp("table1")), random.Random(1)
    keyed = [(trial, f"{number:020x}") for number, trial in enumerate(make_plan("table1", seeds=2))]
    results.remember(keyed)
    for trial, key in keyed:
        results.write(trial, key, made_up(trial, rng))
    (table,) = collect(results)
    return table


def test_latex_of_a_wide_table_has_every_cell(table1):
    text = latex(table1)
    assert text.count(r"\begin{table*}") == 4
    for direction in table1.directions:
        assert text.count(direction.replace("-", r"$\to$")) == 4
    numbers = [cell.published for cell in table1.cells.values() if cell.published is not None]
    means = [line.paper for take in table1.takes for line in table1.lines(take)]
    assert text.count(r"\scriptsize") == len(numbers) + sum(mean is not None for mean in means)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex")
def test_latex_compiles_and_fits_a_page(written, table1, tmp_path):
    tables = (written.folder / "table2.tex").read_text() + latex(table1) + latex_groups(table1)
    source = r"\documentclass[twocolumn]{article}\usepackage{booktabs}\begin{document}" + tables + r"\end{document}"
    (tmp_path / "t.tex").write_text(source)
    done = subprocess.run(["pdflatex", "-interaction=batchmode", "-halt-on-error", "t.tex"], cwd=tmp_path, check=False)
    log = (tmp_path / "t.log").read_text(errors="replace")
    assert done.returncode == 0, log
    assert "Overfull" not in log
    assert "too large for page" not in log


def test_latex_has_one_cell_per_column(written):
    lines = (written.folder / "table2.tex").read_text().splitlines()
    rows = [line for line in lines if line.endswith(r"\\") and "multicolumn" not in line]
    assert {line.count("&") for line in rows} == {5}
    assert r"\toprule" in lines
    assert r"\bottomrule" in lines


def test_report_command_rewrites_from_files_alone(folder, written, capsys):
    before = (written.folder / "report.md").read_text()
    shutil.rmtree(written.folder)
    assert main(["report", str(folder), "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)["tables"]["table2"]
    assert (written.folder / "report.md").read_text() == before
    (table,) = collect(Results(folder))
    assert len(cells) == len(table.cells)


def test_comparison_page_is_what_the_stored_results_say():
    spec = importlib.util.spec_from_file_location("comparison", ROOT / "benchmarks/comparison.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.tables() in script.PAGE.read_text(encoding="utf-8")
    assert len(list((script.RESULTS / "comparison/results").glob("*.json"))) >= 544


def test_no_results_is_a_clear_error(tmp_path):
    with pytest.raises(InputError, match="holds no results"):
        write_report(tmp_path)
    (tmp_path / "plan.json").write_text("[1]")
    with pytest.raises(InputError, match="repeat the reproduce command"):
        write_report(tmp_path)


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [
        ("libertés", "liberté", True),
        ("travaille", "travailler", True),
        ("maison", "chien", False),
        ("son", "ton", False),
        ("prendre", "comprendre", False),
    ],
)
def test_forms_of_a_word(answer, gold, same):
    assert is_form(answer, gold) == same


def test_mistakes_are_sorted():
    words = {
        "source": list("abcdefgh"),
        "answer": ["right", "libertés", "hub", "hub", "hub", "far", "near", "right"],
        "gold": [["right"], ["liberté"], *[["x"]] * 5, ["right"]],
        "rank": [0, 1, 50, 50, 50, 99, 4, 0],
        "frequency_rank": list(range(8)),
    }
    found = sort_mistakes(words)
    assert found.share == {"right": 25, "another form": 12.5, "in the first ten": 12.5, "hub": 37.5, "other": 12.5}
    assert found.quarters == [50, 0, 0, 50]
    assert found.hubs == [("hub", 3)]
    assert found.forms == [("b", "libertés", "liberté")]


def test_labels_do_not_cover_each_other():
    placed = spread([10, 10, 11, 50, 99], 12, 0, 100)
    assert all(b - a >= 11.99 for a, b in zip(sorted(placed), sorted(placed)[1:], strict=False))
    assert placed[3] == 50
    assert all(0 <= place <= 100 for place in spread([99, 99, 99], 12, 0, 100))
    assert spread([], 1, 0, 1) == []
