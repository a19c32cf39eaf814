"""How long a trial will take: CPU seconds measured on one core, scaled to the number of words.

Measured on English-French with 16,091 and 17,677 words, 1 000 seed pairs, one direction, default options:
`benchmarks/README.md`. The long ones among the published settings were measured on shortened loops and scaled to the
full number of steps: `benchmarks/costs.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from lnmap.reproduce.records import MEASURE, Trial

_REFERENCE = 16_091 * 17_677  # words x words
_WORDS = {"open": 20_000, "own": 20_000}  # a language, where the paper's tables have 200 000
_PAPER_WORDS = 200_000
_SCORING = 10.0


@dataclass(frozen=True)
class Cost:
    """CPU seconds of training at the reference size, and whether they grow with both vocabularies, one, or neither."""

    seconds: float
    grows: float = 0.5  # power of (words x words): 1 both, 0.5 one, 0 neither


COSTS: dict[tuple[str, str | None], Cost] = {
    ("procrustes", None): Cost(0.3),
    ("vecmap-sup", None): Cost(0.5),
    ("artetxe2018aaai", None): Cost(0.5),
    ("geomm", None): Cost(0.5),
    ("muse", None): Cost(57, 1),
    ("rcsls", None): Cost(33),
    ("artetxe2017", None): Cost(59, 1),
    ("vecmap-semi", None): Cost(250, 0),
    ("artetxe2018acl", None): Cost(266, 0),
    ("lnmap", None): Cost(84),
    ("bliss", None): Cost(341),
}


def expected_seconds(trial: Trial, device: str = "cpu") -> float | None:
    """Say how many seconds a trial takes on one core; None where nobody has measured it."""
    words = _WORDS.get(trial.table, _PAPER_WORDS)
    size = words * words / _REFERENCE
    if trial.method == MEASURE:
        return 10.0  # depends on 5 000 and 10 000 words, whatever the vocabularies
    cost = COSTS.get((trial.method, trial.profile))
    if cost is None or device != "cpu":
        return None
    return cost.seconds * size**cost.grows + _SCORING * size
