"""Induce: read a dictionary off two mapped vocabularies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from lnmap.errors import OptionError
from lnmap.normalize import unit
from lnmap.progress import Progress
from lnmap.retrieve import MEMORY, NEIGHBOURS
from lnmap.search.near import Near, best_by_bias, choose, cosines_of, near_both, precise

Mode = Literal["mutual", "forward", "backward", "union"]
RankBy = Literal["csls", "cosine", "confidence"]
_SHORTLIST = 32  # nearest candidates kept for each word, among which its best one by CSLS nearly always is
_ROWS = 8192  # lists looked at together
MODES: tuple[Mode, ...] = ("mutual", "forward", "backward", "union")
RANKINGS: tuple[RankBy, ...] = ("csls", "cosine", "confidence")  # the last for a model that knows it


@dataclass(frozen=True, repr=False)
class Induced:
    """Induced pairs, best first: rows (m, 2), CSLS scores (m,) and cosines (m,).

    :param means: the neighbourhood means of all words of both sides, which the scores were computed with.
    """

    rows: Tensor
    csls: Tensor
    cosine: Tensor
    means: tuple[Tensor, Tensor] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Induced({len(self):,} pairs)"

    def above(self, least: float) -> Induced:
        """Keep the pairs whose CSLS is at least `least`."""
        kept = self.csls >= least
        return Induced(self.rows[kept], self.csls[kept], self.cosine[kept], self.means)

    def head(self, count: int | None) -> Induced:
        """Keep the best `count` pairs."""
        return Induced(self.rows[:count], self.csls[:count], self.cosine[:count], self.means)


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
    scaled: bool = False,
) -> Induced:
    """Pair words by CSLS; of equally good words the earlier one is chosen.

    :param source: mapped source vectors (n, c), most frequent word first; `target` likewise (m, c).
    :param mode: `mutual` keeps pairs that choose each other, `union` those found from either side.
    :param count: how many words a word may choose; more than one makes a dictionary with several translations per word.
    :param rank_by: the score that orders the result.
    :param max_rank: both words of a pair must be among this many most frequent words.
    :param pool: words that compete and that the neighbourhood means are taken over; None for all.
    :param means: the two neighbourhood means over the pool, if known already.
    :param scaled: the vectors have length one already, and are not copied.
    """
    check_wanted(mode, count, rank_by)
    source, target = source[:pool], target[:pool]
    if not scaled:
        source, target = unit(source), unit(target)
    kwargs: dict[str, Any] = {"memory": memory, "progress": progress}
    forward_near, backward_near = near_both(
        source, target, max(_SHORTLIST, neighbours + 1, count), title="inducing", **kwargs
    )
    if means is None:
        means = (
            forward_near.means(source, target, neighbours, memory),
            backward_near.means(target, source, neighbours, memory),
        )
    r_source, r_target = means
    forward = backward = None
    if mode != "backward":
        near = forward_near.head(max_rank)
        forward = _best(source[:max_rank], target, r_target / -2, near, backward_near, count, **kwargs)
    if mode != "forward":
        near = backward_near.head(max_rank)
        chosen = None if mode != "mutual" else forward
        backward = _best(target[:max_rank], source, r_source / -2, near, forward_near, count, chosen, **kwargs)
    rows = combine(forward, backward, mode, min(max_rank or len(source), len(source)), max_rank or len(target))
    cosine = cosines_of(source[rows[:, 0]], target, rows[:, 1:], memory=memory)[:, 0]
    csls = 2 * cosine - r_source[rows[:, 0]] - r_target[rows[:, 1]]
    order = torch.argsort(csls if rank_by == "csls" else cosine, descending=True, stable=True)
    return Induced(rows[order], csls[order], cosine[order], means)


def _best(
    queries: Tensor,
    candidates: Tensor,
    bias: Tensor,
    near: Near,
    back: Near,
    count: int,
    wanted: Tensor | None = None,
    *,
    memory: int,
    progress: Progress | None,
) -> Tensor:
    """Find each query's `count` best candidates by cosine + bias, shape (m, count).

    Where no candidate outside its list can win, the best of the list are the best of all; the few other queries are
    searched in full.

    :param wanted: rows of the queries whose answers matter; None for all.
    """
    best, scores = choose(near, bias, count)
    unproven = scores[:, -1] <= _most_outside(near.beyond, back, bias)
    if wanted is not None:
        unproven &= torch.isin(torch.arange(len(queries), device=wanted.device), wanted)
    open_ = unproven.nonzero()[:, 0]
    if len(open_):
        best[open_] = best_by_bias(queries[open_], candidates, count, bias, memory=memory, progress=progress)
    return best


def _most_outside(beyond: Tensor, back: Near, bias: Tensor) -> Tensor:
    """Return what cosine + bias of a candidate outside each query's list is at most, shape (n,).

    Such a candidate's cosine is at most `beyond` of the query. Either the query is in the candidate's own list, and
    the cosine is known; or it is not, and the cosine is at most `beyond` of the candidate too. That is below the
    candidate's neighbourhood mean, so candidates of small means, whose bias is large, cannot be near.

    :param beyond: of the queries, shape (n,).
    :param back: the lists of all candidates, (m, k).
    """
    wide = precise(bias)
    limit, order = back.beyond.to(wide).sort()
    most, bias = beyond.to(wide), bias.to(wide)
    none = most.new_full((1,), -torch.inf)
    lower = torch.cat([none, (limit + bias[order]).cummax(0).values])  # limited by their own lists
    upper = torch.cat([bias[order].flip(0).cummax(0).values.flip(0), none])  # limited by the query's
    place = torch.searchsorted(limit, most)
    outside = torch.maximum(lower[place], most + upper[place])
    for start in range(0, len(back.rows), _ROWS):
        part = slice(start, start + _ROWS)
        rows, cosines = back.rows[part].long(), back.cosines[part].to(wide)
        known = cosines + bias[part, None]
        mine = rows < len(most)
        mine &= cosines <= most[rows.clamp_max(len(most) - 1)]
        outside.scatter_reduce_(0, rows[mine], known[mine], "amax")
    return outside


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
    keys, counts = (pairs[:, 0] * m + pairs[:, 1]).unique(return_counts=True)
    keys = keys[counts == 2] if mode == "mutual" else keys
    return torch.stack([keys // m, keys % m], dim=1)


def _row_numbers(chosen: Tensor) -> Tensor:
    """Return the row of each of the choices (n, c): (n c,)."""
    return torch.arange(len(chosen), device=chosen.device).repeat_interleave(chosen.shape[1])
