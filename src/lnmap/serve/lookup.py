"""Look up: a word's translations and neighbours, as the API returns them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnmap.direction import Direction, Side
from lnmap.model import Translation
from lnmap.normalize import unit
from lnmap.serve.loaded import LoadedModel
from lnmap.serve.marks import LatestMarks, ordered


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
    loaded: LoadedModel, words: Sequence[str], k: int, direction: Direction, marks: LatestMarks
) -> list[dict[str, Any] | None]:
    """Translate words; None stands for an unknown one."""
    vocabulary = loaded.model.side(direction.asked)
    rows = [loaded.find(word, direction.asked) for word in words]
    spelt = [word.strip() if row is None else vocabulary.words[row] for word, row in zip(words, rows, strict=True)]
    found = loaded.model.look_up([word for word in spelt if word], k, direction)
    index = loaded.model.side(direction.answering).index
    hits = [index[word] for translation in found.values() for word in translation.words]
    back = iter(loaded.best(direction.opposite).look_up(torch.tensor(hits, dtype=torch.long))[0].tolist())
    answers = {
        word: _describe(loaded, translation, direction, marks, list(islice(back, len(translation.words))))
        for word, translation in found.items()
    }
    return [answers.get(word) for word in spelt]


def _describe(
    loaded: LoadedModel, found: Translation, direction: Direction, marks: LatestMarks, back: Sequence[int]
) -> dict[str, Any]:
    asked = loaded.model.side(direction.asked)
    row = asked.index.get(found.query)
    candidates = []
    for candidate, back_row in zip(found.candidates, back, strict=True):
        mark = marks.get(ordered((found.query, candidate.word), direction))
        candidates.append(
            {
                "word": candidate.word,
                "csls": rounded(candidate.score),
                "cosine": rounded(candidate.cosine),
                "confidence": rounded(candidate.confidence),
                "back": asked.words[back_row],
                "returns": back_row == row,
                "mark": mark.mark if mark else None,
            }
        )
    rank = None if row is None else row + 1
    answer = {"word": found.query, "known": True, "subwords": found.subwords, "rank": rank}
    return {**answer, "candidates": candidates, "spellings": []}


def neighbours(loaded: LoadedModel, query: WordQuery, k: int) -> dict[str, Any]:
    """Find the nearest words of the same language, and of the other one after the alignment."""
    direction = query.direction
    hits = loaded.model.space(direction).search(query.asked, k, "cosine")
    own = own_neighbours(loaded, direction.asked, query.vector, query.row, k)
    found = ((direction.asked, *own), (direction.answering, hits.rows[0].tolist(), hits.cosines[0].tolist()))
    own_list, other_list = (
        [
            {"word": loaded.model.side(side).words[row], "cosine": rounded(cosine)}
            for row, cosine in zip(rows, cosines, strict=True)
        ]
        for side, rows, cosines in found
    )
    return {"word": query.word, "own": own_list, "other": other_list}


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


def rounded(value: float | None) -> float | None:
    """Round a score to what the API returns."""
    return None if value is None else round(value, 6)
