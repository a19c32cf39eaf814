"""Look up: a word's translations and neighbours, as the API returns them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnmap.direction import Direction, Side
from lnmap.model import answers
from lnmap.model.marks import find_mark
from lnmap.normalize import unit
from lnmap.serve.loaded import LoadedModel
from lnmap.serve.said import Said
from lnmap.serve.schemas import Candidate, Neighbour, Neighbours, Translation

DIGITS = 6  # after the point, of scores


def rounded(score: float | None) -> float | None:
    """Round a score, if there is one."""
    return None if score is None else round(score, DIGITS)


@dataclass(frozen=True)
class WordQuery:
    """A word of the language translated from; `row` is None for a word that was built from subwords.

    :param vector: as it was read, (d,).
    :param mapped: in the space of the alignment, (c,).
    """

    word: str
    direction: Direction
    row: int | None
    vector: NDArray[np.float32]
    mapped: Tensor

    @property
    def asked(self) -> Tensor:
        """What a space is searched with: the row (1,) or the mapped vector (1, c)."""
        return self.mapped[None] if self.row is None else torch.tensor([self.row])


def find_query(loaded: LoadedModel, word: str, direction: Direction) -> WordQuery | None:
    """Find a word in the vocabulary, or build it from subwords; None if it is unknown."""
    model, side = loaded.model, direction.asked
    row = loaded.find(word, side)
    if row is not None:
        vocabulary, mapped = model.side(side), model.space(direction).source[row]
        return WordQuery(vocabulary.words[row], direction, row, vocabulary.vectors[row], mapped)
    word = word.strip()
    vector = model.subword_vectors([word], side).get(word) if word else None
    if vector is None:
        return None
    return WordQuery(word, direction, None, vector, unit(model.map(vector[None], side, direction, [word]))[0])


def translate(
    loaded: LoadedModel,
    words: Sequence[str],
    k: int,
    direction: Direction,
    said: Said,
    given: bool = True,
    back: bool = True,
) -> list[Translation]:
    """Translate words, given translations first if they are wanted; an unknown word gets no candidates.

    :param back: False to leave out what the candidates are translated to, which takes several times as long.
    """
    vocabulary = loaded.model.side(direction.asked)
    rows = [loaded.find(word, direction.asked) for word in words]
    spelt = [word.strip() if row is None else vocabulary.words[row] for word, row in zip(words, rows, strict=True)]
    found = said.model.look_up([word for word in spelt if word], k, direction, given=given)
    candidates, dropped = (
        _describe(loaded, {query: getattr(one, name) for query, one in found.items()}, direction, said, given, back)
        for name in ("candidates", "dropped")
    )
    return [
        Translation(
            word=query if query in found else word,
            known=query in found,
            subwords=query in found and found[query].subwords,
            rank=None if row is None else row + 1,
            candidates=candidates.get(query, []),
            dropped=dropped.get(query, []),
            spellings=[],
        )
        for word, query, row in zip(words, spelt, rows, strict=True)
    ]


def _describe(
    loaded: LoadedModel,
    found: Mapping[str, Sequence[answers.Candidate]],
    direction: Direction,
    said: Said,
    given: bool,
    back: bool,
) -> dict[str, list[Candidate]]:
    """Describe the candidates of each word, with what they are themselves translated to if that is wanted."""
    answering = loaded.model.side(direction.answering)
    there = list(dict.fromkeys(one.word for every in found.values() for one in every if one.word in answering))
    first: dict[str, str] = {}
    if back:
        rows = torch.tensor([answering.index[word] for word in there], dtype=torch.long)
        best = loaded.best(direction.opposite).look_up(rows)[0]
        first = dict(zip(there, said.first_words(rows, best, direction.opposite, given), strict=True))
    return {
        query: [
            Candidate(
                word=candidate.word,
                csls=rounded(candidate.score),
                cosine=rounded(candidate.cosine),
                confidence=rounded(candidate.confidence),
                given=candidate.given,
                rank=candidate.rank,
                back=(returned := first.get(candidate.word, query) if back else None),
                returns=returned == query if back else None,
                mark=candidate.mark or find_mark(said.marks, (query, candidate.word), direction),
            )
            for candidate in every
        ]
        for query, every in found.items()
    }


def neighbours(loaded: LoadedModel, query: WordQuery, k: int) -> Neighbours:
    """Find the nearest words of the same language, and of the other one after the alignment."""
    direction = query.direction
    own = own_neighbours(loaded, direction.asked, query.vector, query.row, k)
    hits = loaded.model.space(direction).search(query.asked, k, "cosine")
    other = hits.rows[0].tolist(), hits.cosines[0].tolist()

    def describe(side: Side, rows: list[int], cosines: list[float]) -> list[Neighbour]:
        words = loaded.model.side(side).words
        found = zip(rows, cosines, strict=True)
        return [Neighbour(word=words[row], cosine=round(cosine, DIGITS)) for row, cosine in found]

    return Neighbours(word=query.word, own=describe(direction.asked, *own), other=describe(direction.answering, *other))


def own_neighbours(
    loaded: LoadedModel, side: Side, vector: NDArray[np.float32], row: int | None, k: int
) -> tuple[list[int], list[float]]:
    """Return rows and cosines of the words nearest to a vector as it was read, without the word in `row`."""
    length = float(np.linalg.norm(vector)) or 1.0
    cosines = loaded.model.side(side).vectors @ vector / (loaded.lengths[side] * length)
    if row is not None:
        cosines[row] = -np.inf
    k = min(k, len(cosines) - (row is not None))
    rows = np.argpartition(cosines, len(cosines) - k)[len(cosines) - k :] if k else np.empty(0, np.int64)
    rows = rows[np.argsort(-cosines[rows], kind="stable")]
    return rows.tolist(), cosines[rows].tolist()
