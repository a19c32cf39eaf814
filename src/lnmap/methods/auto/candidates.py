"""Candidates: what the systems find for words, the same way for the seed's words and for all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from lnmap.direction import Direction
from lnmap.judge.panel import Panel, Query, describe, gathered, with_spelt_alike
from lnmap.judge.space import LIST
from lnmap.methods.base import Run
from lnmap.retrieve import NEIGHBOURS, BilingualSpace, fast_type, top_k

NEAR = 40  # nearest words that a word's candidates are the best of by CSLS
_BACK = 20  # the same, for the best one alone
_SPARE = 10  # words that are looked at beside as many as are wanted
_SMALL = 6000  # words that are faster searched in all dimensions
_COMPONENTS, _NEARLY_ALL = 200, 384
_SAMPLE = 1500
_WORDS = 4096  # judged at a time
_ROWS = 8  # words at a time: what is gathered for them stays in the cache


@dataclass(frozen=True)
class Lists:
    """Candidates of words (n, k), best first by CSLS, with the words' means and the two best scores."""

    query: Query
    candidates: Tensor
    top: Tensor

    def parts(self) -> Iterator[Lists]:
        """Yield the words in blocks."""
        for start in range(0, len(self.candidates), _WORDS):
            rows = slice(start, start + _WORDS)
            yield Lists(self.query[rows], self.candidates[rows], self.top[rows])

    def of(self, words: Tensor, most: int) -> Lists:
        """Return the best candidates of some of the words (n,), so many of each at most."""
        query = Query(self.query.rows[words], self.query.vectors[words], self.query.means[words])
        return Lists(query, self.candidates[words, :most], self.top[words])

    def with_spelt_alike(self, panel: Panel, direction: Direction, size: int) -> tuple[Lists, Tensor]:
        """Add the words that are spelt like those asked for, and return which candidates may be answers (n, k + 1)."""
        candidates, there = with_spelt_alike(panel.facts, direction.asked, self.query, self.candidates, size)
        return Lists(self.query, candidates, self.top), there

    def describe(self, panel: Panel, space: BilingualSpace, direction: Direction) -> Tensor:
        """Return the features of all candidates (n, k, f)."""
        found = [describe(panel, space, direction, one.query, one.candidates, one.top) for one in self.parts()]
        return torch.cat(found)


@dataclass(frozen=True)
class Field:
    """A space to be searched, and its words by their principal components, the largest first: (n, r) and (m, r).

    Systems side by side say much the same: of some thousand columns 384 components say nearly all, and by the first 200
    nearly all words that are nearest are found among a few more, at a sixth of the work.
    """

    space: BilingualSpace
    asked: Tensor
    answering: Tensor

    @classmethod
    def of(cls, space: BilingualSpace) -> Field:
        """Find the principal components of the most frequent words of both sides."""
        if len(space.target) <= _SMALL:
            return cls(space, space.source, space.target)
        sample = torch.cat([space.source[:_SAMPLE], space.target[:_SAMPLE]])
        basis = torch.linalg.eigh(sample.T @ sample).eigenvectors.flip(1)[:, :_NEARLY_ALL]  # (c, r)
        return cls(space, space.source @ basis, space.target @ basis)

    def swapped(self) -> Field:
        """Return the same, searched from the other side."""
        return Field(self.space.swapped(), self.answering, self.asked)

    def nearest(self, rows: Tensor, count: int, run: Run) -> tuple[Tensor, Tensor]:
        """Return the nearest targets of source rows (n,), best first: cosines and rows, each (n, k)."""
        search: dict[str, Any] = {"memory": run.memory, "progress": run.progress}
        if self.asked is self.space.source:
            return top_k(self.asked[rows], self.answering, count, **search)
        few, fewer = (words[:, :_COMPONENTS].to(fast_type(words)) for words in (self.asked, self.answering))
        near = top_k(few[rows], fewer.contiguous(), count + _SPARE, **search)[1]
        size = 4 * near.shape[1] * self.answering.shape[1]  # bytes that are gathered for a word
        step = _ROWS if near.device.type == "cpu" else max(1, run.memory // size)
        blocks = zip(rows.split(step), near.split(step), strict=True)
        cosines = [gathered(self.answering, some).mul_(self.asked[own][:, None]).sum(dim=2) for own, some in blocks]
        best, place = torch.cat(cosines).topk(min(count, near.shape[1]), dim=1)
        return best, near.gather(1, place)

    def look(self, rows: Tensor, run: Run) -> tuple[Tensor, Tensor, Tensor]:
        """Return r of CSLS of source rows, their best target by CSLS, each (n,), and the two best scores (n, 2)."""
        cosines, near = self.nearest(rows, _BACK, run)
        scores, place = (cosines - self.space.target_means[near] / 2).topk(min(2, near.shape[1]), dim=1)
        return mean_of_nearest(cosines), near.gather(1, place)[:, 0], scores[:, [0, -1]]

    def lists(self, rows: Tensor, cosines: Tensor, near: Tensor) -> Lists:
        """Return the best targets of source rows (n,) by CSLS, of the nearest ones (n, k)."""
        scores, place = (cosines - self.space.target_means[near] / 2).topk(min(LIST, near.shape[1]), dim=1)
        query = Query(rows, self.space.source[rows], self.space.means[0][rows])
        return Lists(query, near.gather(1, place), scores[:, [0, min(1, scores.shape[1] - 1)]])


def mean_of_nearest(cosines: Tensor) -> Tensor:
    """Return r of CSLS (n,) of words whose nearest have cosines (n, k), best first."""
    return cosines[:, :NEIGHBOURS].mean(dim=1)


@torch.no_grad()
def survey(source: Tensor, target: Tensor, run: Run) -> dict[Direction, tuple[Field, Lists]]:
    """Search mapped vocabularies (n, c), (m, c) from both sides for means, best words and candidates.

    One search per side does for all: the best by CSLS are among the nearest.
    """
    bare = Field.of(BilingualSpace(source, target, memory=run.memory, scaled=True))
    rows = [torch.arange(len(side), device=side.device) for side in (source, target)]
    near = [one.nearest(own, NEAR, run) for one, own in zip((bare, bare.swapped()), rows, strict=True)]
    means = mean_of_nearest(near[0][0]), mean_of_nearest(near[1][0])
    field = replace(bare, space=BilingualSpace(source, target, memory=run.memory, means=means, scaled=True))
    result = {}
    for direction, one, own, found in zip(Direction, (field, field.swapped()), rows, near, strict=True):
        lists = one.lists(own, *found)
        one.space.best.rows, one.space.best.scores = lists.candidates[:, 0].clone(), lists.top
        result[direction] = one, lists
    return result
