"""Estimate a trial's time: CPU seconds measured on one core, scaled to the number of words.

Measured on English-French with 16,091 and 17,677 words, 1 000 seed pairs, one direction: whole runs with default
options (`benchmarks/README.md`), and the parts of longer settings in shortened runs, scaled to all their steps
(`benchmarks/costs.py`). How seconds grow with the vocabulary is read off the algorithms, not measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from lnmap.experiments.trial import MEASURE, Trial

_REFERENCE = 16_091 * 17_677  # words x words
_WORDS = {"muse": 200_000, "vecmap": 200_000}  # per language
_FEWER_WORDS = 20_000  # of `open`, and of folders that nobody has looked into yet
_SCORING = 10.0


@dataclass(frozen=True)
class Cost:
    """CPU seconds of training at the reference size: not growing, growing with one vocabulary, with both."""

    fixed: float = 0.0
    one: float = 0.0
    both: float = 0.0


COSTS: dict[tuple[str, str | None], Cost] = {
    ("procrustes", None): Cost(one=0.3),
    ("vecmap-sup", None): Cost(one=0.5),
    ("artetxe2018aaai", None): Cost(one=0.5),
    ("geomm", None): Cost(one=0.5),
    ("muse", None): Cost(both=57),
    ("rcsls", None): Cost(one=33),
    ("rcsls", "original"): Cost(one=7),
    ("artetxe2017", None): Cost(both=59),
    ("vecmap-semi", None): Cost(fixed=250),
    ("artetxe2018acl", None): Cost(fixed=266),
    ("auto", None): Cost(one=366),
    ("lnmap", None): Cost(one=84),
    ("lnmap", "paper"): Cost(2_139, 86),
    ("lnmap", "paper linear"): Cost(983, 21),  # the kind of autoencoder
    ("contrastive", None): Cost(one=56),
    ("bliss", None): Cost(one=341),
    ("bliss", "original"): Cost(6_284, 12_326 / 2, 1_885),  # searches among 100 000 of the paper's 200 000 words
    ("muse-unsup", None): Cost(506, both=123),
    ("muse-unsup", "original"): Cost(21_317, both=128),
    ("aae", None): Cost(535, both=84),
    ("aae", "original"): Cost(52_420, both=95),
}


def expected_seconds(trial: Trial, device: str = "cpu") -> float | None:
    """Return the seconds a trial takes on one core; None where nobody has measured it."""
    if trial.method == MEASURE:
        return 10.0  # depends on 5 000 and 10 000 words, whatever the vocabularies
    size = _WORDS.get(trial.dataset or "", _FEWER_WORDS) ** 2 / _REFERENCE
    kind = f"{trial.profile} {trial.options.get('autoencoder')}"
    cost = COSTS.get((trial.method, kind)) or COSTS.get((trial.method, trial.profile))
    if cost is None or device != "cpu":
        return None
    return cost.fixed + cost.one * size**0.5 + (cost.both + _SCORING) * size
