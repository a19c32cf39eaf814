"""Dictionaries: files of word pairs, in the formats of many programs.

contract.py says what a format is, registry.py lists them, and each has a small file of its own. reading.py tells files
apart by their content, writing.py writes whole dictionaries, content.py groups pairs under their headwords.
"""

from lnmap.io.dictionaries.content import Dictionary, Pair, parse_languages
from lnmap.io.dictionaries.contract import Format
from lnmap.io.dictionaries.reading import read_lexicon
from lnmap.io.dictionaries.registry import DICTIONARY_FORMATS, find_format
from lnmap.io.dictionaries.tables import csv_lines, guarded
from lnmap.io.dictionaries.writing import WrittenDictionary, write_dictionary, write_lexicon

__all__ = [
    "DICTIONARY_FORMATS",
    "Dictionary",
    "Format",
    "Pair",
    "WrittenDictionary",
    "csv_lines",
    "find_format",
    "guarded",
    "parse_languages",
    "read_lexicon",
    "write_dictionary",
    "write_lexicon",
]
