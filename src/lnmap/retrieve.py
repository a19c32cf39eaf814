"""Retrieve: exact nearest neighbours between two vocabularies, in blocks, on any device.

Every criterion here ranks the candidates of a query by `cosine + bias[candidate]`:

* cosine             bias 0
* CSLS               bias -r(candidate)/2, score 2 cos - r(query) - r(candidate)   (Conneau et al. 2018)
* inverted softmax   bias -logsumexp_query(beta cos)/beta                          (Smith et al. 2017)

so one search serves all of them, and the score matrix is never held as a whole.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from lnmap.errors import OptionError
from lnmap.normalize import unit
from lnmap.progress import Progress, Silent
from lnmap.search.blocks import MEMORY, keep_trying, score_blocks, top_k
from lnmap.search.near import fast_type, means_of, means_of_both, nearest
from lnmap.search.some import SomeMeans

__all__ = [
    "CRITERIA",
    "MEMORY",
    "NEIGHBOURS",
    "UNKNOWN",
    "BestTable",
    "BilingualSpace",
    "Criterion",
    "Hits",
    "best_ranks",
    "fast_type",
    "keep_trying",
    "nearest",
    "neighbourhood_means",
    "score_blocks",
    "top_k",
]

Criterion = Literal["csls", "cosine", "isf"]
CRITERIA: tuple[Criterion, ...] = ("csls", "cosine", "isf")
NEIGHBOURS = 10  # k of CSLS in all the papers
_BETA = 30.0  # temperature of the inverted softmax, as in MUSE
Search = Callable[[Tensor], tuple[Tensor, Tensor]]
_PER_WORD = 1000  # means that a search for one word computes at most, about: for more words all are computed
_PER_PAIR = 4  # the same, for a pair whose score is wanted: that of each word, and bounds for the others
UNKNOWN = -1  # row of a best candidate that has not been searched yet


def neighbourhood_means(
    queries: Tensor,
    candidates: Tensor,
    k: int = NEIGHBOURS,
    *,
    memory: int = MEMORY,
    progress: Progress | None = None,
    title: str = "neighbourhoods",
) -> Tensor:
    """Mean score of each query's k nearest candidates: r of CSLS, shape (m,)."""
    return top_k(queries, candidates, k, memory=memory, progress=progress, title=title)[0].mean(dim=1)


def best_ranks(
    queries: Tensor, candidates: Tensor, gold: Tensor, bias: Tensor | None = None, *, memory: int = MEMORY
) -> Tensor:
    """Rank (0 = first) of each query's best gold candidate among all candidates.

    :param gold: candidate rows of shape (m, g), padded with -1. Among equal scores the earlier row goes first.
    """
    ranks = torch.empty(len(queries), dtype=torch.long, device=queries.device)
    columns = torch.arange(len(candidates), device=queries.device)
    for start, scores in score_blocks(queries, candidates, bias, memory=memory // 2):
        wanted = gold[start : start + len(scores)]  # (b, g)
        found = scores.gather(1, wanted.clamp_min(0)).masked_fill(wanted < 0, -torch.inf)
        best = found.amax(dim=1, keepdim=True)  # (b, 1)
        row = wanted.masked_fill(found < best, len(candidates)).amin(dim=1, keepdim=True)
        tied = (scores == best).logical_and_(columns < row)
        ranks[start : start + len(scores)] = scores.gt_(best).add_(tied).sum(dim=1)  # in place: a sum of bools copies
    return ranks


@dataclass(frozen=True)
class Hits:
    """Candidates of some queries, best first: rows, scores by the criterion, and cosines, all of shape (m, k).

    :param confidence: the probability that each is right, where a judge has put them in order.
    """

    rows: Tensor
    scores: Tensor
    cosines: Tensor
    confidence: Tensor | None = None


class BestTable:
    """The best candidate of each query and the scores of the two best, each query searched once.

    :param search: returns the two best candidates of rows of queries (q,), and their scores, both (q, 2).
    :param count: queries.
    :param among: candidates.
    """

    def __init__(self, search: Search, count: int, among: int, device: torch.device) -> None:
        self._search, self.among = search, among
        self.rows = torch.full((count,), UNKNOWN, dtype=torch.long, device=device)
        self.scores = torch.zeros(count, 2, device=device)  # of the best and the second best

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def known(self) -> Tensor:
        """Rows of the queries that have been searched."""
        return (self.rows != UNKNOWN).nonzero()[:, 0]

    @property
    def complete(self) -> bool:
        """Whether all queries have been searched."""
        return bool((self.rows != UNKNOWN).all())

    def look_up(self, queries: Tensor) -> tuple[Tensor, Tensor]:
        """Return the best candidates of some rows of queries (q,) and the two best scores (q, 2)."""
        missing = queries[self.rows[queries] == UNKNOWN].unique()
        if len(missing):
            rows, scores = self._search(missing)
            self.scores[missing] = scores[:, [0, -1]]
            self.rows[missing] = rows[:, 0]  # last: another thread that sees the row relies on its scores
        return self.rows[queries], self.scores[queries]

    def rivals(self, queries: Tensor, chosen: Tensor) -> Tensor:
        """Return the score of the best candidate besides the one chosen, for rows of queries and candidates (...)."""
        rows, scores = self.look_up(queries.reshape(-1))
        rows, scores = rows.reshape(queries.shape), scores.reshape(*queries.shape, 2)
        return torch.where(rows == chosen, scores[..., 1], scores[..., 0])


class BilingualSpace:
    """Two vocabularies in one space, searched from the source side.

    What a search has to compute for whole vocabularies is kept: the neighbourhood means, and the best candidates of
    the words that were asked for.

    :param source: mapped source vectors (n, c); scaled to length one here.
    :param target: mapped target vectors (m, c).
    :param means: the CSLS neighbourhood means (n,) and (m,), if they are known already.
    :param scaled: the vectors have length one already, and are not copied.
    """

    def __init__(
        self,
        source: Tensor,
        target: Tensor,
        *,
        neighbours: int = NEIGHBOURS,
        memory: int = MEMORY,
        means: tuple[Tensor, Tensor] | None = None,
        progress: Progress | None = None,
        scaled: bool = False,
    ) -> None:
        self.source, self.target = (source, target) if scaled else (unit(source), unit(target))
        self.neighbours, self.memory, self.progress = neighbours, memory, progress or Silent()
        self._source_means: Tensor | None
        self._target_means: Tensor | None
        self._source_means, self._target_means = means or (None, None)
        self._best: BestTable | None = None
        self._some: SomeMeans | None = None
        self._swapped: BilingualSpace | None = None

    @property
    def means(self) -> tuple[Tensor, Tensor]:
        """CSLS neighbourhood means of the source words (n,) and of the target words (m,)."""
        return self.find_means(self.progress)

    def find_means(self, progress: Progress) -> tuple[Tensor, Tensor]:
        """Return the means of both sides; what is not known is computed, in one pass if it is all of them."""
        self._share_means()
        if self._source_means is None and self._target_means is None:
            search: dict[str, Any] = {"memory": self.memory, "progress": progress}
            self.keep_means(means_of_both(self.source, self.target, self.neighbours, **search))
        if self._source_means is None:
            self._source_means = self._mean(self.source, self.target)
        return self._source_means, self.target_means

    @property
    def target_means(self) -> Tensor:
        """CSLS neighbourhood means of the target words (m,): all that ranking them needs."""
        self._share_means()
        if self._target_means is None:
            self._target_means = self._mean(self.target, self.source)
        return self._target_means

    @property
    def known_means(self) -> tuple[Tensor, Tensor] | None:
        """The means of both sides, if nothing has to be computed for them."""
        self._share_means()
        known = self._source_means, self._target_means
        return None if known[0] is None or known[1] is None else (known[0], known[1])

    def keep_means(self, means: tuple[Tensor, Tensor]) -> None:
        """Keep the means of the source and target words, which something else has computed."""
        self._source_means, self._target_means = means

    @property
    def best(self) -> BestTable:
        """The best targets of the source words by CSLS, as far as they were asked for."""
        if self._best is None:
            self._best = BestTable(self.two_best, len(self.source), len(self.target), self.target.device)
        return self._best

    def swapped(self) -> BilingualSpace:
        """Return the same space, searched from the other side; the two share what they compute."""
        if self._swapped is None:
            other = copy.copy(self)
            other.source, other.target = self.target, self.source
            other._source_means, other._target_means = self._target_means, self._source_means
            other._best, other._some, other._swapped = None, None, self
            self._swapped = other
        return self._swapped

    @property
    def unjudged(self) -> BilingualSpace:
        """The space as it is, where a judge puts its answers in order."""
        return self

    def search(
        self, queries: Tensor, k: int = 1, criterion: Criterion = "csls", words: Sequence[str] | None = None
    ) -> Hits:
        """Find the k best targets of source words, given by their rows (q,) or as mapped vectors (q, c).

        :param words: the words that mapped vectors belong to, for a judge that looks at spelling.
        """
        if criterion == "csls" and (some := self._some_means(_PER_WORD * len(queries))):
            return self._search_some(some, self._vectors(queries), k)
        rows_known = queries.ndim == 1
        mean = self._source_means[queries] if rows_known and self._source_means is not None else None
        queries = self._vectors(queries)
        bias = self.bias(criterion)
        scores, rows = top_k(queries, self.target, k, bias, memory=self.memory, progress=self.progress)
        cosines = scores if bias is None else scores - bias[rows]
        if criterion == "csls":
            mean = self._mean(queries, self.target) if mean is None else mean
            scores = 2 * scores - mean[:, None]
        return Hits(rows, scores, cosines)

    def two_best(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the two best targets of source rows (n,) by CSLS, and `cosine + bias` of each, both (n, 2)."""
        if some := self._some_means(_PER_WORD * len(rows)):
            hits = self._search_some(some, self.source[rows], 2)
            return hits.rows, hits.cosines + some.of(hits.rows) / -2
        search: dict[str, Any] = {"memory": self.memory, "progress": self.progress}
        scores, found = top_k(self.source[rows], self.target, 2, self.target_means / -2, **search)
        return found, scores

    def search_best(self, rows: Tensor) -> Hits:
        """Return the best target of source rows (n,) by CSLS, (n, 1); no word is searched twice."""
        targets, scores = self.best.look_up(rows)
        if self._some_means(_PER_PAIR * len(rows)):
            return self.score(rows, targets[:, None])
        best, mean = scores[:, 0], self.means[0][rows]
        found = targets, 2 * best - mean, best + self.target_means[targets] / 2
        return Hits(*(column[:, None] for column in found))

    def score(self, rows: Tensor, targets: Tensor, criterion: Criterion = "csls") -> Hits:
        """Score given targets (n, k) of source rows (n,)."""
        cosines = (self.source[rows][:, None] * self.target[targets]).sum(dim=2)
        if criterion == "csls" and (some := self._some_means(_PER_PAIR * targets.numel())):
            own = means_of(self.source[rows], self.target, self.neighbours, memory=self.memory)[0]
            return Hits(targets, 2 * (cosines + some.of(targets) / -2) - own[:, None], cosines)
        bias = self.bias(criterion)
        scores = cosines if bias is None else cosines + bias[targets]
        if criterion == "csls":
            scores = 2 * scores - self.means[0][rows][:, None]
        return Hits(targets, scores, cosines)

    def ranks(self, rows: Tensor, gold: Tensor, criterion: Criterion = "csls") -> Tensor:
        """Rank of the best gold target of each source row; `gold` is padded with -1."""
        if criterion == "csls" and (some := self._some_means(_PER_WORD * len(rows))):
            blocks = score_blocks(self.source[rows], self.target, memory=self.memory)
            every = ((own, gold[start + place]) for start, block in blocks for place, own in enumerate(block))
            found = [some.rank(own, given[given >= 0]) for own, given in every]
            return torch.tensor(found, dtype=torch.long, device=rows.device)
        return best_ranks(self.source[rows], self.target, gold, self.bias(criterion), memory=self.memory)

    def bias(self, criterion: Criterion) -> Tensor | None:
        """What the criterion adds to the cosine of each target."""
        if criterion == "cosine":
            return None
        if criterion == "csls":
            return self.target_means / -2
        if criterion == "isf":
            blocks = score_blocks(self.target, self.source, memory=self.memory)
            # In place, and without logsumexp's shift: cosines are at most one, exp(30) is far from overflow.
            return torch.cat([scores.mul_(_BETA).exp_().sum(dim=1).log() / -_BETA for _, scores in blocks])
        raise OptionError(f"unknown retrieval criterion {criterion!r}; choose from {', '.join(CRITERIA)}")

    def _vectors(self, queries: Tensor) -> Tensor:
        """Return unit vectors of source words, given by their rows (q,) or as mapped vectors (q, c)."""
        return self.source[queries] if queries.ndim == 1 else unit(queries)

    def _some_means(self, most: int) -> SomeMeans | None:
        """Return the means of some targets, where about so many are looked at and those of all are not known."""
        self._share_means()
        if self._target_means is not None or most >= len(self.target):
            return None
        self._some = self._some or SomeMeans(self.target, self.source, self.neighbours, memory=self.memory)
        return self._some

    def _search_some(self, some: SomeMeans, queries: Tensor, k: int) -> Hits:
        """Find the k best targets of unit vectors (q, c) by CSLS with the means of few targets."""
        k = min(k, len(self.target))
        rows = torch.zeros(len(queries), k, dtype=torch.long, device=queries.device)
        cosines = queries.new_zeros(len(queries), k)
        for start, block in score_blocks(queries, self.target, memory=self.memory):
            for place, own in enumerate(block, start):
                rows[place] = some.best(own, k)
                cosines[place] = own[rows[place]]
        own = means_of(queries, self.target, self.neighbours, memory=self.memory)[0]
        return Hits(rows, 2 * (cosines + some.of(rows) / -2) - own[:, None], cosines)

    def _share_means(self) -> None:
        """Take what the same space knows, searched from the other side."""
        if self._swapped is not None:
            if self._source_means is None:
                self._source_means = self._swapped._target_means
            if self._target_means is None:
                self._target_means = self._swapped._source_means

    def _mean(self, queries: Tensor, candidates: Tensor) -> Tensor:
        return neighbourhood_means(queries, candidates, self.neighbours, memory=self.memory, progress=self.progress)
