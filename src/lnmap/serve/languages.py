"""Languages: which language a vocabulary is in, as far as its file's name and its letters tell."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

from lnmap.direction import Side
from lnmap.embeddings import Embeddings
from lnmap.model.model import Model

_CODES = (
    "af am ar as az be bg bn bo br bs ca ce co cs cv cy da de dv dz el en eo es et eu fa fi fo fr fy ga gd gl gn gu gv "
    "ha he hi hr ht hu hy ia id ig is it ja jv ka kk km kn ko ku kw ky la lb lg li ln lo lt lv mg mi mk ml mn mr ms mt "
    "my ne nl nn no nv ny oc om or os pa pl ps pt qu rm rn ro ru rw sa sc sd se si sk sl sm sn so sq sr ss st su sv sw "
    "ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo zh zu"
)
_SCRIPTS = {"HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko", "CJK": "zh"}
_SAMPLE = 2000
_SHARE = 0.2  # of the letters, before a script counts


def guess_languages(model: Model, name: str = "") -> dict[Side, str | None]:
    """Give the language code of each side, or None where nothing tells it.

    :param name: of the model's folder, which often says it: 'en-fr'.
    """
    pair = re.match(r"([a-z]{2})[-_.]([a-z]{2})(?![a-z])", name.lower())
    hints = pair.groups() if pair and set(pair.groups()) <= set(_CODES.split()) else (None, None)
    return {side: guess_language(model.side(side)) or hint for side, hint in zip(Side, hints, strict=True)}


def guess_language(embeddings: Embeddings) -> str | None:
    """Give the language code of a vocabulary by its file's name, else by its letters."""
    path = embeddings.origin.get("path")
    return (_by_name(str(path)) if path else None) or _by_script(embeddings.words)


def _by_name(path: str) -> str | None:
    """Read 'fi' from 'cc.fi.300.vec'; a name that could mean two languages means none."""
    parts = re.split(r"[^a-z]+", PurePath(path).name.lower())
    found = list(dict.fromkeys(part for part in parts if part in _CODES.split()))
    return found[0] if len(found) == 1 else None


def _by_script(words: Sequence[str]) -> str | None:
    """Tell Japanese, Korean and Chinese by their letters: browsers choose glyphs by that."""
    letters = "".join(words[:_SAMPLE])
    counts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters if letter.isalpha())
    total = sum(counts.values())
    for script, code in _SCRIPTS.items():
        if total and counts[script] >= _SHARE * total:
            return code
    return None
