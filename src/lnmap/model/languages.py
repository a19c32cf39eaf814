"""Guess the languages of a model, by the names of its files, its letters, or its own name."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

from lnmap.direction import Side
from lnmap.embeddings import Embeddings
from lnmap.model.parts import ModelParts

_CODES = (
    "af am ar as az be bg bn bo br bs ca ce co cs cv cy da de dv dz el en eo es et eu fa fi fo fr fy ga gd gl gn gu gv "
    "ha he hi hr ht hu hy ia id ig is it ja jv ka kk km kn ko ku kw ky la lb lg li ln lo lt lv mg mi mk ml mn mr ms mt "
    "my ne nl nn no nv ny oc om or os pa pl ps pt qu rm rn ro ru rw sa sc sd se si sk sl sm sn so sq sr ss st su sv sw "
    "ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo zh zu"
)
_SCRIPTS = {"HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko", "CJK": "zh"}
_SAMPLE = 2000
_SHARE = 0.2  # of the letters, before a script counts


def guess_languages(model: ModelParts, name: str) -> dict[Side, str | None]:
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
