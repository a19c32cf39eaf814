"""The spaces that a model answers from: both vocabularies mapped, as a whole or as far as they are asked for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from lnmap.compact import POOL, CompactSpace, CompactWords, Map, MappedRows, components, condense
from lnmap.direction import Direction, Side
from lnmap.errors import OptionError
from lnmap.judge import JudgedSpace
from lnmap.retrieve import BilingualSpace

if TYPE_CHECKING:
    from lnmap.model.model import Model

SMALL = 6000  # words of a side that are faster searched in all columns
MOST = 30_000**2  # pairs of words up to which neighbourhood means are computed before anybody asks: some seconds


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
        torch.cat(list(model.mapped(direction.asked, direction))),
        torch.cat(list(model.mapped(direction.answering, direction))),
        memory=model.memory,
        means=None if means is None else (means[direction.asked], means[direction.answering]),
        progress=model.progress,
    )


def _compact_space(model: Model, direction: Direction) -> CompactSpace:
    """Return a space that maps words when they are asked for; what it needs of all words is kept in the model."""
    maps, sizes = _maps(model, direction)
    if direction not in model.condensed:
        known = model.means.get(direction)
        shown: dict[str, Any] = {"memory": model.memory, "progress": model.progress}
        model.condensed[direction], means = condense(
            maps, sizes, model.device, means=known is None, pool=_pool(model), **shown
        )
        model.means[direction] = known or means
    few, means = model.condensed[direction], model.means[direction]
    words = {
        side: CompactWords(
            MappedRows(maps[side], sizes[side], len(few.basis), model.device),
            few.basis,
            few.coarse[side],
            few.fine[side],
            _pool(model),
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


def _pool(model: Model) -> int:
    """Return how many words neighbourhood means are taken over: those that the judge learnt among."""
    return (model.judges and model.judges.among) or POOL


def few_columns(model: Model, direction: Direction, dim: int) -> Tensor:
    """Return the directions in which the words of both languages differ most, as unit vectors: (c, dim)."""
    direction = direction if direction in model.spaces else direction.opposite
    maps, sizes = _maps(model, direction)
    known = model.condensed.get(direction)
    basis = components(maps, sizes, model.device) if known is None else known.basis
    if not 1 <= dim <= basis.shape[1]:
        raise OptionError(f"vectors of {dim} columns cannot be written from this model; choose 1 to {basis.shape[1]}")
    return basis[:, :dim]


def _maps(model: Model, direction: Direction) -> tuple[dict[Side, Map], dict[Side, int]]:
    """Return what maps rows of each side, and how many there are."""
    maps: dict[Side, Map] = {side: partial(_map_rows, model, side, direction) for side in Side}
    return maps, {side: len(model.side(side)) for side in Side}


def _map_rows(model: Model, side: Side, direction: Direction, rows: Tensor) -> Tensor:
    vocabulary, places = model.side(side), rows.cpu().numpy()
    words = [vocabulary.words[place] for place in places.tolist()]
    return model.map(vocabulary.vectors[places], side, direction, words)


def check_spaces(model: Model) -> None:
    """Try the model on one word per side, so that parts which do not fit show at once."""
    for direction in model.spaces:
        asked, answering = (model.map(model.side(side).vectors[:1], side, direction) for side in Side)
        if asked.shape != answering.shape or not (torch.isfinite(asked).all() and torch.isfinite(answering).all()):
            raise ValueError("the two languages do not map into one space")
        for side, means in model.means.get(direction, {}).items():
            if len(means) != len(model.side(side)):
                raise ValueError(f"neighbourhood means of {len(means)} words for {len(model.side(side))} {side} words")
        if direction in model.condensed and not model.condensed[direction].fits(
            {side: len(model.side(side)) for side in Side}, asked.shape[1]
        ):
            raise ValueError("the few columns are those of other words")
