"""Development words: training words that no test dictionary has a translation of."""

import pytest

import lnmap
from lnmap.errors import LexiconError
from lnmap.experiments.worker import unused_pairs


def test_no_development_pairs_left_is_said_plainly():
    every = lnmap.Lexicon([("a", "x"), ("b", "y")])
    with pytest.raises(LexiconError, match="no development pairs are left: the words of all 1 training pairs outside"):
        unused_pairs(every, lnmap.Lexicon([("a", "x")]), [lnmap.Lexicon([("Y", "B")])])


def test_development_words_keep_all_their_translations():
    every = lnmap.Lexicon([("a", "x"), ("weather", "sää"), ("Weather", "keli"), ("c", "z"), ("c", "w")])
    kept, removed = unused_pairs(every, lnmap.Lexicon([("a", "x")]), [lnmap.Lexicon([("SÄÄ", "weather")])])
    assert (list(kept), removed) == ([("c", "z"), ("c", "w")], 2)
