"""A conditional logit: the probability that each candidate of a word is right, or that none of them is.

Candidates c of a word have the scores s_c = w . f_c + f_c . Q f_c, and "none of them" has the score b; probabilities
are their softmax. Q, what two features say together, was learnt on other languages and stays as it is: a thousand seed
words teach w and no more. The features have fixed scales, so that weights learnt from one pair of languages say
something about another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from lnmap.errors import InputError
from lnmap.judge.calibration import Calibration

_NEVER = -1e4  # score of what is no candidate
_ROUNDS = 50
# A word's own log rank, from what its candidates' features say of both.
_OWN_RANK = (("frequency", 1), ("rarer", -1), ("frequency apart", 1))
_TINY, _SETTLED = 1e-9, 1e-7
_LARGEST = 6.0  # of a scaled feature: no candidate wins by one number alone


@dataclass(frozen=True)
class Weights:
    """Weights of named features, the score of "none of them", and weights of products of two features."""

    names: tuple[str, ...]
    values: tuple[float, ...]
    none: float
    products: tuple[tuple[str, str, float], ...] = ()

    def of(self, names: Sequence[str]) -> Tensor:
        """Return the weights of some features, zero where there is none, and `none` last: (f + 1,)."""
        known = dict(zip(self.names, self.values, strict=True))
        return torch.tensor([*(known.get(name, 0.0) for name in names), self.none], dtype=torch.float64)

    def together(self, names: Sequence[str]) -> Tensor:
        """Return Q, the weights of products of two of the features, (f, f)."""
        place = {name: i for i, name in enumerate(names)}
        q = torch.zeros(len(names), len(names), dtype=torch.float64)
        for one, other, value in self.products:
            if one in place and other in place:
                q[place[one], place[other]] = value
        return q


@dataclass(frozen=True)
class Judge:
    """The judge of one direction; `outcomes` says from how many words it was learnt."""

    weights: Weights
    calibration: Calibration = field(default_factory=Calibration)
    outcomes: int = 0

    @classmethod
    def fit(
        cls,
        names: Sequence[str],
        features: Tensor,
        there: Tensor,
        right: Tensor,
        prior: Weights,
        ridge: float | Tensor,
        believed: Tensor | None = None,
        possible: Tensor | None = None,
    ) -> Judge:
        """Learn from the candidates of words.

        :param features: scaled, (n, k, f).
        :param there: which are candidates at all (n, k); lists may be of different lengths.
        :param right: which are right (n, k); none where the right word is not among them.
        :param prior: the weights that few words hardly change; those of products stay as they are.
        :param ridge: how many times a weight's squared distance from the prior counts, where a word counts once; a
            number, or one per feature (f,).
        :param believed: where words come with one of several translations: how likely each candidate is right although
            it was not given, (n, k). How often answers are right cannot be counted then, and the softmax stands for it.
        :param possible: which could have been given (n, k), where that was not left to the words asked for: weights are
            learnt among these, and not from words whose right candidates are others.
        """
        if not len(features):
            raise InputError("a judge learns from words whose translations are known; got none")
        x, start = _clipped(features).double().cpu(), prior.of(names)
        together = _products(x, prior.together(names))
        there, right = there.cpu(), (right & there).cpu()
        able = there if possible is None else there & possible.cpu()
        kept = (right & able).any(dim=1) | ~right.any(dim=1)
        good = torch.cat([right & able, ~right.any(dim=1, keepdim=True)], dim=1).double()  # (n, k + 1)
        if believed is not None:
            good[:, :-1] = torch.maximum(good[:, :-1], believed.cpu() * able)
        found = _newton(x[kept], able[kept], good[kept], start, ridge, together[kept]).tolist()
        judge = cls(Weights(tuple(names), tuple(found[:-1]), found[-1], prior.products), outcomes=len(x))
        if believed is not None:
            return judge
        best, place = judge.softmax(features, there.to(features.device)).cpu().max(dim=1, keepdim=True)
        first = right.gather(1, place)[:, 0]
        return replace(judge, calibration=Calibration.fit(best[:, 0], judge.log_ranks(features).cpu(), first))

    def less_sure(self, bias: float) -> Judge:
        """Return the same judge with a bias added to its log odds."""
        return replace(self, calibration=replace(self.calibration, bias=self.calibration.bias + bias))

    def probability(self, features: Tensor, there: Tensor) -> Tensor:
        """Return the probability that each candidate is right: (n, k) for features (n, k, f)."""
        return self.calibration.probability(self.softmax(features, there), self.log_ranks(features))

    def log_ranks(self, features: Tensor) -> Tensor:
        """Return how frequent the words that are asked for are, (n,); 0 where no feature tells."""
        known = [(self.weights.names.index(name), sign) for name, sign in _OWN_RANK if name in self.weights.names]
        return sum((sign * features[:, 0, place] for place, sign in known), torch.zeros_like(features[:, 0, 0]))

    def softmax(self, features: Tensor, there: Tensor) -> Tensor:
        """Return what share of all candidates' weight each has, "none of them" included: (n, k)."""
        names, x = self.weights.names, _clipped(features)
        w, q = self.weights.of(names).to(x), self.weights.together(names).to(x)
        return _with_none(x @ w[:-1] + _products(x, q), there, w[-1]).softmax(dim=1)[:, :-1]

    def state(self) -> dict[str, Any]:
        """Everything needed to rebuild it, for JSON."""
        w = self.weights
        values = {"features": list(w.names), "weights": list(w.values), "none": w.none}
        values |= {"products": [list(one) for one in w.products]}
        return values | {"calibration": asdict(self.calibration), "outcomes": self.outcomes}

    @classmethod
    def from_state(cls, values: dict[str, Any]) -> Judge:
        """Rebuild from `state()`."""
        names, numbers = tuple(map(str, values["features"])), tuple(map(float, values["weights"]))
        if len(names) != len(numbers):
            raise ValueError(f"a judge of {len(names)} features has {len(numbers)} weights")
        own = {name: value for name, value in values["calibration"].items() if name != "share"}  # of older models
        calibration = Calibration(**{name: value and float(value) for name, value in own.items()})
        products = tuple((str(one), str(other), float(value)) for one, other, value in values.get("products", ()))
        return cls(Weights(names, numbers, float(values["none"]), products), calibration, int(values["outcomes"]))


def _clipped(features: Tensor) -> Tensor:
    return features.clamp(-_LARGEST, _LARGEST)


def _products(x: Tensor, q: Tensor) -> Tensor:
    """Return f . Q f of features (..., f)."""
    return ((x @ q) * x).sum(dim=-1)


def _with_none(scores: Tensor, there: Tensor, none: Tensor) -> Tensor:
    """Put the score of "none of them" after those of the candidates: (n, k + 1)."""
    return torch.cat([scores.masked_fill(~there, _NEVER), none.expand(len(scores), 1)], dim=1)


def _newton(x: Tensor, there: Tensor, good: Tensor, start: Tensor, ridge: float | Tensor, offset: Tensor) -> Tensor:
    """Minimise -log of the sum of p g, by weights (f + 1,) that begin at `start`.

    :param offset: what is added to the scores of candidates, (n, k).

    p are the probabilities, and g (n, k + 1) says how good each candidate is, from 0 to 1. With q = p g, scaled to sum
    to one, the gradient is E_p f - E_q f, and Cov_p f is at least the curvature: steps by it go down, or are halved
    until they do.
    """
    n, k, f = x.shape
    none = torch.cat([x.new_zeros(n, 1, f), x.new_ones(n, 1, 1)], dim=2)
    x = torch.cat([torch.cat([x, x.new_zeros(n, k, 1)], dim=2), none], dim=1)  # (n, k + 1, f + 1)
    there = torch.cat([there, there.new_ones(n, 1)], dim=1)
    offset = torch.cat([offset, offset.new_zeros(n, 1)], dim=1)
    goodness = good.log().clamp_min(_NEVER)
    penalty = torch.full_like(start, _TINY)
    penalty[:-1] = ridge

    def scores(w: Tensor) -> Tensor:
        return (x @ w + offset).masked_fill(~there, _NEVER)

    def loss(w: Tensor) -> float:
        s = scores(w)
        lost = s.logsumexp(dim=1) - (s + goodness).logsumexp(dim=1)
        return float(lost.sum() + (penalty * (w - start).square()).sum() / 2)

    w, before = start.clone(), loss(start)
    for _ in range(_ROUNDS):
        s = scores(w)
        p, q = s.softmax(dim=1), (s + goodness).softmax(dim=1)
        gradient = torch.einsum("nk,nkf->f", p - q, x) + penalty * (w - start)
        mean = torch.einsum("nk,nkf->nf", p, x)
        curvature = (x * p[..., None]).flatten(0, 1).T @ x.flatten(0, 1) - mean.T @ mean + torch.diag(penalty)
        step = torch.linalg.solve(curvature, gradient)
        while (now := loss(w - step)) > before and step.abs().max() > _TINY:
            step = step / 2
        if not now < before:
            break
        w, gained, before = w - step, before - now, now
        if gained < _SETTLED * n:
            break
    return w
