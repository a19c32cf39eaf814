"""Translate words between languages from monolingual word vectors and a small seed dictionary."""

from lnmap.embeddings import Embeddings
from lnmap.errors import LnmapError
from lnmap.evaluate import Evaluation, compare
from lnmap.folder import load, save
from lnmap.io import read, read_lexicon, write
from lnmap.lexicon import Lexicon
from lnmap.methods import METHODS
from lnmap.model import Model
from lnmap.pipeline import align
from lnmap.version import __version__

__all__ = [
    "METHODS",
    "Embeddings",
    "Evaluation",
    "Lexicon",
    "LnmapError",
    "Model",
    "__version__",
    "align",
    "compare",
    "load",
    "read",
    "read_lexicon",
    "save",
    "write",
]
