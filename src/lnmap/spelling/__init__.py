"""Spelling: what two words share as strings.

* folding: the form that words of any script are compared in
* ngrams: shared n-grams, as vectors whose cosines can be added to those of meanings
* letters: which letters correspond, learnt from pairs of words
"""

from lnmap.spelling.folding import fold, lacks_romanisation
from lnmap.spelling.letters import Letters
from lnmap.spelling.ngrams import COLUMNS, Spelling

__all__ = ["COLUMNS", "Letters", "Spelling", "fold", "lacks_romanisation"]
