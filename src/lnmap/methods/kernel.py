"""A non-linear map: GeoMM, and kernel ridge regression of what it leaves over on the seed.

A linear map treats all regions of a space alike. What it gets wrong near one seed pair tells what it gets wrong near
similar words: x -> u + sum_i k(u, u_i) w_i, with u the unit vector of x after GeoMM and u_i those of the seed's words.
The correction is only as strong as held-out seed words ask for, and none where they do not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lnmap.confidence import hold_out
from lnmap.direction import Direction, Side
from lnmap.methods.base import (
    Alignment,
    Cost,
    LinearAlignment,
    Method,
    Run,
    State,
    require_finite,
    require_pairs,
    section,
)
from lnmap.methods.geomm import Geomm, GeommOptions
from lnmap.methods.options import option
from lnmap.normalize import unit
from lnmap.retrieve import NEIGHBOURS, neighbourhood_means

_RIDGES = (1.0, 3.0, 10.0, 30.0)  # tried beside no correction at all
_POOL = 8000  # most frequent words that a word's neighbours are sought among while the ridge is chosen
_ROWS = 2048


@dataclass(frozen=True)
class KernelOptions(GeommOptions):
    """Options of `kernel`."""

    width: float = option(0.8, "width of the kernel exp((cosine - 1) / width)", low=1e-3)
    ridge: float = option(0.0, "ridge of the correction, larger for a weaker one; 0: held-out words choose", low=0)
    most: int = option(8000, "most seed pairs that the correction is learnt from, the most frequent", low=1)


class Correction(NamedTuple):
    """The correction of one direction: unit vectors u_i (k, c) of seed words, their weights w_i (k, c)."""

    anchors: Tensor
    weights: Tensor

    def apply(self, u: Tensor, width: float) -> Tensor:
        """Correct unit vectors (n, c)."""
        blocks = (block + kernel(block, self.anchors, width) @ self.weights for block in u.split(_ROWS))
        return torch.cat(list(blocks)) if len(u) else u


def kernel(a: Tensor, b: Tensor, width: float) -> Tensor:
    """Return exp((a_i . b_j - 1) / width) of unit vectors (n, c) and (m, c): shape (n, m)."""
    return (a @ b.T).sub_(1).div_(width).exp_()


def corrections(a: Tensor, b: Tensor, width: float, ridges: tuple[float, ...]) -> Iterator[Correction]:
    """Solve (K + ridge I) w = b - a for unit vectors of pairs (k, c), for each ridge."""
    k, left_over = kernel(a, a, width).double(), (b - a).double()
    for ridge in ridges:
        factor = torch.linalg.cholesky(k + ridge * torch.eye(len(k), dtype=k.dtype, device=k.device))
        yield Correction(a, torch.cholesky_solve(left_over, factor).to(a))


class KernelAlignment(Alignment):
    """A linear alignment, and a correction of the words asked for in each direction that has one."""

    kind = "kernel"

    def __init__(
        self, linear: LinearAlignment, width: float, corrections: Mapping[Direction, Correction | None]
    ) -> None:
        self.linear, self.width, self.corrections = linear, width, dict(corrections)

    @property
    def one_space(self) -> bool:
        """Whether only the forward direction was trained."""
        return len(self.corrections) == 1

    def map_source(self, x: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_s) -> (n, c)."""
        return self.map_each(Side.SOURCE, x, [direction])[0]

    def map_target(self, y: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_t) -> (n, c)."""
        return self.map_each(Side.TARGET, y, [direction])[0]

    def map_each(self, side: Side, x: Tensor, directions: Sequence[Direction]) -> list[Tensor]:
        """(n, d) -> (n, c) each; what all directions share is computed once."""
        linear = unit(self.linear.map_source(x) if side is Side.SOURCE else self.linear.map_target(x))
        return [self._corrected(linear, side, direction) for direction in directions]

    def _corrected(self, mapped: Tensor, side: Side, direction: Direction) -> Tensor:
        """Correct unit vectors (n, c)."""
        direction = direction if direction in self.corrections else Direction.FORWARD
        correction = self.corrections[direction]
        return correction.apply(mapped, self.width) if correction and side is direction.asked else mapped

    def state(self) -> State:
        """Return the linear alignment, and anchors and weights of the directions that are corrected."""
        values, tensors = self.linear.state()
        for direction, correction in self.corrections.items():
            if correction is not None:
                tensors |= {f"{direction}.{name}": tensor for name, tensor in correction._asdict().items()}
        return values | {"width": self.width, "directions": [str(d) for d in self.corrections]}, tensors

    @classmethod
    def from_state(cls, values: dict[str, Any], tensors: dict[str, Tensor]) -> KernelAlignment:
        """Rebuild from `state()`."""
        found = {Direction(name): section(tensors, f"{name}.") for name in values["directions"]}
        kept = {direction: Correction(**own) if own else None for direction, own in found.items()}
        return cls(LinearAlignment.from_state(values, tensors), float(values["width"]), kept)

    def to(self, device: torch.device | str) -> KernelAlignment:
        """Move to a device."""
        self.linear.to(device)
        self.corrections = {
            direction: correction and Correction(*(tensor.to(device) for tensor in correction))
            for direction, correction in self.corrections.items()
        }
        return self


class Kernel(Method):
    """GeoMM and a kernel correction of each direction, as strong as held-out seed words ask for."""

    name = "kernel"
    title = "GeoMM with a non-linear correction by kernel ridge regression"
    citation = "this project, 2026"
    Options = KernelOptions
    departures = {None: "not a published system"}
    alignment = KernelAlignment
    costs = {None: Cost(one=8)}

    @property
    def stochastic(self) -> bool:
        """Only the choice of held-out pairs is random, and a random start of GeoMM."""
        return bool(self.options.ridge == 0 or self.options.solver != "closed")

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> KernelAlignment:
        """Fit GeoMM, then its correction in each direction."""
        require_pairs(self, pairs)
        pairs = pairs.unique(dim=0)
        linear = self._geomm(source, target, pairs, run)
        seen = dict(zip(Side, pairs[: self.options.most].T, strict=True))
        sides = _mapped(linear, source[seen[Side.SOURCE]], target[seen[Side.TARGET]])  # of the pairs, (k, c)
        found: dict[Direction, Correction | None] = {}
        held = None if self.options.ridge else hold_out(pairs, run.seed)
        trial = self._trial(source, target, pairs, held, run) if held is not None else None
        for direction in list(Direction)[: 1 if run.one_way else 2]:
            ridge = self.options.ridge or (math.inf if trial is None else self._choose(*trial, pairs, direction, run))
            a, b = sides[direction.asked], sides[direction.answering]
            found[direction] = self._correct(a, b, (ridge,))[0] if math.isfinite(ridge) else None
        return KernelAlignment(linear, self.options.width, found)

    def _geomm(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Fit GeoMM."""
        names = GeommOptions.__dataclass_fields__
        options = GeommOptions(**{name: getattr(self.options, name) for name in names})
        return Geomm(options).fit(source, target, pairs, run)

    def _correct(self, a: Tensor, b: Tensor, ridges: tuple[float, ...]) -> list[Correction]:
        """Solve the correction of unit vectors of pairs (k, c), for each ridge."""
        found = list(corrections(a, b, self.options.width, ridges))
        require_finite(self.name, **{f"correction {i}": correction.weights for i, correction in enumerate(found)})
        return found

    def _trial(
        self, source: Tensor, target: Tensor, pairs: Tensor, held: Tensor, run: Run
    ) -> tuple[dict[Side, Tensor], Tensor, Tensor]:
        """Fit GeoMM without the held-out words; return both vocabularies, the pairs it saw, and those held out."""
        rest = pairs[~(torch.isin(pairs[:, 0], held[:, 0]) | torch.isin(pairs[:, 1], held[:, 1]))]
        return _mapped(self._geomm(source, target, rest, run), source, target), rest, held

    def _choose(
        self, sides: dict[Side, Tensor], rest: Tensor, held: Tensor, pairs: Tensor, direction: Direction, run: Run
    ) -> float:
        """Return the ridge that ranks held-out translations best; infinity unless one is clearly better than none."""
        asked, answering = sides[direction.asked], sides[direction.answering]
        column = list(Side).index(direction.asked)
        words = held[:, column].unique()
        means = neighbourhood_means(answering, asked[:_POOL], NEIGHBOURS, memory=run.memory)
        right = torch.zeros(len(words), len(answering), dtype=torch.bool, device=words.device)
        known = pairs[torch.isin(pairs[:, column], words)]
        right[torch.searchsorted(words, known[:, column].contiguous()), known[:, 1 - column]] = True
        queries, seen = asked[words], rest[: self.options.most]
        corrections = self._correct(asked[seen[:, column]], answering[seen[:, 1 - column]], _RIDGES)
        tried = [queries] + [correction.apply(queries, self.options.width) for correction in corrections]
        ranks = torch.stack([reciprocal_ranks(unit(u), answering, means, right) for u in tried])  # (ridges + 1, h)
        gain = ranks[1:] - ranks[0]
        best = int(gain.mean(dim=1).argmax())
        error = gain[best].std() / math.sqrt(len(words))
        for ridge, rank in zip((math.inf, *_RIDGES), ranks.mean(dim=1).tolist(), strict=True):
            run.record(stage="ridge", direction=str(direction), ridge=ridge, rank=rank)
        return _RIDGES[best] if gain[best].mean() > error else math.inf


def _mapped(linear: LinearAlignment, x: Tensor, y: Tensor) -> dict[Side, Tensor]:
    """Map words of both sides to unit vectors (n, c) and (m, c)."""
    return {Side.SOURCE: unit(linear.map_source(x)), Side.TARGET: unit(linear.map_target(y))}


def reciprocal_ranks(queries: Tensor, candidates: Tensor, means: Tensor, right: Tensor) -> Tensor:
    """Return 1 / rank by CSLS of the best right candidate (h, m) of each query (h, c), shape (h,)."""
    scores = 2 * queries @ candidates.T - means  # (h, m)
    best = scores.masked_fill(~right, -torch.inf).amax(dim=1, keepdim=True)
    return 1 / ((scores > best).sum(dim=1) + 1)
