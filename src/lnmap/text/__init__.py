"""From raw text to word vectors.

sources.py   files, folders, packed files, stdin, JSON lines, HTML -> lines of text
decoding.py  bytes -> characters: the encoding of a file
words.py     a line -> words: cleaning, Unicode normalisation, letter case
scripts.py   notices scripts that put no blanks between words
corpus.py    all lines -> one file of words on the disk, and their counts
phrases.py   joins words that belong together
training.py  the corpus -> vectors, through gensim's FastText
resuming.py  what an interrupted training goes on from
making.py    make_vectors(): the way through the room
"""

from lnmap.text.making import VectorsMade, make_vectors
from lnmap.text.training import TrainingOptions

__all__ = ["TrainingOptions", "VectorsMade", "make_vectors"]
