"""Judge: put the candidates of a word in order by what several systems and the words themselves say."""

from lnmap.judge.logit import Judge
from lnmap.judge.panel import Judges, Panel
from lnmap.judge.space import JudgedSpace
from lnmap.judge.words import WordFacts

__all__ = ["Judge", "JudgedSpace", "Judges", "Panel", "WordFacts"]
