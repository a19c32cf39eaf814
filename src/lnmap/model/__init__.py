"""The model: two languages, what was learnt between them, its answers and its files."""

from lnmap.model.answers import Candidate, Entry, Translation
from lnmap.model.induced import InducedLexicon
from lnmap.model.model import Model, load, save

__all__ = ["Candidate", "Entry", "InducedLexicon", "Model", "Translation", "load", "save"]
