"""Choose the words whose translations tell most about all others.

A linear map is learnt from vectors of words whose translations are known. How badly it is known at a vector x is
x' A x with A the inverse of (ridge + the sum of z z' over the known words z). Each word chosen is the one that lowers
the mean of this over the whole vocabulary most, where frequent words count more: a word in a region that has many
words and few known ones (transductive experimental design, Yu et al. 2006).
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from lnmap.normalize import RENORM, Normalizer

RIDGE = 1.0
FLAT = 50  # words that count about the same: the most frequent ones are not worth most


def normalized(vectors: Tensor) -> Tensor:
    """Return vectors (n, d) as most methods compare them: without their mean, of length one."""
    return Normalizer(RENORM).fit(vectors)


def weights(words: int) -> Tensor:
    """Return how much words count, by their place from the most frequent one, (n,)."""
    return (torch.arange(words) + FLAT).float().rsqrt()


@torch.no_grad()
def choose(vectors: Tensor, known: Tensor, free: Tensor, weight: Tensor, ridge: float = RIDGE) -> Iterator[int]:
    """Yield the rows of the words to ask about, the most useful first; each counts as known for those after it.

    A step costs two products of the matrix with a vector: the inverse is never formed anew.

    :param vectors: shape (n, d), normalised.
    :param known: rows of the words whose translations are known.
    :param free: whether each word may be asked about, (n,).
    :param weight: how much each word counts in the mean, (n,).
    """
    x, d = vectors, vectors.shape[1]
    spread = (x.T @ (x * (weight / weight.sum())[:, None])).double()  # (d, d), C: what the mean is taken over
    seen = x[known].double()
    inverse = torch.linalg.inv(ridge * torch.eye(d, dtype=torch.double) + seen.T @ seen)
    gain = ((x @ (inverse @ spread @ inverse).to(x)) * x).sum(dim=1)  # (n,), x' A C A x
    doubt = ((x @ inverse.to(x)) * x).sum(dim=1)  # (n,), x' A x
    free = free.clone()
    while free.any():
        row = int((gain / (1 + doubt)).masked_fill(~free, -torch.inf).argmax())
        yield row
        free[row] = False
        step = inverse @ x[row].double()  # A z
        scale = float(1 + x[row].double() @ step)
        along, across = x @ step.to(x), x @ (inverse @ (spread @ step)).to(x)
        gain += -2 * along * across / scale + along**2 * float(step @ spread @ step) / scale**2
        doubt -= along**2 / scale
        inverse -= torch.outer(step, step) / scale
