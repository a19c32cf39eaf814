"""The one contract of all methods: fit two vocabularies and some pairs, get an alignment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from lnmap.confidence import Confidences
from lnmap.direction import Direction, Side
from lnmap.errors import InputError, LexiconError, TrainingError
from lnmap.judge import Judges
from lnmap.methods.options import Options
from lnmap.normalize import Normalizer, Norms
from lnmap.progress import Progress, Silent
from lnmap.retrieve import MEMORY

Supervision = Literal["seed", "seed + unaligned words", "none"]
State = tuple[dict[str, Any], dict[str, Tensor]]  # what JSON holds, what safetensors holds


class Checkpoint:
    """Where a long run leaves its state; this one keeps nothing.

    `resumed` says that an interrupted run is being continued.
    """

    resumed: bool = False

    def load(self) -> State | None:
        """Return the last state saved by the same run, if any."""
        return None

    def save(self, values: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Replace the state; either the old or the new one survives a crash."""


@dataclass
class Run:
    """What a fit needs besides data and options, and what it may leave besides its alignment.

    :param words: the two vocabularies, where they are known; most methods look at vectors only.
    :param known: pairs of rows (m, 2) known to be right beside the seed's, to judge held-out answers by; nothing is
        trained on them.
    :param back: the seed of the way back, rows of the target first (k, 2), if it is not the seed turned around; only
        methods with `two_seeds` look at it.
    :param log: the training log, filled by `record`.
    :param confidence: a method that judges itself on held-out pairs may leave the confidence of both directions here;
        it becomes the model's, and nothing needs to be trained again to calibrate it.
    :param judges: a method may leave what puts the answers of its alignment in order.
    """

    seed: int = 0
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    one_way: bool = False
    memory: int = MEMORY
    progress: Progress = field(default_factory=Silent)
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    words: tuple[Sequence[str], Sequence[str]] | None = None
    known: Tensor | None = None
    back: Tensor | None = None
    log: list[dict[str, Any]] = field(default_factory=list)
    confidence: Confidences | None = None
    judges: Judges | None = None

    def record(self, **row: Any) -> None:
        """Add a row to the training log."""
        self.log.append(row)
        self.progress.log(row)

    def generator(self, stream: int = 0) -> torch.Generator:
        """Return a random generator of this run's own, so that no global state is touched."""
        return torch.Generator(self.device).manual_seed((self.seed * 1_000_003 + stream) % 2**63)

    def part(self, **changes: Any) -> Run:
        """Return the run of another method inside this one: same seed, device, memory, progress and log."""
        return Run(self.seed, self.device, memory=self.memory, progress=self.progress, log=self.log, **changes)


class Alignment(ABC):
    """What was learnt: takes raw vectors of either language into one space."""

    kind: ClassVar[str]

    @property
    def one_space(self) -> bool:
        """Whether both directions are searched in the same space, so that one is the other swapped."""
        return False

    @abstractmethod
    def map_source(self, x: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """Map raw source vectors (n, d_s) into the space that `direction` is searched in, (n, c)."""

    @abstractmethod
    def map_target(self, y: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """Map raw target vectors (n, d_t) into the same space, (n, c)."""

    def map_each(self, side: Side, x: Tensor, directions: Sequence[Direction]) -> list[Tensor]:
        """Map raw vectors (n, d) of one side into the spaces of several directions, each (n, c)."""
        take = self.map_source if side is Side.SOURCE else self.map_target
        return [take(x, direction) for direction in directions]

    def spell(self, side: Side, words: Sequence[str]) -> Tensor | None:
        """Return the columns that the spelling of words adds to their mapped vectors, if there are any."""
        return None

    @abstractmethod
    def state(self) -> State:
        """Return everything needed to rebuild it."""

    @classmethod
    @abstractmethod
    def from_state(cls, values: dict[str, Any], tensors: dict[str, Tensor]) -> Alignment:
        """Rebuild from `state()`."""

    @abstractmethod
    def to(self, device: torch.device | str) -> Alignment:
        """Move to a device."""


class LinearAlignment(Alignment):
    """Normalise each side, then multiply it by a matrix: (d_s, c) and (d_t, c)."""

    kind = "linear"
    one_space = True

    def __init__(self, norms: Norms, source: Tensor, target: Tensor) -> None:
        self.norms, self.source, self.target = norms, source, target

    @classmethod
    def onto_target(cls, norms: Norms, w: Tensor) -> LinearAlignment:
        """Map the source by W (d_s, d_t) and leave the target as it is."""
        return cls(norms, w, torch.eye(w.shape[1], dtype=w.dtype, device=w.device))

    def map_source(self, x: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_s) -> (n, c)."""
        return self.norms[0].apply(x) @ self.source

    def map_target(self, y: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_t) -> (n, c)."""
        return self.norms[1].apply(y) @ self.target

    def state(self) -> State:
        """Return two recipes, what their steps learnt, and two matrices."""
        values, tensors = norm_state(self.norms)
        return values, tensors | {"source": self.source, "target": self.target}

    @classmethod
    def from_state(cls, values: dict[str, Any], tensors: dict[str, Tensor]) -> LinearAlignment:
        """Rebuild from `state()`."""
        return cls(load_norms(values, tensors), tensors["source"], tensors["target"])

    def to(self, device: torch.device | str) -> LinearAlignment:
        """Move to a device."""
        for norm in self.norms:
            norm.to(device)
        self.source, self.target = self.source.to(device), self.target.to(device)
        return self


def norm_state(norms: Norms) -> State:
    """Return the state of two normalisers, for the state of an alignment."""
    sides = dict(zip(Side, norms, strict=True))
    tensors = {f"norm.{side}.{name}": t for side, norm in sides.items() for name, t in norm.tensors().items()}
    return {"recipes": {side: norm.recipe for side, norm in sides.items()}}, tensors


def load_norms(values: dict[str, Any], tensors: dict[str, Tensor]) -> Norms:
    """Rebuild the two normalisers of an alignment's state."""
    source, target = (
        Normalizer.from_tensors(values["recipes"][side], section(tensors, f"norm.{side}.")) for side in Side
    )
    return source, target


def section(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose names begin with a prefix, under the rest of their names."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


_REFERENCE = 16_091 * 17_677  # words x words that costs were measured on


@dataclass(frozen=True)
class Cost:
    """CPU seconds of a fit on one core: a fixed part, one growing with one vocabulary, one growing with both.

    Measured on English-French with 16,091 and 17,677 words, 1 000 seed pairs, one direction.
    """

    fixed: float = 0.0
    one: float = 0.0
    both: float = 0.0

    def seconds(self, n: int, m: int) -> float:
        """Return the seconds for vocabularies of n and m words."""
        size = n * m / _REFERENCE
        return self.fixed + self.one * size**0.5 + self.both * size


class Method(ABC):
    """One published system: who wrote it, what it needs and how it is trained (docs/plugins.md: how to write one)."""

    name: ClassVar[str]
    title: ClassVar[str]
    citation: ClassVar[str]  # with a year
    supervision: ClassVar[Supervision] = "seed"
    needs_pairs: ClassVar[bool] = True  # False for one that uses pairs where there are some and can do without
    orthogonal: ClassVar[bool] = False  # the map is a rotation
    keeps_target: ClassVar[bool] = False  # the target's vectors stay as they are, but for normalising
    two_seeds: ClassVar[bool] = False  # it trains each direction for itself and looks at `Run.back`
    checkpoints: ClassVar[bool] = False  # it saves its state in `Run.checkpoint` and can go on from there
    Options: ClassVar[type[Any]] = Options  # a frozen dataclass derived from it; none by default
    profiles: ClassVar[dict[str, dict[str, Any]]] = {}
    departures: ClassVar[Mapping[str | None, str]] = {}  # by profile: how it differs from the published system
    alignment: ClassVar[type[Alignment]] = LinearAlignment  # the class of what `fit` returns
    costs: ClassVar[dict[str | None, Cost]] = {}  # by profile, None for the defaults
    revisions: ClassVar[Mapping[str | None, int]] = {}  # by profile, 1 if missing; counts changes of its results
    quick: ClassVar[dict[str, Any]] = {}  # options of a short run, for `lnmap.testing.check_method`
    finds: ClassVar[float] = 95.0  # per cent of a planted rotation's words that a short run finds; 0: not asked for

    def __init__(self, options: Any = None) -> None:
        self.options: Any = options if options is not None else self.Options()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.options})"

    @property
    def stochastic(self) -> bool:
        """Whether another seed may give another result, with these options."""
        return True

    @classmethod
    def cost(cls, profile: str | None, options: Mapping[str, Any]) -> Cost | None:
        """Return what a fit with a profile and further options costs; None if that was not measured."""
        return cls.costs.get(profile)

    @classmethod
    def revision(cls, profile: str | None) -> int:
        """Return how often what a profile computes was changed, plus one."""
        return cls.revisions.get(profile, 1)

    @abstractmethod
    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> Alignment:
        """Learn from raw vectors (n, d_s) and (m, d_t) and seed pairs of rows (k, 2)."""


def require_pairs(method: Method, pairs: Tensor, least: int = 1) -> None:
    """Refuse a seed that is too small for the method."""
    if len(pairs) < least:
        raise LexiconError(
            f"{method.name} needs at least {least} seed pairs with both words in the vocabularies, got {len(pairs)}",
            advice="add pairs, raise {limit}, or try {pairs:identical}",
        )


def require_equal_dimensions(method: Method, source: Tensor, target: Tensor) -> None:
    """Refuse vectors of different lengths where the method compares them coordinate by coordinate."""
    if source.shape[1] != target.shape[1]:
        raise InputError(
            f"{method.name} needs vectors of one length, got {source.shape[1]} and {target.shape[1]}",
            advice="use a method that maps between dimensions, such as {method:procrustes} or {method:lnmap}",
        )


def require_finite(method: str, **tensors: Tensor) -> None:
    """Refuse to hand on a model that holds NaN or infinite values."""
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise TrainingError(
                f"{method} diverged: {name} is not finite", advice="try another {seed} or {options:normalize=unit}"
            )
