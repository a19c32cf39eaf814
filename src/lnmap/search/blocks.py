"""Blocks: products of two vocabularies a block of rows at a time, and the k best of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import torch
from torch import Tensor

from lnmap.progress import Progress, Silent

MEMORY = 512 << 20  # bytes one block of scores may take
_GROUP, _SHORT = 64, 16  # candidates per group, where few and where many of a row are wanted
_MAX_ROWS = 1024
_LEAST_MEMORY = 1 << 20  # a device without this much room can do nothing
T = TypeVar("T")


def keep_trying(
    job: Callable[[int], T], memory: int, progress: Progress | None = None, least: int = _LEAST_MEMORY
) -> T:
    """Do a job within a budget of bytes; where the device runs out of memory, begin it again with half as much."""
    while True:
        try:
            return job(memory)
        except torch.OutOfMemoryError:
            if memory // 2 < least:
                raise
        memory //= 2  # outside the handler, which keeps the failed job's tensors
        (progress or Silent()).note(f"the device ran out of memory; going on with blocks of {memory >> 20} MB")


def score_blocks(
    queries: Tensor,
    candidates: Tensor,
    bias: Tensor | None = None,
    *,
    memory: int = MEMORY,
    progress: Progress | None = None,
    title: str = "scoring",
) -> Iterator[tuple[int, Tensor]]:
    """Yield (first row, scores of shape (b, n)); the tensor is reused by the next block."""
    n = len(candidates)
    rows = max(1, min(_MAX_ROWS, len(queries), memory // (n * queries.element_size() * 5 // 4)))
    buffer = queries.new_empty(rows, n)
    with (progress or Silent()).task(title, len(queries)) as task:
        for start in range(0, len(queries), rows):
            block = queries[start : start + rows]
            scores = torch.mm(block, candidates.T, out=buffer[: len(block)])
            yield start, scores if bias is None else scores.add_(bias)
            task.advance(len(block))


def top_k(
    queries: Tensor,
    candidates: Tensor,
    k: int,
    bias: Tensor | None = None,
    *,
    memory: int = MEMORY,
    progress: Progress | None = None,
    title: str = "searching",
) -> tuple[Tensor, Tensor]:
    """Find the k best candidates of each query by `query . candidate + bias`.

    :param queries: shape (m, d).
    :param candidates: shape (n, d).
    :param bias: shape (n,), added to every query's scores.
    :return: scores and candidate rows, both of shape (m, min(k, n)), best first.
    """
    k = min(k, len(candidates))
    values = queries.new_empty(len(queries), k)
    rows = torch.empty(len(queries), k, dtype=torch.long, device=queries.device)
    for start, scores in score_blocks(queries, candidates, bias, memory=memory, progress=progress, title=title):
        stop = start + len(scores)
        values[start:stop], rows[start:stop] = row_top_k(scores, k)
    return values, rows


def row_top_k(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Exact top-k of each row; on long rows in a fifth of torch.topk's time.

    The k best lie in the k groups of largest maximum. Long groups are of neighbours; short ones, for a large k, are of
    columns far apart, so that their maxima are taken of whole rows at once.
    """
    b, n = scores.shape
    short = n < _SHORT * _GROUP * k  # what is looked at, n/G maxima and kG scores, is least where G is the root of n/k
    size = _SHORT if short else _GROUP
    count = n // size  # of groups
    if count < 8 * k:
        top = scores.topk(k, dim=1)
        return top.values, top.indices
    whole = scores[:, : count * size]
    groups = whole.unflatten(1, (size, count)).transpose(1, 2) if short else whole.unflatten(1, (count, size))
    best = groups.amax(dim=2).topk(k, dim=1, sorted=False).indices  # (b, k)
    first, step = (best, count) if short else (best * size, 1)
    inside = torch.arange(0, size * step, step, device=scores.device)
    columns = (first[:, :, None] + inside).flatten(1)  # (b, kG)
    if count * size < n:
        columns = torch.cat([columns, torch.arange(count * size, n, device=scores.device).expand(b, -1)], dim=1)
    top = scores.gather(1, columns).topk(k, dim=1)
    return top.values, columns.gather(1, top.indices)
