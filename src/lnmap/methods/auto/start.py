"""Where to start with few pairs or none: from the pairs, words spelt alike, and the shapes of the two spaces."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from lnmap.direction import Side
from lnmap.embeddings import is_word
from lnmap.errors import TrainingError
from lnmap.foreign import script, script_of
from lnmap.induce import induce
from lnmap.judge import WordFacts
from lnmap.methods.auto.anchored import Anchors, Field, learn_rotation
from lnmap.methods.base import Run
from lnmap.methods.procrustes import rotate_pairs
from lnmap.methods.vecmap import Artetxe2018Acl
from lnmap.methods.vecmap.check import chance, distinctness
from lnmap.methods.vecmap.learning import LEAST_WORDS, induce_pairs, initial_pairs
from lnmap.normalize import RENORM, fit_both
from lnmap.spelling import fold

FEW, MANY = (
    400,
    1000,
)  # seed words below which the start is found, and from which it is the seed; between, both are tried
_WORDS = 10_000  # most frequent words of each language that are looked at
_LETTERS = 4  # of a word that is taken for the same when spelt alike
_GIVEN = 10.0  # what a given pair counts, where one that is spelt alike, or was found, counts one
_LEAST = 10  # anchors that can be started from
_MOST = 2000  # pairs that are found
_CHECKED = 4000  # words that are compared with chance
_JUDGED = 1000  # words of each language that can be told from chance
# On development pairs alignments of P@1 below 5 reach 1.04, one of P@1 14 has 1.18, good ones have 2 to 4.6.
_DISTINCT = 1.15
# What the log odds of answers change by where words stand out less than this, per logarithm: on development words with
# 100 pairs by -1.5 for English-Greek, which stands out 1.16 times as much as chance, -0.4 for Hebrew-English with 1.32.
_PLAIN, _CAREFUL = 1.4, 8.0
_OPTIONS = Artetxe2018Acl.Options()
_SETTLING = 5
_SOME = 20  # given words that can be held out in turn
_FOLDS = 4
_NEAR = 10  # a held-out word is near its translation that is among so many
_SAME = 1e-6  # cosines that are the same but for rounding
_DOUBTFUL = 20.0  # per cent of seed words near each other: 71 or more of right pairs, 2 of wrong ones
# Per cent of held-out words that must be near; by chance less than one is. 12 on development pairs of P@1 2, 19 or more
# of P@1 10: what is between is let through, and `doubt` says how little it is worth.
_SEEN = 10.0


def own_words(words: Sequence[str] | None, other: Sequence[str] | None, size: int) -> Tensor:
    """Return the rows of the most frequent words of a language, all where words are not known."""
    if words is None or other is None:
        return torch.arange(min(size, _WORDS))
    strange = script(other)
    if script(words) == strange:
        strange = ""
    own = (row for row, word in enumerate(words) if is_word(word) and (not strange or script_of(word) != strange))
    return torch.tensor(list(islice(own, _WORDS)), dtype=torch.long)


def spelt_alike(source: Sequence[str], target: Sequence[str]) -> list[tuple[int, int]]:
    """Pair words of the same folded spelling, longer ones and numerals only; the most frequent of several."""
    sides: list[dict[str, int]] = []
    for words in (source, target):
        rows: dict[str, int] = {}
        for row, word in enumerate(words[:_WORDS]):
            folded = fold(word)
            if (len(folded) >= _LETTERS and is_word(word)) or folded.isdecimal():
                rows.setdefault(folded, row)
        sides.append(rows)
    return [(row, sides[1][word]) for word, row in sides[0].items() if word in sides[1]]


@torch.no_grad()
def first_pairs(source: Tensor, target: Tensor, seed: Tensor, facts: WordFacts | None, run: Run) -> Tensor:
    """Return pairs of rows (k, 2) to begin with, the seed's (s, 2) first; refuse where nothing can be found.

    :param facts: what the words say, to start from those spelt alike; None where spelling is left out.
    """
    _, x, z = fit_both(RENORM, source, target)
    names = run.words or (None, None)
    sides = zip(names, names[::-1], (x, z), strict=True)
    own, other = (own_words(words, others, len(side)).to(x.device) for words, others, side in sides)
    field = Field(x, z, (own, other))
    alike = _alike(facts, seed)
    weights = torch.cat([torch.full((len(seed),), _GIVEN), torch.ones(len(alike))]).to(x)
    anchors = Anchors(torch.cat([seed, alike]), weights)
    run.progress.note(
        f"{len(seed) or 'no'} seed pairs: starting from {'them and ' if len(seed) else ''}"
        f"{len(alike):,} words spelt alike in both languages, by self-learning"
    )
    found = _found(field, _rotation(field, anchors, seed, run), seed, run)
    _doubt(field, found, seed, run)
    return torch.cat([seed, found])


def _alike(facts: WordFacts | None, seed: Tensor) -> Tensor:
    """Return the words spelt alike (k, 2) that belong to both languages and are not in the seed."""
    found = [] if facts is None else spelt_alike(facts.words[Side.SOURCE], facts.words[Side.TARGET])
    pairs = torch.tensor(found, dtype=torch.long, device=seed.device).reshape(-1, 2)
    return without(pairs, seed) if facts is None else without(pairs[facts.native(pairs)], seed)


def without(pairs: Tensor, others: Tensor) -> Tensor:
    """Return the pairs (k, 2) that share no word with others (m, 2)."""
    return pairs[~(torch.isin(pairs[:, 0], others[:, 0]) | torch.isin(pairs[:, 1], others[:, 1]))]


def _rotation(field: Field, anchors: Anchors, seed: Tensor, run: Run) -> Tensor:
    """Return a rotation from the anchors, or else from the shapes of the spaces; refuse one that is no alignment."""
    judged = min(map(len, field.rows)) >= _JUDGED
    by_chance = _by_chance(field, run) if judged else 0.0
    best, seen = 0.0, 0.0
    if len(anchors.pairs) >= _LEAST:
        best, w = _stands_out(field, learn_rotation(field, anchors, run), by_chance, run)
        if best >= _DISTINCT or (seen := _held_out(field, anchors, seed, run)) >= _SEEN:
            return w
    first = _shapes(field, run)
    if first is not None:
        times, w = _stands_out(field, learn_rotation(field, anchors, run, first), by_chance, run)
        if times >= _DISTINCT:
            return w
        best = max(best, times)
    raise TrainingError(
        f"nothing usable was learnt: translations stand out from other words {best:.2f} times as much as by chance, "
        f"{_DISTINCT:g} times are needed, {_evidence(len(seed), seen)}"
    )


def doubt(log: Sequence[Mapping[str, Any]]) -> float:
    """Return what the log odds of answers change by: the less words stood out at the start, as a log says, the less."""
    found = [row["distinct"] for row in log if row.get("stage") == "start" and "distinct" in row]
    return -_CAREFUL * max(0.0, math.log(_PLAIN) - math.log(max(1.0, found[-1]))) if found else 0.0


def _evidence(pairs: int, seen: float) -> str:
    """Return what the seed says, and what to do."""
    if not pairs:
        return "and there are no seed pairs; give some"
    if pairs < _SOME:
        return f"and {pairs} seed pairs are too few to be held out; give more"
    return (
        f"and of the seed words held out {seen:.0f} % came near their translations, where {_SEEN:g} % are needed; "
        "check that the pairs are translations, or give more"
    )


def _stands_out(field: Field, w: Tensor, by_chance: float, run: Run) -> tuple[float, Tensor]:
    """Return how much more than by chance mapped words stand out, infinitely where nothing can be told; and the map."""
    if not by_chance:
        return math.inf, w
    x, z = (side[rows[:_CHECKED]] for side, rows in zip(field[:2], field.rows, strict=True))
    settled, generator = w, run.generator(1)
    for _ in range(_SETTLING):  # as the random start does, without anchors: a map that needs them is no proof
        pairs = induce_pairs(x @ settled, z, _OPTIONS, 1.0, generator, run.memory)[0]
        settled = rotate_pairs(x, z, pairs)
    times = distinctness(x @ settled, z, run.memory) / by_chance
    run.record(stage="start", distinct=times)
    return times, w


def _by_chance(field: Field, run: Run) -> float:
    """Return how much words stand out that were paired from a random start."""
    own, other = (rows[:_CHECKED] for rows in field.rows)
    return chance(field.x[own], field.z[other], _OPTIONS, run)


def _shapes(field: Field, run: Run) -> Tensor | None:
    """Return pairs of rows (k, 2) of words whose similarities to others are distributed alike (Artetxe et al. 2018)."""
    own, other = field.rows
    if min(len(own), len(other)) < LEAST_WORDS:
        return None
    words = min(len(own), len(other), _OPTIONS.initial_words)
    pairs = initial_pairs(field.x[own[:words]], field.z[other[:words]], words, _OPTIONS, run)
    return torch.stack([own[pairs[:, 0]], other[pairs[:, 1]]], dim=1)


def _held_out(field: Field, anchors: Anchors, seed: Tensor, run: Run) -> float:
    """Return what share of seed words is near its translation when it is held out, in per cent."""
    words = seed[:, 0].unique()
    if len(words) < _SOME:
        return 0.0
    order = words[torch.randperm(len(words), generator=torch.Generator().manual_seed(run.seed)).to(words.device)]
    near = [
        _near(field, learn_rotation(field, anchors.without(held), run), held)
        for held in (seed[torch.isin(seed[:, 0], order[fold::_FOLDS])] for fold in range(_FOLDS))
    ]
    share = 100 * float(torch.cat(near).float().mean())
    run.record(stage="start", words=len(words), near=share)
    return share


def _near(field: Field, w: Tensor, held: Tensor) -> Tensor:
    """Return which held-out pairs (h, 2) have the one word among the first of the other, from either side: (2 h,)."""
    x, z = (side[rows] for side, rows in zip((field.x, field.z), field.rows, strict=True))
    asked, wanted = field.x[held[:, 0]] @ w, field.z[held[:, 1]]
    found = []
    for own, gold, others in ((asked, wanted, z), (wanted, asked, x @ w)):
        scores = own @ others.T
        found.append((scores > (own * gold).sum(dim=1, keepdim=True) + _SAME).sum(dim=1) < _NEAR)
    return torch.cat(found)


def _doubt(field: Field, found: Tensor, seed: Tensor, run: Run) -> None:
    """Note a seed (k, 2) that is far from what was found (m, 2), which has none of its words."""
    if not len(seed) or not len(found):
        return
    near = 100 * float(_near(field, rotate_pairs(field.x, field.z, found), seed).float().mean())
    run.record(stage="start", pairs=len(found), near_seed=near)
    if near < _DOUBTFUL:
        run.progress.note(
            f"the {len(seed)} seed pairs do not fit what else was found: {near:.0f} % of them are near each other; "
            "check that they are translations"
        )


def _found(field: Field, w: Tensor, seed: Tensor, run: Run) -> Tensor:
    """Return the words that choose each other when mapped, best first, as rows (k, 2) without the seed's."""
    own, other = field.rows
    pairs = induce(field.x[own] @ w, field.z[other], memory=run.memory, progress=run.progress).rows
    return without(torch.stack([own[pairs[:, 0]], other[pairs[:, 1]]], dim=1), seed)[:_MOST]
