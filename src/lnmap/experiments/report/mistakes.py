"""Where the errors are: which words are missed, and what was answered instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

RIGHT, FORM, HUB, NEAR, OTHER = "right", "another form", "hub", "in the first ten", "other"
KINDS = (RIGHT, FORM, NEAR, HUB, OTHER)
MEANING = {
    RIGHT: "the first answer is a gold translation",
    FORM: "the answer is spelt like a gold translation: an inflection or a derivation",
    NEAR: "a gold translation is among the first ten answers",
    HUB: "the answer is given wrongly to three test words or more",
    OTHER: "anything else",
}
QUARTERS = ("most frequent", "2nd quarter", "3rd quarter", "least frequent")
_HUB = 3
_EXAMPLES = 5
_ALIKE, _SHORTEST = 0.75, 4  # share of letters in common; words shorter than this are alike by chance


@dataclass(frozen=True)
class Mistakes:
    """One run's answers, sorted.

    :param share: percentage of the test words of each kind.
    :param quarters: P@1 of each quarter of the test words, by frequency of the source word.
    :param hubs: wrong answers given most often, and how often.
    :param forms: examples of answers in another form: source, answer, gold.
    """

    share: dict[str, float]
    quarters: list[float]
    hubs: list[tuple[str, int]]
    forms: list[tuple[str, str, str]]


def sort_mistakes(words: dict[str, list[Any]]) -> Mistakes:
    """Sort the answers of a run."""
    rows = list(zip(words["source"], words["answer"], words["gold"], words["rank"], strict=True))
    wrong = Counter(answer for _, answer, _, rank in rows if rank > 0)
    sorted_rows = [(_kind(answer, gold, rank, wrong), word, answer, gold) for word, answer, gold, rank in rows]
    kinds = Counter(kind for kind, *_ in sorted_rows)
    forms = [(word, answer, gold) for kind, word, answer, gold in sorted_rows if kind == FORM][:_EXAMPLES]
    return Mistakes(
        share={kind: 100 * kinds[kind] / len(rows) for kind in KINDS},
        quarters=_quarters(words["frequency_rank"], words["rank"]),
        hubs=[(word, times) for word, times in wrong.most_common(_EXAMPLES) if times >= _HUB],
        forms=[(word, answer, _nearest(answer, gold)) for word, answer, gold in forms],
    )


def _kind(answer: str, gold: Sequence[str], rank: int, wrong: Counter[str]) -> str:
    if rank == 0:
        return RIGHT
    if any(is_form(answer, word) for word in gold):
        return FORM
    if rank < 10:
        return NEAR
    return HUB if wrong[answer] >= _HUB else OTHER


def is_form(answer: str, gold: str) -> bool:
    """Return whether two words are likely to be forms of one word: they begin alike and differ in little else."""
    if min(len(answer), len(gold)) < _SHORTEST or answer[:2] != gold[:2]:
        return False
    match = SequenceMatcher(None, answer, gold, autojunk=False)
    return match.real_quick_ratio() >= _ALIKE and match.quick_ratio() >= _ALIKE and match.ratio() >= _ALIKE


def _nearest(answer: str, gold: Sequence[str]) -> str:
    return max(gold, key=lambda word: SequenceMatcher(None, answer, word, autojunk=False).ratio())


def _quarters(places: Sequence[int], ranks: Sequence[int]) -> list[float]:
    """P@1 of the quarters of the test words, most frequent first."""
    hits = [rank == 0 for _, rank in sorted(zip(places, ranks, strict=True))]
    cuts = [round(len(hits) * i / 4) for i in range(5)]
    parts = [hits[a:b] for a, b in pairwise(cuts)]
    return [100 * sum(part) / len(part) if part else 0.0 for part in parts]
