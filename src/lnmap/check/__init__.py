"""Look at two vocabularies and a dictionary before training: what is wrong with them, and what to expect.

report.py        what a check returns
vocabularies.py  one side: broken vectors, scripts, words of the other language
pairs.py         the dictionary: coverage, letter case, exchanged columns, repeated pairs, scripts
outlook.py       the spaces: pairs that look wrong, how alike the shapes are, the P@1 to expect
"""

from __future__ import annotations

from lnmap.check.outlook import look_ahead
from lnmap.check.pairs import look_at_pairs
from lnmap.check.report import Report, Warned
from lnmap.check.vocabularies import look_at_vectors, look_at_words
from lnmap.direction import Side
from lnmap.embeddings import Embeddings
from lnmap.lexicon import Lexicon
from lnmap.progress import Progress, Silent

__all__ = ["Report", "Warned", "check", "check_quickly"]


def check(source: Embeddings, target: Embeddings, pairs: Lexicon, *, progress: Progress | None = None) -> Report:
    """Look at everything that can be known before training.

    :param pairs: the seed dictionary.
    """
    report = check_quickly(source, target, pairs)
    for side, own, other in ((Side.SOURCE, source, target), (Side.TARGET, target, source)):
        look_at_words(side, own, other, report)
    look_ahead(source, target, pairs, report, progress or Silent())
    return report


def check_quickly(source: Embeddings, target: Embeddings, pairs: Lexicon) -> Report:
    """Look at what takes no time beside training: the dictionary, and vectors that look broken."""
    report = Report()
    look_at_pairs(source, target, pairs, report)
    look_at_vectors(Side.SOURCE, source, report)
    look_at_vectors(Side.TARGET, target, report)
    return report
