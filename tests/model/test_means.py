"""A large model of one map is saved without neighbourhood means, and answers as if it had them."""

import pytest
import torch

import lnmap
from lnmap import retrieve
from lnmap.direction import Direction
from lnmap.model import model as of_models


@pytest.fixture
def problem(plant):
    return plant(n=600, d=12)


@pytest.fixture
def models(problem, tmp_path, monkeypatch):
    """The same model, saved with its means and without."""
    pairs = list(problem.lexicon)[:200]
    made = lnmap.align(problem.source, problem.target, pairs, method="procrustes", device="cpu", out=tmp_path / "with")
    monkeypatch.setattr(of_models, "MOST", 1000)
    monkeypatch.setattr(retrieve, "_PER_WORD", 0)
    again = lnmap.align(
        problem.source, problem.target, pairs, method="procrustes", device="cpu", out=tmp_path / "without"
    )
    assert made.means
    assert not again.means
    return lnmap.load(tmp_path / "with"), lnmap.load(tmp_path / "without")


@pytest.mark.parametrize("direction", list(Direction))
def test_answers_are_the_same(models, direction):
    vocabulary = models[0].side(direction.asked).words
    words = [*vocabulary[:5], *vocabulary[500:505]]  # given ones, too
    found = [[model.translate(word, 4, direction)[0].candidates for word in words] for model in models]
    with_means, without = (
        [[(one.word, one.rank, one.given, round(one.score, 4)) for one in every] for every in way] for way in found
    )
    assert with_means == without
    assert models[1].means == {}


def test_means_that_are_known_are_saved(models, tmp_path):
    without = models[1]
    _ = without.space().means
    without.save(tmp_path / "again")
    assert set(lnmap.load(tmp_path / "again").means) == {Direction.FORWARD}


def test_a_calibrated_model_keeps_them(problem, tmp_path, monkeypatch):
    monkeypatch.setattr(of_models, "MOST", 1000)
    pairs = list(problem.lexicon)[:300]
    out = tmp_path / "sure"
    lnmap.align(problem.source, problem.target, pairs, method="procrustes", calibrate=True, device="cpu", out=out)
    assert lnmap.load(out).means


def test_many_words_are_searched_in_blocks(models):
    with_means, without = (model.space() for model in models)
    without.memory = 600 * 4 * 5 // 4 * 3  # three rows of scores at a time
    rows = torch.arange(20)
    assert torch.equal(without.search(rows, 5).rows, with_means.search(rows, 5).rows)
    gold = torch.stack([rows, rows + 7], dim=1)
    assert torch.equal(without.ranks(rows, gold), with_means.ranks(rows, gold))
    assert without.known_means is None
    assert without.search(rows[:0], 5).rows.shape == (0, 5)
