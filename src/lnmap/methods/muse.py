"""Iterative Procrustes refinement (Conneau et al. 2018, supervised)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from lnmap.induce import induce
from lnmap.methods.base import LinearAlignment, Method, Run, require_pairs
from lnmap.methods.options import Options, option
from lnmap.methods.procrustes import rotated, rotation
from lnmap.normalize import Normalizer


@dataclass(frozen=True)
class MuseOptions(Options):
    """Options of `muse`."""

    normalize: str = option("none", "normalisation recipe of both languages")
    refinements: int = option(5, "how often a dictionary is induced and the rotation solved again", low=0)
    max_rank: int = option(10_000, "both words of an induced pair are among this many most frequent words", low=1)


class Muse(Method):
    """Procrustes on the seed, then on mutual CSLS neighbours; the last rotation is kept, no test data is seen."""

    name = "muse"
    title = "Iterative Procrustes refinement (MUSE, supervised)"
    citation = "Conneau et al. 2018, ICLR"
    orthogonal = True
    keeps_target = True
    stochastic = False
    Options = MuseOptions

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Refine a rotation `refinements` times."""
        require_pairs(self, pairs, 1)
        norms = Normalizer(self.options.normalize), Normalizer(self.options.normalize)
        x, y = norms[0].fit(source), norms[1].fit(target)
        w = rotation(x[pairs[:, 0]], y[pairs[:, 1]])
        return rotated(norms, refine(x, y, w, self.options.refinements, self.options.max_rank, run))


def refine(x: Tensor, y: Tensor, w: Tensor, times: int, max_rank: int, run: Run) -> Tensor:
    """Induce mutual CSLS neighbours and solve Procrustes on them, `times` times."""
    with run.progress.task("refining", times) as task:
        for iteration in range(1, times + 1):
            found = induce(x @ w, y, max_rank=max_rank, memory=run.memory)
            if not len(found):
                run.progress.note(f"refinement {iteration} found no mutual neighbours; the rotation before it is kept")
                break
            w = rotation(x[found.rows[:, 0]], y[found.rows[:, 1]])
            run.record(iteration=iteration, pairs=len(found), mean_csls=float(found.csls.mean()))
            task.advance()
    return w
