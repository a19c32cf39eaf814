"""Questions: the next words to ask a speaker about, with candidates to choose from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from lnmap.ask.choosing import choose, normalized, weights
from lnmap.direction import Direction
from lnmap.embeddings import is_word
from lnmap.errors import OptionError
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

    Words with a given translation, from the seed or by a mark, are not asked about. The model's marks count:
    set `model.marks` to those of now, and the next words follow from them.

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
    vectors = normalized(torch.from_numpy(asked.vectors[:max_rank].copy()))
    rows = choose(vectors, answered.nonzero()[:, 0], free, count, weights(len(words)))
    if not len(rows):
        return []
    chosen = [words[row] for row in rows.tolist()]
    found = model.look_up(chosen, candidates, direction)
    near = _nearest(vectors, answered.nonzero()[:, 0], rows)
    return [
        Question(word, found[word].candidates, _why(found[word].candidates, alike), row + 1)
        for word, row, alike in zip(chosen, rows.tolist(), near.tolist(), strict=True)
    ]


def _nearest(vectors: Tensor, known: Tensor, rows: Tensor) -> Tensor:
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
