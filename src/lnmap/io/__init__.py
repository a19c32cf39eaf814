"""Read and write word vectors and dictionaries."""

from lnmap.io.dictionaries import read_lexicon, write_lexicon
from lnmap.io.objects import to_gensim
from lnmap.io.options import POLICIES, ReadOptions
from lnmap.io.readers import read
from lnmap.io.store import load_store, save_store
from lnmap.io.write import FORMATS, write, write_stream

__all__ = [
    "FORMATS",
    "POLICIES",
    "ReadOptions",
    "load_store",
    "read",
    "read_lexicon",
    "save_store",
    "to_gensim",
    "write",
    "write_lexicon",
    "write_stream",
]
