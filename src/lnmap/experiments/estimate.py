"""How long a trial will take: CPU seconds measured on one core (`Method.costs`), scaled to the number of words.

Measured on English-French with 16,091 and 17,677 words, 1 000 seed pairs, one direction: whole runs with default
options (`benchmarks/README.md`), and the parts of longer settings in shortened runs, scaled to all their steps
(`benchmarks/costs.py`). How seconds grow with the vocabulary is read off the algorithms, not measured.
"""

from __future__ import annotations

from lnmap.experiments.records import MEASURE, Trial
from lnmap.methods import METHODS

_REFERENCE = 16_091 * 17_677  # words x words
_WORDS = {"open": 20_000, "own": 20_000}  # a language, where the paper's tables have 200 000
_PAPER_WORDS = 200_000
_SCORING = 10.0


def expected_seconds(trial: Trial, device: str = "cpu") -> float | None:
    """Return how many seconds a trial takes on one core; None where nobody has measured it."""
    words = _WORDS.get(trial.table, _PAPER_WORDS)
    size = words * words / _REFERENCE
    if trial.method == MEASURE:
        return 10.0  # depends on 5 000 and 10 000 words, whatever the vocabularies
    method = METHODS.get(trial.method)
    cost = method.cost(trial.profile, trial.options) if method else None
    if cost is None or device != "cpu":
        return None
    return cost.fixed + cost.one * size**0.5 + (cost.both + _SCORING) * size
