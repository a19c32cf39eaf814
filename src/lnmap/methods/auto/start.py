"""A seed where the user has none: words spelt alike, or the unsupervised start of Artetxe et al. (2018)."""

from __future__ import annotations

import torch
from torch import Tensor

from lnmap.errors import TrainingError
from lnmap.induce import induce
from lnmap.methods.base import Run
from lnmap.methods.vecmap import Artetxe2018Acl
from lnmap.spelling import fold

_WORDS = 20_000  # most frequent words that are looked at
_LEAST = 200  # words spelt alike that make a seed
_LETTERS = 4  # of a word that is taken for the same when spelt alike
_MOST = 4000


def without_pairs(source: Tensor, target: Tensor, run: Run) -> Tensor:
    """Give pairs of rows (k, 2) to start from, and say where they come from."""
    alike = _spelt_alike(run)
    if len(alike) >= _LEAST:
        run.progress.note(f"no seed pairs: starting from {len(alike):,} words spelt alike in both languages")
        return torch.tensor(alike, device=source.device)
    run.progress.note(f"no seed pairs and only {len(alike)} words spelt alike: starting without any (artetxe2018acl)")
    own = Run(run.seed, run.device, run.one_way, run.memory, run.progress, log=run.log)
    alignment = Artetxe2018Acl().fit(source, target, torch.zeros(0, 2, dtype=torch.long, device=source.device), own)
    found = induce(
        alignment.map_source(source[:_WORDS]),
        alignment.map_target(target[:_WORDS]),
        memory=run.memory,
        progress=run.progress,
    ).head(_MOST)
    if len(found) < _LEAST:
        raise TrainingError(f"nothing usable was learnt: only {len(found)} words found each other without seed pairs")
    return found.rows


def _spelt_alike(run: Run) -> list[tuple[int, int]]:
    """Pair words of the same folded spelling, longer ones and numerals only; the most frequent of several."""
    if run.words is None:
        return []
    sides: list[dict[str, int]] = []
    for words in run.words:
        rows: dict[str, int] = {}
        for row, word in enumerate(words[:_WORDS]):
            folded = fold(word)
            if len(folded) >= _LETTERS or folded.isdecimal():
                rows.setdefault(folded, row)
        sides.append(rows)
    return [(row, sides[1][word]) for word, row in sides[0].items() if word in sides[1]]
