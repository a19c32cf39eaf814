"""Compact: a space of many columns, searched in few of them and scored in all.

Systems side by side say much the same: 384 principal components of some thousand columns hold nearly all of what
distinguishes words. A search goes through the first of them for all words, through the rest for some hundred, and
through all columns, mapped only now, for some dozen. Of 500 English and 500 French words it found the best answer by
CSLS of all, and 99.9 % of their 30 best.

Neighbourhood means are taken by few columns, over the most frequent words of the other side that a judge learnt among.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from lnmap.direction import Side
from lnmap.normalize import unit
from lnmap.progress import Progress, Silent
from lnmap.retrieve import MEMORY, NEIGHBOURS, BilingualSpace, Criterion, Hits, best_ranks, fast_type, top_k

COMPONENTS = 384
COARSE = 128  # of them, in which all words are searched
POOL = 20_000  # most frequent words that neighbourhood means are taken over
_MANY = 512  # words found by the first components: a word spelt alike may not be among the first there
_FEW = 32  # the same, for neighbourhood means: one word more or less changes them little
_SPARE = 8  # words scored in all columns, beside twice as many as are wanted
_SAMPLE = 1000  # most frequent words of each side that components are found from, and as many of all others
_BLOCK = 4096  # words mapped at a time
_SEVERAL = 8  # words that are multiplied faster in numbers of half the precision, where the processor has them
_GATHERED = 512  # rows gathered at a time on a CPU: they stay in its cache

Map = Callable[[Tensor], Tensor]  # rows (k,) to mapped vectors (k, c)


class MappedRows:
    """Unit vectors of a vocabulary in all columns, each mapped when it is first asked for.

    :param count: words.
    :param columns: of a mapped word.
    """

    def __init__(self, map_rows: Map, count: int, columns: int, device: torch.device) -> None:
        self._map = map_rows
        self._kept = torch.empty(count, columns, device=device)  # takes memory where it is written to
        self._known = torch.zeros(count, dtype=torch.bool, device=device)

    def __getitem__(self, rows: Tensor) -> Tensor:
        missing = rows[~self._known[rows]].unique()
        for block in missing.split(_BLOCK) if len(missing) else ():
            self._kept[block] = unit(self._map(block))
            self._known[block] = True  # last: another thread that sees it relies on the row
        return self._kept.index_select(0, rows.flatten()).unflatten(0, rows.shape)  # [] is far slower


@dataclass(frozen=True)
class Condensed:
    """Words in few columns.

    :param basis: principal components of all columns, (c, r).
    :param coarse: the first of them, of the words of each side (n, 128), float32; each column lies in one piece, which
        a product with few words goes through faster.
    :param fine: the rest (n, r - 128), float16.
    """

    basis: Tensor
    coarse: Mapping[Side, Tensor]
    fine: Mapping[Side, Tensor]

    def fits(self, sizes: Mapping[Side, int], columns: int) -> bool:
        """Return whether these are so many words of each side, mapped to so many columns."""
        shapes = {side: (self.coarse[side].shape, self.fine[side].shape) for side in Side}
        r = self.basis.shape[1]
        wanted = {side: ((size, min(r, COARSE)), (size, max(0, r - COARSE))) for side, size in sizes.items()}
        return shapes == wanted and len(self.basis) == columns

    def to(self, device: torch.device) -> Condensed:
        """Move to a device."""
        coarse, fine = ({side: one.to(device) for side, one in part.items()} for part in (self.coarse, self.fine))
        return Condensed(self.basis.to(device), coarse, fine)


class CompactWords:
    """One vocabulary of a space: all words in few columns, and some in all of them.

    :param rows: unit vectors in all columns by row, (n, c).
    :param pool: most frequent words that neighbourhood means are taken over.
    """

    def __init__(
        self, rows: Tensor | MappedRows, basis: Tensor, coarse: Tensor, fine: Tensor, pool: int = POOL
    ) -> None:
        self.rows, self.basis, self.coarse, self.fine = rows, basis, coarse, fine
        self._pool = pool

    def __len__(self) -> int:
        return len(self.coarse)

    def __getitem__(self, rows: Tensor | int) -> Tensor:
        if isinstance(rows, int):
            return self.rows[torch.tensor([rows], device=self.device)][0]
        return self.rows[rows]

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self.coarse.device

    @cached_property
    def pool(self) -> Pool:
        """The most frequent words."""
        return Pool(self.coarse[: self._pool], self.fine[: self._pool])

    @cached_property
    def _rough(self) -> Tensor:
        """The first columns in numbers of half the precision: the others choose from what these find."""
        return self.coarse.to(fast_type(self.coarse))

    def best(
        self, queries: Tensor, k: int, bias: Tensor | None = None, *, memory: int = MEMORY, **shown: Any
    ) -> tuple[Tensor, Tensor]:
        """Return the k best words for unit vectors (q, c) by cosine + bias: scores and rows, each (q, k)."""
        few = queries @ self.basis
        near = self.nearest(few, 2 * k + _SPARE, _MANY, bias, memory=memory, **shown)[1]
        step = _step(near, queries.shape[1], memory)
        cosines = [
            self.rows[some].mul_(own[:, None]).sum(dim=2)  # a third of bmm's time on a CPU
            for own, some in zip(queries.split(step), near.split(step), strict=True)
        ]
        scores = torch.cat(cosines) if cosines else queries.new_empty(near.shape)
        if bias is not None:
            scores += bias[near]
        scores, place = scores.topk(min(k, scores.shape[1]), dim=1)
        return scores, near.gather(1, place)

    def nearest(
        self, few: Tensor, count: int, many: int, bias: Tensor | None = None, *, memory: int = MEMORY, **shown: Any
    ) -> tuple[Tensor, Tensor]:
        """Return the words that are best by few columns (q, r): scores and rows, each (q, count).

        :param many: words found by the first columns, which the others choose from.
        """
        first = self._rough if len(few) >= _SEVERAL and self.device.type == "cpu" else self.coarse
        own = few[:, :COARSE].to(first.dtype).contiguous()
        if bias is not None:
            bias = bias.to(first.dtype)  # sums of two types are slow
        scores, near = top_k(own, first, max(many, count), bias, memory=memory, **shown)
        scores = scores.to(few)
        step = _step(near, self.fine.shape[1], memory)
        for start in range(0, len(near), step):
            part = slice(start, start + step)
            listed = self.fine.index_select(0, near[part].flatten()).unflatten(0, near[part].shape)  # [] is far slower
            scores[part] += torch.bmm(listed.float(), few[part, COARSE:, None])[:, :, 0]
        scores, place = scores.topk(min(count, near.shape[1]), dim=1)
        return scores, near.gather(1, place)

    def ranks(self, queries: Tensor, gold: Tensor, bias: Tensor | None, memory: int) -> Tensor:
        """Return the rank of the best gold word by the first columns, (q,)."""
        return best_ranks((queries @ self.basis)[:, :COARSE].contiguous(), self.coarse, gold, bias, memory=memory)


class CompactSpace(BilingualSpace):
    """Two vocabularies in one space of many columns, searched from the source side."""

    source: CompactWords  # type: ignore[assignment]
    target: CompactWords  # type: ignore[assignment]

    def __init__(
        self,
        source: CompactWords,
        target: CompactWords,
        means: tuple[Tensor, Tensor],
        *,
        memory: int = MEMORY,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(
            source,  # type: ignore[arg-type]
            target,  # type: ignore[arg-type]
            means=means,
            memory=memory,
            progress=progress,
            scaled=True,
        )

    def search(
        self, queries: Tensor, k: int = 1, criterion: Criterion = "csls", words: Sequence[str] | None = None
    ) -> Hits:
        """Find the k best targets of source words, given by their rows (q,) or as mapped vectors (q, c)."""
        vectors = self.source[queries] if queries.ndim == 1 else unit(queries)
        bias = self.bias(criterion)
        scores, rows = self.target.best(vectors, k, bias, memory=self.memory, progress=self.progress)
        cosines = scores if bias is None else scores - bias[rows]
        if criterion == "csls":
            mean = self.means[0][queries] if queries.ndim == 1 else self._mean(vectors, self.target)
            scores = 2 * scores - mean[:, None]
        return Hits(rows, scores, cosines)

    def two_best(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the two best targets of source rows (n,) by CSLS, and `cosine + bias` of each, both (n, 2)."""
        scores, found = self.target.best(self.source[rows], 2, self.bias("csls"), memory=self.memory)
        return found, scores

    def ranks(self, rows: Tensor, gold: Tensor, criterion: Criterion = "csls") -> Tensor:
        """Rank of the best gold target of each source row, by the first columns; `gold` is padded with -1."""
        return self.target.ranks(self.source[rows], gold, self.bias(criterion), self.memory)

    def bias(self, criterion: Criterion) -> Tensor | None:
        """What the criterion adds to the cosine of each target."""
        if criterion != "isf":
            return super().bias(criterion)
        few = BilingualSpace(self.source.coarse, self.target.coarse, memory=self.memory, scaled=True)
        return few.bias(criterion)

    def _mean(self, queries: Tensor, candidates: Tensor | CompactWords) -> Tensor:
        assert isinstance(candidates, CompactWords)
        return candidates.pool.means(queries @ candidates.basis, self.memory)


def _step(near: Tensor, columns: int, memory: int) -> int:
    """Return how many words' candidates (q, k) are gathered at a time, within a budget of bytes on a GPU."""
    rows = _GATHERED if near.device.type == "cpu" else memory // (8 * max(1, columns))
    return max(1, rows // near.shape[1])


class Pool:
    """The most frequent words of one side by few columns, (p, r): what neighbourhood means are taken over."""

    def __init__(self, coarse: Tensor, fine: Tensor) -> None:
        self.words = torch.cat([coarse, fine.float()], dim=1)
        self.first = self._first(self.words)

    def means(self, few: Tensor, memory: int = MEMORY) -> Tensor:
        """Return r of CSLS of words by few columns (q, r): the mean with the nearest of the pool."""
        near = top_k(self._first(few), self.first, _FEW, memory=memory)[1]
        step = _step(near, few.shape[1], memory)
        found = [few.new_empty(0)]
        for own, some in zip(few.split(step), near.split(step), strict=True):
            listed = self.words.index_select(0, some.flatten()).unflatten(0, some.shape)
            cosines = listed.mul_(own[:, None]).sum(dim=2)
            found.append(cosines.topk(min(NEIGHBOURS, cosines.shape[1]), dim=1).values.mean(dim=1))
        return torch.cat(found)

    def _first(self, few: Tensor) -> Tensor:
        """Return the first columns of words (n, r), in which the nearest are found; others score them."""
        return few[:, :COARSE].to(fast_type(few)).contiguous()


@torch.no_grad()
def condense(
    maps: Mapping[Side, Map],
    sizes: Mapping[Side, int],
    device: torch.device,
    *,
    means: bool = True,
    pool: int = POOL,
    memory: int = MEMORY,
    progress: Progress | None = None,
) -> tuple[Condensed, dict[Side, Tensor]]:
    """Return both vocabularies of a space in few columns, and their neighbourhood means.

    :param means: False where they are known already; none are returned then.
    :param pool: most frequent words that they are taken over.
    """
    basis = components(maps, sizes, device)
    first, rest = min(basis.shape[1], COARSE), max(0, basis.shape[1] - COARSE)
    coarse = {side: torch.empty(first, size, device=device).T for side, size in sizes.items()}
    fine = {side: torch.empty(size, rest, dtype=torch.float16, device=device) for side, size in sizes.items()}
    blocks = [(side, slice(i, min(i + _BLOCK, sizes[side]))) for side in Side for i in range(0, sizes[side], _BLOCK)]
    progress = progress or Silent()
    with progress.task("mapping the words", sum(sizes.values())) as task:
        for side, rows in blocks:
            few = unit(maps[side](torch.arange(rows.start, rows.stop, device=device))) @ basis
            coarse[side][rows], fine[side][rows] = few[:, :COARSE], few[:, COARSE:].half()
            task.advance(len(few))
    if not means:
        return Condensed(basis, coarse, fine), {}
    found = {side: torch.empty(size, device=device) for side, size in sizes.items()}
    pools = {side: Pool(coarse[side][:pool], fine[side][:pool]) for side in Side}
    with progress.task("neighbourhoods", sum(sizes.values())) as task:
        for side, rows in blocks:
            few = torch.cat([coarse[side][rows], fine[side][rows].float()], dim=1)
            found[side][rows] = pools[side.other].means(few, memory)
            task.advance(len(few))
    return Condensed(basis, coarse, fine), found


@torch.no_grad()
def components(maps: Mapping[Side, Map], sizes: Mapping[Side, int], device: torch.device) -> Tensor:
    """Return the principal components of both vocabularies as unit vectors, the largest first: (c, 384 or fewer)."""
    sample = torch.cat([unit(maps[side](_sample(torch.arange(sizes[side], device=device)))) for side in Side])
    return torch.linalg.eigh(sample.T @ sample).eigenvectors.flip(1)[:, :COMPONENTS].contiguous()


def _sample(rows: Tensor) -> Tensor:
    """Return the most frequent rows, and as many of all others."""
    rest = rows[_SAMPLE:]
    return torch.cat([rows[:_SAMPLE], rest[:: max(1, len(rest) // _SAMPLE)]])
