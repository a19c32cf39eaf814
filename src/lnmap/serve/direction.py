"""Direction: translate from one side of a space, where what CSLS needs of each word is known already."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from lnmap.confidence import Confidence, describe
from lnmap.model.model import Model
from lnmap.retrieve import BilingualSpace
from lnmap.serve.best import Rows, Scores, Table


@dataclass(frozen=True)
class Found:
    """Translations of some words: rows, CSLS scores and cosines, all of one shape."""

    rows: Rows
    csls: Scores
    cosine: Scores


class Direction:
    """One direction of a model.

    :param space: both languages, searched from the language translated from.
    :param best: the best translation of each word.
    :param back: the best word of the language translated from, in the same space, for each word of the other.
    :param confidence: what tells how likely a translation is right, if the model was calibrated.
    """

    def __init__(self, space: BilingualSpace, best: Table, back: Table, confidence: Confidence | None = None) -> None:
        self.space, self.best, self.back, self._confidence = space, best, back, confidence

    def search(self, rows: Rows, k: int) -> Found:
        """Find the k best translations of some words by CSLS, each of shape (words, k)."""
        scores, hits = self.best.search(rows, k)
        csls = 2 * scores - self.space.means[0][torch.from_numpy(rows)][:, None]
        return Found(hits.numpy(), csls.numpy(), (scores - self.best.bias[hits]).numpy())

    def best_of(self, rows: Rows) -> Found:
        """Give the best translation of each word, each of shape (words,)."""
        best = self.best.look_up(rows)
        means, bias = self.space.means[0].numpy(), self.best.bias.numpy()
        return Found(best.rows, 2 * best.first - means[rows], best.first - bias[best.rows])

    def scores(self, rows: Rows, targets: Rows) -> Found:
        """Score given pairs."""
        a, b = torch.from_numpy(rows), torch.from_numpy(targets)
        cosine = (self.space.source[a] * self.space.target[b]).sum(dim=1)
        csls = 2 * cosine - self.space.means[0][a] - self.space.means[1][b]
        return Found(targets, csls.numpy(), cosine.numpy())

    def confidence(self, rows: Rows, found: Found) -> NDArray[np.float32] | None:
        """How likely translations are right, as calibrated on held-out pairs; None where that was not done.

        :param rows: the words asked (n,); `found` holds one translation each (n,) or several (n, k).
        """
        if self._confidence is None:
            return None
        asked = rows.reshape(-1, *[1] * (found.rows.ndim - 1))
        means, target_means = (mean.numpy() for mean in self.space.means)
        margin = found.csls + means[asked] - 2 * _rivals(self.best, asked, found.rows)
        back = found.csls + target_means[found.rows] - 2 * _rivals(self.back, found.rows, asked)
        described = describe(*(torch.from_numpy(part) for part in (found.csls, margin, back)))
        sure: NDArray[np.float32] = self._confidence.probability(described).numpy()
        return sure


def _rivals(table: Table, rows: Rows, chosen: Rows) -> Scores:
    """Score of the best candidate of each word besides the one chosen."""
    best = table.look_up(rows.reshape(-1))
    first, second, hit = (part.reshape(rows.shape) for part in (best.first, best.second, best.rows))
    return np.where(hit == chosen, second, first)


def both_directions(model: Model) -> dict[bool, Direction]:
    """Give both directions of a model; where they are searched in one space each is the other's way back."""
    spaces = {reverse: model.space(reverse) for reverse in (False, True)}
    best = {reverse: _table(space) for reverse, space in spaces.items()}
    one_space = model.alignment.one_space
    back = {reverse: best[not reverse] if one_space else _table(spaces[reverse].swapped()) for reverse in best}
    confidence = model.confidence or {}
    return {
        reverse: Direction(spaces[reverse], best[reverse], back[reverse], confidence.get(reverse)) for reverse in best
    }


def _table(space: BilingualSpace) -> Table:
    return Table(space.source, space.target, space.target_means / -2)
