"""What people say is worked out again for the words they speak of only, with the same result as from the start."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import lnmap
from lnmap.direction import Direction
from lnmap.lexicon import Lexicon
from lnmap.model import Model
from lnmap.model.marks import JOURNAL, Marks
from lnmap.serve.said import Said

WORDS = ["w1", "W1", "w2", "w3", "W3", "nowhere", "Nowhere", "w9"]
LINES = st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS), st.sampled_from(["right", "wrong", "added", "none"]))


@pytest.fixture(scope="module")
def model(plant) -> Model:
    problem = plant(n=30, d=8)
    made = lnmap.align(problem.source, problem.target, problem.lexicon, method="procrustes")
    made.pairs = Lexicon([("w1", "w20"), ("w1", "w3"), ("w2", "w2"), ("nowhere", "w9"), ("w3", "nulle part")])
    return made


def write(journal: Marks, *lines: tuple[str, str, str]) -> None:
    with journal.path.open("a") as file:
        for number, line in enumerate(lines):
            row = dict(zip(("source", "target", "mark"), line, strict=True), time=str(number))
            file.write(json.dumps(row) + "\n")


def seen(said: Said) -> list[object]:
    """Return all that a request can learn, in its order."""
    found: list[object] = []
    for way in Direction:
        pairs = said.model.given(way)
        found += [[(*pair, pairs.mark(*pair)) for pair in pairs], list(pairs.wrong_rows().items())]
        found += [[(pairs.of(word), pairs.wrong(word)) for word in WORDS], sorted(pairs.marked_rows())]
        rows = torch.arange(len(said.model.side(way.asked)))
        best = said.model.space(way).search_best(rows).rows[:, 0]
        found += [said.first_words(rows, best, way), said.first(rows, best, way).tolist()]
        found += [said.are_given(rows, way).tolist(), said.others[way].tolist()]
    return found


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(LINES, min_size=1, max_size=4), min_size=1, max_size=12))
def test_mark_by_mark_is_the_same_as_from_the_start(model, turns):
    with TemporaryDirectory() as folder:
        journal = Marks(Path(folder))
        said = Said(model, journal.latest()[0], {})
        for lines in turns:
            write(journal, *lines)
            said = Said(model, journal.latest()[0], {}, said)
            whole = Said(model, dict(Marks(Path(folder)).latest()[0]), {})
            assert seen(said) == seen(whole)
        other = Said(model, Marks(Path(folder) / "other").latest()[0], {}, said)  # nothing of the first journal is left
        assert seen(other) == seen(Said(model, {}, {}))


def test_a_journal_that_is_replaced_counts_from_its_start(model, tmp_path):
    journal = Marks(tmp_path)
    write(journal, ("w1", "w1", "right"), ("w5", "w6", "wrong"), ("w5", "w5", "wrong"))
    said = Said(model, journal.latest()[0], {})
    (tmp_path / "new").mkdir()
    write(Marks(tmp_path / "new"), *[("w7", "w8", "added")] * 4)
    (tmp_path / "new" / JOURNAL).replace(journal.path)
    assert seen(Said(model, journal.latest()[0], {}, said)) == seen(Said(model, dict(journal.latest()[0]), {}))


def test_the_place_of_a_mark(model, tmp_path):
    """A mark that is changed keeps its place; one that is taken back and made again goes last."""
    journal = Marks(tmp_path)
    write(journal, *[("w5", f"new {number}", "added") for number in range(3)])
    said = Said(model, journal.latest()[0], {})
    answers: Callable[[], tuple[str, ...]] = lambda: said.model.given().of("w5")  # noqa: E731
    for mark, expected in (
        ("right", ("new 0", "new 1", "new 2")),
        ("wrong", ("new 1", "new 2")),
        ("added", ("new 0", "new 1", "new 2")),
        ("none", ("new 1", "new 2")),
        ("added", ("new 1", "new 2", "new 0")),
    ):
        write(journal, ("w5", "new 0", mark))
        said = Said(model, journal.latest()[0], {}, said)
        assert answers() == expected
    write(journal, ("w5", "new 1", "none"), ("w5", "new 1", "added"))  # both are read at once
    said = Said(model, journal.latest()[0], {}, said)
    assert answers() == ("new 2", "new 0", "new 1")


def calls(work: Callable[[], object]) -> int:
    """Count the functions that are called, those of Python itself too; each step of a generator is one."""
    found = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return found


@pytest.mark.parametrize("line", [("w5", "w6", "right"), ("w5", "w5", "wrong"), ("w4", "w7", "added")])
@pytest.mark.parametrize("target", ["x-{}", "w7"])
def test_one_more_mark_costs_the_same_however_many_there_are(model, tmp_path, line, target):
    """However many marks the other words have, and however many new answers a word itself already has."""
    counts = []
    for many in (20, 20, 3000):  # once before it counts
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        journal = Marks(folder)
        write(journal, *[(f"said-{number}", target.format(number), "added") for number in range(many)])
        said = Said(model, journal.latest()[0], {})
        write(journal, line, (line[0], "once more", "added"), ("said-3", target.format(3), "added"))

        def more(journal: Marks = journal, said: Said = said) -> None:
            now = Said(model, journal.latest()[0], {}, said)
            for way in Direction:
                now.first(torch.arange(5), torch.arange(5), way)

        counts.append(calls(more))
    assert counts[2] == counts[1] < 2500
