"""Some: neighbourhood means of the words that a search looks at, where those of all words would cost a whole pass."""

from __future__ import annotations

import threading

import torch
from torch import Tensor

from lnmap.search.blocks import MEMORY, score_blocks
from lnmap.search.near import means_of, rounding

_BATCH = 64  # words whose means are computed at a time, at the least


class SomeMeans:
    """The means of some words with their k nearest words of the other side, and a lower bound on those of all others.

    A mean of the k largest cosines is at least that of any k words. Those that are nearest to a word are near to all
    words like it, so the centres of known neighbourhoods bound the means of the words that are candidates, too. What
    was computed is kept.

    :param words: unit vectors (m, c).
    :param others: unit vectors of the other side (n, c).
    """

    def __init__(self, words: Tensor, others: Tensor, k: int, *, memory: int = MEMORY) -> None:
        self.words, self.others, self.k, self.memory = words, others, k, memory
        self._learning = threading.Lock()
        self.known = torch.zeros(len(words), dtype=torch.bool, device=words.device)
        self.low = words.new_full((len(words),), -1.0)  # the mean where it is known, at most the mean elsewhere

    def of(self, rows: Tensor) -> Tensor:
        """Return the means of words by their rows, of any shape."""
        missing = rows[~self.known[rows]].unique()
        if len(missing):
            self._learn(missing)
        return self.low[rows]

    def best(self, cosines: Tensor, count: int) -> Tensor:
        """Return the rows of the `count` best words by `cosine - mean / 2`, best first, for cosines (m,)."""
        batch = max(_BATCH, count)
        while True:
            known = self.known.clone()  # before the bounds: another thread may learn meanwhile
            rows = self._bound(cosines).topk(min(batch, len(cosines))).indices
            if known[rows[:count]].all():  # no other word can reach them
                return rows[:count]
            self._learn(rows[~known[rows]])
            batch = min(2 * batch, len(cosines))

    def rank(self, cosines: Tensor, gold: Tensor) -> int:
        """Return how many words come before the best of the gold ones (g,), earlier rows first among equals."""
        if not len(gold):
            return len(cosines)
        self.of(gold)
        batch = _BATCH
        while True:
            known = self.known.clone()  # before the bounds, as above
            scores = self._bound(cosines)
            best = scores[gold].max()
            rows = (~known & (scores >= best)).nonzero()[:, 0]
            if not len(rows):
                first = gold[scores[gold] == best].min()
                return int((scores > best).sum() + (scores[:first] == best).sum())
            self._learn(rows[scores[rows].topk(min(batch, len(rows))).indices])
            batch *= 2

    def _bound(self, cosines: Tensor) -> Tensor:
        """Return the score of each word, or what it is at most where its mean is not known."""
        return cosines + self.low / -2

    def _learn(self, rows: Tensor) -> None:
        means, near = means_of(self.words[rows], self.others, self.k, memory=self.memory)
        centres = self.others[near].mean(dim=1)  # (r, c)
        bound = self.low
        for _, block in score_blocks(centres, self.words, memory=self.memory):
            bound = torch.maximum(bound, block.amax(dim=0) - rounding(self.words))
        with self._learning:  # another thread may have learnt others meanwhile
            low = torch.where(self.known, self.low, torch.maximum(self.low, bound))
            low[rows] = means
            self.low = low
            self.known[rows] = True  # last: another thread that sees it relies on the mean
