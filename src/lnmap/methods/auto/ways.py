"""Ways to start: from the seed, from what can be found with it, or from both in turn."""

from __future__ import annotations

from torch import Tensor

from lnmap.errors import TrainingError
from lnmap.methods.auto.growing import Ground, Start
from lnmap.methods.auto.start import MANY, first_pairs
from lnmap.methods.base import Run


def possible_starts(ground: Ground, run: Run) -> list[Start]:
    """Return how to start: with few pairs from what is found, with many from the seed; between, held-out words tell."""

    def seed(pairs: Tensor) -> Tensor:
        return pairs

    def found(pairs: Tensor) -> Tensor:
        facts = ground.facts if ground.facts.letters is not None else None
        whole = len(pairs) == len(ground.seed)  # what is found without some of it is nothing to report
        own = run if whole else Run(run.seed, run.device, memory=run.memory, words=run.words)
        try:
            return first_pairs(ground.vectors.source, ground.vectors.target, pairs, facts, own)
        except TrainingError:
            if ground.few:
                raise
            return pairs

    alone, further = Start("seed", seed), Start("found", found)
    if ground.few:
        return [further]
    return [alone, further] if ground.learns and ground.words < MANY else [alone]
