"""Read what format version 1 of the model folder wrote: the same numbers under other names."""

from __future__ import annotations

import re
from typing import Any

from torch import Tensor

from lnmap.direction import Direction, Side

_DIRECTIONS = {"False": Direction.FORWARD, "True": Direction.BACKWARD}  # `reverse`, as version 1 wrote it


def upgrade_alignment(
    kind: str, values: dict[str, Any], tensors: dict[str, Tensor]
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the values and tensors of an alignment as version 2 has them.

    Version 1 named neighbourhood means `means.<reverse>.<0 for the side asked, 1 for the other>`, wrote what belongs to
    a side as a list of two, and had one tensor for the spelling of both languages.
    """
    renamed = {_mean_name(name) if name.startswith("means.") else name: t for name, t in tensors.items()}
    return _values(kind, values), _tensors(kind, renamed)


def _mean_name(name: str) -> str:
    _, reverse, place = name.split(".")
    direction = _DIRECTIONS[reverse]
    return f"means.{direction}.{(direction.asked, direction.answering)[int(place)]}"


def _values(kind: str, values: dict[str, Any]) -> dict[str, Any]:
    if kind == "ensemble":
        members = [{**one, "values": _values(one["kind"], one["values"])} for one in values["members"]]
        parts = [{**part, "direction": _DIRECTIONS[str(part["reverse"])]} for part in values["parts"]]
        return {**values, "members": members, "parts": parts}
    sides = [str(side) for side in Side]
    return {
        name: dict(zip(sides, value, strict=True)) if name in ("recipes", "dims") else value
        for name, value in values.items()
    }


def _tensors(kind: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    tensors = {re.sub(r"(^|\.)back\.", r"\1backward.", name): tensor for name, tensor in tensors.items()}
    if kind == "ensemble" and "spelling.rarity" in tensors:
        both = tensors.pop("spelling.rarity")
        tensors |= {f"spelling.rarity.{side}": one.clone() for side, one in zip(Side, both, strict=True)}
    return tensors
