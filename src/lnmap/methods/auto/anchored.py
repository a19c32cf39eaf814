"""Self-learning that holds on to anchors: map, pair words, map with the pairs and the anchors, and so on.

Each time other words are drawn that may be paired. Most pairs are wrong at first; what is wrong differs from draw to
draw, and what is right stays. The anchors keep the map from drifting away from what is known, which plain self-learning
does where the languages differ much.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from lnmap.methods.base import Run
from lnmap.methods.procrustes import rotate, rotate_pairs

_NEIGHBOURS = 10


class Stage(NamedTuple):
    """A stretch of the loop: most frequent words, how many of them are drawn each time, and how often."""

    words: int
    drawn: int
    times: int


# Frequent words first: their vectors are the best, and there are fewer to be confused with.
PLAN = (
    Stage(500, 300, 30),
    Stage(1000, 500, 30),
    Stage(2000, 1000, 40),
    Stage(4000, 1500, 30),
    Stage(10_000, 2500, 20),
)


class Anchors(NamedTuple):
    """Pairs of rows (k, 2), and how many times a pair that was found each of them counts (k,)."""

    pairs: Tensor
    weights: Tensor

    def without(self, held: Tensor) -> Anchors:
        """Leave out all that share a word with held-out pairs (h, 2)."""
        kept = ~(torch.isin(self.pairs[:, 0], held[:, 0]) | torch.isin(self.pairs[:, 1], held[:, 1]))
        return Anchors(self.pairs[kept], self.weights[kept])


class Field(NamedTuple):
    """Normalised vocabularies (n, d_s), (m, d_t), and the rows of the words that may be paired, most frequent first."""

    x: Tensor
    z: Tensor
    rows: tuple[Tensor, Tensor]


@torch.no_grad()
def learn_rotation(field: Field, anchors: Anchors, run: Run, first: Tensor | None = None) -> Tensor:
    """Return the rotation (d_s, d_t) of the source onto the target.

    :param first: pairs of rows (k, 2) to begin with, if not with the anchors.
    """
    x, z, generator = field.x, field.z, run.generator(2)
    fixed = (x[anchors.pairs[:, 0]] * anchors.weights[:, None]).T @ z[anchors.pairs[:, 1]]  # (d_s, d_t)
    w = rotate(fixed) if first is None else rotate_pairs(x, z, first)
    with run.progress.task("self-learning", sum(stage.times for stage in PLAN)) as task:
        for stage in PLAN:
            for _ in range(stage.times):
                own, other = (_draw(rows, stage, generator) for rows in field.rows)
                pairs = _pair(x[own] @ w, z[other], max(1, _NEIGHBOURS * stage.drawn // stage.words))
                w = rotate(fixed + x[own[pairs[:, 0]]].T @ z[other[pairs[:, 1]]])
                task.advance()
    return w


def _draw(rows: Tensor, stage: Stage, generator: torch.Generator) -> Tensor:
    """Draw some of the most frequent words; of a small vocabulary the same share of all."""
    words = min(len(rows), stage.words)
    count = max(1, stage.drawn * words // stage.words)
    return rows[torch.randperm(words, generator=generator, device=generator.device)[:count]]


def _pair(x: Tensor, z: Tensor, k: int) -> Tensor:
    """Return each word's best candidate by CSLS, from both sides: rows (n + m, 2)."""
    scores = x @ z.T
    turned = scores.T.contiguous()
    means = [side.topk(min(k, side.shape[1]), dim=1, sorted=False).values.mean(dim=1) for side in (scores, turned)]
    forward, backward = (scores - means[1] / 2).argmax(dim=1), (turned - means[0] / 2).argmax(dim=1)
    rows = [torch.arange(len(side), device=x.device) for side in (x, z)]
    return torch.cat([torch.stack([rows[0], forward], dim=1), torch.stack([backward, rows[1]], dim=1)])
