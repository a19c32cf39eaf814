"""Calibration: from the judge's softmax to the probability that an answer is right.

A word may have several right answers, which share the softmax, and a seed often gives one of them only. The chance that
an answer is one that was given is therefore l p: p the probability that it is right, and l the share of right answers
that the seed gives. p is logistic in the softmax's log odds; l shows in the surest answers, which are hardly ever wrong
and still are often not what was given.

Seeds are made of frequent words, whose vectors are good and which have many translations: of rarer words less is right.
How much less cannot be learnt from the seed; it was on other languages.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_SHARES = tuple(0.5 + 0.05 * step for step in range(11))  # l that are tried
_USUAL, _SPREAD = 0.8, 0.15  # of l, where answers say little about it
# What the log odds change by, per log rank of the word: the least calibration error over twelve directions, 0.052. It
# is 0.056 without, and no single number suits all of them.
_RARER = -0.08
_ROUNDS = 50
_EDGE = 1e-6
_START, _PENALTY = (1.0, 0.0), (1.0, _EDGE)  # of slope and bias: where they begin, and what it costs to leave


@dataclass(frozen=True)
class Calibration:
    """p = sigmoid(slope log odds + bias), and the share l of right answers that the seed gives.

    :param rank: mean log rank of the words that it was learnt from.
    """

    slope: float = 1.0
    bias: float = 0.0
    share: float = 1.0
    rank: float | None = None

    @classmethod
    def fit(cls, chance: Tensor, ranks: Tensor, given: Tensor, complete: bool) -> Calibration:
        """Learn from first answers: their softmax (n,), log ranks of the words, and whether they were given (n,).

        :param complete: words come with all their translations, so that l is one.
        """
        rank = float(ranks.mean())
        x, y = _inputs(chance.double().cpu()), given.double().cpu()
        _, w, share = min(
            (_fit(x, y, share) for share in (_SHARES[-1:] if complete else _SHARES)), key=lambda one: one[0]
        )
        return cls(float(w[0]), float(w[1]), share, rank)

    def probability(self, chance: Tensor, ranks: Tensor) -> Tensor:
        """Return the probability that answers of a softmax (n, k) to words of some log ranks (n,) are right."""
        odds = self.slope * torch.logit(chance.clamp(_EDGE, 1 - _EDGE)) + self.bias
        if self.rank is not None:
            odds = odds + _RARER * (ranks - self.rank)[:, None]
        return torch.sigmoid(odds) * (chance > 0)


def _inputs(chance: Tensor) -> Tensor:
    odds = torch.logit(chance.clamp(_EDGE, 1 - _EDGE))
    return torch.stack([odds, torch.ones_like(odds)], dim=1)  # (n, 2)


def _fit(x: Tensor, y: Tensor, share: float) -> tuple[float, Tensor, float]:
    """Return the loss and weights (2,) of P(given) = share sigmoid(x . w)."""
    w = _newton(x, y, share)
    if w[0] < _EDGE:  # a larger softmax never means a smaller probability: only the bias is learnt
        w = _newton(x * x.new_tensor([0.0, 1.0]), y, share)
        w = torch.stack([w.new_tensor(_EDGE), w[1]])
    return float(_loss(w, x, y, share)) + ((share - _USUAL) / _SPREAD) ** 2 / 2, w, share


def _newton(x: Tensor, y: Tensor, share: float) -> Tensor:
    """Minimise the loss by steps along Fisher's information, halved until they go down."""
    start, penalty = x.new_tensor(_START), x.new_tensor(_PENALTY)
    w = start
    for _ in range(_ROUNDS):
        s = torch.sigmoid(x @ w)
        p = (share * s).clamp(_EDGE, 1 - _EDGE)
        slope = share * s * (1 - s)  # of p
        gradient = x.T @ ((p - y) / (p * (1 - p)) * slope) + penalty * (w - start)
        curvature = (x.T * (slope.square() / (p * (1 - p)))) @ x + torch.diag(penalty)
        step = torch.linalg.solve(curvature, gradient)
        now, best = _loss(w, x, y, share), _loss(w - step, x, y, share)
        while best > now and step.abs().max() > _EDGE:
            step = step / 2
            best = _loss(w - step, x, y, share)
        if not best < now:
            break
        w = w - step
    return w


def _loss(w: Tensor, x: Tensor, y: Tensor, share: float) -> Tensor:
    p = (share * torch.sigmoid(x @ w)).clamp(_EDGE, 1 - _EDGE)
    lost = -(y * p.log() + (1 - y) * (1 - p).log()).sum()
    return lost + (x.new_tensor(_PENALTY) * (w - x.new_tensor(_START)).square()).sum() / 2
