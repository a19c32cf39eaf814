"""The spaces that a model answers from: both vocabularies mapped, as a whole or as far as they are asked for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from torch import Tensor

from lnmap.compact import CompactSpace, CompactWords, Map, MappedRows, condense
from lnmap.direction import Direction, Side
from lnmap.judge import JudgedSpace
from lnmap.retrieve import BilingualSpace

if TYPE_CHECKING:
    from lnmap.model.model import Model

SMALL = 6000  # words of a side that are faster searched in all columns


def make_space(model: Model, direction: Direction) -> BilingualSpace:
    """Map both vocabularies into the space of a direction."""
    if model.judges is None:
        return _whole_space(model, direction)
    sizes = (len(model.side(side)) for side in Side)
    plain = _compact_space(model, direction) if max(sizes) > SMALL else _whole_space(model, direction)
    return JudgedSpace(plain, model.judges, direction)


def _whole_space(model: Model, direction: Direction) -> BilingualSpace:
    means = model.means.get(direction)
    return BilingualSpace(
        model.whole(direction.asked, direction),
        model.whole(direction.answering, direction),
        memory=model.memory,
        means=None if means is None else (means[direction.asked], means[direction.answering]),
        progress=model.progress,
    )


def _compact_space(model: Model, direction: Direction) -> CompactSpace:
    """Return a space that maps words when they are asked for; what it needs of all words is kept in the model."""
    maps: dict[Side, Map] = {side: partial(_map_rows, model, side, direction) for side in Side}
    sizes = {side: len(model.side(side)) for side in Side}
    if direction not in model.condensed:
        known = model.means.get(direction)
        shown: dict[str, Any] = {"memory": model.memory, "progress": model.progress}
        model.condensed[direction], means = condense(maps, sizes, model.device, means=known is None, **shown)
        model.means[direction] = known or means
    few, means = model.condensed[direction], model.means[direction]
    words = {
        side: CompactWords(
            MappedRows(maps[side], sizes[side], len(few.basis), model.device),
            few.basis,
            few.coarse[side],
            few.fine[side],
        )
        for side in Side
    }
    asked, answering = direction.asked, direction.answering
    return CompactSpace(
        words[asked],
        words[answering],
        (means[asked], means[answering]),
        memory=model.memory,
        progress=model.progress,
    )


def _map_rows(model: Model, side: Side, direction: Direction, rows: Tensor) -> Tensor:
    vocabulary, places = model.side(side), rows.tolist()
    return model.map(vocabulary.vectors[places], side, direction, [vocabulary.words[place] for place in places])
