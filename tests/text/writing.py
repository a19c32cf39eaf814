"""Small texts for the tests."""

from __future__ import annotations

import random
from pathlib import Path

NOUNS = ["hound", "kitten", "rivers", "mountain", "baker", "miller", "garden", "window", "copper", "silver"]
VERBS = ["watches", "carries", "follows", "remembers", "forgets", "paints"]
ENDINGS = ["quietly", "in the morning", "near the sea", "after the rain", "with a smile", "for two days"]


def sentences(count: int, seed: int = 0) -> list[str]:
    """Return sentences of a few words; no two are the same."""
    draw = random.Random(seed)
    made: dict[str, None] = {}
    while len(made) < count:
        one, other = draw.sample(NOUNS, 2)
        made[f"The {one} {draw.choice(VERBS)} the {other} {draw.choice(ENDINGS)}, {draw.randrange(1000)}."] = None
    return list(made)


def write_text(path: Path, count: int = 400) -> Path:
    path.write_text("\n".join(sentences(count)) + "\n", encoding="utf-8")
    return path
