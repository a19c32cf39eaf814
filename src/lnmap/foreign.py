"""Foreign words: words of the other language inside a vocabulary, such as "about" in a French corpus.

They are spelt like a word of the other vocabulary, are far more frequent there, and stand among words of the same kind.
Names and words that both languages have are about as frequent in both; a word that happens to be spelt like another
("four", an oven) stands among words of its own language. In a vocabulary of another script no frequency is needed:
"certificate" among English words in Greek law is English, however often law quotes it.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

from lnmap.embeddings import is_word
from lnmap.normalize import unit
from lnmap.retrieve import MEMORY, nearest

_NEIGHBOURS = 10
_HEAD = 10  # added to ranks: the very first of them say little
_LEAST, _MOST = -1.0, 4.0  # what a neighbour can say; one that is no word of the other language says the least
_ENOUGH = 3.2  # what the word itself can say: with neighbours of its own language it is never foreign
_OWN, _NEAR = 1.25, 0.75  # weights of the word itself and of its neighbours
_MIDDLE, _SLOPE = 3.9, 2.0  # where it is as likely as not, chosen by reading French and Finnish vocabularies
# In text that is partly in the other language its words are not that much rarer: how much, its first words tell.
_FIRST, _FOUND = 100, 30  # of them, and how many must be in the vocabulary
_FAR, _NEARER = 3.5, 1.0  # log ratio of ranks where only strays are foreign, and where the two cannot be told apart
_SHIFT, _LOWEST = 1.9, 1.2  # chosen by reading the French help of programs, where much is in English
_SCRIPT = 2.5  # what it says that a word is not in the script of its vocabulary
# In the other language's script and among its words; shorter ones are abbreviations that both languages write so.
_AMONG, _LETTERS = 0.6, 4
_HOPELESS = 1e-3  # below this even the best neighbours are not looked at
_SAMPLE = 5000  # most frequent words, which tell the script of a vocabulary


@torch.no_grad()
def foreignness(words: Sequence[str], vectors: Tensor, other_words: Sequence[str], *, memory: int = MEMORY) -> Tensor:
    """Return how likely each word of a vocabulary belongs to the other language: shape (n,), from 0 to 1.

    :param words: the vocabulary, most frequent first.
    :param vectors: its own vectors (n, d), before any mapping.
    :param other_words: the vocabulary of the other language, most frequent first; letter case does not count.
    """
    there: dict[str, int] = {}
    for rank, word in enumerate(other_words):
        there.setdefault(word.lower(), rank)
    usual, others_usual = script(words), script(other_words)
    known = [(row, there[word.lower()]) for row, word in enumerate(words) if word.lower() in there and is_word(word)]
    found = torch.zeros(len(words), device=vectors.device)
    if not known:
        return found
    rows = torch.tensor([row for row, _ in known], device=vectors.device)
    ranks = torch.tensor([rank for _, rank in known], device=vectors.device)
    more = ((rows + _HEAD) / (ranks + _HEAD)).log()  # how much more frequent in the other language
    says = torch.full((len(words),), _LEAST, device=vectors.device)
    says[rows] = more.clamp(_LEAST, _MOST)
    scripts = [script_of(words[row]) for row, _ in known]
    strange = torch.tensor([one != usual for one in scripts], device=vectors.device)
    theirs = torch.tensor([usual != one == others_usual for one in scripts], device=vectors.device)
    long = torch.tensor([len(words[row]) >= _LETTERS for row, _ in known], device=vectors.device)
    visitors = torch.zeros(len(words), dtype=torch.bool, device=vectors.device)
    visitors[rows[theirs]] = True
    own = _OWN * more.clamp_max(_ENOUGH) + _SCRIPT * strange - _middle(more[ranks < _FIRST])
    worth = theirs | (own + _NEAR * _MOST > math.log(_HOPELESS) / _SLOPE)
    x = unit(vectors.float())
    near = nearest(x[rows[worth]], x, _NEIGHBOURS + 1, memory=memory)
    others = (near != rows[worth][:, None]).float()
    count = others.sum(dim=1).clamp_min(1)
    mean, among = ((kind[near] * others).sum(dim=1) / count for kind in (says, visitors))
    likely = torch.sigmoid(_SLOPE * (own[worth] + _NEAR * mean))
    found[rows[worth]] = likely.masked_fill((theirs & long)[worth] & (among >= _AMONG), 1.0)
    return found


def _middle(first: Tensor) -> float:
    """Return where a word is as likely foreign as not, by how much rarer the other language's first words (k,) are."""
    gap = float(first.median()) if len(first) >= _FOUND else _FAR
    return max(_LOWEST, _MIDDLE - _SHIFT * (_FAR - gap)) if _NEARER <= gap < _FAR else _MIDDLE


def script(words: Sequence[str]) -> str:
    """Return the script that most words begin with, by the names of letters: 'LATIN', 'GREEK', 'CJK'."""
    counts = Counter(filter(None, map(script_of, words[:_SAMPLE])))
    return counts.most_common(1)[0][0] if counts else ""


def script_of(word: str) -> str:
    """Return the script of a word's first letter; "" if it has none."""
    return next((_script(one) for one in word if one.isalpha()), "")


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    return unicodedata.name(letter, "?").split()[0]
