"""Rounds: how far a run has come, so that a killed one goes on, and whether another round or start helped."""

from __future__ import annotations

import math
from typing import NamedTuple

from torch import Tensor

from lnmap.methods.base import Run


class Progressed(NamedTuple):
    """How far a run has come: the round that is next, and its dictionary (k, 2), None where it is still to be found.

    :param way: which of the starts it began with, from 0.
    :param own: pairs (h, 2) that words of the seed chose when they were held out, in the round before.
    :param before: the dictionary of the round before, with its own such pairs, and `ranks` how well it found held-out
        words.
    :param rival: the dictionary that another start led to, with its own such pairs.
    """

    round: int = 0
    dictionary: Tensor | None = None
    way: int = 0
    own: Tensor | None = None
    before: Tensor | None = None
    own_before: Tensor | None = None
    ranks: Tensor | None = None
    rival: Tensor | None = None
    rival_own: Tensor | None = None

    def save(self, run: Run) -> None:
        """Leave it in the run's checkpoint."""
        tensors = {name: value for name, value in self._asdict().items() if isinstance(value, Tensor)}
        run.checkpoint.save({"round": self.round, "way": self.way, "log": run.log}, tensors)


def resume(run: Run) -> Progressed:
    """Return how far a killed run had come, and put back its log; the beginning, if there was none."""
    state = run.checkpoint.load()
    if state is None:
        return Progressed()
    values, tensors = state
    run.log[:] = values["log"]
    found = {name: tensor.to(run.device) for name, tensor in tensors.items()}
    return Progressed(int(values["round"]), way=int(values.get("way", 0)), **found)


def harms(now: Tensor, before: Tensor | None) -> bool:
    """Whether held-out words (h,) are found worse than before, by more than a standard error."""
    if before is None:
        return False
    lost = before.to(now) - now
    return len(lost) > 1 and float(lost.mean()) > float(lost.std()) / math.sqrt(len(lost))
