"""Several alignments, and the spelling of the words, in one space.

Parts of length sqrt(w) side by side have the weighted mean of their cosines as cosine, so a combination is searched
like any other space.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import torch
from torch import Tensor

from lnmap.direction import Direction, Side
from lnmap.methods.base import Alignment, LinearAlignment, State, section
from lnmap.methods.kernel import KernelAlignment
from lnmap.methods.lnmap.alignment import LatentAlignment
from lnmap.normalize import lengths
from lnmap.spelling import Spelling

_KINDS: dict[str, type[Alignment]] = {kind.kind: kind for kind in (LinearAlignment, LatentAlignment, KernelAlignment)}


@dataclass
class Part:
    """The space that an alignment searches one direction in, and its weight."""

    name: str
    alignment: Alignment
    direction: Direction = Direction.FORWARD
    weight: float = 1.0

    def scaled(self, mapped: Tensor) -> Tensor:
        """Scale mapped words (n, c) to length sqrt(weight)."""
        return mapped * (math.sqrt(self.weight) / lengths(mapped))


def both_spaces(name: str, alignment: Alignment) -> list[Part]:
    """Return the spaces of both directions, each with half of the weight; one where they are the same."""
    if alignment.one_space:
        return [Part(name, alignment)]
    return [Part(name, alignment, direction, 0.5) for direction in Direction]


class EnsembleAlignment(Alignment):
    """Maps a word by every part, and by its spelling if there is one; both directions share the space."""

    kind = "ensemble"
    one_space = True

    def __init__(self, parts: Sequence[Part], spelling: Spelling | None = None) -> None:
        self.parts, self.spelling = list(parts), spelling

    def map_source(self, x: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_s) -> (n, sum of c)."""
        return self._map(Side.SOURCE, x)

    def map_target(self, y: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_t) -> (n, sum of c)."""
        return self._map(Side.TARGET, y)

    def _map(self, side: Side, x: Tensor) -> Tensor:
        """Map words by every part; parts of one alignment stand beside each other and share what they compute."""
        found: list[Tensor] = []
        for _, same in groupby(self.parts, key=lambda part: id(part.alignment)):
            parts = list(same)
            mapped = parts[0].alignment.map_each(side, x, [part.direction for part in parts])
            found += [part.scaled(one) for part, one in zip(parts, mapped, strict=True)]
        return torch.cat(found, dim=1)

    def spell(self, side: Side, words: Sequence[str]) -> Tensor | None:
        """Return the columns of the words' spelling (n, h)."""
        return None if self.spelling is None else self.spelling.columns(side, words)

    def state(self) -> State:
        """Return the alignments, each once, the parts made of them, and the spelling."""
        kept = list({id(part.alignment): part.alignment for part in self.parts}.values())
        places = {id(alignment): place for place, alignment in enumerate(kept)}
        values: dict[str, Any] = {"members": [], "parts": []}
        tensors: dict[str, Tensor] = {}
        for part in self.parts:
            place = places[id(part.alignment)]
            one = {"name": part.name, "of": place, "direction": part.direction, "weight": part.weight}
            values["parts"].append(one)
        for place, alignment in enumerate(kept):
            own_values, own = alignment.state()
            values["members"].append({"kind": alignment.kind, "values": own_values})
            tensors |= {f"{place}.{name}": tensor for name, tensor in own.items()}
        if self.spelling is not None:
            values["spelling"], own = self.spelling.state()
            tensors |= {f"spelling.{name}": tensor for name, tensor in own.items()}
        return values, tensors

    @classmethod
    def from_state(cls, values: dict[str, Any], tensors: dict[str, Tensor]) -> EnsembleAlignment:
        """Rebuild from `state()`."""
        kept = [
            _KINDS[member["kind"]].from_state(member["values"], section(tensors, f"{i}."))
            for i, member in enumerate(values["members"])
        ]
        parts = [
            Part(str(part["name"]), kept[part["of"]], Direction(part["direction"]), float(part["weight"]))
            for part in values["parts"]
        ]
        spelling = values.get("spelling")
        return cls(parts, spelling and Spelling.from_state(spelling, section(tensors, "spelling.")))

    def to(self, device: torch.device | str) -> EnsembleAlignment:
        """Move to a device."""
        for part in self.parts:
            part.alignment.to(device)
        if self.spelling is not None:
            self.spelling.to(device)
        return self
