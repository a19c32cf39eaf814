"""Card: what is known about a model: its data, its method, how it was trained, how good it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from lnmap.evaluate import Evaluation
from lnmap.lexicon import Lexicon
from lnmap.methods import METHODS
from lnmap.model.model import Model
from lnmap.serve.explorer import SIDES, Explorer

BANDS = (1000, 5000, 20_000, 100_000)  # frequency ranks that end a band
_TOLD = ("source", "format", "policy", "limit", "skipped", "duplicates", "zeros_patched", "warning")
_FACTS = ("profile", "options", "seed", "one_way", "device", "seconds", "created", "versions")
_MOST_ROWS = 2000  # rows of a training log that are drawn


def describe(explorer: Explorer) -> dict[str, Any]:
    """Give everything about a model that does not change while it is served."""
    model = explorer.model
    method = METHODS.get(str(model.info.get("method")))
    return {
        "method": {
            "name": str(model.info.get("method")),
            "title": method.title if method else None,
            "citation": method.citation if method else None,
            "learns_from": method.supervision if method else None,
        },
        "facts": {name: model.info.get(name) for name in _FACTS},
        "sides": {side: _side(explorer, side) for side in SIDES},
        "seed_pairs": {"count": len(model.pairs), **_told(model.pairs.origin, ("seed", "take", "read"))},
        "curves": curves(model.log),
        "calibrated_on": _outcomes(model),
    }


def curves(log: Sequence[Mapping[str, Any]]) -> dict[str, list[float | None]]:
    """Give the columns of a training log that hold numbers; long logs are thinned."""
    rows = log[:: max(1, -(-len(log) // _MOST_ROWS))]
    names = dict.fromkeys(name for row in rows for name, value in row.items() if _is_number(value))
    return {name: [row[name] if _is_number(row.get(name)) else None for row in rows] for name in names}


def score(model: Model, gold: Lexicon, reverse: bool) -> dict[str, Any]:
    """Score one direction on a test dictionary, in all and by how frequent the words are."""
    found = model.evaluate(gold.reversed() if reverse else gold, reverse)
    return {**found.to_dict(), "bands": bands(found)}


def bands(found: Evaluation) -> list[dict[str, Any]]:
    """P@1 by frequency band; bands without a test word are left out."""
    rows = []
    for low, high in zip((0, *BANDS), (*BANDS, None), strict=True):
        inside = [row.rank == 0 for row in found.rows if low <= row.frequency_rank < (high or float("inf"))]
        if inside:
            rows.append({"from": low + 1, "to": high, "words": len(inside), "p@1": 100 * sum(inside) / len(inside)})
    return rows


def _side(explorer: Explorer, side: Any) -> dict[str, Any]:
    embeddings = explorer.model.side(side)
    return {
        "words": len(embeddings),
        "dim": embeddings.dim,
        "language": explorer.languages[side],
        **_told(embeddings.origin, _TOLD),
    }


def _told(origin: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """What may be told of where data came from: of paths the last part, of lists nothing."""
    told = {name: origin[name] for name in names if isinstance(origin.get(name), str | int | float)}
    return told | ({"file": PurePath(str(origin["path"])).name} if origin.get("path") else {})


def _outcomes(model: Model) -> int | None:
    """How many judged candidates the confidence was learnt from."""
    return None if model.confidence is None else model.confidence[False].outcomes


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
