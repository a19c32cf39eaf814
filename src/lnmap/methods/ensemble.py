"""Several alignments, and the spelling of the words, in one space.

Parts of length sqrt(w) side by side have the weighted mean of their cosines as cosine, so a combination is searched
like any other space.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lnmap.direction import Direction, Side
from lnmap.methods.aae import TwoWayAlignment
from lnmap.methods.base import Alignment, LinearAlignment, State
from lnmap.methods.lnmap.alignment import LatentAlignment
from lnmap.normalize import unit
from lnmap.spelling import Spelling

_KINDS: dict[str, type[Alignment]] = {kind.kind: kind for kind in (LinearAlignment, LatentAlignment, TwoWayAlignment)}


@dataclass
class Part:
    """The space that an alignment searches one direction in, and its weight."""

    name: str
    alignment: Alignment
    direction: Direction = Direction.FORWARD
    weight: float = 1.0


def both_spaces(name: str, alignment: Alignment, weight: float = 1.0) -> list[Part]:
    """Give the spaces of both directions, each with half of the weight; one where they are the same."""
    if alignment.one_space:
        return [Part(name, alignment, Direction.FORWARD, weight)]
    return [Part(name, alignment, direction, weight / 2) for direction in Direction]


class EnsembleAlignment(Alignment):
    """Maps a word by every part, and by its spelling if there is one; both directions share the space."""

    kind = "ensemble"
    one_space = True

    def __init__(self, parts: Sequence[Part], spelling: Spelling | None = None) -> None:
        self.parts, self.spelling = list(parts), spelling

    def map_source(self, x: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_s) -> (n, sum of c)."""
        return torch.cat([_scaled(part.alignment.map_source(x, part.direction), part) for part in self.parts], dim=1)

    def map_target(self, y: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_t) -> (n, sum of c)."""
        return torch.cat([_scaled(part.alignment.map_target(y, part.direction), part) for part in self.parts], dim=1)

    def spell(self, side: Side, words: Sequence[str]) -> Tensor | None:
        """Columns of the words' spelling (n, h)."""
        return None if self.spelling is None else self.spelling.columns(side, words)

    def state(self) -> State:
        """The alignments, each once, the parts made of them, and the spelling."""
        kept: list[Alignment] = []
        parts = []
        for part in self.parts:
            if all(part.alignment is not other for other in kept):
                kept.append(part.alignment)
            place = next(i for i, other in enumerate(kept) if other is part.alignment)
            parts.append({"name": part.name, "of": place, "direction": part.direction, "weight": part.weight})
        members: list[dict[str, Any]] = []
        tensors: dict[str, Tensor] = {}
        for i, alignment in enumerate(kept):
            values, own = alignment.state()
            members.append({"kind": alignment.kind, "values": values})
            tensors |= {f"{i}.{name}": tensor for name, tensor in own.items()}
        combined: dict[str, Any] = {"members": members, "parts": parts}
        if self.spelling is not None:
            combined["spelling"], own = self.spelling.state()
            tensors |= {f"spelling.{name}": tensor for name, tensor in own.items()}
        return combined, tensors

    @classmethod
    def from_state(cls, values: dict[str, Any], tensors: dict[str, Tensor]) -> EnsembleAlignment:
        """Rebuild from `state()`."""
        kept = [
            _KINDS[member["kind"]].from_state(member["values"], _section(tensors, f"{i}."))
            for i, member in enumerate(values["members"])
        ]
        parts = [
            Part(str(part["name"]), kept[part["of"]], Direction(part["direction"]), float(part["weight"]))
            for part in values["parts"]
        ]
        spelling = values.get("spelling")
        return cls(parts, spelling and Spelling.from_state(spelling, _section(tensors, "spelling.")))

    def to(self, device: torch.device | str) -> EnsembleAlignment:
        """Move to a device; spelling stays with the words."""
        for part in self.parts:
            part.alignment.to(device)
        return self


def _scaled(mapped: Tensor, part: Part) -> Tensor:
    return unit(mapped) * math.sqrt(part.weight)


def _section(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
