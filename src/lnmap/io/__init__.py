"""Read and write word vectors and dictionaries.

Reading a file of word vectors goes through one module after the other:

    reading.py   read(): the way through the room
    source.py    path, compression or pipe -> a stream of bytes
    formats/     sniff() finds the reader of one format; the reader turns bytes into words and vectors
    collect.py   applies the policy (policy.py): lower case, repeated words, zero vectors, limit
    cache.py     keeps parsed text as a store (formats/store.py)

Objects in memory (memory.py) go to collect.py at once. write.py writes word vectors, dictionaries/ reads and
writes files of word pairs, and everything is written through atomic.py.
"""

from lnmap.io.cache import cache_folder, clear_cache
from lnmap.io.dictionaries import DICTIONARY_FORMATS, WrittenDictionary, read_lexicon, write_dictionary, write_lexicon
from lnmap.io.formats.fasttext import SubwordModel
from lnmap.io.formats.store import is_store, load_store, refuse_existing, save_store
from lnmap.io.memory import to_gensim
from lnmap.io.policy import POLICIES, ReadOptions
from lnmap.io.reading import read
from lnmap.io.write import FORMATS, write, write_stream

__all__ = [
    "DICTIONARY_FORMATS",
    "FORMATS",
    "POLICIES",
    "ReadOptions",
    "SubwordModel",
    "WrittenDictionary",
    "cache_folder",
    "clear_cache",
    "is_store",
    "load_store",
    "read",
    "read_lexicon",
    "refuse_existing",
    "save_store",
    "to_gensim",
    "write",
    "write_dictionary",
    "write_lexicon",
    "write_stream",
]
