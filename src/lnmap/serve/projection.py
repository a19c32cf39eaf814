"""Projection: the neighbourhood of a word in two dimensions, before and after the alignment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lnmap.direction import Side
from lnmap.serve.explorer import Explorer, sides

Role = Literal["word", "neighbour", "translation", "around"]
Array = NDArray[np.float64]
_NEIGHBOURS, _TRANSLATIONS, _AROUND = 12, 6, 6


@dataclass(frozen=True)
class Point:
    """One word of the map; places are within -1 and 1."""

    row: int
    side: Side
    role: Role
    before: tuple[float, float]
    after: tuple[float, float]


@dataclass(frozen=True)
class Map:
    """A word's neighbourhood, and how much of its spread the two dimensions show before and after."""

    points: list[Point]
    shown_before: float
    shown_after: float


def draw_map(explorer: Explorer, row: int, reverse: bool = False) -> Map:
    """Lay out a word, its neighbours, its translations and the neighbours of the best of them.

    Before: the vectors as they were read, of length one; two languages trained apart share no directions. After: in
    the space of the alignment. Each picture shows the two principal components of its own points; the second is turned
    so that the asked language moves as little as possible between the two.
    """
    asked, answer = sides(reverse)
    roles: dict[tuple[Side, int], Role] = {(asked, row): "word"}
    for near in explorer.own_neighbours(row, _NEIGHBOURS, reverse)[0]:
        roles.setdefault((asked, near), "neighbour")
    translations = explorer.ways[reverse].search(np.array([row]), _TRANSLATIONS).rows[0].tolist()
    for translation in translations:
        roles.setdefault((answer, translation), "translation")
    for near in explorer.own_neighbours(translations[0], _AROUND, not reverse)[0]:
        roles.setdefault((answer, near), "around")
    keys = list(roles)
    before, shown_before = _principal(_raw(explorer, keys))
    after, shown_after = _principal(_mapped(explorer, keys, reverse))
    mine = np.array([side == asked for side, _ in keys])
    before, after = _fit(before), _fit(_turn(after, before, mine))
    points = [
        Point(i, side, roles[side, i], (float(b[0]), float(b[1])), (float(a[0]), float(a[1])))
        for (side, i), b, a in zip(keys, before, after, strict=True)
    ]
    return Map(points, shown_before, shown_after)


def _raw(explorer: Explorer, keys: list[tuple[Side, int]]) -> Array:
    """Vectors as they were read, of length one; the shorter ones are filled with zeros."""
    width = max(explorer.model.side(side).dim for side, _ in keys)
    vectors = np.zeros((len(keys), width))
    for place, (side, row) in enumerate(keys):
        vector = explorer.model.side(side).vectors[row]
        vectors[place, : len(vector)] = vector / explorer.lengths[side][row]
    return vectors


def _mapped(explorer: Explorer, keys: list[tuple[Side, int]], reverse: bool) -> Array:
    space = explorer.ways[reverse].space
    asked = sides(reverse)[0]
    rows = [(space.source if side == asked else space.target)[row].numpy() for side, row in keys]
    return np.stack(rows).astype(np.float64)


def _principal(vectors: Array) -> tuple[Array, float]:
    """Two principal components (n, 2), and the share of the variance they hold."""
    centred = vectors - vectors.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    places = np.zeros((len(vectors), 2))
    places[:, : min(2, len(s))] = (u * s)[:, :2]
    total = float((s**2).sum())
    return places, float((s[:2] ** 2).sum()) / total if total > 0 else 1.0


def _turn(places: Array, like: Array, mine: NDArray[np.bool_]) -> Array:
    """Turn or mirror a picture so that some of its points lie as in another one."""
    a, b = (x[mine] - x[mine].mean(axis=0) for x in (places, like))
    u, _, vt = np.linalg.svd(a.T @ b)
    return places @ (u @ vt)


def _fit(places: Array) -> Array:
    """Scale a picture to lie within -1 and 1 around the middle of its frame."""
    low, high = places.min(axis=0), places.max(axis=0)
    half = float((high - low).max()) / 2
    return (places - (low + high) / 2) / (half if half > 0 else 1.0)
