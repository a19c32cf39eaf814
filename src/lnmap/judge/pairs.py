"""Induce a dictionary from judged answers."""

from __future__ import annotations

import torch
from torch import Tensor

from lnmap.induce import Induced, Mode, RankBy, check_wanted, combine
from lnmap.judge.space import JudgedSpace


@torch.no_grad()
def induce_judged(
    space: JudgedSpace, *, mode: Mode, count: int, rank_by: RankBy, max_rank: int | None = None
) -> tuple[Induced, Tensor]:
    """Pair words by their judged answers, best first; return the pairs and their confidence (m, 1).

    :param mode: `mutual` keeps pairs that choose each other, `union` those found from either side.
    :param count: how many words a word may choose.
    :param max_rank: both words of a pair must be among this many most frequent words.
    """
    check_wanted(mode, count, rank_by)
    sides = len(space.source), len(space.target)
    n, m = (min(max_rank or size, size) for size in sides)
    rows = torch.arange(n, device=space.source.device)
    hits = space.search(rows, count)
    forward = hits.rows if mode != "backward" else None
    backward = space.swapped().search(torch.arange(m, device=rows.device), count).rows if mode != "forward" else None
    pairs = combine(forward, backward, mode, n, m)
    sure = _confidence(space, pairs, hits.rows, hits.confidence)
    scored = space.plain.score(pairs[:, 0], pairs[:, 1:])
    csls, cosine = scored.scores[:, 0], scored.cosines[:, 0]
    order = {"csls": csls, "cosine": cosine, "confidence": sure}[rank_by].argsort(descending=True, stable=True)
    return Induced(pairs[order], csls[order], cosine[order]), sure[order, None]


def _confidence(space: JudgedSpace, pairs: Tensor, answers: Tensor, sure: Tensor | None) -> Tensor:
    """Return the confidence of pairs (m, 2) as answers of their source words, (m,)."""
    assert sure is not None
    chosen = answers[pairs[:, 0]] == pairs[:, 1:]  # (m, count)
    found = (sure[pairs[:, 0]] * chosen).sum(dim=1)
    others = (~chosen.any(dim=1)).nonzero()[:, 0]
    if len(others):
        judged = space.score(pairs[others, 0], pairs[others, 1:]).confidence
        assert judged is not None
        found[others] = judged[:, 0]
    return found
