"""The systems that the judge hears: closed forms, which can be fitted again without some of the seed in no time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from lnmap.direction import Direction, Side
from lnmap.judge.panel import Columns
from lnmap.methods.base import Run
from lnmap.methods.ensemble import EnsembleAlignment, both_spaces
from lnmap.methods.kernel import Kernel, KernelOptions
from lnmap.methods.procrustes import Procrustes, ProcrustesOptions
from lnmap.normalize import RENORM, lengths
from lnmap.spelling import Spelling

SPELLING = 0.2  # weight of the cosine of spellings in the search for candidates, where all systems count one
_RIDGE = 3.0  # of the kernel's correction; the judge decides what it is worth
_LEAST, _MOST = 1000, 2000  # anchors; more would take longer than they are worth
_NEARLY_ALL, _FAR = 0.9, 20_000  # of the seed's words, and how far they may make a search reach
_BLOCK = 8192


class Vocabularies(NamedTuple):
    """Raw vectors of both languages (n, d_s), (m, d_t), and the columns of their words' spelling, (n, 0) if unused.

    Spelling may be that of the most frequent words only.

    :param normalize: recipe of the rotation; the kernel has its own.
    :param anchors: pairs that the kernel's corrections are learnt from.
    """

    source: Tensor
    target: Tensor
    spelt: tuple[Tensor, Tensor]
    normalize: str = RENORM
    anchors: int = _LEAST


def enough_anchors(seed: Tensor) -> int:
    """Return how many pairs teach corrections: as many as a seed (k, 2) has, which are surer than those found."""
    return min(max(len(seed), _LEAST), _MOST)


def enough_words(seed: Tensor, least: int) -> int:
    """Return how many of the most frequent words are searched: no fewer than nearly all words of a seed (k, 2) are."""
    reach = int(seed.double().quantile(_NEARLY_ALL, dim=0).max()) + 1 if len(seed) else 0
    return max(least, min(reach, _FAR))


def fit_systems(vectors: Vocabularies, pairs: Tensor, run: Run) -> EnsembleAlignment:
    """Fit a rotation, and GeoMM with its corrections of both directions, on a dictionary (k, 2)."""
    quiet = run.part()
    rotation = Procrustes(ProcrustesOptions(normalize=vectors.normalize)).fit(
        vectors.source, vectors.target, pairs, quiet
    )
    bent = Kernel(KernelOptions(ridge=_RIDGE, most=vectors.anchors)).fit(vectors.source, vectors.target, pairs, quiet)
    parts = [*both_spaces("procrustes", rotation), *both_spaces("kernel", bent)]
    return EnsembleAlignment([replace(part, weight=1 / len(parts)) for part in parts])


@torch.no_grad()
def mapped(systems: EnsembleAlignment, vectors: Vocabularies, side: Side, most: int) -> Tensor:
    """Map the most frequent words of one side, and put their spelling beside: unit vectors (n, c)."""
    raw, spelt = (vectors.source, vectors.spelt[0]) if side is Side.SOURCE else (vectors.target, vectors.spelt[1])
    take = systems.map_source if side is Side.SOURCE else systems.map_target
    blocks = zip(raw[:most].split(_BLOCK), spelt[:most].split(_BLOCK), strict=True)
    found = torch.cat([torch.cat([take(block), own], dim=1) for block, own in blocks])
    return found.div_(lengths(found))


@dataclass(frozen=True)
class _Place:
    name: str
    direction: Direction | None
    width: int
    weight: float


def columns(systems: EnsembleAlignment, vectors: Vocabularies) -> tuple[Columns, ...]:
    """Return which columns of the mapped words each system has, spelling last."""
    places = []
    for part in systems.parts:
        width = part.alignment.map_source(vectors.source[:1], part.direction).shape[1]
        direction = None if part.alignment.one_space else part.direction
        places.append(_Place(part.name, direction, width, part.weight))
    spelt = vectors.spelt[0].shape[1]
    if spelt:
        places.append(_Place("spelling", None, spelt, SPELLING))
    total = sum(place.weight for place in places)
    found, start = [], 0
    for place in places:
        found.append(Columns(place.name, place.direction, start, start + place.width, place.weight / total))
        start += place.width
    return tuple(found)


def spelt_columns(
    spelling: Spelling | None, vectors: tuple[Tensor, Tensor], run: Run, most: int | None = None
) -> tuple[Tensor, Tensor]:
    """Return the spelling of the most frequent words as columns of both sides; none without it."""
    if spelling is None or run.words is None:
        return vectors[0][:most, :0], vectors[1][:most, :0]
    x, y = (spelling.columns(side, words[:most]) for side, words in zip(Side, run.words, strict=True))
    return x.to(vectors[0]), y.to(vectors[0])
