"""The VecMap family: five presets of one engine."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from lnmap.methods.base import LinearAlignment, Method, Run, require_finite, require_pairs
from lnmap.methods.options import option
from lnmap.methods.procrustes import rotated, rotation
from lnmap.methods.vecmap.check import require_distinct
from lnmap.methods.vecmap.learning import SelfLearningOptions, initial_pairs, self_learn
from lnmap.methods.vecmap.mapping import MultiStepOptions, choose_ridge, multi_step
from lnmap.normalize import Normalizer


def normalised(method: Method, source: Tensor, target: Tensor) -> tuple[tuple[Normalizer, Normalizer], Tensor, Tensor]:
    """Fit the method's recipe on both vocabularies."""
    norms = Normalizer(method.options.normalize), Normalizer(method.options.normalize)
    return norms, norms[0].fit(source), norms[1].fit(target)


def multi_step_alignment(
    method: Method, norms: tuple[Normalizer, Normalizer], x: Tensor, z: Tensor, pairs: Tensor, run: Run
) -> LinearAlignment:
    """Map both vocabularies by the multi-step map of a dictionary (k, 2)."""
    x, z = x[pairs[:, 0]], z[pairs[:, 1]]
    w_x, w_z = multi_step(x, z, method.options, choose_ridge(x, z, method.options, run))
    require_finite(method.name, source=w_x, target=w_z)
    return LinearAlignment(norms, w_x, w_z)


class VecmapSup(Method):
    """One multi-step map on the seed."""

    name = "vecmap-sup"
    title = "VecMap, supervised"
    citation = "Artetxe et al. 2018, AAAI; VecMap's preset --supervised"
    stochastic = False
    Options = MultiStepOptions

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Solve the map in closed form."""
        require_pairs(self, pairs, 1)
        norms, x, z = normalised(self, source, target)
        return multi_step_alignment(self, norms, x, z, pairs, run)


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


class Artetxe2017(Method):
    """Rotation and nearest neighbours in turns, from a small seed; the seed serves for the first rotation only."""

    name = "artetxe2017"
    title = "Self-learning"
    citation = "Artetxe et al. 2017, ACL"
    supervision = "seed + unaligned words"
    orthogonal = True
    keeps_target = True
    Options = Acl2017Options

    @property
    def stochastic(self) -> bool:
        """Only dropout is random."""
        return bool(self.options.keep < 1)

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Learn until the mean similarity of nearest neighbours stops to grow."""
        require_pairs(self, pairs, 1)
        norms, x, z = normalised(self, source, target)
        pairs = self_learn(x, z, pairs, self.options, run)
        return rotated(norms, rotation(x[pairs[:, 0]], z[pairs[:, 1]]))


@dataclass(frozen=True)
class RobustOptions(SelfLearningOptions, MultiStepOptions):
    """Options of `vecmap-semi`."""


class VecmapSemi(Method):
    """Robust self-learning from a seed, then the multi-step map on the last dictionary."""

    name = "vecmap-semi"
    title = "VecMap, semi-supervised"
    citation = "Artetxe et al. 2018, ACL; VecMap's preset --semi_supervised"
    supervision = "seed + unaligned words"
    Options = RobustOptions

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Learn from the seed."""
        require_pairs(self, pairs, 1)
        norms, x, z = normalised(self, source, target)
        pairs = self_learn(x, z, pairs, self.options, run)
        return multi_step_alignment(self, norms, x, z, pairs, run)


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


class Artetxe2018Acl(Method):
    """Robust self-learning from a dictionary that the shapes of the two spaces give."""

    name = "artetxe2018acl"
    title = "Robust self-learning, unsupervised"
    citation = "Artetxe et al. 2018, ACL"
    supervision = "none"
    Options = Acl2018Options

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Learn without any pairs; those given are not looked at. Raises TrainingError where nothing was found."""
        norms, x, z = normalised(self, source, target)
        pairs = initial_pairs(x, z, self.options.initial_words, self.options, run)
        pairs = self_learn(x, z, pairs, self.options, run)
        if self.options.least_distinctness > 0:
            require_distinct(self, x, z, pairs, run)
        return multi_step_alignment(self, norms, x, z, pairs, run)
