"""The VecMap family: five systems made of the multi-step map (`mapping`) and the self-learning loop (`learning`)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from lnmap.methods.base import Cost, LinearAlignment, Method, Run, require_finite, require_pairs
from lnmap.methods.options import option
from lnmap.methods.procrustes import rotate_pairs
from lnmap.methods.vecmap.check import require_distinct
from lnmap.methods.vecmap.learning import SelfLearningOptions, initial_pairs, self_learn
from lnmap.methods.vecmap.mapping import MultiStepOptions, choose_ridge, multi_step
from lnmap.normalize import Norms, fit_both

_ORIGINAL = {"schedule": "original", "max_iterations": 1_000_000}  # VecMap has no limit
_RIDGE = "none known where the pairs span all dimensions; with fewer, a ridge makes the singular whitening possible"
_SHORTENED = "shortened schedule: dropout on the 4 000 most frequent words, stages end after 10 iterations, not 50"
_RANDOM = "other random numbers"
_QUICK = {"words": 600, "fast_words": 600, "max_iterations": 60, "fast_patience": 3, "fast_finish": 3}


class _Vecmap(Method):
    """What the systems share: grow a dictionary from the seed, and solve the map on it."""

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Find a dictionary and solve the map on it."""
        if self.supervision != "none":
            require_pairs(self, pairs)
        norms, x, z = fit_both(self.options.normalize, source, target)
        return self._solve(norms, x, z, self._dictionary(x, z, pairs, run), run)

    def _dictionary(self, x: Tensor, z: Tensor, pairs: Tensor, run: Run) -> Tensor:
        """Return the pairs (k, 2) of x (n, d_s), z (m, d_t) that the map is solved on."""
        return self_learn(x, z, pairs, self.options, run)

    def _solve(self, norms: Norms, x: Tensor, z: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Map both vocabularies by the multi-step map of a dictionary (k, 2)."""
        x, z = x[pairs[:, 0]], z[pairs[:, 1]]
        w_x, w_z = multi_step(x, z, self.options, choose_ridge(x, z, self.options, run))
        require_finite(self.name, source=w_x, target=w_z)
        return LinearAlignment(norms, w_x, w_z)


class VecmapSup(_Vecmap):
    """One multi-step map on the seed."""

    name = "vecmap-sup"
    title = "VecMap, supervised"
    citation = "Artetxe et al. 2018, AAAI; VecMap's preset --supervised"
    stochastic = False
    Options = MultiStepOptions
    departures = {None: _RIDGE}
    costs = {None: Cost(one=0.5)}

    def _dictionary(self, x: Tensor, z: Tensor, pairs: Tensor, run: Run) -> Tensor:
        return pairs


@dataclass(frozen=True)
class AaaiOptions(MultiStepOptions):
    """Options of `artetxe2018aaai`."""

    normalize: str = option("unit,center", "normalisation recipe of both languages")
    reweight_source: float = option(0.0, "step 3: power of the singular values the source is multiplied by", low=0)
    reweight_target: float = option(1.0, "step 3: power of the singular values the target is multiplied by", low=0)


class Artetxe2018Aaai(VecmapSup):
    """The multi-step framework as published: only the target is re-weighted."""

    name = "artetxe2018aaai"
    title = "Multi-step framework of linear transformations"
    citation = "Artetxe et al. 2018, AAAI"
    Options = AaaiOptions
    departures = {None: _RIDGE}


@dataclass(frozen=True)
class RobustOptions(SelfLearningOptions, MultiStepOptions):
    """Options of `vecmap-semi`."""


class VecmapSemi(_Vecmap):
    """Robust self-learning from a seed, then the multi-step map on the last dictionary."""

    name = "vecmap-semi"
    title = "VecMap, semi-supervised"
    citation = "Artetxe et al. 2018, ACL; VecMap's preset --semi_supervised"
    supervision = "seed + unaligned words"
    Options = RobustOptions
    profiles = {"original": _ORIGINAL}
    departures = {None: _SHORTENED, "original": f"none known but {_RANDOM}"}
    costs = {None: Cost(250), "original": Cost(5_803)}
    quick = _QUICK


@dataclass(frozen=True)
class Acl2017Options(SelfLearningOptions):
    """Options of `artetxe2017`."""

    normalize: str = option("unit,center", "normalisation recipe of both languages")
    words: int = option(0, "most frequent words of each language the loop works on; 0 for all", low=0)
    neighbours: int = option(0, "k of CSLS in the loop; 0 for plain dot products", low=0)
    direction: str = option(
        "forward", "induce from both sides and concatenate, or from the source", ("union", "forward")
    )
    keep: float = option(1.0, "probability that a score survives dropout, at the start", low=1e-3)
    patience: int = option(1, "iterations without improvement that end a stage", low=1)
    schedule: str = option("original", "fast or original; they differ only where dropout is used", ("fast", "original"))


class Artetxe2017(_Vecmap):
    """Rotation and nearest neighbours in turns, from a small seed; the seed serves for the first rotation only."""

    name = "artetxe2017"
    title = "Self-learning"
    citation = "Artetxe et al. 2017, ACL"
    supervision = "seed + unaligned words"
    orthogonal = True
    keeps_target = True
    Options = Acl2017Options
    departures = {None: "none known but a limit of 2 000 iterations"}
    costs = {None: Cost(both=59)}
    quick = {"max_iterations": 5}

    @property
    def stochastic(self) -> bool:
        """Only dropout is random."""
        return bool(self.options.keep < 1)

    def _solve(self, norms: Norms, x: Tensor, z: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        return LinearAlignment.onto_target(norms, rotate_pairs(x, z, pairs))


@dataclass(frozen=True)
class Acl2018Options(RobustOptions):
    """Options of `artetxe2018acl`."""

    initial_words: int = option(4000, "words of each language the first dictionary is read off", low=1)
    check_words: int = option(4000, "words of each language the result is compared with chance on", low=1)
    least_distinctness: float = option(
        1.4,
        "how many times more than by chance translations must stand out; less is a failed run, 0 accepts all",
        low=0,
    )


class Artetxe2018Acl(_Vecmap):
    """Robust self-learning from a dictionary that the shapes of the two spaces give; pairs are not looked at."""

    name = "artetxe2018acl"
    title = "Robust self-learning, unsupervised"
    citation = "Artetxe et al. 2018, ACL"
    supervision = "none"
    Options = Acl2018Options
    profiles = {"original": {**_ORIGINAL, "least_distinctness": 0.0}}
    departures = {
        None: f"{_SHORTENED}; a result no better than chance is an error",
        "original": f"none known but {_RANDOM}; fewer than 100 words are refused",
    }
    costs = {None: Cost(266), "original": Cost(5_614)}
    quick = {**_QUICK, "initial_words": 600, "check_words": 600}

    def _dictionary(self, x: Tensor, z: Tensor, pairs: Tensor, run: Run) -> Tensor:
        pairs = initial_pairs(x, z, self.options.initial_words, self.options, run)
        pairs = self_learn(x, z, pairs, self.options, run)
        if self.options.least_distinctness > 0:
            require_distinct(self, x, z, pairs, run)
        return pairs
