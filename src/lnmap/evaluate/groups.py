"""Groups of test words: how good the answers are, and how far the confidence is right, beyond the mean of all words.

A test dictionary is full of names and other words that are their own translation, and few of its words are frequent:
P@1 of all words shows neither. Spellings are compared without regard to letter case, gold translations as far as they
are in the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lnmap.evaluate.scores import WordResult

ALL, GOLD_DIFFERS, GOLD_IDENTICAL = "all", "gold_differs", "gold_identical"
ANSWER_IDENTICAL = "answer_identical"
_STARTS = (1, 1_001, 5_001, 20_001)  # first rank of each frequency band
BANDS = ("rank_1_1000", "rank_1001_5000", "rank_5001_20000", "rank_20001")
_TITLES = {
    ALL: "all words",
    GOLD_DIFFERS: "gold is another word",
    GOLD_IDENTICAL: "gold is the word itself",
    ANSWER_IDENTICAL: "answered by the word itself",
    "rank_1_1000": "rank 1-1,000",
    "rank_1001_5000": "rank 1,001-5,000",
    "rank_5001_20000": "rank 5,001-20,000",
    "rank_20001": "rank 20,001 and above",
}
_BINS = 10
MEASURES = {"p@1": "P@1", "mean_confidence": "mean confidence", "ece": "ECE"}
Groups = dict[str, dict[str, float]]
"""By group: n, and for a group with words p@1 (per cent) and, given a confidence, mean_confidence and ece (0 to 1)."""


def title_of(group: str) -> str:
    """Return the name of a group for readers."""
    return _TITLES.get(group, group)


def text_of(measure: str, value: float | None) -> str:
    """Return a measure as people read it; nothing where there is none."""
    if value is None:
        return ""
    if measure == "mean_confidence":
        return f"{100 * value:.1f} %"
    return f"{value:.3f}" if measure == "ece" else f"{value:.1f}"


def measure_groups(rows: Sequence[WordResult]) -> Groups:
    """Measure all words, those with and without themselves as gold or answer, and each frequency band that has words.

    A word counts as its own translation if one of its gold translations is spelt like it.
    """
    right = np.asarray([row.rank == 0 for row in rows], dtype=np.bool_)
    sure = [row.confidence for row in rows if row.confidence is not None]
    confidence = np.asarray(sure, dtype=np.float64) if rows and len(sure) == len(rows) else None
    return {
        name: _measure(right[part], None if confidence is None else confidence[part])
        for name, part in _parts(rows).items()
        if part.any() or name not in BANDS
    }


def rounded(groups: Groups) -> Groups:
    """Round all measures for JSON."""
    return {
        name: {measure: round(value, 2 if measure == "p@1" else 4) for measure, value in own.items()}
        for name, own in groups.items()
    }


def expected_calibration_error(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Return the ECE: the mean gap between confidence and share of right answers, from 0 (best) to 1.

    Answers are sorted into ten bins of equal width by their confidence, 0 to 0.1 up to 0.9 to 1. The gap of a bin is
    the difference of its mean confidence and its share of right answers; the mean is weighted by answers.
    """
    bins = np.minimum((confidence * _BINS).astype(np.int64), _BINS - 1)
    gaps = np.bincount(bins, confidence - right, _BINS)  # of each bin, times its answers
    return float(np.abs(gaps).sum() / len(confidence))


def _parts(rows: Sequence[WordResult]) -> dict[str, NDArray[np.bool_]]:
    """Return which words (n,) belong to each group."""
    same_gold, same_answer = (
        np.asarray([_holds(words, row.source) for row, words in zip(rows, found, strict=True)], dtype=np.bool_)
        for found in ([row.gold for row in rows], [row.answers[:1] for row in rows])
    )
    parts = {ALL: np.ones(len(rows), dtype=np.bool_), GOLD_DIFFERS: ~same_gold, GOLD_IDENTICAL: same_gold}
    band = np.searchsorted(_STARTS, [row.frequency_rank + 1 for row in rows], side="right") - 1
    return {**parts, ANSWER_IDENTICAL: same_answer, **{name: band == i for i, name in enumerate(BANDS)}}


def _holds(words: Iterable[str], word: str) -> bool:
    return word.lower() in (other.lower() for other in words)


def _measure(right: NDArray[np.bool_], confidence: NDArray[np.float64] | None) -> dict[str, float]:
    if not len(right):
        return {"n": 0}
    found = {"n": len(right), "p@1": 100.0 * int(right.sum()) / len(right)}
    if confidence is None:
        return found
    return {
        **found,
        "mean_confidence": float(confidence.mean()),
        "ece": expected_calibration_error(confidence, right),
    }
