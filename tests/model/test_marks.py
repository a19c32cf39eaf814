"""What people say of pairs counts at once: it pins, drops and labels answers, without training."""

from __future__ import annotations

from dataclasses import replace

import pytest

import lnmap
from lnmap.direction import Direction
from lnmap.lexicon import Lexicon
from lnmap.model import Model
from lnmap.model.marks import Mark, Marks, ordered


def said(**marks: str):
    """Make marks from `w1_w5="right"`."""
    pairs = {tuple(name.split("_")): mark for name, mark in marks.items()}
    return {pair: Mark(*pair, mark, "") for pair, mark in pairs.items()}


@pytest.fixture(scope="module")
def planted(plant) -> Model:
    """A planted model: each word's own translation is the word of the same name; w1 was given as w30."""
    problem = plant(n=60, d=10)
    made = lnmap.align(problem.source, problem.target, problem.lexicon, method="procrustes")
    made.pairs = Lexicon([("w1", "w30"), ("w2", "w2")])
    return made


def test_marked_right_or_added_comes_first_and_is_labelled(planted):
    model = replace(planted, marks=said(w5_w9="right", w5_w8="added", W6_W7="right"))
    (found,) = model.translate("w5", 3)
    assert set(found.words[:2]) == {"w9", "w8"}
    assert {c.word: (c.given, c.mark, c.confidence) for c in found.candidates} == {
        "w9": (True, "right", None), "w8": (True, "added", None), "w5": (False, None, None)
    }  # fmt: skip
    assert {str(c).split()[-1] for c in found.candidates[:2]} == {"right", "added"}
    assert model.translate("w9", 1, "backward")[0].words == ["w5"]
    assert model.translate("w6", 1)[0].words == ["w7"]
    assert model.translate("w1", 1)[0].candidates[0].mark is None
    assert model.translate("w5", 1, given=False) == planted.translate("w5", 1, given=False)


def test_marked_wrong_is_dropped_and_the_next_takes_its_place(planted):
    own = planted.translate("w5", 4, given=False)[0].words
    model = replace(planted, marks=said(**{f"w5_{own[0]}": "wrong", f"w5_{own[2]}": "wrong"}))
    (found,) = model.translate("w5", 2)
    assert found.words == [own[1], own[3]]
    assert [(c.word, c.mark, c.rank) for c in found.dropped] == [(own[0], "wrong", 1), (own[2], "wrong", 3)]
    assert own[0] not in model.translate("w5", 60)[0].words
    assert "w5" not in model.translate(own[0], 60, "backward")[0].words
    assert len(model.translate(["w5", "w6"], 2)[1].candidates) == 2


def test_a_given_pair_marked_wrong_is_given_no_more(planted):
    model = replace(planted, marks=said(w1_w30="wrong"))
    (found,) = model.translate("w1", 60)
    assert "w30" not in found.words
    assert not any(c.given for c in found.candidates)
    assert ("w1", "w30") not in {(e.source, e.target) for e in model.induce("union", count=60)}


def test_words_outside_the_vocabulary_can_be_said(planted):
    model = replace(planted, marks=said(nowhere_w5="added", w6_nullepart="added", w6_w6="wrong"))
    assert model.translate("Nowhere")[0].words == ["w5"]
    assert model.translate("w6", 1)[0].words == ["nullepart"]
    entries = {(e.source, e.target): e for e in model.induce()}
    assert entries["nowhere", "w5"].mark == entries["w6", "nullepart"].mark == "added"
    assert ("w6", "w6") not in entries


@pytest.mark.parametrize("mode", ["mutual", "forward", "backward", "union"])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("direction", Direction)
def test_an_induced_lexicon_is_what_it_would_be_without_the_wrong_pairs(planted, mode, count, direction):
    """The choices of every word, computed one by one, without the pairs marked wrong."""
    wrong = said(w5_w5="wrong", w6_w6="wrong", w6_w9="wrong", w9_w9="wrong")
    model = replace(planted, marks=wrong, pairs=Lexicon([]))
    pairs = {ordered(pair, direction) for pair in wrong}

    def best(way: Direction) -> set[tuple[str, str]]:
        bad = pairs if way is direction else {pair[::-1] for pair in pairs}
        found = planted.translate(model.side(way.asked).words, 60, way, given=False)
        return {(f.query, w) for f in found for w in [w for w in f.words if (f.query, w) not in bad][:count]}

    forward, backward = best(direction), {pair[::-1] for pair in best(direction.opposite)}
    expected = {
        "mutual": forward & backward, "forward": forward, "backward": backward, "union": forward | backward
    }[mode]  # fmt: skip
    entries = model.induce(mode, count=count, direction=direction)
    assert {(e.source, e.target) for e in entries} == expected
    assert [e.csls for e in entries] == sorted((e.csls for e in entries), reverse=True)
    assert entries.left_out["wrong"] >= 3
    assert max(int(e.source[1:]) for e in model.induce(mode, count=count, max_rank=20)) < 20


def test_judged_answers_are_dropped_too(pair):
    model = lnmap.align(pair.source.head(500), pair.target.head(500), pair.train, method="auto", options={"rounds": 0})
    first = next(e for e in model.induce() if not e.given)
    model.marks = said(**{f"{first.source}_{first.target}": "wrong"})
    entries = model.induce("forward")
    assert (first.source, first.target) not in {(e.source, e.target) for e in entries}
    other = next(e for e in entries if e.source == first.source)
    assert other.confidence is not None
    assert model.translate(first.source, 1)[0].words == [other.target]


def test_scores_do_not_depend_on_marks(planted):
    marked = replace(planted, marks=said(w5_w5="wrong", w6_w9="right"))
    gold = Lexicon([("w5", "w5"), ("w6", "w6")])
    assert marked.evaluate(gold).rows == planted.evaluate(gold).rows


def test_load_finds_the_marks_of_the_folder(planted, tmp_path):
    folder = planted.save(tmp_path / "model")
    assert lnmap.load(folder).marks == {}
    Marks(folder).add("w5", "w9", "right")
    assert lnmap.load(folder).translate("w5", 1)[0].words == ["w9"]
    assert lnmap.load(folder, marks=False).translate("w5", 1)[0].words == ["w5"]
    other = tmp_path / "other"
    other.mkdir()
    Marks(other).add("w5", "w8", "added")
    assert lnmap.load(folder, marks=other).translate("w5", 1)[0].words == ["w8"]


def test_training_takes_marks(plant, tmp_path):
    problem = plant(n=60, d=10)
    seed = Lexicon([*problem.lexicon.pairs[:30], ("w0", "w59"), ("far", "away")])
    marks = said(w0_w59="wrong", w40_w40="right", w41_w41="added", no_where="added")
    made = lnmap.align(problem.source, problem.target, seed, method="procrustes", marks=marks, out=tmp_path / "m")
    assert set(made.pairs) == {*problem.lexicon.pairs[:30], ("w40", "w40"), ("w41", "w41")}
    assert made.pairs.origin["marks"] == {"wrong": 1, "right": 1, "added": 2}
    assert lnmap.load(tmp_path / "m").outside.pairs == [("far", "away")]
    for one in (made, lnmap.load(tmp_path / "m")):
        assert one.marks == marks
        assert "w59" not in one.translate("w0", 60)[0].words
        assert one.translate("no")[0].words == ["where"]
    few = lnmap.align(problem.source, problem.target, seed, method="procrustes", take="10-unique", marks=marks)
    assert {("w40", "w40"), ("w41", "w41")} <= set(few.pairs)
    assert len(few.pairs) < 14
    only = lnmap.align(problem.source, problem.target, method="procrustes", marks={
        pair: Mark(*pair, "right", "") for pair in problem.lexicon
    })  # fmt: skip
    assert set(only.pairs) == set(problem.lexicon)
