"""Induce: read a dictionary off two mapped vocabularies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from lnmap.errors import OptionError
from lnmap.normalize import unit
from lnmap.progress import Progress
from lnmap.retrieve import MEMORY, NEIGHBOURS, top_k

Mode = Literal["mutual", "forward", "backward", "union"]
RankBy = Literal["csls", "cosine", "confidence"]
_SHORTLIST = 64  # nearest candidates kept for each word, among which its best one by CSLS nearly always is
MODES: tuple[Mode, ...] = ("mutual", "forward", "backward", "union")
RANKINGS: tuple[RankBy, ...] = ("csls", "cosine", "confidence")  # the last for a model that knows it


@dataclass(frozen=True, repr=False)
class Induced:
    """Induced pairs, best first: rows (m, 2), CSLS scores (m,) and cosines (m,)."""

    rows: Tensor
    csls: Tensor
    cosine: Tensor

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Induced({len(self):,} pairs)"

    def above(self, least: float) -> Induced:
        """Keep the pairs whose CSLS is at least `least`."""
        kept = self.csls >= least
        return Induced(self.rows[kept], self.csls[kept], self.cosine[kept])

    def head(self, count: int | None) -> Induced:
        """Keep the best `count` pairs."""
        return Induced(self.rows[:count], self.csls[:count], self.cosine[:count])


def induce(
    source: Tensor,
    target: Tensor,
    *,
    mode: Mode = "mutual",
    count: int = 1,
    rank_by: RankBy | str = "csls",
    max_rank: int | None = None,
    pool: int | None = None,
    neighbours: int = NEIGHBOURS,
    means: tuple[Tensor, Tensor] | None = None,
    memory: int = MEMORY,
    progress: Progress | None = None,
) -> Induced:
    """Pair words by CSLS.

    :param source: mapped source vectors (n, c), most frequent word first; `target` likewise (m, c).
    :param mode: `mutual` keeps pairs that choose each other, `union` those found from either side.
    :param count: how many words a word may choose; more than one makes a dictionary with several translations per word.
    :param rank_by: the score that orders the result.
    :param max_rank: both words of a pair must be among this many most frequent words.
    :param pool: words that compete and that the neighbourhood means are taken over; None for all.
    :param means: the two neighbourhood means over the pool, if known already.
    """
    check_wanted(mode, count, rank_by)
    source, target = unit(source[:pool]), unit(target[:pool])
    shortlist = max(_SHORTLIST, neighbours, count)
    kwargs: dict[str, Any] = {"memory": memory, "progress": progress}
    near_source = top_k(source, target, shortlist, title="inducing", **kwargs)
    near_target = top_k(target, source, shortlist, title="inducing", **kwargs)
    if means is None:
        means = near_source[0][:, :neighbours].mean(dim=1), near_target[0][:, :neighbours].mean(dim=1)
    r_source, r_target = means
    forward = backward = None
    if mode != "backward":
        forward = _best(source[:max_rank], target, r_target / -2, near_source, count, memory)
    if mode != "forward":
        backward = _best(target[:max_rank], source, r_source / -2, near_target, count, memory)
    rows = combine(forward, backward, mode, min(max_rank or len(source), len(source)), max_rank or len(target))
    cosine = (source[rows[:, 0]] * target[rows[:, 1]]).sum(dim=1)
    csls = 2 * cosine - r_source[rows[:, 0]] - r_target[rows[:, 1]]
    order = torch.argsort(csls if rank_by == "csls" else cosine, descending=True, stable=True)
    return Induced(rows[order], csls[order], cosine[order])


def _best(
    queries: Tensor, candidates: Tensor, bias: Tensor, near: tuple[Tensor, Tensor], count: int, memory: int
) -> Tensor:
    """Find each query's `count` best candidates by cosine + bias, shape (m, count).

    Its nearest candidates by cosine are known; one outside that shortlist has at most the shortlist's last cosine and
    at most the largest bias. Where that cannot win, the best of the shortlist are the best of all; the few other
    queries are searched in full.
    """
    cosines, rows = near[0][: len(queries)], near[1][: len(queries)]
    scores, place = (cosines + bias[rows]).topk(min(count, rows.shape[1]), dim=1)
    best = rows.gather(1, place)
    open_ = (scores[:, -1] <= cosines[:, -1] + bias.max()).nonzero()[:, 0]
    if len(open_) and rows.shape[1] < len(candidates):
        best[open_] = top_k(queries[open_], candidates, best.shape[1], bias, memory=memory)[1]
    return best


def check_wanted(mode: str, count: int, rank_by: str) -> None:
    """Refuse unknown modes and rankings, and words without translations."""
    if mode not in MODES:
        raise OptionError(f"unknown induction mode {mode!r}; choose from {', '.join(MODES)}")
    if rank_by not in RANKINGS:
        raise OptionError(f"unknown ranking {rank_by!r}; choose from {', '.join(RANKINGS)}")
    if count < 1:
        raise OptionError(f"a word must be allowed at least one translation, not {count}")


def combine(forward: Tensor | None, backward: Tensor | None, mode: Mode, n: int, m: int) -> Tensor:
    """Return pairs (k, 2) of best targets `forward` (n, c) and best sources `backward` (m, c), of ranks below n, m."""
    sides = []
    if forward is not None:
        sides.append(torch.stack([_row_numbers(forward), forward.flatten()], dim=1))
    if backward is not None:
        sides.append(torch.stack([backward.flatten(), _row_numbers(backward)], dim=1))
    pairs = torch.cat(sides)
    pairs = pairs[(pairs[:, 0] < n) & (pairs[:, 1] < m)]
    if len(sides) == 1:
        return pairs
    unique, counts = pairs.unique(dim=0, return_counts=True)
    return unique[counts == 2] if mode == "mutual" else unique


def _row_numbers(chosen: Tensor) -> Tensor:
    """Return the row of each of the choices (n, c): (n c,)."""
    return torch.arange(len(chosen), device=chosen.device).repeat_interleave(chosen.shape[1])
