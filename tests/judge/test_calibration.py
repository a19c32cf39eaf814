"""Calibration: planted slopes and shares are found, no other weights fit better, and rarer words are less sure."""

from __future__ import annotations

import pytest
import torch

from lnmap.judge.calibration import Calibration

USUAL, SPREAD = 0.8, 0.15  # of the share, before any answer is seen


def answers(n: int, slope: float, bias: float, share: float, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Softmax of first answers, and whether they were given: P(given) = share sigmoid(slope log odds + bias)."""
    generator = torch.Generator().manual_seed(seed)
    chance = torch.sigmoid(2.5 * torch.randn(n, generator=generator).double() + 1)
    p = share * torch.sigmoid(slope * torch.logit(chance) + bias)
    return chance, torch.rand(n, generator=generator) < p


def loss(
    slope: torch.Tensor, bias: torch.Tensor, share: float, chance: torch.Tensor, given: torch.Tensor
) -> torch.Tensor:
    """Minus the log probability of what was given, the slope near one, the share near the usual one."""
    p = share * torch.sigmoid(slope[..., None] * torch.logit(chance) + bias[..., None])
    lost = -torch.where(given, p.log(), (1 - p).log()).sum(dim=-1)
    return lost + (slope - 1) ** 2 / 2 + ((share - USUAL) / SPREAD) ** 2 / 2


def loss_of(found: Calibration, chance: torch.Tensor, given: torch.Tensor) -> float:
    slope, bias = torch.tensor([found.slope, found.bias]).double()
    return float(loss(slope, bias, found.share, chance, given))


def smallest_loss(share: float, chance: torch.Tensor, given: torch.Tensor) -> float:
    """Search a grid of slopes and biases, then a finer one around the best."""
    centre, reach, best = [2.0, 0.0], 8.0, float("inf")
    for _ in range(14):
        steps = torch.linspace(-reach, reach, 17).double()
        slopes, biases = torch.meshgrid(centre[0] + steps, centre[1] + steps, indexing="ij")
        found = loss(slopes, biases, share, chance, given).nan_to_num(torch.inf)
        place = int(found.argmin())
        centre, best = [float(slopes.reshape(-1)[place]), float(biases.reshape(-1)[place])], float(found.min())
        reach /= 2
    return best


def test_planted_slope_and_bias_are_found():
    chance, given = answers(20_000, 1.6, -0.7, 1.0)
    found = Calibration.fit(chance, torch.full((20_000,), 3.0), given, complete=True)
    assert (found.slope, found.bias) == (pytest.approx(1.6, abs=0.1), pytest.approx(-0.7, abs=0.1))
    assert found.share == pytest.approx(1.0)
    assert found.rank == 3.0


@pytest.mark.parametrize("share", [0.6, 0.75, 0.9])
def test_planted_share_is_found(share):
    chance, given = answers(20_000, 1.3, -0.3, share)
    found = Calibration.fit(chance, torch.zeros(20_000), given, complete=False)
    assert found.share == pytest.approx(share, abs=0.051)
    assert found.slope == pytest.approx(1.3, abs=0.2)


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize(("n", "seed"), [(150, 0), (150, 1), (150, 2), (40, 4), (80, 1), (40, 7)])
def test_no_other_weights_and_share_fit_better(complete, n, seed):
    """With few answers, what it costs to leave the usual slope decides between shares."""
    chance, given = answers(n, 1.5, -0.5, 0.7, seed)
    found = Calibration.fit(chance, torch.zeros(n), given, complete)
    shares = [1.0] if complete else [0.5 + 0.05 * step for step in range(11)]
    assert loss_of(found, chance, given) == pytest.approx(
        min(smallest_loss(share, chance, given) for share in shares), abs=1e-3
    )


def test_steps_that_go_too_far_are_halved():
    """Where nearly all sure answers are wrong, the first whole step makes the loss infinite."""
    chance = torch.cat([torch.full((60,), 0.999), torch.full((30,), 0.9)]).double()
    given = torch.arange(90) < 9
    found = Calibration.fit(chance, torch.zeros(90), given, complete=True)
    assert loss_of(found, chance, given) == pytest.approx(smallest_loss(1.0, chance, given), abs=1e-3)


def test_before_anything_is_learnt_the_softmax_is_the_probability():
    chance = torch.tensor([[0.1, 0.4, 0.9]])
    torch.testing.assert_close(Calibration().probability(chance, torch.zeros(1)), chance)
    assert Calibration().share == 1  # nothing is known to be missing


def test_few_answers_leave_the_usual_share_and_slope():
    found = Calibration.fit(torch.tensor([0.5, 0.6]), torch.zeros(2), torch.tensor([True, False]), complete=False)
    assert found.share == pytest.approx(USUAL, abs=0.051)
    assert found.slope == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("right", [0.2, 0.5, 0.9])
def test_a_surer_softmax_never_means_less(right):
    """Where the surest answers are the wrong ones, the probability is the share of right ones, for all alike."""
    chance = torch.linspace(0.01, 0.99, 400).double()
    found = Calibration.fit(chance, torch.zeros(400), torch.arange(400) < 400 * right, complete=True)
    assert 0 < found.slope < 1e-3
    p = found.probability(chance[None], torch.zeros(1))
    assert (p.diff() >= 0).all()
    assert float(p.mean()) == pytest.approx(right, abs=0.01)


def test_rarer_words_are_less_sure():
    chance, ranks = torch.tensor([[0.5, 0.2], [0.5, 0.2], [0.5, 0.2]]), torch.tensor([2.0, 3.0, 7.0])
    found = Calibration(2.0, 0.3, 0.9, 3.0).probability(chance, ranks)
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
    chance, given = answers(5_000, slope, -0.7, 1.0)
    chance[:3], given[:3] = 1.0, True
    chance[3:6], given[3:6] = 0.0, False
    found = Calibration.fit(chance, torch.zeros(5_000), given, complete=True)
    assert found.slope == pytest.approx(slope, rel=0.1)
    assert found.bias == pytest.approx(-0.7, abs=0.2)
