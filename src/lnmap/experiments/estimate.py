"""Estimate a trial's time: CPU seconds measured on one core (`Method.costs`), scaled to the number of words.

Measured on English-French with 16,091 and 17,677 words, 1 000 seed pairs, one direction: whole runs with default
options (`benchmarks/README.md`), and the parts of longer settings in shortened runs, scaled to all their steps
(`benchmarks/costs.py`). How seconds grow with the vocabulary is read off the algorithms, not measured.
"""

from __future__ import annotations

from lnmap.experiments.trial import MEASURE, Trial
from lnmap.methods import METHODS
from lnmap.methods.base import Cost

_WORDS = {"muse": 200_000, "vecmap": 200_000}  # per language
_FEWER_WORDS = 20_000  # of `open`, and of folders that have not been read yet
_SCORING = Cost(both=10.0)


def expected_seconds(trial: Trial, device: str = "cpu") -> float | None:
    """Return the seconds a trial takes on one core; None if that was not measured."""
    if trial.method == MEASURE:
        return 10.0  # depends on 5 000 and 10 000 words, whatever the vocabularies
    cost = METHODS[trial.method].cost(trial.profile, trial.options)
    if cost is None or device != "cpu":
        return None
    words = _WORDS.get(trial.dataset or "", _FEWER_WORDS)
    return cost.seconds(words, words) + _SCORING.seconds(words, words)
