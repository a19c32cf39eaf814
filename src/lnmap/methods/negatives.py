"""Hard negatives: the wrong words nearest to each word of a pair, and the loss that ranks the right one before them."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from lnmap.retrieve import top_k


class Negatives(NamedTuple):
    """Rows of the nearest words of each pair: targets near its x, sources near its y, both of shape (k, n)."""

    targets: Tensor
    sources: Tensor

    def at(self, rows: Tensor) -> Negatives:
        """Return the negatives of some of the pairs, (b,)."""
        return Negatives(self.targets[rows], self.sources[rows])


def nearest_words(from_x: Tensor, from_y: Tensor, all_x: Tensor, all_y: Tensor, count: int, memory: int) -> Negatives:
    """Find the words nearest to each pair (from_x, from_y), both (k, c), among all_x (n, c) and all_y (m, c).

    All vectors have length one. The right words may be among those found; the caller masks them.
    """
    targets = top_k(from_x, all_y, count, memory=memory)[1]
    return Negatives(targets, top_k(from_y, all_x, count, memory=memory)[1])


def info_nce(scores: Tensor, temperature: float) -> Tensor:
    """Return the cross-entropy of the first column of scores (b, 1 + n), the right pair's; -inf for no score."""
    return cross_entropy(scores / temperature, torch.zeros(len(scores), dtype=torch.long, device=scores.device))
