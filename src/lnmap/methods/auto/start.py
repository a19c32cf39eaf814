"""A seed where the user has none: words spelt alike, or the unsupervised start of Artetxe et al. (2018)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnmap.errors import TrainingError
from lnmap.induce import induce
from lnmap.methods.base import Alignment, Run
from lnmap.methods.procrustes import rotate_pairs
from lnmap.methods.vecmap import Artetxe2018Acl
from lnmap.methods.vecmap.check import chance, distinctness
from lnmap.normalize import RENORM, fit_both
from lnmap.spelling import fold

_WORDS = 20_000  # most frequent words that are looked at
ALIKE = 100  # words spelt alike that make a seed, and show that spelling says something
_LETTERS = 4  # of a word that is taken for the same when spelt alike
_MOST = 4000
_JUDGED = 1000  # words of each language that can be told from chance
# On development pairs alignments of P@1 below 5 reach 1.04, one of P@1 14 has 1.18, good ones have 2 to 4.6.
_DISTINCT = 1.15


def without_pairs(source: Tensor, target: Tensor, run: Run) -> Tensor:
    """Return pairs of rows (k, 2) to start from, and note where they come from."""
    alike = spelt_alike(*run.words) if run.words else []
    if len(alike) >= ALIKE:
        run.progress.note(f"no seed pairs: starting from {len(alike):,} words spelt alike in both languages")
        return torch.tensor(alike, device=source.device)
    run.progress.note(f"no seed pairs and only {len(alike)} words spelt alike: starting without any (artetxe2018acl)")
    none = torch.zeros(0, 2, dtype=torch.long, device=source.device)
    alignment = Artetxe2018Acl().fit(source, target, none, run.part())
    x, z = alignment.map_source(source[:_WORDS]), alignment.map_target(target[:_WORDS])
    found = induce(x, z, memory=run.memory, progress=run.progress).head(_MOST)
    if len(found) < ALIKE:
        raise TrainingError(f"nothing usable was learnt: only {len(found)} words found each other without seed pairs")
    return found.rows


def spelt_alike(source: Sequence[str], target: Sequence[str]) -> list[tuple[int, int]]:
    """Pair words of the same folded spelling, longer ones and numerals only; the most frequent of several."""
    sides: list[dict[str, int]] = []
    for words in (source, target):
        rows: dict[str, int] = {}
        for row, word in enumerate(words[:_WORDS]):
            folded = fold(word)
            if len(folded) >= _LETTERS or folded.isdecimal():
                rows.setdefault(folded, row)
        sides.append(rows)
    return [(row, sides[1][word]) for word, row in sides[0].items() if word in sides[1]]


@torch.no_grad()
def require_alignment(space: Alignment, source: Tensor, target: Tensor, run: Run) -> None:
    """Refuse an alignment that says no more about the most frequent words than chance; no pair is needed to see it.

    The vectors (n, d_s), (m, d_t) are rotated by the dictionary that the alignment's own space gives, and words must
    then stand out as in an unsupervised run (`vecmap.check`). Small vocabularies show nothing: even random pairs fit.
    """
    if min(len(source), len(target)) < _JUDGED:
        return
    options = Artetxe2018Acl.Options()  # for the words that are compared
    x, z = source[: options.check_words], target[: options.check_words]
    pairs = induce(space.map_source(x), space.map_target(z), memory=run.memory).rows
    _, x, z = fit_both(RENORM, x, z)
    found = distinctness(x @ rotate_pairs(x, z, pairs), z, run.memory) if len(pairs) else 0.0
    by_chance = chance(x, z, options, run)
    run.record(stage="check", distinctness=found, chance=by_chance)
    if not found >= _DISTINCT * by_chance:
        raise TrainingError(
            f"nothing usable was learnt: translations stand out from other words {found / by_chance:.2f} times as much "
            f"as by chance, {_DISTINCT:g} times are needed; give more seed pairs"
        )
