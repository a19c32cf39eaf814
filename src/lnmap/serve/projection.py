"""Projection: the neighbourhood of a word in two dimensions, before and after the alignment."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from lnmap.direction import Side
from lnmap.serve.loaded import LoadedModel
from lnmap.serve.lookup import WordQuery, own_neighbours
from lnmap.serve.schemas import MapPoint, Role, WordMap

Key = tuple[Side, int | None]  # the row is None for the query itself if it is not in the vocabulary
Array = NDArray[np.float64]
_NEIGHBOURS, _TRANSLATIONS, _AROUND = 12, 6, 6


def draw_map(loaded: LoadedModel, query: WordQuery) -> WordMap:
    """Lay out a word, its neighbours, its translations and the neighbours of the best of them.

    Before: the vectors as they were read, of length one; two languages trained apart share no directions. After: in
    the space of the alignment. Each picture shows the two principal components of its own points; the second is rotated
    so that the words of the query's language move as little as possible between the two.
    """
    roles = _choose(loaded, query)
    before, shown_before = _principal(_raw(loaded, query, list(roles)))
    after, shown_after = _principal(_mapped(loaded, query, list(roles)))
    own = np.array([side is query.direction.asked for side, _ in roles])
    before, after = _scale(before), _scale(_rotate(after, before, own))
    points = []
    for ((side, row), role), x, y in zip(roles.items(), before.round(5).tolist(), after.round(5).tolist(), strict=True):
        word = query.word if row is None else loaded.model.side(side).words[row]
        points.append(MapPoint(word=word, side=side, role=role, before=x, after=y))
    shown = round(shown_before, 4), round(shown_after, 4)
    return WordMap(word=query.word, points=points, shown_before=shown[0], shown_after=shown[1])


def _choose(loaded: LoadedModel, query: WordQuery) -> dict[Key, Role]:
    asked, answering = query.direction.asked, query.direction.answering
    roles: dict[Key, Role] = {(asked, query.row): "word"}
    for row in own_neighbours(loaded, asked, query.vector, query.row, _NEIGHBOURS)[0]:
        roles.setdefault((asked, row), "neighbour")
    rows = loaded.model.space(query.direction).search(query.asked, _TRANSLATIONS).rows[0].tolist()
    for row in rows:
        roles.setdefault((answering, row), "translation")
    best = loaded.model.side(answering).vectors[rows[0]]
    for row in own_neighbours(loaded, answering, best, rows[0], _AROUND)[0]:
        roles.setdefault((answering, row), "around")
    return roles


def _raw(loaded: LoadedModel, query: WordQuery, keys: list[Key]) -> Array:
    """Return the vectors as they were read, of length one; the shorter ones are filled with zeros."""
    vectors = np.zeros((len(keys), max(loaded.model.side(side).dim for side, _ in keys)))
    for place, (side, row) in enumerate(keys):
        vector = query.vector if row is None else loaded.model.side(side).vectors[row]
        vectors[place, : len(vector)] = vector / (np.linalg.norm(vector) or 1.0)
    return vectors


def _mapped(loaded: LoadedModel, query: WordQuery, keys: list[Key]) -> Array:
    space, asked = loaded.model.space(query.direction), query.direction.asked
    vectors = [
        query.mapped if row is None else (space.source if side is asked else space.target)[row] for side, row in keys
    ]
    return torch.stack(vectors).double().numpy()


def _principal(vectors: Array) -> tuple[Array, float]:
    """Return two principal components (n, 2), and the share of the variance they hold."""
    centred = vectors - vectors.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    places = np.zeros((len(vectors), 2))
    places[:, : min(2, len(s))] = (u * s)[:, :2]
    total = float((s**2).sum())
    return places, float((s[:2] ** 2).sum()) / total if total > 0 else 1.0


def _rotate(places: Array, like: Array, own: NDArray[np.bool_]) -> Array:
    """Rotate or mirror a picture so that some of its points lie as in another one."""
    a, b = (x[own] - x[own].mean(axis=0) for x in (places, like))
    u, _, vt = np.linalg.svd(a.T @ b)
    return places @ (u @ vt)


def _scale(places: Array) -> Array:
    """Scale a picture to lie within -1 and 1 around the middle of its frame."""
    low, high = places.min(axis=0), places.max(axis=0)
    half = float((high - low).max()) / 2
    return (places - (low + high) / 2) / (half if half > 0 else 1.0)
