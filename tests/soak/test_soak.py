"""A few attempts of every scenario of the fault harness, always the same ones; `make soak` makes thousands."""

from __future__ import annotations

import json
import os
import sys

import pytest

pytest.importorskip("resource", reason="needs POSIX processes and limits")
if sys.platform != "linux":
    pytest.skip("the harness reads /proc and mounts small disks", allow_module_level=True)

from tests.soak import __main__ as soak
from tests.soak import bombs, cluster, concurrency, disk, fuzz, kills, load, network, numbers, security
from tests.soak.figures import Budget, Figures
from tests.soak.lanes import LANES
from tests.soak.room import room
from tests.soak.scenarios import SCENARIOS
from tests.soak.targets import TARGETS


@pytest.fixture(scope="module")
def place():
    with room() as made:
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
def test_scenario(place, scenario, attempts):
    check(scenario(place, Budget(attempts)), attempts)


@pytest.mark.parametrize("name", TARGETS)
def test_changed_files(place, name):
    check(fuzz.fuzz(name)(place, Budget(40)), 40)


SLOW_BOMBS = {"gzip of one line", "xz of one line", "zip of one line", "bzip2 of one line", "zip of 30 000 files"}


@pytest.mark.parametrize("name", [name for name in bombs.FILES if name not in SLOW_BOMBS])
def test_bomb(place, name, monkeypatch):
    monkeypatch.setattr(bombs, "FILES", {name: bombs.FILES[name]})
    check(bombs.bombs(place, Budget(1)))


@pytest.mark.parametrize("case", numbers.CASES)
def test_numbers(place, case):
    ended = place.launcher.call("tests.soak.numbers:solve", case, "vecmap-sup", str(place.fresh()))
    assert ended.code == 0, ended.err
    refused = {"nothing but zeros", "identical vectors", "values of 1e-30", "values of 1e30", "1e30 beside 1e-30"}
    if case in refused - {"identical vectors"}:
        assert json.loads(ended.out) == "refused"
    elif case not in refused and case != "three words":
        assert json.loads(ended.out) == "finite"


def test_a_killed_worker_of_ray(place):
    figures = cluster.reproduce_on_ray(place, Budget(1))
    check(figures, 1)


def test_load(place):
    figures = load.steady(place, Budget(2), words=500)
    check(figures, 100)
    assert figures.also["marks kept"] > 0


def test_crowd(place):
    check(load.crowd(place, Budget(50), connections=200), 50)


def test_a_scenario_that_finds_something_says_so(place):
    """The harness itself: a command that is no longer atomic is caught, and so is a reader that raises."""

    class Torn(kills.Induce):
        def content(self, out):
            return os.urandom(4)

    figures = kills.killed(Torn(place), Budget(1))
    assert figures.failed == 1
    assert "neither the old output nor the new" in figures.failures[0]
    broken = fuzz.Target(lambda: [b""], lambda path: [][0])
    assert fuzz.try_bytes(broken, b"x", place.folder / "x").startswith("IndexError")


def test_the_table(tmp_path, monkeypatch, capsys):
    page, state = tmp_path / "page.md", tmp_path / "state.json"
    page.write_text(f"before\n{soak.BEGIN}\nold\n{soak.END}\nafter\n")
    arguments = ["x", "--few", "--only", "unsafe calls", "--out", str(page), "--state", str(state)]
    monkeypatch.setattr(sys, "argv", arguments)
    assert soak.main() == 0
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| Security: unsafe calls in the code | " in text
    assert "not a soak" in text
    before = state.read_text()
    monkeypatch.setattr(soak, "run_lanes", lambda *_: pytest.fail("it was done already"))
    assert soak.main() == 0
    assert json.loads(state.read_text())["done"] == json.loads(before)["done"]


def test_what_is_run_again_is_named_in_the_table(tmp_path, monkeypatch, capsys):
    state = tmp_path / "state.json"
    monkeypatch.setattr(sys, "argv", ["x", "--few", "--only", "security", "--state", str(state)])
    assert soak.main() == 0
    monkeypatch.setattr(soak, "_commit", lambda: "later")
    monkeypatch.setattr(sys, "argv", ["x", "--few", "--again", "unsafe", "formulas", "--state", str(state)])
    capsys.readouterr()
    assert soak.main() == 0
    said = capsys.readouterr().out
    assert "Run again afterwards, at commit later: formulas in a dictionary, unsafe calls in the code." in said
    assert "| Security: requests and words that want more | " in said


def test_every_scenario_has_its_own_line():
    names = [one.key for one in SCENARIOS]
    assert len(set(names)) == len(names)
    assert {one.lane for one in SCENARIOS} == set(LANES)
    assert all(one.weight > 0 and one.few > 0 and one.attempts >= one.few for one in SCENARIOS)
