"""Explorer: what one model answers to a person who looks at a word."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lnmap.direction import Side
from lnmap.model.model import Model
from lnmap.progress import Progress, Silent
from lnmap.serve.direction import Found, both_directions
from lnmap.serve.languages import guess_languages
from lnmap.serve.words import WordIndex

SIDES: tuple[Side, Side] = ("source", "target")
_NORM_BLOCK = 8192
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Answer:
    """One possible translation: its scores, and what it is translated back to."""

    row: int
    csls: float
    cosine: float
    confidence: float | None
    back: int
    returns: bool


class Explorer:
    """One model with everything a query needs at hand, so that a query is little more than one matrix product."""

    def __init__(self, model: Model, progress: Progress | None = None, name: str = "") -> None:
        self.model = model
        progress = progress or Silent()
        with progress.task("preparing the words", 6) as task:
            self.words = {}
            for side in SIDES:
                self.words[side] = WordIndex(model.side(side).words)
                task.advance()
            self.lengths = {}
            for side in SIDES:
                self.lengths[side] = _lengths(model.side(side).vectors)
                task.advance()
            self.ways = both_directions(model)
            task.advance(2)
        self.languages = guess_languages(model, name)

    def find(self, word: str, side: Side) -> int | None:
        """Row of a word: as typed, in lower case, without blanks around it, or spelt with composed letters."""
        bare = word.strip()
        forms = (word, bare, *(unicodedata.normalize(form, bare) for form in ("NFC", "NFKC", "NFD")))
        rows = (self.model.side(side).find(form) for form in forms)
        return next((row for row in rows if row is not None), None)

    def answers(self, rows: Sequence[int], k: int, reverse: bool = False) -> list[list[Answer]]:
        """Translate words by row, best candidates first."""
        asked = np.asarray(rows, dtype=np.int64)
        if not len(asked):
            return []
        way = self.ways[reverse]
        found = way.search(asked, k)
        back = self.back_of(found.rows.reshape(-1), reverse).reshape(found.rows.shape)
        columns: list[Any] = [found.rows, found.csls, found.cosine, self._confidence(asked, found, reverse), back]
        returns = back == asked[:, None]
        lists = (column.tolist() for column in (*columns, returns))
        return [[Answer(*values) for values in zip(*parts, strict=True)] for parts in zip(*lists, strict=True)]

    def back_of(self, rows: Rows, reverse: bool = False) -> Rows:
        """Rows of the best translations back of words of the language translated to."""
        return self.ways[not reverse].best.look_up(rows).rows

    def _confidence(self, asked: Rows, found: Found, reverse: bool) -> NDArray[Any]:
        """Confidence of candidates (n, k); None in each place where the model was not calibrated."""
        confidence = self.ways[reverse].confidence(asked, found)
        return np.full(found.rows.shape, None) if confidence is None else confidence

    def own_neighbours(self, row: int, k: int, reverse: bool = False) -> tuple[list[int], list[float]]:
        """Nearest words of the same language, by the cosine of the vectors as they were read."""
        side = sides(reverse)[0]
        vectors, lengths = self.model.side(side).vectors, self.lengths[side]
        cosines = vectors @ vectors[row] / (lengths * lengths[row])
        cosines[row] = -np.inf
        nearest = _largest(cosines, k)
        return [i for i in nearest if i != row], [float(cosines[i]) for i in nearest if i != row]

    def other_neighbours(self, row: int, k: int, reverse: bool = False) -> tuple[list[int], list[float]]:
        """Nearest words of the other language after the alignment, by cosine."""
        space = self.ways[reverse].space
        cosines = (space.target @ space.source[row]).numpy()
        nearest = _largest(cosines, k)
        return nearest, [float(cosines[i]) for i in nearest]


def sides(reverse: bool) -> tuple[Side, Side]:
    """Give the side translated from and the side translated to."""
    return ("target", "source") if reverse else ("source", "target")


def _lengths(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Give the length of each vector; that of a zero vector counts as one."""
    blocks = [vectors[i : i + _NORM_BLOCK] for i in range(0, len(vectors), _NORM_BLOCK)]
    lengths = np.concatenate([np.sqrt(np.einsum("ij,ij->i", block, block)) for block in blocks])
    return np.where(lengths > 0, lengths, 1).astype(np.float32)


def _largest(scores: NDArray[np.float32], k: int) -> list[int]:
    """Rows of the k largest scores, largest first."""
    k = min(k, len(scores))
    rows = np.argpartition(scores, len(scores) - k)[len(scores) - k :]
    return list(map(int, rows[np.argsort(-scores[rows], kind="stable")]))
