"""About: what is known about a model: its languages, its data, its method, its training, its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from lnmap.direction import Direction, Side
from lnmap.evaluate import Evaluation
from lnmap.lexicon import Lexicon
from lnmap.methods import METHODS
from lnmap.model.languages import guess_languages
from lnmap.model.model import Model
from lnmap.serve.schemas import Description

BANDS = (1000, 5000, 20_000, 100_000)  # frequency ranks that end a band
_SHOWN = ("source", "format", "policy", "limit", "skipped", "duplicates", "zeros_patched", "warning")
_FACTS = ("profile", "options", "seed", "one_way", "device", "seconds", "created", "versions")
_COUNTERS = ("iteration", "step", "epoch", "round", "refinement", "seconds")  # what the steps of a training are told by
_MOST_ROWS = 2000  # rows of a training log that are drawn


def describe(model: Model, name: str = "") -> Description:
    """Return everything about a model that does not change while it is served.

    :param name: of the model's folder, often a pair of language codes: 'en-fr'.
    """
    languages = guess_languages(model, name)
    method = METHODS.get(str(model.info.get("method")))
    sides = {side: model.side(side) for side in Side}
    return Description(
        method={
            "name": str(model.info.get("method")),
            "title": method.title if method else None,
            "citation": method.citation if method else None,
            "learns_from": method.supervision if method else None,
        },
        facts={name: model.info.get(name) for name in _FACTS},
        sides={
            side.value: {"words": len(one), "dim": one.dim, "language": languages[side], **_public(one.origin, _SHOWN)}
            for side, one in sides.items()
        },
        seed_pairs={"count": len(model.pairs), **_public(model.pairs.origin, ("seed", "take", "read"))},
        curves=_curves(model.log),
        calibrated_on=model.outcomes.get(Direction.FORWARD),
    )


def _curves(log: Sequence[Mapping[str, Any]]) -> dict[str, list[list[float]]]:
    """Return the columns of a training log that hold numbers, one list per training; long logs are thinned.

    Rows of one training have the same columns and labels, and their counters grow. A method that trains several
    systems, or one several times, leaves several trainings.
    """
    trainings: dict[tuple[Any, ...], list[list[Mapping[str, Any]]]] = {}
    for row in log:
        words = tuple(value for value in row.values() if isinstance(value, str))
        kind = trainings.setdefault((tuple(row), *words), [])
        counter = next((name for name in _COUNTERS if _is_number(row.get(name))), None)
        if not kind or (counter and row[counter] <= kind[-1][-1][counter]):
            kind.append([])
        kind[-1].append(row)
    curves: dict[str, list[list[float]]] = {}
    for (names, *labels), runs in trainings.items():
        for name in names:
            columns = [[row[name] for row in run if _is_number(row[name])] for run in runs]
            if name not in _COUNTERS and any(columns):
                title = " ".join([*labels, name])
                curves[title] = [column[:: max(1, -(-len(column) // _MOST_ROWS))] for column in columns if column]
    return curves


def score(model: Model, gold: Lexicon, direction: Direction, back: Lexicon | None = None) -> dict[str, Any]:
    """Score one direction on a test dictionary, as a whole and by the frequency of the words.

    :param gold: source words first.
    :param back: a dictionary of its own for the way back, target words first; without one, `gold` is turned around,
        which finds fewer answers right: it has few translations of each target word.
    """
    turned = direction is Direction.BACKWARD and back is None
    test = gold if direction is Direction.FORWARD else back or gold.reversed()
    found = model.evaluate(test, direction)
    return {**found.to_dict(), "bands": _bands(found), "reversed": turned}


def _bands(found: Evaluation) -> list[dict[str, Any]]:
    """P@1 by frequency band; bands without a test word are left out."""
    rows = []
    for low, high in zip((0, *BANDS), (*BANDS, None), strict=True):
        inside = [row.rank == 0 for row in found.rows if low <= row.frequency_rank < (high or float("inf"))]
        if inside:
            rows.append({"from": low + 1, "to": high, "words": len(inside), "p@1": 100 * sum(inside) / len(inside)})
    return rows


def _public(origin: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return what may be shown of where data came from: only the last part of a path, and no lists."""
    shown = {name: origin[name] for name in names if isinstance(origin.get(name), str | int | float)}
    return shown | ({"file": PurePath(str(origin["path"])).name} if origin.get("path") else {})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
