"""What kind of word an answer is, as its vector tells.

Of "sea" a dictionary says "meri", not the genitive "meren", although both are near. Which kinds of words dictionaries
give is learnt from the seed: one direction in the space of each language, along its principal components.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lnmap.normalize import Normalizer

_COMPONENTS = 100
_ROWS = 8192  # at a time
_SAMPLE = 5000  # most frequent words that the components are those of
_SPREAD = 0.5  # of a coordinate
_TINY = 1e-6  # share of the largest variance below which a component says nothing


class Kinds:
    """The words of one language by their principal components, each of the same spread.

    :param vectors: raw vectors (n, d), most frequent word first.
    """

    def __init__(self, vectors: Tensor) -> None:
        self.vectors, self.norm = vectors, Normalizer().learn(vectors)
        sample = self.norm.apply(vectors[:_SAMPLE]).cpu().double()
        values, basis = torch.linalg.eigh(sample.T @ sample / max(len(sample), 1))
        kept = (values > _TINY * values.amax()).nonzero()[-_COMPONENTS:, 0]
        self.basis = (basis[:, kept] * (_SPREAD / values[kept].sqrt())).to(vectors)  # (d, r)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates as features."""
        return tuple(f"kind {place}" for place in range(self.basis.shape[1]))

    def coordinates(self, rows: Tensor) -> Tensor:
        """Return the coordinates of words, (..., r) for rows of any shape."""
        own, place = rows.unique(return_inverse=True)
        return (self.norm.apply(self.vectors[own]) @ self.basis)[place]

    def scores(self, weights: Tensor) -> Tensor:
        """Return the weighted sum of the coordinates of all words, (n,) for weights (r,)."""
        along = self.basis @ weights.to(self.basis)  # (d,)
        return torch.cat([self.norm.apply(block) @ along for block in self.vectors.split(_ROWS)])
