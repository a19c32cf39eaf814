"""Iterative Procrustes refinement (Conneau et al. 2018, supervised)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from lnmap.induce import induce
from lnmap.methods.base import Cost, LinearAlignment, Method, Run, require_pairs
from lnmap.methods.options import Options, option
from lnmap.methods.procrustes import rotate_pairs
from lnmap.normalize import fit_both


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
    departures = {
        None: "none known but that the last rotation is kept, not the one that does best on the test dictionary"
    }
    costs = {None: Cost(both=57)}
    quick = {"refinements": 2}

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Refine the seed's rotation `refinements` times."""
        require_pairs(self, pairs)
        norms, x, y = fit_both(self.options.normalize, source, target)
        w = rotate_pairs(x, y, pairs)  # equation 2
        with run.progress.task("refining", self.options.refinements) as task:
            for iteration in range(1, self.options.refinements + 1):
                found = induce(x @ w, y, max_rank=self.options.max_rank, memory=run.memory)
                if not len(found):
                    run.progress.note(
                        f"refinement {iteration} found no mutual neighbours; the rotation before it is kept"
                    )
                    break
                w = rotate_pairs(x, y, found.rows)
                run.record(iteration=iteration, pairs=len(found), mean_csls=float(found.csls.mean()))
                task.advance()
        return LinearAlignment.onto_target(norms, w)
