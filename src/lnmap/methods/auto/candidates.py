"""Candidates: what the systems find for words, the same way for the seed's words and for all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lnmap.direction import Direction
from lnmap.judge.panel import Panel, Query, describe, with_spelt_alike
from lnmap.judge.space import LIST
from lnmap.methods.base import Run
from lnmap.retrieve import NEIGHBOURS, BilingualSpace, top_k

_SPARE = 15  # words that are looked at beside as many as are wanted
_SMALL = 6000  # words that are faster searched in all dimensions
_COMPONENTS = 200
_SAMPLE = 3000
_WORDS = 4096  # judged at a time
_ROWS = 64  # words at a time: what is gathered for them stays in the cache


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
    """A space to be searched, and its words in few dimensions: what is near there is near in all of them.

    Systems side by side say much the same. By the 200 principal components of some thousand columns nearly all words
    that are nearest by all columns are found among a few more, at a sixth of the work.
    """

    space: BilingualSpace
    asked: Tensor  # (n, r)
    answering: Tensor  # (m, r)

    @classmethod
    def of(cls, space: BilingualSpace) -> Field:
        """Find the principal components of the most frequent words of both sides."""
        if len(space.target) <= _SMALL:
            return cls(space, space.source, space.target)
        sample = torch.cat([space.source[:_SAMPLE], space.target[:_SAMPLE]])
        basis = torch.linalg.eigh(sample.T @ sample).eigenvectors[:, -_COMPONENTS:]  # (c, r)
        return cls(space, space.source @ basis, space.target @ basis)

    def swapped(self) -> Field:
        """Return the same, searched from the other side."""
        return Field(self.space.swapped(), self.answering, self.asked)

    def neighbourhood(self, rows: Tensor, run: Run) -> Tensor:
        """Return the mean cosine of source rows (n,) with their nearest targets, r of CSLS."""
        return self._best(rows, NEIGHBOURS, None, run)[0].mean(dim=1)

    def look(self, rows: Tensor, run: Run) -> tuple[Tensor, Tensor, Tensor]:
        """Return r of CSLS of source rows, their best target by CSLS, each (n,), and the two best scores (n, 2).

        One search does for both: the best by CSLS are among the nearest.
        """
        cosines, near = self._best(rows, LIST, None, run)
        scores, place = (cosines - self.space.target_means[near] / 2).topk(min(2, near.shape[1]), dim=1)
        best = near.gather(1, place)[:, 0]
        return cosines[:, :NEIGHBOURS].mean(dim=1), best, scores[:, [0, -1]]

    def candidates(self, rows: Tensor, run: Run) -> Lists:
        """Find the best targets of source rows (n,) by CSLS."""
        scores, found = self._best(rows, LIST, self.space.target_means / -2, run)
        query = Query(rows, self.space.source[rows], self.space.means[0][rows])
        return Lists(query, found, scores[:, [0, min(1, scores.shape[1] - 1)]])

    def _best(self, rows: Tensor, count: int, bias: Tensor | None, run: Run) -> tuple[Tensor, Tensor]:
        """Return the `count` best targets of source rows by cosine + bias: scores and rows, each (n, k)."""
        search: dict[str, Any] = {"memory": run.memory, "progress": run.progress}
        exact = self.asked is self.space.source
        scores, near = top_k(self.asked[rows], self.answering, count + (0 if exact else _SPARE), bias, **search)
        if exact:
            return scores, near
        cosines = [
            torch.bmm(self.space.target[some], self.space.source[own][:, :, None])[:, :, 0]
            for own, some in zip(rows.split(_ROWS), near.split(_ROWS), strict=True)
        ]
        scores = torch.cat(cosines) if bias is None else torch.cat(cosines) + bias[near]
        scores, place = scores.topk(min(count, scores.shape[1]), dim=1)
        return scores, near.gather(1, place)


@torch.no_grad()
def survey(source: Tensor, target: Tensor, run: Run) -> dict[Direction, tuple[Field, Lists]]:
    """Search mapped vocabularies (n, c), (m, c) from both sides for means, best words and candidates."""
    bare = Field.of(BilingualSpace(source, target, memory=run.memory, scaled=True))
    rows = [torch.arange(len(side), device=side.device) for side in (source, target)]
    means = bare.neighbourhood(rows[0], run), bare.swapped().neighbourhood(rows[1], run)
    space = BilingualSpace(source, target, memory=run.memory, means=means, scaled=True)
    field = Field(space, bare.asked, bare.answering)
    if bare.asked is bare.space.source:
        field = Field.of(space)
    result = {}
    for direction, one, own in zip(Direction, (field, field.swapped()), rows, strict=True):
        lists = one.candidates(own, run)
        one.space.best.rows, one.space.best.scores = lists.candidates[:, 0].clone(), lists.top
        result[direction] = one, lists
    return result
