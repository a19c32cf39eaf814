"""Confidence: a logistic model that finds a planted truth, over features that are what their names say."""

from __future__ import annotations

import json
import math

import pytest
import torch

from lnmap.confidence import FEATURES, Confidence, features, hold_out, outcomes
from lnmap.errors import InputError
from lnmap.retrieve import BilingualSpace

F = len(FEATURES)


def draws(n: int, weights: list[float], bias: float, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Features and outcomes of a logistic truth."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, len(weights), generator=generator) * torch.tensor([0.1, 1, 1, 3, 0.5]) + 0.3
    p = torch.sigmoid(x @ torch.tensor(weights) + bias)
    return x, torch.rand(n, generator=generator) < p


def test_planted_truth_is_found():
    truth = [9.0, 0.7, 0.4, 0.3, 1.5]
    found = Confidence.fit(*draws(40_000, truth, -0.5))
    assert found.weights == pytest.approx(truth, rel=0.15, abs=0.06)
    assert found.bias == pytest.approx(-0.5, abs=0.15)
    assert found.outcomes == 40_000


def test_no_weight_is_negative():
    x, right = draws(5_000, [5.0, -2.0, 0.5, 0.0, -1.0], 0.0)
    found = Confidence.fit(x, right)
    assert min(found.weights) >= 0
    assert found.weights[1] == found.weights[4] == 0
    better = x + torch.rand(x.shape, generator=torch.Generator().manual_seed(1))
    assert bool((found.probability(better) >= found.probability(x)).all())


@pytest.mark.parametrize("right", [torch.ones(60), torch.zeros(60)])
def test_one_sided_outcomes_give_no_certainty(right):
    x = torch.randn(60, F, generator=torch.Generator().manual_seed(0))
    p = Confidence.fit(x, right).probability(x)
    assert bool(((p > 0.001) & (p < 0.999)).all())


def test_nothing_to_learn_from():
    with pytest.raises(InputError, match="judged candidates"):
        Confidence.fit(torch.zeros(0, F), torch.zeros(0))


def test_state_round_trip():
    found = Confidence.fit(*draws(500, [1.0, 1.0, 1.0, 1.0, 1.0], 0.0))
    assert Confidence.from_state(json.loads(json.dumps(found.state()))) == found
    with pytest.raises(ValueError, match="expected"):
        Confidence.from_state({**found.state(), "features": ["length"]})


def test_features_by_hand():
    """Against the definition, computed with the whole score matrix."""
    generator = torch.Generator().manual_seed(3)
    space = BilingualSpace(torch.randn(30, 6, generator=generator), torch.randn(40, 6, generator=generator))
    csls = 2 * space.source @ space.target.T - space.means[0][:, None] - space.means[1]
    queries = torch.tensor([4, 0, 29])
    hits = space.search(space.source[queries], 4)
    found = features(space, queries, hits)
    for i, s in enumerate(queries.tolist()):
        for j, t in enumerate(hits.rows[i].tolist()):
            ahead = csls[s, t] - max(csls[s, u] for u in range(40) if u != t)
            back = csls[s, t] - max(csls[u, t] for u in range(30) if u != s)
            wanted = [csls[s, t], max(ahead, 0), min(ahead, 0), max(back, 0), min(back, 0)]
            assert found[i, j].tolist() == pytest.approx([float(value) for value in wanted], abs=1e-5)
    by_vector = features(space, space.source[queries] * 3, hits)
    assert torch.allclose(by_vector[..., :3], found[..., :3], atol=1e-5)
    assert bool((by_vector[..., 3] <= 1e-5).all())  # the word itself competes now, and none is ahead of it


def test_features_of_a_single_word():
    space = BilingualSpace(torch.ones(1, 3), torch.ones(1, 3))
    found = features(space, torch.tensor([0]), space.search(torch.tensor([0])))
    assert bool(torch.isfinite(found).all())


def test_outcomes_are_judged_by_all_known_pairs():
    space = BilingualSpace(torch.eye(5), torch.eye(5))
    known = torch.tensor([[0, 0], [0, 3], [1, 2], [2, 2]])
    x, right = outcomes(space, torch.tensor([0, 1, 2]), known, 1)
    assert x.shape == (3, 1, F)
    assert right.tolist() == [[True], [False], [True]]


def platt(right: torch.Tensor) -> torch.Tensor:
    """Targets of Platt's paper: (n+ + 1) / (n+ + 2) for what is right, 1 / (n- + 2) for the rest."""
    many, few = int(right.sum()), int((~right).sum())
    return torch.tensor([(many + 1) / (many + 2) if one else 1 / (few + 2) for one in right.tolist()]).double()


def check_smallest_loss(found: Confidence, x: torch.Tensor, right: torch.Tensor, ridge: float) -> None:
    """The slope of the penalised loss is zero where a weight is free, and upwards where it is kept at zero."""
    x = x.double()
    mean, scale = x.mean(dim=0), x.var(dim=0, correction=0).sqrt()
    standard, w = (x - mean) / scale, torch.tensor(found.weights).double() * scale
    bias = found.bias + float(w @ (mean / scale))
    rest = torch.sigmoid(standard @ w + bias) - platt(right)
    slope, free = standard.T @ rest + ridge * w, w > 0
    assert bool((slope[free].abs() < 1e-5).all())
    assert bool((slope[~free] > 0).all())
    assert abs(float(rest.sum())) < 1e-5  # the bias is not penalised


@pytest.mark.parametrize("ridge", [0.01, 1.0, 30.0, 3000.0])
@pytest.mark.parametrize("weights", [[3.0, 0.5, 0.2, 0.1, 1.0], [3.0, -1.0, 0.5, 0.0, -2.0]])
def test_the_loss_cannot_be_made_smaller(weights, ridge):
    x, right = draws(300, weights, -0.4)
    check_smallest_loss(Confidence.fit(x, right, ridge), x, right, ridge)
    assert Confidence.fit(x, right) == Confidence.fit(x, right, 1.0)


@pytest.mark.parametrize("seed", [57, 91, 96, 99, 206, 440])
def test_steps_that_go_too_far_are_halved(seed):
    """With four outliers and hardly any penalty, whole steps of Newton's lead away for ever."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(100, 2, generator=generator).double()
    x[:4] *= 100
    right = (torch.rand(100, generator=generator) < 0.7) | (x[:, 0] > 0)
    check_smallest_loss(Confidence.fit(x, right, 1e-3), x, right, 1e-3)


def test_a_feature_that_never_differs_says_nothing():
    x, right = draws(200, [3.0, 0.5, 0.2, 0.1, 1.0], 0.0)
    with_constant = torch.cat([x[:, :4], torch.full((200, 1), 7.0)], dim=1)
    found, without = Confidence.fit(with_constant, right), Confidence.fit(x[:, :4], right)
    assert torch.allclose(found.probability(with_constant), without.probability(x[:, :4]), atol=1e-5)


def test_candidates_and_judgements_must_be_as_many():
    with pytest.raises(InputError, match="got 3 of them, 2 judged"):
        Confidence.fit(torch.zeros(3, F), torch.zeros(2))
    many, flat = torch.rand(4, 6, F), torch.arange(24) % 3 == 0
    assert Confidence.fit(many, flat.reshape(4, 6)) == Confidence.fit(many.reshape(24, F), flat)


def test_probability_is_the_logistic_of_the_sum():
    sure = Confidence((1.0, 0.0, 2.0, 0.5, 0.0), -1.0)
    assert sure.outcomes == 0
    x = torch.tensor([[1.0, 9.0, 0.5, 2.0, 9.0], [0.0, 0.0, 0.0, 0.0, 0.0]])
    assert sure.probability(x).tolist() == pytest.approx([1 / (1 + math.exp(-2)), 1 / (1 + math.exp(1))])


def test_state_says_what_the_weights_belong_to():
    state = Confidence((1.0, 2.0, 3.0, 4.0, 5.0), -1.0, 7).state()
    names = ["csls", "ahead", "behind", "ahead back", "behind back"]
    assert state == {"features": names, "weights": [1.0, 2.0, 3.0, 4.0, 5.0], "bias": -1.0, "outcomes": 7}
    with pytest.raises(ValueError, match="expected"):
        Confidence.from_state({**state, "weights": [1.0, 2.0]})
    read = Confidence.from_state({**state, "weights": [1, 2, 3, 4, 5], "bias": "-1", "outcomes": 7.0})
    assert read == Confidence((1.0, 2.0, 3.0, 4.0, 5.0), -1.0, 7)
    assert isinstance(read.bias, float)


def test_a_vector_from_outside_competes_with_all_words():
    """Against the definition: seen from the candidate, every word of the vocabulary is a rival."""
    generator = torch.Generator().manual_seed(4)
    space = BilingualSpace(torch.randn(30, 6, generator=generator), torch.randn(40, 6, generator=generator))
    new = torch.randn(3, 6, generator=generator)
    scaled = new / new.norm(dim=1, keepdim=True)
    own = scaled @ space.target.T  # (3, 40)
    mean = own.sort(dim=1, descending=True).values[:, :10].mean(dim=1)
    csls = 2 * own - mean[:, None] - space.means[1]
    vocabulary = 2 * space.source @ space.target.T - space.means[0][:, None] - space.means[1]
    hits = space.search(new, 4)
    found = features(space, new, hits)
    for i in range(3):
        for j, t in enumerate(hits.rows[i].tolist()):
            ahead = csls[i, t] - max(csls[i, u] for u in range(40) if u != t)
            back = csls[i, t] - vocabulary[:, t].max()
            wanted = [csls[i, t], max(ahead, 0), min(ahead, 0), max(back, 0), min(back, 0)]
            assert found[i, j].tolist() == pytest.approx([float(value) for value in wanted], abs=1e-5)


def test_all_pairs_of_a_held_out_word_are_held_out():
    words = torch.arange(300).repeat(2) * 7
    pairs = torch.stack([words, torch.arange(600)], dim=1)
    held = hold_out(pairs, 5)
    chosen = held[:, 0].unique()
    assert len(chosen) == 60  # a fifth
    assert torch.equal(held, pairs[torch.isin(pairs[:, 0], chosen)])
    assert torch.equal(held, hold_out(pairs, 5))
    assert not torch.equal(held, hold_out(pairs, 6))


def test_too_few_words_to_hold_some_out():
    pairs = torch.arange(109)[:, None].expand(-1, 2)
    assert hold_out(pairs[:39], 0) is None
    assert len(hold_out(pairs[:40], 0)) == len(hold_out(pairs[:104], 0)) == 20
    assert len(hold_out(pairs, 0)) == 21


def test_five_candidates_of_a_word_are_judged():
    space = BilingualSpace(torch.eye(8), torch.eye(8))
    x, right = outcomes(space, torch.tensor([0, 6]), torch.tensor([[0, 0], [6, 5], [5, 6]]))
    assert x.shape == (2, 5, F)
    hits = space.search(torch.tensor([0, 6]), 5).rows
    assert right.tolist() == [[row == 0 for row in hits[0].tolist()], [row == 5 for row in hits[1].tolist()]]
