"""A model is trained again with its marks, from what its folder holds."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

import lnmap
from lnmap.errors import InputError, LnmapError
from lnmap.lexicon import Lexicon
from lnmap.model.marks import Mark, corrected, uncorrected
from lnmap.pipeline.retrain import NEEDED, back_seed_of, retrain, seed_of

QUICK = {"code": 16, "hidden": 16, "mapper_hidden": 16, "ae_draws": 100, "ae_epochs": 1, "epochs": 1, "iterations": 1}


def said(pairs, mark="right"):
    return {tuple(pair): Mark(*pair, mark, "") for pair in pairs}


@pytest.fixture(scope="module")
def problem(plant):
    return plant(n=300, d=20, noise=1.0)


@pytest.fixture(scope="module")
def model(problem, tmp_path_factory):
    seed = Lexicon([*problem.lexicon.pairs[:40], ("far", "away")], {"path": "seed.txt"})
    made = lnmap.align(problem.source, problem.target, seed, method="procrustes", take="30-unique", seed=3)
    return lnmap.load(made.save(tmp_path_factory.mktemp("m") / "model"))


def test_it_is_what_align_does_with_the_same_marks(problem, model):
    marks = said(problem.lexicon.pairs[100:120]) | said([("w0", "w0")], "wrong")
    found = retrain(model, marks)
    seed = Lexicon([*problem.lexicon.pairs[:40], ("far", "away")])
    options = {"method": "procrustes", "take": "30-unique", "seed": 3, "marks": marks}
    wanted = lnmap.align(problem.source, problem.target, seed, **options)
    assert set(found.model.pairs) == set(wanted.pairs)
    assert torch.equal(found.model.alignment.state()[1]["source"], wanted.alignment.state()[1]["source"])
    assert (found.model.info["method"], found.model.info["seed"]) == ("procrustes", 3)
    assert {name: found.model.pairs.origin[name] for name in ("path", "take")} == {
        "path": "seed.txt",
        "take": "30-unique",
    }
    assert found.model.outside.pairs == [("far", "away")]


def test_held_out_words_score_both_models_and_then_join(problem, model):
    marks = said(problem.lexicon.pairs[100:200])
    found = retrain(model, marks)
    assert (found.new, found.held_out) == (100, 20)
    assert 0 <= found.before < found.after <= 20
    assert set(problem.lexicon.pairs[100:200]) <= set(found.model.pairs)
    again = retrain(found.model, marks | said(problem.lexicon.pairs[200:205]))
    assert (again.new, again.held_out, again.before, again.after) == (5, 0, None, None)  # the others are known by now


def test_few_marks_give_no_score(problem, model):
    few = retrain(model, said(problem.lexicon.pairs[100 : 100 + NEEDED - 1]))
    assert (few.new, few.before) == (NEEDED - 1, None)
    enough = retrain(model, said(problem.lexicon.pairs[100 : 100 + NEEDED]))
    assert enough.held_out == NEEDED // 3
    unknown = said([("nowhere", "w1"), ("w1", "nowhere")]) | said(problem.lexicon.pairs[:20], "wrong")
    assert retrain(model, unknown | said(problem.lexicon.pairs[50:60])).new == 10


def test_a_mark_that_was_taken_back_leaves_nothing_behind(problem, model, tmp_path):
    wrong, right = problem.lexicon.pairs[0], problem.lexicon.pairs[100]
    first = retrain(model, said([wrong], "wrong") | said([right])).model
    first = lnmap.load(first.save(tmp_path / "first"))
    assert wrong not in set(first.pairs)
    assert right in set(first.pairs)
    assert set(seed_of(first)) == set(seed_of(model))
    second = retrain(first, said([problem.lexicon.pairs[101]])).model
    assert wrong in set(second.pairs)
    assert right not in set(second.pairs)


def test_marks_are_found_in_any_letter_case(problem, model):
    upper = [tuple(word.upper() for word in pair) for pair in (problem.lexicon.pairs[100], problem.lexicon.pairs[0])]
    made = retrain(model, said(upper[:1]) | said(upper[1:], "wrong")).model
    assert problem.lexicon.pairs[100] in set(made.pairs)
    assert problem.lexicon.pairs[0] not in set(made.pairs)
    assert set(seed_of(made)) == set(seed_of(model))


def test_uncorrected_undoes_corrected():
    lexicon = Lexicon([("a", "b"), ("c", "d")], {"path": "x", "take": "all"})
    marked = corrected(lexicon, said([("c", "d")], "wrong") | said([("e", "f")]))
    assert uncorrected(marked) == lexicon
    assert uncorrected(lexicon) == lexicon


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ({"method": "procrustes through a pivot", "through": [{}, {}]}, "was joined from two models"),
        ({"method": "no-such-method"}, "no-such-method"),
        ({"method": None}, "does not say"),
    ],
)
def test_models_that_cannot_be_trained_again_say_why(problem, model, info, message):
    with pytest.raises(LnmapError, match=message):
        retrain(replace(model, info={**model.info, **info}), said(problem.lexicon.pairs[100:120]))


def test_options_of_older_versions_are_left_out(problem, model):
    older = replace(model, info={**model.info, "options": {"normalize": "unit", "no_longer_there": 3}})
    assert retrain(older, said(problem.lexicon.pairs[100:120])).model.info["options"] == {"normalize": "unit"}


def test_nothing_to_learn_from(model):
    with pytest.raises(InputError, match="nobody has marked"):
        retrain(model, {})


def test_the_way_back_keeps_its_own_seed(problem, tmp_path):
    pairs = problem.lexicon.pairs
    turned = Lexicon([(target, source) for source, target in pairs[:50]], {"path": "back.txt"})
    options = {"method": "lnmap", "options": QUICK}
    made = lnmap.align(problem.source, problem.target, pairs[:40], back_pairs=turned, **options)
    old = lnmap.load(made.save(tmp_path / "old"))
    assert (set(old.back), old.back.origin["path"]) == (set(turned), "back.txt")
    marks = said([pairs[45]], "wrong") | said(pairs[100:110])
    new = lnmap.load(retrain(old, marks).model.save(tmp_path / "new"))
    wanted = lnmap.align(problem.source, problem.target, pairs[:40], back_pairs=turned, marks=marks, **options)
    joined = {pair[::-1] for pair in pairs[100:110]}
    assert set(new.back) == set(wanted.back) == ({*turned} - {pairs[45][::-1]}) | joined
    assert [row.get("pairs") for row in new.log] == [row.get("pairs") for row in wanted.log]
    assert set(back_seed_of(new)) == set(turned)
    assert back_seed_of(replace(new, back=None)) is None
