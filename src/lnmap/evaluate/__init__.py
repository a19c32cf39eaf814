"""Evaluate: scores of a system on a test dictionary, over all words and over groups of them."""

from __future__ import annotations

from lnmap.evaluate.groups import Groups, expected_calibration_error, measure_groups, title_of
from lnmap.evaluate.scores import Comparison, Evaluation, WordResult, compare, evaluate, sign_test

__all__ = [
    "Comparison",
    "Evaluation",
    "Groups",
    "WordResult",
    "compare",
    "evaluate",
    "expected_calibration_error",
    "measure_groups",
    "sign_test",
    "title_of",
]
