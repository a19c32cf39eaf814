"""Pairs that were given as the seed come first, and nowhere count as the model's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import lnmap
from lnmap.direction import Direction
from lnmap.embeddings import Embeddings
from lnmap.lexicon import Lexicon
from lnmap.model import Model


@pytest.fixture(scope="module")
def model(pair) -> Model:
    """A real model of 1,000 seed pairs, with a confidence."""
    return lnmap.align(*(pair.source, pair.target, pair.train), method="procrustes", take="1k-unique", calibrate=True)


@pytest.fixture(scope="module")
def several(plant) -> Model:
    """A planted model whose seed gives some words that it would not choose."""
    problem = plant(n=60, d=10)
    made = lnmap.align(problem.source, problem.target, problem.lexicon, method="procrustes")
    made.pairs = Lexicon([("w1", "w30"), ("w1", "w20"), ("w2", "w2"), ("w3", "w30")])
    return made


@pytest.mark.parametrize("direction", Direction)
def test_the_first_answer_to_every_seed_word_is_a_given_one(model, direction):
    seed = model.seed(direction)
    said = set(seed)
    words = list(dict.fromkeys(word for word, _ in seed))
    answers = model.translate(words, 3, direction)
    assert len(words) == 1000
    assert sum((one.query, one.words[0]) not in said for one in answers) == 0
    own = model.translate(words, 3, direction, given=False)
    assert sum((one.query, one.words[0]) not in said for one in own) > 50  # the model itself says otherwise
    assert not any(candidate.given for one in own for candidate in one.candidates)


def test_all_given_ones_best_first_then_the_models_own(several):
    own = several.translate("w1", 60, given=False)[0].words
    given = sorted(("w30", "w20"), key=own.index)
    (found,) = several.translate("w1", 4)
    assert found.words == [*given, *[word for word in own if word not in given][:2]]
    assert [c.given for c in found.candidates] == [True, True, False, False]
    assert several.translate("w1", 1)[0].words == given
    assert set(several.translate("w30", 1, "backward")[0].words) == {"w1", "w3"}
    (right,) = several.translate("w2", 4)
    assert right.words == several.translate("w2", 4, given=False)[0].words
    assert str(found.candidates[0]).endswith(" given")
    assert repr(found).count("given") == 2


@pytest.mark.parametrize("criterion", ["csls", "cosine", "isf"])
def test_what_the_model_thinks_of_a_given_pair_is_told(several, criterion):
    every = several.translate("w1", 60, criterion=criterion, given=False)[0].candidates
    assert [one.rank for one in every] == list(range(1, 61))
    expected = {one.word: one for one in every}
    for found in several.translate("w1", 2, criterion=criterion)[0].candidates:
        own = expected[found.word]
        assert found.rank == own.rank
        assert (found.score, found.cosine) == pytest.approx((own.score, own.cosine), abs=1e-6)


def test_a_given_pair_has_no_confidence_and_is_never_withheld(model):
    word, answer = next(iter(model.pairs))
    (found,) = model.translate(word, 5, min_confidence=1.0)
    assert found.words[0] == answer
    assert found.candidates[0].confidence is None
    assert found.candidates[0].given
    assert answer not in [one.word for one in found.withheld]
    assert model.translate(word, 5)[0].candidates[-1].confidence is not None


def test_letter_case_is_folded_as_in_the_evaluation(several):
    assert several.translate("W1", 1)[0].words == several.translate("w1", 1)[0].words
    folded = replace(several, pairs=Lexicon([("W1", "W30")]))
    assert folded.translate("w1", 1)[0].words == ["w30"]
    rng = np.random.default_rng(0)
    sides = [Embeddings.from_arrays(["polish", "Polish", "x"], rng.normal(size=(3, 4))) for _ in range(2)]
    cased = Model(*sides, several.alignment, Lexicon([("polish", "x")]))
    assert cased.given().of("polish") == cased.given().of("POLISH") == ("x",)
    assert cased.given().of("Polish") == ()


def test_a_word_without_a_vector_may_have_a_given_translation(several):
    outside = replace(several, pairs=Lexicon([("nowhere", "w5"), ("w1", "nulle part")]))
    (found,) = outside.translate("Nowhere")
    assert found.known
    assert not found.subwords
    assert [(c.word, c.score, c.rank, c.given) for c in found.candidates] == [("w5", None, None, True)]
    assert outside.translate("w1", 2)[0].words[0] == "nulle part"
    assert not outside.translate("nowhere", given=False)[0].known
    first = outside.induce()[:2]
    assert {(e.source, e.target, e.csls, e.given) for e in first} == {
        ("nowhere", "w5", None, True),
        ("w1", "nulle part", None, True),
    }
    assert not outside.induce(max_rank=60)[0].given


def test_pairs_outside_the_vocabularies_are_given_unless_a_rule_chose(plant):
    problem = plant(n=60, d=10)
    seed = Lexicon([*problem.lexicon.pairs[:30], ("nowhere", "w5"), ("w40", "nulle part")])
    made, chosen = (
        lnmap.align(problem.source, problem.target, seed, method="procrustes", take=take)
        for take in (None, "20-unique")
    )
    assert made.translate("nowhere")[0].words == ["w5"]
    assert made.translate("w40", 1)[0].words == ["nulle part"]
    assert made.translate("w5", 2, "backward")[0].words == ["w5", "nowhere"]
    assert {("nowhere", "w5"), ("w40", "nulle part")} <= {(e.source, e.target) for e in made.induce() if e.given}
    assert list(made.pairs) == problem.lexicon.pairs[:30]
    assert not chosen.translate("nowhere")[0].known
    assert chosen.translate("w40", 1)[0].words == ["w40"]


@pytest.mark.parametrize("seed", ["identical", "numerals"])
def test_pairs_that_nobody_gave_are_not_given(several, seed):
    found = replace(several, pairs=Lexicon(several.pairs.pairs, {"seed": seed}))
    assert found.translate("w1") == several.translate("w1", given=False)
    assert found.induce() == several.induce(given=False)


def test_scores_and_confidence_do_not_depend_on_given_pairs(model, pair):
    seen = model.evaluate(model.pairs)
    without = replace(model, pairs=Lexicon([]))
    assert seen.precision(1) < 95  # given answers would be 100
    for gold in (model.pairs, pair.test):
        for direction in Direction:
            lexicon = gold if direction is Direction.FORWARD else gold.reversed()
            assert model.evaluate(lexicon, direction).rows == without.evaluate(lexicon, direction).rows
    words = model.source.words[:50]
    assert model.translate(words, given=False) == without.translate(words)


@pytest.mark.parametrize("mode", ["mutual", "forward", "backward", "union"])
def test_given_pairs_head_the_lexicon(several, mode):
    entries = several.induce(mode)
    given = [entry for entry in entries if entry.given]
    assert given == entries[:4]
    assert {(e.source, e.target) for e in given} == set(several.pairs)
    assert [e.csls for e in given] == sorted((e.csls for e in given), reverse=True)
    score = {e.target: e.csls for e in given if e.source == "w1"}
    assert score == pytest.approx({c.word: c.score for c in several.translate("w1", 2)[0].candidates}, abs=1e-6)
    pairs = [(e.source, e.target) for e in entries]
    assert len(pairs) == len(set(pairs))
    assert (("w1", "w1") in pairs) == (mode in ("backward", "union"))  # w1 has its translations
    assert (("w30", "w30") in pairs) == (mode in ("forward", "union"))
    assert ("w5", "w5") in pairs
    assert not any(entry.given for entry in several.induce(mode, given=False))


def test_a_lexicon_with_room_for_more_translations(several):
    three = [e for e in several.induce("forward", count=3) if e.source == "w1"]
    assert [e.target for e in three[:2]] == ["w30", "w20"]
    assert len(three) == 3
    assert not three[2].given


def test_given_pairs_pass_every_limit_but_the_number_of_pairs(model):
    entries = model.induce(least=10.0, min_confidence=1.0)
    assert len(entries) == len(model.pairs)
    assert all(entry.given and entry.confidence is None for entry in entries)
    assert len(model.induce(limit=7)) == 7
    assert "given" in model.induce(limit=7)._repr_html_()
    backward = model.induce(direction="backward", limit=1000)
    assert {(e.target, e.source) for e in backward} == set(model.pairs)


def test_a_saved_model_knows_what_was_given(model, tmp_path):
    words = [word for word, _ in model.pairs][:20]
    answers = [one.translate(words) for one in (model, lnmap.load(model.save(tmp_path / "model")))]
    first, second = ([(one.words, [c.given for c in one.candidates]) for one in found] for found in answers)
    assert first == second
