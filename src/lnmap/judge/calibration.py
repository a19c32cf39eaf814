"""Calibration: from the judge's softmax to the probability that an answer is right.

A word may have several right answers, which share the softmax. p is logistic in the softmax's log odds, as held-out
words tell that come with all their translations.

Seeds are made of frequent words, whose vectors are good and which have many translations: of rarer words less is right.
How much less cannot be learnt from the seed; it was on other languages.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# What the log odds change by, per log rank of the word: the least calibration error over twelve directions, 0.052. It
# is 0.056 without, and no single number suits all of them.
_RARER = -0.08
_ROUNDS = 50
_EDGE = 1e-6
_START, _PENALTY = (1.0, 0.0), (1.0, _EDGE)  # of slope and bias: where they begin, and what it costs to leave


@dataclass(frozen=True)
class Calibration:
    """p = sigmoid(slope log odds + bias).

    :param rank: mean log rank of the words that it was learnt from.
    """

    slope: float = 1.0
    bias: float = 0.0
    rank: float | None = None

    @classmethod
    def fit(cls, chance: Tensor, ranks: Tensor, right: Tensor) -> Calibration:
        """Learn from first answers: their softmax (n,), log ranks of the words, and whether they are right (n,)."""
        w = _fit(_inputs(chance.double().cpu()), right.double().cpu())
        return cls(float(w[0]), float(w[1]), float(ranks.mean()))

    def probability(self, chance: Tensor, ranks: Tensor) -> Tensor:
        """Return the probability that answers of a softmax (n, k) to words of some log ranks (n,) are right."""
        odds = self.slope * torch.logit(chance.clamp(_EDGE, 1 - _EDGE)) + self.bias
        if self.rank is not None:
            odds = odds + _RARER * (ranks - self.rank)[:, None]
        return torch.sigmoid(odds) * (chance > 0)


def _inputs(chance: Tensor) -> Tensor:
    odds = torch.logit(chance.clamp(_EDGE, 1 - _EDGE))
    return torch.stack([odds, torch.ones_like(odds)], dim=1)  # (n, 2)


def _fit(x: Tensor, y: Tensor) -> Tensor:
    """Return the weights (2,) of P(right) = sigmoid(x . w)."""
    w = _newton(x, y)
    if w[0] < _EDGE:  # a larger softmax never means a smaller probability: only the bias is learnt
        w = _newton(x * x.new_tensor([0.0, 1.0]), y)
        w = torch.stack([w.new_tensor(_EDGE), w[1]])
    return w


def _newton(x: Tensor, y: Tensor) -> Tensor:
    """Minimise the loss by steps along its curvature, halved until they go down."""
    start, penalty = x.new_tensor(_START), x.new_tensor(_PENALTY)
    w = start
    for _ in range(_ROUNDS):
        p = torch.sigmoid(x @ w).clamp(_EDGE, 1 - _EDGE)
        gradient = x.T @ (p - y) + penalty * (w - start)
        curvature = (x.T * (p * (1 - p))) @ x + torch.diag(penalty)
        step = torch.linalg.solve(curvature, gradient)
        now, best = _loss(w, x, y), _loss(w - step, x, y)
        while best > now and step.abs().max() > _EDGE:
            step = step / 2
            best = _loss(w - step, x, y)
        if not best < now:
            break
        w = w - step
    return w


def _loss(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    p = torch.sigmoid(x @ w).clamp(_EDGE, 1 - _EDGE)
    lost = -(y * p.log() + (1 - y) * (1 - p).log()).sum()
    return lost + (x.new_tensor(_PENALTY) * (w - x.new_tensor(_START)).square()).sum() / 2
