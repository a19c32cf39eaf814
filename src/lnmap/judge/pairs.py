"""Induce a dictionary from judged answers."""

from __future__ import annotations

import torch
from torch import Tensor

from lnmap.induce import Induced, Mode, RankBy, check_wanted, combine
from lnmap.judge.space import ROWS, JudgedSpace
from lnmap.progress import Task


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
    with space.progress.task("inducing", n + (m if mode != "forward" else 0)) as task:
        answers, chances = _answers(space, n, count, task)
        forward = answers if mode != "backward" else None
        backward = _answers(space.swapped(), m, count, task)[0] if mode != "forward" else None
    pairs = combine(forward, backward, mode, n, m)
    sure = _confidence(space, pairs, answers, chances)
    scored = space.plain.score(pairs[:, 0], pairs[:, 1:])
    csls, cosine = scored.scores[:, 0], scored.cosines[:, 0]
    order = {"csls": csls, "cosine": cosine, "confidence": sure}[rank_by].argsort(descending=True, stable=True)
    return Induced(pairs[order], csls[order], cosine[order]), sure[order, None]


def _answers(space: JudgedSpace, most: int, count: int, task: Task) -> tuple[Tensor, Tensor]:
    """Return the answers of the most frequent words and their confidence, both (most, count)."""
    answers, sure = [], []
    for rows in torch.arange(most, device=space.source.device).split(ROWS):
        hits = space.search(rows, count)
        assert hits.confidence is not None
        answers.append(hits.rows)
        sure.append(hits.confidence)
        task.advance(len(rows))
    return torch.cat(answers), torch.cat(sure)


def _confidence(space: JudgedSpace, pairs: Tensor, answers: Tensor, sure: Tensor) -> Tensor:
    """Return the confidence of pairs (m, 2) as answers of their source words, (m,)."""
    chosen = answers[pairs[:, 0]] == pairs[:, 1:]  # (m, count)
    found = (sure[pairs[:, 0]] * chosen).sum(dim=1)
    others = (~chosen.any(dim=1)).nonzero()[:, 0]
    if len(others):
        judged = space.score(pairs[others, 0], pairs[others, 1:]).confidence
        assert judged is not None
        found[others] = judged[:, 0]
    return found
