"""About: what is known about a model: its languages, its data, its method, its training, its scores."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from lnmap.direction import Direction, Side
from lnmap.embeddings import Embeddings
from lnmap.evaluate import Evaluation
from lnmap.lexicon import Lexicon
from lnmap.methods import METHODS
from lnmap.model.model import Model
from lnmap.serve.schemas import Description

BANDS = (1000, 5000, 20_000, 100_000)  # frequency ranks that end a band
_SHOWN = ("source", "format", "policy", "limit", "skipped", "duplicates", "zeros_patched", "warning")
_FACTS = ("profile", "options", "seed", "one_way", "device", "seconds", "created", "versions")
_MOST_ROWS = 2000  # rows of a training log that are drawn
_CODES = (
    "af am ar as az be bg bn bo br bs ca ce co cs cv cy da de dv dz el en eo es et eu fa fi fo fr fy ga gd gl gn gu gv "
    "ha he hi hr ht hu hy ia id ig is it ja jv ka kk km kn ko ku kw ky la lb lg li ln lo lt lv mg mi mk ml mn mr ms mt "
    "my ne nl nn no nv ny oc om or os pa pl ps pt qu rm rn ro ru rw sa sc sd se si sk sl sm sn so sq sr ss st su sv sw "
    "ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo zh zu"
)
_SCRIPTS = {"HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko", "CJK": "zh"}
_SAMPLE = 2000
_SHARE = 0.2  # of the letters, before a script counts


def describe(model: Model, name: str = "") -> Description:
    """Return everything about a model that does not change while it is served.

    :param name: of the model's folder, often a pair of language codes: 'en-fr'.
    """
    languages = _guess_languages(model, name)
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


def _curves(log: Sequence[Mapping[str, Any]]) -> dict[str, list[float | None]]:
    """Return the columns of a training log that hold numbers; long logs are thinned."""
    rows = log[:: max(1, -(-len(log) // _MOST_ROWS))]
    names = dict.fromkeys(name for row in rows for name, value in row.items() if _is_number(value))
    return {name: [row[name] if _is_number(row.get(name)) else None for row in rows] for name in names}


def score(model: Model, gold: Lexicon, direction: Direction) -> dict[str, Any]:
    """Score one direction on a test dictionary, as a whole and by the frequency of the words."""
    found = model.evaluate(gold if direction is Direction.FORWARD else gold.reversed(), direction)
    return {**found.to_dict(), "bands": _bands(found)}


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


def _guess_languages(model: Model, name: str) -> dict[Side, str | None]:
    """Return the language code of each side, by its file name, its letters or the name of the model."""
    pair = re.match(r"([a-z]{2})[-_.]([a-z]{2})(?![a-z])", name.lower())
    hints = pair.groups() if pair and set(pair.groups()) <= set(_CODES.split()) else (None, None)
    guesses = {side: _by_name(model.side(side)) or _by_script(model.side(side).words) for side in Side}
    return {side: guess or hint for (side, guess), hint in zip(guesses.items(), hints, strict=True)}


def _by_name(embeddings: Embeddings) -> str | None:
    """Read 'fi' from 'cc.fi.300.vec'; a name that could mean two languages means none."""
    parts = re.split(r"[^a-z]+", PurePath(str(embeddings.origin.get("path") or "")).name.lower())
    found = list(dict.fromkeys(part for part in parts if part in _CODES.split()))
    return found[0] if len(found) == 1 else None


def _by_script(words: Sequence[str]) -> str | None:
    """Recognise Japanese, Korean and Chinese by their letters: browsers choose glyphs by the language."""
    letters = "".join(words[:_SAMPLE])
    counts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters if letter.isalpha())
    total = sum(counts.values())
    for script, code in _SCRIPTS.items():
        if total and counts[script] >= _SHARE * total:
            return code
    return None
