"""Phrases: words that occur together far oftener than by chance become one, such as "new york"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lnmap.errors import MissingExtraError
from lnmap.text.corpus import Corpus

if TYPE_CHECKING:
    from pathlib import Path

_LEAST = 5  # times that two words must stand side by side
_THRESHOLD = 50.0  # Mikolov's score: keeps "status bar" and "combo box", and hardly any "you can"
_MOST = 5_000_000  # words and pairs that are counted
JOINT = " "  # shown to people, so it is a blank from the start


def join_phrases(corpus: Corpus, path: Path) -> Corpus:
    """Write the corpus again with its phrases joined."""
    try:
        from gensim.models.phrases import Phrases
    except ImportError as error:
        raise MissingExtraError("gensim", "gensim", "finding phrases") from error
    found = Phrases(corpus, min_count=_LEAST, threshold=_THRESHOLD, max_vocab_size=_MOST, delimiter=JOINT).freeze()
    joined = Corpus(path, files=corpus.files, repeated=corpus.repeated)

    def lines() -> Iterator[list[str]]:
        for line in corpus:
            yield found[line]

    joined.write(lines())
    return joined
