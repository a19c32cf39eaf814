"""Near: the nearest words of both vocabularies in one pass over all scores, exact and proven.

The pass may use numbers of half the precision: it only collects candidates, with a bound on the error. The cosines of
the candidates are then computed in double precision and rounded, so that they do not depend on blocks, threads or the
device, and each list comes with what no word outside it can exceed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from lnmap.progress import Progress, Silent
from lnmap.search.blocks import MEMORY, keep_trying, row_top_k, score_blocks, top_k
from lnmap.search.columns import ColumnTop

Listed = tuple[Tensor, Tensor]  # values and rows of candidates, both (n, k)
_FEW = 2048  # rows up to which two plain searches cost less than one pass for both sides
_SAMPLE = 512  # rows that tell how high a column's best values are at the least, or a hundredth of them
_EXTRA = 8  # further candidates of a search, one of which shows that no other can win
_CACHE = 2 << 20  # bytes that stay in a core's cache
_ROWS = 8192  # rows handled at a time where nothing else matters


@dataclass(frozen=True)
class Near:
    """The nearest candidates of n words.

    :param rows: of the candidates, shape (n, k), ascending.
    :param cosines: of the candidates, shape (n, k).
    :param beyond: shape (n,); no candidate outside the list has a larger cosine.
    """

    rows: Tensor
    cosines: Tensor
    beyond: Tensor

    def head(self, count: int | None) -> Near:
        """Return the lists of the first `count` words."""
        return Near(self.rows[:count], self.cosines[:count], self.beyond[:count])

    def means(self, queries: Tensor, candidates: Tensor, k: int, memory: int = MEMORY) -> Tensor:
        """Return the mean cosine of each word's k nearest candidates, shape (n,); the list must have that many."""
        k = min(k, len(candidates))
        nearest = self.cosines.topk(k, dim=1).values
        open_ = (nearest[:, -1] < self.beyond).nonzero()[:, 0]
        for start, scores in _exact_blocks(queries[open_], candidates, memory):
            nearest[open_[start : start + len(scores)]] = scores.topk(k, dim=1).values.to(nearest)
        return nearest.to(precise(nearest)).mean(dim=1).to(nearest)


def near_both(
    source: Tensor,
    target: Tensor,
    k: int,
    *,
    memory: int = MEMORY,
    progress: Progress | None = None,
    title: str = "searching both ways",
    dtype: torch.dtype | None = None,
) -> tuple[Near, Near]:
    """Find the k nearest targets of each source word and the k nearest source words of each target.

    :param source: vectors of length one, shape (n, d); `target` likewise (m, d).
    :param dtype: of the numbers that find candidates; by default of half precision where the device is fast with it.
    """
    dtype = dtype or fast_type(source)
    with _AS_BOUNDED:
        error, *found = _find(source, target, k, dtype, memory, progress, title)
    sides = ((source, target, *found[0]), (target, source, *found[1]))
    forward, backward = (_refine(*side, error, memory, progress) for side in sides)
    return forward, backward


def means_of_both(
    source: Tensor, target: Tensor, k: int, *, memory: int = MEMORY, progress: Progress | None = None
) -> tuple[Tensor, Tensor]:
    """Return the mean cosine of each word's k nearest words of the other side, (n,) and (m,), in one pass."""
    more = k + 3 * _EXTRA
    forward, backward = near_both(source, target, more, memory=memory, progress=progress, title="neighbourhoods")
    return forward.means(source, target, k, memory), backward.means(target, source, k, memory)


def means_of(queries: Tensor, candidates: Tensor, k: int, *, memory: int = MEMORY) -> tuple[Tensor, Tensor]:
    """Return the mean cosine of each query's k nearest candidates (q,), and the rows of these (q, k)."""
    k = min(k, len(candidates))
    with _AS_BOUNDED:
        values, rows = top_k(queries, candidates, min(k + _EXTRA, len(candidates)), memory=memory)
    near = _refine(queries, candidates, values, rows, rounding(queries), memory, None)
    return near.means(queries, candidates, k, memory), rows[:, :k]


def nearest(queries: Tensor, candidates: Tensor, k: int, *, memory: int = MEMORY) -> Tensor:
    """Return the rows of each query's k nearest candidates (q, k), best first; both are vectors of length one."""
    k = min(k, len(candidates))
    with _AS_BOUNDED:
        error, x, y = _coarse(queries, candidates, fast_type(queries))
        values, rows = top_k(x, y, k + 3 * _EXTRA, memory=memory)
    near = _refine(queries, candidates, values, rows, error, memory, None)
    best, scores = choose(near, queries.new_zeros(len(candidates)), k)
    open_ = (scores[:, -1] < near.beyond).nonzero()[:, 0]
    best[open_] = top_k(queries[open_], candidates, k, memory=memory)[1]
    return best


def best_by_bias(
    queries: Tensor,
    candidates: Tensor,
    count: int,
    bias: Tensor,
    *,
    memory: int = MEMORY,
    progress: Progress | None = None,
) -> Tensor:
    """Return each query's `count` best candidates by `cosine + bias`, (q, count), earlier rows first among equals."""
    k = min(count + _EXTRA, len(candidates))
    with _AS_BOUNDED:
        values, rows = keep_trying(
            lambda room: top_k(queries, candidates, k, bias, memory=room, progress=progress), memory, progress
        )
    near = _refine(queries, candidates, values, rows, 0.0, memory, None)
    best, scores = choose(near, bias, count)
    slack = rounding(queries) + torch.finfo(values.dtype).eps * float(bias.abs().max())
    open_ = (scores[:, -1] <= values[:, -1] + slack).nonzero()[:, 0] if k < len(candidates) else rows.new_empty(0)
    for start, block in _exact_blocks(queries[open_], candidates, memory):
        block = block + bias
        for place in range(best.shape[1]):
            chosen = block.argmax(dim=1, keepdim=True)  # the first of equal ones
            best[open_[start : start + len(block)], place] = chosen[:, 0]
            block.scatter_(1, chosen, -torch.inf)
    return best


def choose(near: Near, bias: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the best `count` of each list by `cosine + bias`, earlier rows first among equals, and their scores."""
    chosen = []
    for rows, cosines in zip(near.rows.split(_ROWS), near.cosines.split(_ROWS), strict=True):
        rows = rows.long()
        scores, place = (cosines.to(precise(cosines)) + bias[rows]).sort(dim=1, descending=True, stable=True)
        chosen.append((rows.gather(1, place[:, :count]), scores[:, :count]))
    rows, scores = zip(*chosen, strict=True)
    return torch.cat(rows), torch.cat(scores)


def _find(
    source: Tensor,
    target: Tensor,
    k: int,
    dtype: torch.dtype,
    memory: int,
    progress: Progress | None,
    title: str,
) -> tuple[float, Listed, Listed]:
    """Return a bound on the error of the pass, and the candidates that it finds for both sides."""
    error, x, y = _coarse(source, target, dtype)
    return error, *keep_trying(lambda room: _one_pass(x, y, k, error, room, progress, title), memory, progress)


def fast_type(vectors: Tensor) -> torch.dtype:
    """Return the type of the fastest products: of half precision on a GPU and on processors that multiply in it."""
    if vectors.device.type == "cuda":
        return torch.float16
    native = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return torch.bfloat16 if vectors.device.type == "cpu" and native and native() else vectors.dtype


def _coarse(source: Tensor, target: Tensor, dtype: torch.dtype) -> tuple[float, Tensor, Tensor]:
    """Return a bound on the error of a product of vectors of length one in numbers of a type, and both in that type."""
    error = rounding(source)
    if dtype == source.dtype:
        return error, source, target
    sides = []
    for vectors in (source, target):
        width = vectors.shape[1]
        side = vectors.new_zeros(len(vectors), -(-width // 8) * 8, dtype=dtype)  # rows of whole 16 bytes
        lost = 0.0
        for start in range(0, len(vectors), _ROWS):
            part = vectors[start : start + _ROWS]
            side[start : start + _ROWS, :width] = part
            lost = max(lost, float((part - side[start : start + _ROWS, :width]).norm(dim=1).max()))
        sides.append(side)
        error += 1.01 * lost  # |x' y' - x y| <= |x' - x| |y'| + |x| |y' - y|, and the lengths are nearly one
    return error + torch.finfo(dtype).eps / 2, sides[0], sides[1]  # the last is the rounding of the result


def rounding(vectors: Tensor) -> float:
    """Return how far a product of two vectors of length one may be from the true one in their own precision."""
    return float(torch.finfo(vectors.dtype).eps) * (vectors.shape[1] + 2)


def _one_pass(
    x: Tensor, y: Tensor, k: int, error: float, memory: int, progress: Progress | None, title: str
) -> tuple[Listed, Listed]:
    """Return values and rows of each side's k largest products, each (n, k)."""
    if len(x) <= max(_FEW, 4 * k):
        return top_k(x, y, k, memory=memory, title=title), top_k(y, x, k, memory=memory, progress=progress, title=title)
    sample = x[:: len(x) // max(_SAMPLE, len(x) // 100, k)]
    floor = top_k(y, sample, k, memory=memory, progress=progress, title="sampling")[0][:, -1]
    columns = ColumnTop(floor - 2 * error, k, memory // 8)
    width = min(k, len(y))
    values = x.new_empty(len(x), width)
    rows = torch.empty(len(x), width, dtype=torch.int32, device=x.device)
    for start, scores in score_blocks(x, y, memory=memory * 3 // 4, progress=progress, title=title):
        stop = start + len(scores)
        values[start:stop], rows[start:stop] = row_top_k(scores, width)
        columns.add(start, scores)
    return (values, rows), columns.result()


def _refine(
    queries: Tensor,
    candidates: Tensor,
    values: Tensor,
    rows: Tensor,
    error: float,
    memory: int,
    progress: Progress | None,
) -> Near:
    """Compute the cosines of candidates (n, k) that were found by values which are that far from the truth at most."""
    complete = rows.shape[1] == len(candidates)
    beyond = torch.full_like(values[:, 0], -torch.inf) if complete else values.amin(dim=1)
    rows = rows.int().sort(dim=1).values
    cosines = cosines_of(queries, candidates, rows, memory=memory, progress=progress)
    return Near(rows, cosines, beyond.to(cosines) + error)


def cosines_of(
    queries: Tensor, candidates: Tensor, rows: Tensor, *, memory: int = MEMORY, progress: Progress | None = None
) -> Tensor:
    """Return the products of queries (n, d) with candidates of given rows (n, k), summed in double precision."""
    cosines = torch.empty(rows.shape, dtype=queries.dtype, device=queries.device)
    wide = precise(queries)
    room = min(memory, _CACHE) if queries.device.type == "cpu" else memory
    size = max(1, room // (16 * (rows.shape[1] + 1) * queries.shape[1]))
    with (progress or Silent()).task("scoring candidates", len(queries)) as task:
        for start in range(0, len(queries), size):
            part = slice(start, start + size)
            chosen = rows[part].long()
            listed = candidates.index_select(0, chosen.flatten()).unflatten(0, chosen.shape).to(wide)  # (b, k, d)
            cosines[part] = torch.linalg.vecdot(listed, queries[part, None].to(wide)).to(cosines)
            task.advance(len(chosen))
    return cosines


def precise(like: Tensor) -> torch.dtype:
    """Return the type that products are computed in before they are rounded: double, where the device has it."""
    return like.dtype if like.device.type == "mps" else torch.float64


def _exact_blocks(queries: Tensor, candidates: Tensor, memory: int) -> Iterator[tuple[int, Tensor]]:
    """Yield (first row, scores of shape (b, n)), each score in double precision and rounded to that of the vectors."""
    wide = precise(queries)
    size = max(1, min(_ROWS, memory // (32 * len(candidates))))
    step = max(1, memory // (32 * candidates.shape[1]))
    for start in range(0, len(queries), size):
        block = queries[start : start + size].to(wide)
        parts = [(block @ part.to(wide).T).to(queries.dtype) for part in candidates.split(step)]
        yield start, torch.cat(parts, dim=1).to(wide)


class _AsBounded:
    """Let torch multiply as the bounds suppose: float32 as such, and half precision summed in float32.

    These settings are those of the whole process: the first thread that enters makes them, the last that leaves takes
    them back.
    """

    _found: tuple[bool, str]

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0

    def __enter__(self) -> None:
        settings = torch.backends.cuda.matmul
        with self._lock:
            if not self._inside:
                self._found = settings.allow_fp16_reduced_precision_reduction, torch.get_float32_matmul_precision()
                settings.allow_fp16_reduced_precision_reduction = False
                torch.set_float32_matmul_precision("highest")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = self._found[0]
                torch.set_float32_matmul_precision(self._found[1])


_AS_BOUNDED = _AsBounded()
