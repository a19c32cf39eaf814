"""Calibration: planted slopes are found, no other weights fit better, and rarer words are less sure."""

from __future__ import annotations

import pytest
import torch

from lnmap.judge.calibration import Calibration


def answers(n: int, slope: float, bias: float, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Softmax of first answers, and whether they are right: P(right) = sigmoid(slope log odds + bias)."""
    generator = torch.Generator().manual_seed(seed)
    chance = torch.sigmoid(2.5 * torch.randn(n, generator=generator).double() + 1)
    p = torch.sigmoid(slope * torch.logit(chance) + bias)
    return chance, torch.rand(n, generator=generator) < p


def loss(slope: torch.Tensor, bias: torch.Tensor, chance: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Minus the log probability of what is right, the slope near one."""
    p = torch.sigmoid(slope[..., None] * torch.logit(chance) + bias[..., None])
    return -torch.where(right, p.log(), (1 - p).log()).sum(dim=-1) + (slope - 1) ** 2 / 2


def loss_of(found: Calibration, chance: torch.Tensor, right: torch.Tensor) -> float:
    slope, bias = torch.tensor([found.slope, found.bias]).double()
    return float(loss(slope, bias, chance, right))


def smallest_loss(chance: torch.Tensor, right: torch.Tensor) -> float:
    """Search a grid of slopes and biases, then a finer one around the best."""
    centre, reach, best = [2.0, 0.0], 8.0, float("inf")
    for _ in range(14):
        steps = torch.linspace(-reach, reach, 17).double()
        slopes, biases = torch.meshgrid(centre[0] + steps, centre[1] + steps, indexing="ij")
        found = loss(slopes, biases, chance, right).nan_to_num(torch.inf)
        place = int(found.argmin())
        centre, best = [float(slopes.reshape(-1)[place]), float(biases.reshape(-1)[place])], float(found.min())
        reach /= 2
    return best


def test_planted_slope_and_bias_are_found():
    chance, right = answers(20_000, 1.6, -0.7)
    found = Calibration.fit(chance, torch.full((20_000,), 3.0), right)
    assert (found.slope, found.bias) == (pytest.approx(1.6, abs=0.1), pytest.approx(-0.7, abs=0.1))
    assert found.rank == 3.0


@pytest.mark.parametrize(
    ("n", "slope", "seed"),
    [(150, 1.5, 0), (150, 1.5, 1), (150, 1.5, 2), (40, 1.5, 4), (80, 1.5, 1), (40, 1.5, 7), (4, 0.5, 26)],
)
def test_no_other_weights_fit_better(n, slope, seed):
    """With few answers, it costs something to leave the usual slope."""
    chance, right = answers(n, slope, -0.5, seed)
    found = Calibration.fit(chance, torch.zeros(n), right)
    assert loss_of(found, chance, right) == pytest.approx(smallest_loss(chance, right), abs=1e-3)


def test_steps_that_go_too_far_are_halved():
    """Where nearly all sure answers are wrong, the first whole step makes the loss infinite."""
    chance = torch.cat([torch.full((60,), 0.999), torch.full((30,), 0.9)]).double()
    right = torch.arange(90) < 9
    found = Calibration.fit(chance, torch.zeros(90), right)
    assert loss_of(found, chance, right) == pytest.approx(smallest_loss(chance, right), abs=1e-3)


def test_before_anything_is_learnt_the_softmax_is_the_probability():
    chance = torch.tensor([[0.1, 0.4, 0.9]])
    torch.testing.assert_close(Calibration().probability(chance, torch.zeros(1)), chance)


def test_few_answers_leave_the_usual_slope():
    found = Calibration.fit(torch.tensor([0.5, 0.6]), torch.zeros(2), torch.tensor([True, False]))
    assert found.slope == pytest.approx(1, abs=0.3)


@pytest.mark.parametrize("right", [0.2, 0.5, 0.9])
def test_a_surer_softmax_never_means_less(right):
    """Where the surest answers are the wrong ones, the probability is the share of right ones, for all alike."""
    chance = torch.linspace(0.01, 0.99, 400).double()
    found = Calibration.fit(chance, torch.zeros(400), torch.arange(400) < 400 * right)
    assert 0 < found.slope < 1e-3
    p = found.probability(chance[None], torch.zeros(1))
    assert (p.diff() >= 0).all()
    assert float(p.mean()) == pytest.approx(right, abs=0.01)


def test_rarer_words_are_less_sure():
    chance, ranks = torch.tensor([[0.5, 0.2], [0.5, 0.2], [0.5, 0.2]]), torch.tensor([2.0, 3.0, 7.0])
    found = Calibration(2.0, 0.3, 3.0).probability(chance, ranks)
    odds = torch.logit(found)
    wanted = 2 * torch.logit(chance[0]) + 0.3
    torch.testing.assert_close(odds[1], wanted)
    torch.testing.assert_close(odds[0], wanted + 0.08)
    torch.testing.assert_close(odds[2], wanted - 4 * 0.08)
    torch.testing.assert_close(Calibration(2.0, 0.3).probability(chance, ranks), torch.sigmoid(wanted).expand(3, 2))


def test_what_had_no_chance_has_none_and_certainty_stays_finite():
    chance = torch.tensor([[0.0, 1e-30, 0.4, 1.0]])
    found = Calibration().probability(chance, torch.zeros(1))[0]
    assert found[0] == 0
    assert 0 < found[1] <= 1e-5
    assert found[2] == pytest.approx(0.4)
    assert 1 - 1e-5 <= found[3] < 1


@pytest.mark.parametrize("slope", [1.6, 4.0])  # beyond 2.7 certain answers become as certain as numbers can be
def test_certain_answers_are_learnt_from_like_others(slope):
    chance, right = answers(5_000, slope, -0.7)
    chance[:3], right[:3] = 1.0, True
    chance[3:6], right[3:6] = 0.0, False
    found = Calibration.fit(chance, torch.zeros(5_000), right)
    assert found.slope == pytest.approx(slope, rel=0.1)
    assert found.bias == pytest.approx(-0.7, abs=0.2)
