"""A space of several systems whose answers a judge puts in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from lnmap.direction import Direction
from lnmap.judge.panel import Judges, Query, describe, with_spelt_alike
from lnmap.retrieve import UNKNOWN, BilingualSpace, Criterion, Hits

LIST = 30  # candidates of a word, the best by CSLS
ROWS = 1024  # words judged at a time


class JudgedSpace(BilingualSpace):
    """Both vocabularies in one space; what a search by CSLS finds is put in order by a judge.

    :param plain: the same space without the judge.
    """

    def __init__(self, plain: BilingualSpace, judges: Judges, direction: Direction) -> None:
        super().__init__(plain.source, plain.target, memory=plain.memory, progress=plain.progress, scaled=True)
        self.plain, self.judges, self.direction = plain, judges, direction

    @property
    def unjudged(self) -> BilingualSpace:
        """The space without its judge."""
        return self.plain

    @property
    def means(self) -> tuple[Tensor, Tensor]:
        """CSLS neighbourhood means of the source words (n,) and of the target words (m,)."""
        return self.plain.means

    @property
    def target_means(self) -> Tensor:
        """CSLS neighbourhood means of the target words (m,)."""
        return self.plain.target_means

    def swapped(self) -> JudgedSpace:
        """Return the same space, searched from the other side."""
        if self._swapped is None:
            other = JudgedSpace(self.plain.swapped(), self.judges, self.direction.opposite)
            other._swapped = self
            self._swapped = other
        assert isinstance(self._swapped, JudgedSpace)
        return self._swapped

    def search(
        self, queries: Tensor, k: int = 1, criterion: Criterion = "csls", words: Sequence[str] | None = None
    ) -> Hits:
        """Find the k best targets; by CSLS the judge puts the first `LIST` in order, and the rest follow."""
        if criterion != "csls":
            return self.plain.search(queries, k, criterion)
        blocks = [self._search(self._query(rows, part), k) for rows, part in _blocks(queries, words)]
        if not blocks:
            return self.plain.search(queries, k)
        return Hits(*(torch.cat(column) for column in zip(*blocks, strict=True)))

    def two_best(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the two best targets of source rows (n,), and their probabilities, both (n, 2)."""
        hits = self.search(rows, 2)
        assert hits.confidence is not None
        return hits.rows, hits.confidence

    def search_best(self, rows: Tensor) -> Hits:
        """Return the best target of source rows (n,), (n, 1); no word is judged twice."""
        targets, sure = self.best.look_up(rows)
        return replace(self.plain.score(rows, targets[:, None]), confidence=sure[:, :1])

    def score(self, rows: Tensor, targets: Tensor, criterion: Criterion = "csls") -> Hits:
        """Score given targets (n, k) of source rows (n,) beside the candidates that the words have anyway."""
        hits = self.plain.score(rows, targets, criterion)
        if not len(rows):
            return hits
        sure = []
        for part in torch.arange(len(rows), device=rows.device).split(ROWS):
            query = self._query(rows[part], None)
            listed = self.plain.search(query.rows, self._list)
            others, may = self._with_spelt_alike(query, listed.rows)
            candidates = torch.cat([targets[part], others], dim=1)
            there = self._may_answer(query, candidates)
            there[:, targets.shape[1] :] &= may & (others[:, :, None] != targets[part][:, None]).all(dim=2)
            sure.append(self._probability(query, candidates, there, _top(listed, query))[:, : targets.shape[1]])
        return replace(hits, confidence=torch.cat(sure))

    def ranks(self, rows: Tensor, gold: Tensor, criterion: Criterion = "csls") -> Tensor:
        """Rank of the best gold target of each source row; `gold` is padded with -1."""
        ranks = self.plain.ranks(rows, gold, criterion)
        if criterion != "csls":
            return ranks
        listed = self.search(rows, self._list).rows  # (n, LIST)
        places = (listed[:, :, None] == gold[:, None]).any(dim=2)
        return torch.where(places.any(dim=1), places.float().argmax(dim=1), ranks)

    @property
    def _list(self) -> int:
        return min(LIST, len(self.target))

    def _query(self, queries: Tensor, words: Sequence[str] | None) -> Query:
        if queries.ndim == 1:
            return Query(queries, self.source[queries], self.means[0][queries])
        vectors = torch.nn.functional.normalize(queries, dim=1)
        rows = torch.full((len(queries),), UNKNOWN, device=queries.device)
        return Query(rows, vectors, self.plain._mean(vectors, self.plain.target), words or [""] * len(queries))

    def _search(self, query: Query, k: int) -> tuple[Tensor, ...]:
        hits = self.plain.search(query.rows if query.spelt is None else query.vectors, max(k, self._list))
        listed, rest = hits.rows[:, : self._list], hits.rows[:, self._list :]
        candidates, there = self._with_spelt_alike(query, listed)
        sure = self._probability(query, candidates, there, _top(hits, query))
        like = candidates[:, -1:]
        cosine = (query.vectors[:, None] * self.target[like]).sum(dim=2)
        score = 2 * cosine - query.means[:, None] - self.target_means[like]
        columns = [torch.cat([candidates, rest], dim=1)]
        for found, own in ((hits.scores, score), (hits.cosines, cosine)):
            columns.append(torch.cat([found[:, : self._list], own, found[:, self._list :]], dim=1))
        columns.append(torch.cat([sure, sure.new_zeros(rest.shape)], dim=1))
        judged = candidates.shape[1]
        key = torch.arange(columns[0].shape[1], device=like.device).repeat(len(like), 1).float()
        key[:, :judged] = -sure  # these come first, and the rest as it is
        key[:, judged - 1].masked_fill_(~there[:, -1], torch.inf)
        key[:, judged:].masked_fill_((rest == like) & there[:, -1:], torch.inf)
        order = key.argsort(dim=1, stable=True)[:, :k]
        return tuple(column.gather(1, order) for column in columns)

    def _with_spelt_alike(self, query: Query, candidates: Tensor) -> tuple[Tensor, Tensor]:
        facts, asked = self.judges.panel.facts, self.direction.asked
        every, there = with_spelt_alike(facts, asked, query, candidates, len(self.target))
        return every, there & facts.words_for_words(asked, query.rows, every, query.spelt)

    def _may_answer(self, query: Query, candidates: Tensor) -> Tensor:
        facts, asked = self.judges.panel.facts, self.direction.asked
        return facts.may_answer(asked, candidates) & facts.words_for_words(asked, query.rows, candidates, query.spelt)

    def _probability(self, query: Query, candidates: Tensor, there: Tensor, top: Tensor) -> Tensor:
        features = describe(self.judges.panel, self.plain, self.direction, query, candidates, top)
        return self.judges.by[self.direction].probability(features, there)


def _top(hits: Hits, query: Query) -> Tensor:
    """Return the two best scores `cosine + bias` of each word, (n, 2)."""
    return (hits.scores[:, [0, min(1, hits.scores.shape[1] - 1)]] + query.means[:, None]) / 2


def _blocks(queries: Tensor, words: Sequence[str] | None) -> list[tuple[Tensor, Sequence[str] | None]]:
    starts = range(0, len(queries), ROWS)
    return [(queries[i : i + ROWS], None if words is None else words[i : i + ROWS]) for i in starts]
