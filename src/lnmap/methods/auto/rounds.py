"""Rounds: how far a run has come, so that a killed one goes on, and whether another round helped."""

from __future__ import annotations

import math
from typing import NamedTuple

from torch import Tensor

from lnmap.methods.base import Run


class Progressed(NamedTuple):
    """How far a run has come: the round that is next, and its dictionary (k, 2).

    :param own: pairs (h, 2) that words of the seed chose when they were held out, in the round before.
    :param before: the dictionary of the round before, with its own such pairs, and `ranks` how well it found held-out
        words.
    """

    round: int
    dictionary: Tensor
    own: Tensor | None = None
    before: Tensor | None = None
    own_before: Tensor | None = None
    ranks: Tensor | None = None

    def save(self, run: Run) -> None:
        """Leave it in the run's checkpoint."""
        tensors = {name: value for name, value in self._asdict().items() if isinstance(value, Tensor)}
        run.checkpoint.save({"round": self.round, "log": run.log}, tensors)


def resume(run: Run) -> Progressed | None:
    """Return how far a killed run had come, if there was one, and put back its log."""
    state = run.checkpoint.load()
    if state is None:
        return None
    values, tensors = state
    run.log[:] = values["log"]
    return Progressed(int(values["round"]), **{name: tensor.to(run.device) for name, tensor in tensors.items()})


def harms(now: Tensor, before: Tensor | None) -> bool:
    """Whether held-out words (h,) are found worse than before, by more than a standard error."""
    if before is None:
        return False
    lost = before.to(now) - now
    return len(lost) > 1 and float(lost.mean()) > float(lost.std()) / math.sqrt(len(lost))
