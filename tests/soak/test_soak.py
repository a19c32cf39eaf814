"""A few attempts of every scenario, the same ones each time; `make soak` makes thousands."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace

import pytest

pytest.importorskip("resource", reason="needs POSIX processes and limits")
if sys.platform != "linux":
    pytest.skip("the harness reads /proc and mounts small disks", allow_module_level=True)

from tests.soak import __main__ as soak
from tests.soak import bombs, cluster, concurrency, disk, fuzz, kills, load, network, numbers, security, served
from tests.soak.figures import Budget, Figures
from tests.soak.lab import open_lab
from tests.soak.lanes import LANES
from tests.soak.scenarios import SCENARIOS
from tests.soak.targets import TARGETS

import lnmap
from lnmap.model.marks import JOURNAL


@pytest.fixture(scope="module")
def lab():
    with open_lab() as made:
        yield made


def check(figures: Figures, least: int = 1) -> None:
    if figures.skipped:
        pytest.skip(figures.skipped)
    assert not figures.failed, figures.failures
    assert figures.attempts >= least


@pytest.mark.parametrize(
    ("scenario", "attempts"),
    [
        (kills.align_lnmap, 1),
        (kills.align_many, 2),
        (kills.vectors, 2),
        (kills.induce, 3),
        (kills.export_text, 2),
        (network.data_get, 2),
        (network.marks, 2),
        (disk.full, 6),
        (disk.read_only, 2),
        (disk.quota, 6),
        (disk.removed, 3),
        (concurrency.two_aligns, 2),
        (concurrency.two_servers, 1),
        (security.requests, 1),
        (security.dictionary, 1),
        (fuzz.model_folder, 40),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_scenario(lab, scenario, attempts):
    check(scenario(lab, Budget(attempts)), attempts)


@pytest.mark.parametrize("name", TARGETS)
def test_changed_files(lab, name):
    check(fuzz.fuzz(name)(lab, Budget(40)), 40)


SLOW_BOMBS = {"gzip of one line", "xz of one line", "zip of one line", "bzip2 of one line", "zip of 30 000 files"}


@pytest.mark.parametrize("name", [name for name in bombs.FILES if name not in SLOW_BOMBS])
def test_bomb(lab, name, monkeypatch):
    monkeypatch.setattr(bombs, "FILES", {name: bombs.FILES[name]})
    check(bombs.bombs(lab, Budget(1)))


@pytest.mark.parametrize("case", numbers.CASES)
def test_numbers(lab, case):
    ended = lab.launcher.call("tests.soak.numbers:solve", case, "vecmap-sup", str(lab.fresh()))
    assert ended.code == 0, ended.err
    refused = {"nothing but zeros", "identical vectors", "values of 1e-30", "values of 1e30", "1e30 beside 1e-30"}
    if case in refused - {"identical vectors"}:
        assert json.loads(ended.out) == "refused"
    elif case not in refused and case != "three words":
        assert json.loads(ended.out) == "finite"


def test_a_killed_worker_of_ray(lab):
    check(cluster.reproduce_on_ray(lab, Budget(1)))


def test_load(lab):
    figures = load.steady(lab, Budget(2), replace(load.SMALL, words=500))
    check(figures, 100)
    assert figures.also["marks kept"] > 0


@pytest.mark.parametrize(("ms", "grown_mb", "failed"), [(99, 31, 0), (101, 31, 1), (99, 33, 1), (101, 33, 2)])
def test_slow_answers_and_lost_memory_are_failures(ms, grown_mb, failed):
    figures = Figures(also={"most ms of 99 %": ms, "MB grown": grown_mb})
    load.judge(figures, load.SMALL)
    assert figures.failed == failed


def test_the_large_model_is_made_once_per_commit_and_served_without_marks(tmp_path, monkeypatch):
    made = served.large_model(tmp_path, words=300)
    assert len(lnmap.load(made).source) == 300
    assert [path.name for path in made.parent.iterdir()] == ["model"]
    (made / JOURNAL).write_text("{}\n")
    with monkeypatch.context() as patch:
        patch.setattr(served, "save_store", lambda *_: pytest.fail("it was made already"))
        assert served.large_model(tmp_path, words=300) == made
    assert not (made / JOURNAL).exists()
    monkeypatch.setattr(served, "commit", lambda: "later")
    left = tmp_path / "later" / "data" / "en" / "words.txt"  # by a soak that was interrupted
    left.parent.mkdir(parents=True)
    left.write_text("the\n")
    assert served.large_model(tmp_path, words=300) == tmp_path / "later" / "model"
    assert not made.exists()


def test_what_a_scenario_needs_is_made_before_its_time_begins(monkeypatch, soak_main):
    order = []
    one = replace(SCENARIOS[-1], before=lambda: order.append("before"))
    monkeypatch.setattr(soak, "SCENARIOS", (*SCENARIOS[:-1], one))
    monkeypatch.setattr(soak, "run_lanes", lambda keys, plan: order.append("lanes") or [(one.key, Figures(1))])
    soak_main("--only", one.key)
    assert order == ["before", "lanes"]
    soak_main("--only", "formulas")
    assert order == ["before", "lanes", "lanes"]
    soak_main("--few", "--fresh")  # takes seconds: without what takes minutes to make
    assert order == ["before", "lanes", "lanes", "lanes"]


def test_crowd(lab):
    check(load.crowd(lab, Budget(50), connections=200), 50)


def test_the_harness_reports_what_it_finds(lab):
    """A command that is not atomic is caught, and so is a reader that raises."""

    class Torn(kills.Induce):
        def content(self, out):
            return os.urandom(4)

    figures = kills.killed(Torn(lab), Budget(1))
    assert figures.failed == 1
    assert "neither the old output nor the new" in figures.failures[0]
    broken = fuzz.Target(lambda: [b""], lambda path: [][0])
    assert fuzz.try_bytes(broken, b"x", lab.folder / "x").startswith("IndexError")


@pytest.fixture
def soak_main(tmp_path, monkeypatch):
    """Run the soak's command with a state file of its own."""
    state = tmp_path / "state.json"

    def main(*arguments) -> dict:
        monkeypatch.setattr(sys, "argv", ["soak", "--few", *map(str, arguments), "--state", str(state)])
        assert soak.main() == 0
        return json.loads(state.read_text())["done"]

    return main


def test_the_table(tmp_path, monkeypatch, soak_main):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{soak.BEGIN}\nold\n{soak.END}\nafter\n")
    done = soak_main("--only", "unsafe calls", "--out", page)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| Security: unsafe calls in the code | " in text
    assert "not a soak" in text
    monkeypatch.setattr(soak, "run_lanes", lambda *_: pytest.fail("it was done already"))
    assert soak_main("--only", "unsafe calls", "--out", page) == done


def test_scenarios_run_again_are_named_in_the_table(monkeypatch, capsys, soak_main):
    ran = []

    def run_lanes(keys, plan):
        ran.append(list(keys))
        return ((key, Figures(attempts=1)) for key in keys)

    monkeypatch.setattr(soak, "run_lanes", run_lanes)
    soak_main("--only", "security")
    monkeypatch.setattr(soak, "commit", lambda: "later")
    capsys.readouterr()
    soak_main("--again", "unsafe", "formulas")
    printed = capsys.readouterr().out
    assert "Run again afterwards, at commit later: formulas in a dictionary, unsafe calls in the code." in printed
    assert "| Security: hostile requests and words | " in printed
    assert [len(keys) for keys in ran] == [3, 2]


def test_every_scenario_has_its_own_row_on_the_page():
    names = [one.key for one in SCENARIOS]
    assert len(set(names)) == len(names)
    page = (soak.ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    table = page.partition(soak.BEGIN)[2].partition(soak.END)[0].splitlines()
    assert [line.split(" | ")[0].removeprefix("| ") for line in table if line.startswith("| ")][2:] == names
    assert {one.lane for one in SCENARIOS} == set(LANES)
    assert all(one.weight > 0 and one.few > 0 and one.attempts >= one.few for one in SCENARIOS)
