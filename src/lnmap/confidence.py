"""Confidence: the probability that a candidate is right, learnt from words whose translations are known.

A logistic model over five numbers of a candidate in a space. Each is larger for a better candidate and none may get a
negative weight, so that the probability never falls when a score rises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lnmap.direction import Direction
from lnmap.errors import InputError
from lnmap.normalize import unit
from lnmap.retrieve import UNKNOWN, BestTable, BilingualSpace, Hits, neighbourhood_means, top_k

FEATURES = ("csls", "ahead", "behind", "ahead back", "behind back")
CANDIDATES = 5  # candidates of each held-out word that a fit learns from
LEAST = 20  # words held out, and words left to train on
_SHARE = 0.2
_RIDGE = 1.0
_STEPS = 50
_TINY = 1e-9


@dataclass(frozen=True)
class Confidence:
    """Weights of one direction; `outcomes` says from how many judged candidates they were learnt."""

    weights: tuple[float, ...]
    bias: float
    outcomes: int = 0

    @classmethod
    def fit(cls, features: Tensor, right: Tensor, ridge: float = _RIDGE) -> Confidence:
        """Learn from features (..., f) of candidates and whether each was right (...)."""
        x = features.reshape(-1, features.shape[-1]).double().cpu()
        y = right.reshape(-1).double().cpu()
        if not len(x) or len(x) != len(y):
            raise InputError(f"a confidence is learnt from judged candidates; got {len(x)} of them, {len(y)} judged")
        mean, scale = x.mean(dim=0), x.std(dim=0, correction=0).clamp_min(_TINY)
        solution = _fit_not_negative((x - mean) / scale, _softened(y), ridge)
        weights = solution[:-1] / scale
        return cls(tuple(weights.tolist()), float(solution[-1] - weights @ mean), len(x))

    def probability(self, features: Tensor) -> Tensor:
        """Probability that each candidate is right, shape (...) for features (..., f)."""
        weights = torch.tensor(self.weights, dtype=features.dtype, device=features.device)
        return torch.sigmoid(features @ weights + self.bias)

    def state(self) -> dict[str, Any]:
        """Everything needed to rebuild it, for JSON."""
        return {
            "features": list(FEATURES),
            "weights": list(self.weights),
            "bias": self.bias,
            "outcomes": self.outcomes,
        }

    @classmethod
    def from_state(cls, values: dict[str, Any]) -> Confidence:
        """Rebuild from `state()`; weights of other features are refused."""
        if tuple(values["features"]) != FEATURES or len(values["weights"]) != len(FEATURES):
            raise ValueError(f"a confidence over the features {values['features']}; expected {list(FEATURES)}")
        return cls(tuple(float(w) for w in values["weights"]), float(values["bias"]), int(values["outcomes"]))


Confidences = dict[Direction, Confidence]


@torch.no_grad()
def features(space: BilingualSpace, queries: Tensor, hits: Hits) -> Tensor:
    """Describe what was found for queries (n, k): shape (n, k, 5), in the order of `FEATURES`.

    * csls: the score.
    * ahead, behind: by how much it beats the best other candidate of its query, or is beaten by it; one of them is 0.
    * ahead back, behind back: the same, seen from the candidate, among all words that it might translate.

    :param queries: rows of source words (n,), or mapped vectors (n, c) of words outside the vocabulary.
    """
    candidates, cosines = hits.rows, hits.cosines
    means, target_means = space.means
    if queries.ndim == 1:
        own, mean, table, rows = queries[:, None], means[queries][:, None], space.best, queries[:, None]
    else:
        own, vectors = torch.full((len(queries), 1), UNKNOWN, device=queries.device), unit(queries)
        mean = neighbourhood_means(vectors, space.target, space.neighbours, memory=space.memory)[:, None]
        bias = target_means / -2

        def two_best(rows: Tensor) -> tuple[Tensor, Tensor]:
            scores, found = top_k(vectors[rows], space.target, 2, bias, memory=space.memory, progress=space.progress)
            return found, scores

        table = BestTable(two_best, len(vectors), len(space.target), vectors.device)
        rows = torch.arange(len(vectors))[:, None].to(own)
    margin = 2 * cosines - target_means[candidates] - 2 * table.rivals(rows.expand_as(candidates), candidates)
    back = 2 * cosines - mean - 2 * space.swapped().best.rivals(candidates, own)
    csls = 2 * cosines - mean - target_means[candidates]
    parts = csls, margin.clamp_min(0), margin.clamp_max(0), back.clamp_min(0), back.clamp_max(0)
    return torch.stack(parts, dim=-1)


def outcomes(
    space: BilingualSpace, words: Tensor, known: Tensor, candidates: int = CANDIDATES
) -> tuple[Tensor, Tensor]:
    """Look words up and judge what is found: features (n, k, f) and whether each candidate is right (n, k).

    :param words: rows of source words (n,) that the space was not trained on.
    :param known: all right pairs of rows (m, 2).
    """
    hits = space.search(words, candidates)
    size = len(space.target)
    right = torch.isin(words[:, None] * size + hits.rows, known[:, 0] * size + known[:, 1])
    return features(space, words, hits), right


def hold_out(pairs: Tensor, seed: int) -> Tensor | None:
    """Choose the pairs (h, 2) of a random fifth of the source words; None when there are too few."""
    words = pairs[:, 0].unique()
    count = max(LEAST, int(len(words) * _SHARE))
    if len(words) - count < LEAST:
        return None
    order = torch.randperm(len(words), generator=torch.Generator().manual_seed(seed)).to(words.device)
    return pairs[torch.isin(pairs[:, 0], words[order[:count]])]


def _softened(y: Tensor) -> Tensor:
    """Outcomes a little short of certain (Platt 1999), so that no sample however one-sided gives certainty."""
    right = y.sum()
    return torch.where(y > 0, (right + 1) / (right + 2), 1 / (len(y) - right + 2))


def _fit_not_negative(x: Tensor, y: Tensor, ridge: float) -> Tensor:
    """Weights (f + 1,) of the logistic model, bias last; features that would get a negative weight are left out."""
    used = torch.ones(x.shape[1], dtype=torch.bool)
    while True:
        solution = torch.zeros(x.shape[1] + 1, dtype=x.dtype)
        solution[torch.cat([used, torch.tensor([True])])] = _newton(x[:, used], y, ridge)
        if solution[:-1].min() >= 0:
            return solution
        used[solution[:-1].argmin()] = False


def _newton(x: Tensor, y: Tensor, ridge: float) -> Tensor:
    """Minimise the logistic loss and a penalty on the weights, not on the bias, by Newton's method."""
    x = torch.cat([x, torch.ones(len(x), 1, dtype=x.dtype)], dim=1)
    penalty = torch.full((x.shape[1],), ridge, dtype=x.dtype)
    penalty[-1] = 0

    def loss(w: Tensor) -> Tensor:
        z = x @ w
        return (torch.nn.functional.softplus(z) - y * z).sum() + (penalty * w * w).sum() / 2

    w = torch.zeros(x.shape[1], dtype=x.dtype)
    for _ in range(_STEPS):
        p = torch.sigmoid(x @ w)
        gradient = x.T @ (p - y) + penalty * w
        step = torch.linalg.solve((x.T * (p * (1 - p))) @ x + torch.diag(penalty + _TINY), gradient)
        while loss(w - step) > loss(w) and step.abs().max() > _TINY:
            step = step / 2
        w = w - step
        if step.abs().max() <= _TINY:
            break
    return w
