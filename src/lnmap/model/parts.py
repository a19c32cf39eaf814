"""What a model consists of, and what its folder holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from lnmap.compact import Condensed
from lnmap.confidence import Confidences
from lnmap.direction import Direction, Side
from lnmap.embeddings import Embeddings
from lnmap.judge import Judges
from lnmap.lexicon import Lexicon
from lnmap.methods.base import Alignment

Means = dict[Side, Tensor]  # CSLS neighbourhood means of the words of both languages in one space


@dataclass
class ModelParts:
    """Two vocabularies, the alignment between them, and how it came about.

    :param pairs: the seed pairs it was trained on.
    :param outside: pairs of the same dictionary with a word outside the vocabularies, which nothing was learnt from.
    :param back: the seed pairs of the way back, target words first, if it has a seed of its own.
    :param info: method, options, random seed, versions, seconds and data.
    :param log: the training log, one row per iteration.
    :param means: neighbourhood means of the space of each direction, as far as they are known.
    :param confidence: how far answers can be trusted; None if the model was not calibrated.
    :param judges: what puts answers in order and knows how far they can be trusted, if the method has it.
    :param condensed: the words in few columns of the space of each direction, where a judge puts answers in order.
    """

    source: Embeddings
    target: Embeddings
    alignment: Alignment
    pairs: Lexicon = field(default_factory=lambda: Lexicon([]))
    info: dict[str, Any] = field(default_factory=dict)
    log: list[dict[str, Any]] = field(default_factory=list)
    means: dict[Direction, Means] = field(default_factory=dict)
    confidence: Confidences | None = None
    judges: Judges | None = None
    outside: Lexicon = field(default_factory=lambda: Lexicon([]))
    condensed: dict[Direction, Condensed] = field(default_factory=dict)
    back: Lexicon | None = None

    @property
    def calibrated(self) -> bool:
        """Whether answers have a confidence."""
        return self.confidence is not None or self.judges is not None

    @property
    def outcomes(self) -> dict[Direction, int]:
        """From how many outcomes on held-out seed words the confidence of each direction was learnt."""
        known = self.judges.by if self.judges is not None else self.confidence or {}
        return {direction: one.outcomes for direction, one in known.items()}

    def side(self, side: Side | str) -> Embeddings:
        """Return the source or the target vocabulary."""
        return self.source if Side(side) is Side.SOURCE else self.target

    def seed(self, direction: Direction) -> Lexicon:
        """Return the seed pairs, words of the language translated from first."""
        return self.pairs if direction is Direction.FORWARD else self.pairs.reversed()

    def told(self, direction: Direction) -> Lexicon:
        """Return the pairs that a person gave, words of the language translated from first.

        Those with a word outside the vocabularies are among them, unless a rule chose some pairs of a dictionary.
        """
        chosen = self.pairs.origin.get("take", "all") != "all"
        every = self.pairs if chosen else Lexicon([*self.pairs, *self.outside], self.pairs.origin)
        return every if direction is Direction.FORWARD else every.reversed()

    @property
    def spaces(self) -> tuple[Direction, ...]:
        """The directions that have a space of their own."""
        return (Direction.FORWARD,) if self.alignment.one_space else tuple(Direction)
