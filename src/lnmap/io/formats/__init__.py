"""File formats: one module per format, and the list of their readers."""

from __future__ import annotations

from lnmap.errors import VectorFileError
from lnmap.io.formats.fasttext import FasttextReader
from lnmap.io.formats.npz import NpzReader
from lnmap.io.formats.reader import Reader
from lnmap.io.formats.text import TextReader
from lnmap.io.formats.word2vec import Word2vecReader
from lnmap.io.source import ByteSource

# Tried in this order. Text comes last: it explains what is wrong with a file that no reader takes.
READERS: tuple[type[Reader], ...] = (NpzReader, FasttextReader, Word2vecReader, TextReader)


def sniff(source: ByteSource) -> Reader:
    """Find the reader of a file by its first bytes, whatever its name."""
    for kind in READERS:
        if reader := kind.recognise(source):
            return reader
    raise VectorFileError(f"{source.path} is in no format that can be read; give a file of word vectors")
