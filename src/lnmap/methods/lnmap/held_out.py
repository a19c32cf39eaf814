"""What seed words that were not trained on say about a direction in training."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from lnmap.confidence import hold_out
from lnmap.direction import Direction
from lnmap.methods.base import Run
from lnmap.methods.lnmap.bookkeeping import Training, reseed, restore, snapshot
from lnmap.methods.lnmap.closed_form import RIDGES
from lnmap.methods.lnmap.networks import Networks, in_blocks
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.normalize import unit
from lnmap.retrieve import neighbourhood_means, score_blocks

_POOL = 8000  # most frequent words that pairs are sought among while seed words are held out
_RIVALS = 5000  # most frequent words that held-out words are sought among
Ranks = dict[tuple[float, int], Tensor]  # by ridge and iteration: what `reciprocal_ranks` gives


def rehearse(
    way: Training,
    options: LNMapOptions,
    run: Run,
    train: Callable[[Training], object],
    grow: Callable[[Training], object],
) -> tuple[float, int]:
    """Train without a fifth of the seed; return the ridge that ranks it best, and how many iterations do no harm.

    Those are all up to the last one after which it is not ranked worse than at its best by more than a standard error.
    Where the seed is too small to hold words out, all iterations are run.
    """
    held = hold_out(way.seed, run.seed) if options.rehearse else None
    if held is None:
        return RIDGES[0], options.iterations
    rest = way.seed[~(torch.isin(way.seed[:, 0], held[:, 0]) | torch.isin(way.seed[:, 1], held[:, 1]))]
    before = snapshot(way.nets.state_dict())
    ranks: Ranks = {}

    def go_on(trial: Training, last: int) -> None:
        while True:
            reseed(run, trial.iteration, trial.direction is Direction.BACKWARD)
            train(trial)
            if (key := (trial.ridge, trial.iteration)) not in ranks:
                ranks[key] = reciprocal_ranks(trial.nets.eval(), trial.x, trial.y, held, run)
                rank = float(ranks[key].mean())
                run.record(stage="held out", way=str(way.direction), ridge=key[0], after=key[1], rank=rank)
            if trial.iteration >= last or trial.converged:
                return
            grow(trial)
            trial.iteration += 1

    trials = {ridge: Training(way.direction, way.nets, way.x, way.y, rest) for ridge in RIDGES}
    for ridge, trial in trials.items():
        trial.ridge, trial.iteration, trial.pool = ridge, 1, min(options.pool, _POOL)
        go_on(trial, min(options.closed_iterations, options.iterations))
    go_on(trials[_best(ranks)[0]], options.iterations)
    restore(way.nets.state_dict(), before)
    return latest(ranks)


def _best(ranks: Ranks) -> tuple[float, int]:
    return max(ranks, key=lambda key: float(ranks[key].mean()))


def latest(ranks: Ranks) -> tuple[float, int]:
    """Return the best ridge and the last iteration that does not fall behind the best by more than a standard error."""
    ridge, best = _best(ranks)
    last = best
    for later in sorted(after for own, after in ranks if own == ridge and after > best):
        loss = ranks[ridge, best] - ranks[ridge, later]  # (2h,)
        if loss.mean() <= loss.std() / math.sqrt(len(loss)):
            last = later
    return ridge, last


@torch.no_grad()
def reciprocal_ranks(nets: Networks, x: Tensor, y: Tensor, held: Tensor, run: Run) -> Tensor:
    """Return 1 / rank by CSLS of pairs (h, 2), asked from either side, among the most frequent words: (2h,)."""
    all_x, all_y = (
        unit(in_blocks(nets.translate, x[:_RIVALS])),
        unit(in_blocks(nets.encode_target, y[:_RIVALS])),
    )  # (K, c)
    a, b = unit(in_blocks(nets.translate, x[held[:, 0]])), unit(in_blocks(nets.encode_target, y[held[:, 1]]))  # (h, c)
    ranks = [_reciprocal_ranks(a, b, all_x, all_y, run), _reciprocal_ranks(b, a, all_y, all_x, run)]
    return torch.cat(ranks)


def _reciprocal_ranks(asked: Tensor, right: Tensor, queries: Tensor, candidates: Tensor, run: Run) -> Tensor:
    """Return 1 / rank of the right answers (h, c) to words asked (h, c) among the candidates (K, c): (h,)."""
    bias = neighbourhood_means(candidates, queries, memory=run.memory) / -2  # (K,)
    wanted = (asked * right).sum(dim=1) - neighbourhood_means(right, queries, memory=run.memory) / 2  # (h,)
    above = torch.zeros_like(wanted)
    for start, scores in score_blocks(asked, candidates, bias, memory=run.memory):
        # The right answer may be among the candidates: equal but for rounding.
        above[start : start + len(scores)] = (scores > wanted[start : start + len(scores), None] + 1e-6).sum(dim=1)
    return 1 / (above + 1)
