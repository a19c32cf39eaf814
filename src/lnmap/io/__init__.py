"""Read and write word vectors and dictionaries."""

from lnmap.io.cache import cache_folder, clear_cache
from lnmap.io.dictionaries import read_lexicon, write_lexicon
from lnmap.io.fasttext import SubwordModel
from lnmap.io.objects import to_gensim
from lnmap.io.options import POLICIES, ReadOptions
from lnmap.io.readers import read
from lnmap.io.store import load_store, save_store
from lnmap.io.write import FORMATS, write, write_stream

__all__ = [
    "FORMATS",
    "POLICIES",
    "ReadOptions",
    "SubwordModel",
    "cache_folder",
    "clear_cache",
    "load_store",
    "read",
    "read_lexicon",
    "save_store",
    "to_gensim",
    "write",
    "write_lexicon",
    "write_stream",
]
