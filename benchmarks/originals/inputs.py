"""The files that every program gets: vectors as plain text, seed and test dictionaries.

Vectors are read the MUSE way (lower-cased, the first of duplicates kept), and the package's own rule takes the seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import lnmap

WORDS = {"fi": 22_000}  # the other vocabularies are read whole
PARTS = {"seed": "0-5000", "test": "5000-6500"}


@dataclass(frozen=True)
class Inputs:
    """Where the prepared files are, and how to read them back."""

    folder: Path

    def vectors(self, language: str) -> Path:
        return self.folder / f"{language}.vec"

    def dictionary(self, part: str, pair: str, take: str) -> Path:
        """Return the seed or test file, two words and a blank per line; test files are the same for every `take`."""
        return self.folder / take / f"{pair}.{PARTS[part]}.txt"

    def sides(self, pair: str) -> list[lnmap.Embeddings]:
        return [lnmap.read(self.vectors(name), policy="vecmap") for name in pair.split("-")]


def prepare(data: Path, folder: Path, pairs: list[str], takes: list[str], cut: int | None = None) -> Inputs:
    """Write what is missing; `cut` keeps that many words of each language, for a trial."""
    inputs = Inputs(folder)
    sides = {}
    for name in sorted({name for pair in pairs for name in pair.split("-")}):
        limit = min(filter(None, (cut, WORDS.get(name))), default=None)
        sides[name] = lnmap.read(data / "vectors" / f"{name}.vec.gz", policy="muse").head(limit)
        folder.mkdir(parents=True, exist_ok=True)
        if not inputs.vectors(name).exists():
            lnmap.write(sides[name], inputs.vectors(name))
    for pair in pairs:
        source, target = (sides[name] for name in pair.split("-"))
        for take in takes:
            for part in PARTS:
                words = lnmap.read_lexicon(data / "dictionaries" / "muse" / f"{pair}.{PARTS[part]}.txt")
                chosen = words.take(take if part == "seed" else None, source, target)
                path = inputs.dictionary(part, pair, take)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(f"{a} {b}\n" for a, b in chosen), encoding="utf-8")
    return inputs
