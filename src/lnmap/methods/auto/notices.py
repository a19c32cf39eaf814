"""Notice vocabularies that are not what they are taken for: the same language twice, or two languages mixed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from lnmap.embeddings import is_word
from lnmap.methods.base import Run

_WORDS = 5000  # most frequent words of each side
_LEAST = 500  # words that say something
# English and French share 14 %, Finnish and Greek 5 %, Hebrew, Japanese and Russian 1 %; two English corpora 98 %.
_MIXED, _SAME = 0.35, 0.75


def notice_vocabularies(run: Run) -> None:
    """Note vocabularies that share more of their most frequent words than two languages do."""
    if run.words is None:
        return
    share = shared(*run.words)
    if share >= _SAME:
        run.progress.note(
            f"both vocabularies seem to be of one language: {share:.0%} of their most frequent words are the same; "
            "check that each file of vectors is of the language it is given for"
        )
    elif share >= _MIXED:
        run.progress.note(
            f"{share:.0%} of the most frequent words of both vocabularies are the same: unless the languages are close "
            "relatives, one of the corpora holds much text in the other language, and filtering it by language helps"
        )


def shared(source: Sequence[str], target: Sequence[str]) -> float:
    """Return what share of the most frequent words the vocabularies have in common; letter case does not count."""
    one, other = (list(islice(filter(is_word, words), _WORDS)) for words in (source, target))
    one, other = ([word.lower() for word in words] for words in (one, other))
    size = min(len(one), len(other))
    return len(set(one[:size]) & set(other[:size])) / size if size >= _LEAST else 0.0
