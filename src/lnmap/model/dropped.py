"""What takes the place of induced pairs that were marked wrong: the next best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from lnmap.induce import Mode
from lnmap.retrieve import BilingualSpace

Rows = Mapping[int, set[int]]  # answers by the word asked for


@dataclass(frozen=True)
class Paired:
    """Induced pairs: rows (m, 2), CSLS scores (m,), cosines (m,) and, where a judge knows it, confidence (m, 1)."""

    rows: Tensor
    csls: Tensor
    cosine: Tensor
    sure: Tensor | None = None


@torch.no_grad()
def without_wrong(
    space: BilingualSpace, found: Paired, wrong: Rows, mode: Mode, count: int, max_rank: int | None
) -> Paired:
    """Leave out pairs that were marked wrong, and add those that are now among the `count` best of their words.

    Only words of wrong pairs choose anew; all other choices stay as they are.

    :param wrong: the pairs marked wrong, by the word asked for.
    """
    chosen = _next_best(space, wrong, mode, count)
    pairs = found.rows.tolist()
    there = {(source, target) for source, target in pairs}
    most = max_rank or max(len(space.source), len(space.target))
    new = sorted(pair for pair in chosen - there if max(pair) < most)
    kept = torch.tensor([target not in wrong.get(source, ()) for source, target in pairs], device=found.rows.device)
    added = torch.tensor(new, device=found.rows.device).reshape(-1, 2).long()
    hits = space.unjudged.score(added[:, 0], added[:, 1:])
    sure = None
    if found.sure is not None:
        judged = space.score(added[:, 0], added[:, 1:]).confidence if new else found.sure[:0]
        assert judged is not None
        sure = torch.cat([found.sure[kept], judged])
    csls, cosine = (
        torch.cat([old[kept], one[:, 0]]) for old, one in ((found.csls, hits.scores), (found.cosine, hits.cosines))
    )
    return Paired(torch.cat([found.rows[kept], added]), csls, cosine, sure)


def _next_best(space: BilingualSpace, wrong: Rows, mode: Mode, count: int) -> set[tuple[int, int]]:
    """Return the pairs that words of wrong pairs choose in a mode, without the wrong ones."""
    turned: dict[int, set[int]] = {}
    for source, targets in wrong.items():
        for target in targets:
            turned.setdefault(target, set()).add(source)
    forward = _choose(space, wrong, wrong, count) if mode != "backward" else set()
    backward = _choose(space.swapped(), turned, turned, count) if mode != "forward" else set()
    backward = {(source, target) for target, source in backward}
    if mode != "mutual":
        return forward | backward
    answers = _choose(space.swapped(), {target for _, target in forward}, turned, count)
    asked = _choose(space, {source for source, _ in backward}, wrong, count)
    return {pair for pair in forward if pair[::-1] in answers} | (backward & asked)


def _choose(space: BilingualSpace, rows: Iterable[int], wrong: Rows, count: int) -> set[tuple[int, int]]:
    """Return each row with its `count` best answers that were not marked wrong."""
    asked = sorted(rows)
    if not asked:
        return set()
    most = max((len(wrong.get(row, ())) for row in asked), default=0)
    hits = space.search(torch.tensor(asked, device=space.source.device), count + most).rows.tolist()
    right = ([hit for hit in every if hit not in wrong.get(row, ())] for row, every in zip(asked, hits, strict=True))
    return {(row, hit) for row, every in zip(asked, right, strict=True) for hit in every[:count]}
