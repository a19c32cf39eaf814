"""Questions: the next words to ask a speaker about, with candidates to choose from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import torch
from torch import Tensor

from lnmap.ask.choosing import choose, normalized, weights
from lnmap.direction import Direction
from lnmap.embeddings import Embeddings, is_word
from lnmap.errors import OptionError
from lnmap.foreign import foreignness
from lnmap.model.answers import Candidate
from lnmap.model.model import Model, Way

CANDIDATES = 5  # shown per word
MOST_FREQUENT = 20_000  # rarer words are not asked about
Why = Literal["far", "unsure", "central"]
WHY: dict[Why, str] = {
    "far": "far from the words whose translations are known",
    "unsure": "the model is unsure of it",
    "central": "like many words whose translations are not known",
}
_UNSURE = 0.5  # confidence below which the best candidate is called unsure
_FAR = 0.3  # cosine below which the next word with a known translation is called far
_SURE = 0.9  # confidence from which an answer would hardly ever correct the best candidate
_FOREIGN = 0.5  # probability from which a word is taken for one of the other language
_NAME = 0.5  # share of candidates, above which it is a name if both languages have them
_LOOKED_AT = 20  # words per question, at most, of which the sure ones and names are passed over


@dataclass(frozen=True)
class Question:
    """A word to ask about.

    :param candidates: the model's best answers, best first; what was marked wrong is left out.
    :param why: what speaks for this word most; `WHY` has it in words.
    :param rank: its place in the vocabulary by frequency, from 1.
    """

    word: str
    candidates: tuple[Candidate, ...]
    why: Why
    rank: int


def next_words(
    model: Model,
    count: int = 10,
    direction: Way = Direction.FORWARD,
    *,
    candidates: int = CANDIDATES,
    skip: Iterable[str] = (),
    max_rank: int = MOST_FREQUENT,
) -> list[Question]:
    """Return the words whose translations would help most, the most useful first; none if nothing is left to ask.

    Words with a given translation, from the seed or by a mark, are not asked about, and neither are foreign words.
    Names and those that the model is sure of count as known, and come last. The model's marks count: set `model.marks`
    to those of now, and the next words follow from them.

    :param skip: words that are not to be asked about, those the speaker did not know, say.
    :param max_rank: only words among this many most frequent ones.
    """
    for name, number in (("count", count), ("candidates", candidates), ("max_rank", max_rank)):
        if number < 1:
            raise OptionError(f"{name} = {number} leaves nothing to ask; give 1 or more")
    direction = Direction(direction)
    asked, said = model.side(direction.asked), model.given(direction)
    words = asked.words[:max_rank]
    answered = torch.tensor([bool(said.of(word)) for word in words])
    left_out = {asked.find(word) for word in skip}
    free = torch.tensor([is_word(word) and row not in left_out for row, word in enumerate(words)]) & ~answered
    raw = torch.from_numpy(asked.vectors[:max_rank].copy())
    free &= foreignness(words, raw, model.side(direction.answering).words) < _FOREIGN
    vectors, known = normalized(raw), answered.nonzero()[:, 0]
    order = islice(choose(vectors, known, free, weights(len(words))), _LOOKED_AT * count)
    doubted: list[Question] = []
    names: list[Question] = []
    sure: list[Question] = []
    while len(doubted) < count and (rows := list(islice(order, count))):
        found = model.look_up([words[row] for row in rows], candidates, direction)
        near = _nearest(vectors, known, rows)
        for row, alike in zip(rows, near.tolist(), strict=True):
            best = found[words[row]].candidates
            certain = bool(best) and (best[0].confidence or 0.0) >= _SURE
            part = sure if certain else names if _is_name(words[row], best, asked) else doubted
            part.append(Question(words[row], best, _why(best, alike), row + 1))
    return (doubted + names + sure)[:count]


def _is_name(word: str, found: tuple[Candidate, ...], asked: Embeddings) -> bool:
    """Return whether a word is a name or code: it has a digit, or its candidates are words of its own language.

    The candidates of a model without confidence say too little about it.
    """
    if any(map(str.isdigit, word)):
        return True
    alike = sum(one.word in asked for one in found)
    return alike > _NAME * len(found) and found[0].confidence is not None


def _nearest(vectors: Tensor, known: Tensor, rows: list[int]) -> Tensor:
    """Return how near the next word with a known translation is, as a cosine, (q,)."""
    if not len(known):
        return torch.zeros(len(rows))
    return (vectors[rows] @ vectors[known].T).amax(dim=1)


def _why(found: tuple[Candidate, ...], near: float) -> Why:
    """Return what speaks most for asking about a word."""
    sure = found[0].confidence if found else 0.0
    if near < _FAR:
        return "far"
    return "unsure" if sure is not None and sure < _UNSURE else "central"
