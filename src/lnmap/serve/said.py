"""Said: which answers come first after what people said, for every word of a model at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from lnmap.direction import Direction
from lnmap.embeddings import Embeddings
from lnmap.model.marks import LatestMarks, ordered
from lnmap.model.model import Model
from lnmap.retrieve import UNKNOWN

NextBest = dict[tuple[Direction, int, frozenset[int]], int]  # what follows the answers to a row that are wrong


class Said:
    """A model with the seed pairs and the marks that count now; never changed, so that requests may share it.

    :param before: the same with earlier marks: only what has changed since is computed.
    :param known: what was searched for earlier marks, and is not searched again; it grows.
    """

    def __init__(self, model: Model, marks: LatestMarks, known: NextBest, before: Said | None = None) -> None:
        self.marks, self.model = marks, replace(model, marks=marks, _said={})
        self.given: dict[Direction, Tensor] = {}  # row of the best given answer to each word, or UNKNOWN, (n,)
        self.spelt: dict[Direction, dict[int, str]] = {}  # given answers of words whose given answers have no vectors
        self.others: dict[Direction, Tensor] = {}  # row of what takes the place of a wrong best answer, or UNKNOWN
        for direction in Direction:
            size = (len(model.side(direction.asked)),)
            self.given[direction] = before.given[direction].clone() if before else torch.full(size, UNKNOWN)
            self.others[direction] = before.others[direction].clone() if before else torch.full(size, UNKNOWN)
            self.spelt[direction] = dict(before.spelt[direction]) if before else {}
            words = None if before is None else _changed(before.marks, marks, direction)
            self._find_given(direction, words)
            self._find_others(direction, words, known)

    def _find_given(self, direction: Direction, words: Sequence[str] | None) -> None:
        """Find the best given answers to some words, or to all."""
        said, asked = self.model.given(direction), self.model.side(direction.asked)
        found, spelt = self.given[direction], self.spelt[direction]
        for row in _rows(asked, words):
            found[row] = UNKNOWN
            spelt.pop(row, None)
        entries = said.entries(self.model.space(direction), words=words)
        for entry in reversed(sorted(entries, key=lambda entry: entry.mark is None)):  # the last one stays
            place, rows = asked.find(entry.source), said.rows(entry.source, entry.target)
            if place is not None:
                found[place] = rows[1] if rows else UNKNOWN
                spelt.pop(place, None)
                spelt |= {} if rows else {place: entry.target}

    @torch.no_grad()
    def _find_others(self, direction: Direction, words: Sequence[str] | None, known: NextBest) -> None:
        """Find the best answers that were not marked wrong, where the best of all was."""
        found, space = self.others[direction], self.model.space(direction)
        wrong = {row: frozenset(bad) for row, bad in self.model.given(direction).wrong_rows(words).items()}
        for row in _rows(self.model.side(direction.asked), words):
            found[row] = UNKNOWN
        if not wrong:
            return
        best = dict(zip(wrong, space.best.look_up(torch.tensor(list(wrong)))[0].tolist(), strict=True))
        wrong = {row: bad for row, bad in wrong.items() if best[row] in bad}
        missing = [row for row, bad in wrong.items() if (direction, row, bad) not in known]
        if missing:
            most = 1 + max(len(wrong[row]) for row in missing)
            for row, hits in zip(missing, space.search(torch.tensor(missing), most).rows.tolist(), strict=True):
                known[direction, row, wrong[row]] = next((hit for hit in hits if hit not in wrong[row]), UNKNOWN)
        for row, bad in wrong.items():
            found[row] = known[direction, row, bad]

    def first(self, rows: Tensor, best: Tensor, direction: Direction, given: bool = True) -> Tensor:
        """Return the first answers to rows (n,), where the model itself says `best` (n,).

        UNKNOWN where the first answer has no vector.

        :param given: False for the model's own answers.
        """
        if not given:
            return best
        said, other = self.given[direction][rows], self.others[direction][rows]
        found = torch.where(said != UNKNOWN, said, torch.where(other != UNKNOWN, other, best))
        return found.masked_fill(self._are_spelt(rows, direction), UNKNOWN)

    def first_words(self, rows: Tensor, best: Tensor, direction: Direction, given: bool = True) -> list[str]:
        """Return the first answers to rows (n,) as words."""
        words, spelt = self.model.side(direction.answering).words, self.spelt[direction]
        found = zip(rows.tolist(), self.first(rows, best, direction, given).tolist(), strict=True)
        return [spelt[row] if hit == UNKNOWN else words[hit] for row, hit in found]

    def are_given(self, rows: Tensor, direction: Direction) -> Tensor:
        """Whether the first answer to each row is a given one, (n,)."""
        return (self.given[direction][rows] != UNKNOWN) | self._are_spelt(rows, direction)

    def _are_spelt(self, rows: Tensor, direction: Direction) -> Tensor:
        return torch.isin(rows, torch.tensor(list(self.spelt[direction]), dtype=torch.long))


def _changed(before: LatestMarks, now: LatestMarks, direction: Direction) -> list[str]:
    """Return the words asked for whose marks are others than before."""
    pairs = dict.fromkeys(pair for pair in (*now, *before) if now.get(pair) is not before.get(pair))
    return list(dict.fromkeys(ordered(pair, direction)[0] for pair in pairs))


def _rows(vocabulary: Embeddings, words: Sequence[str] | None) -> list[int]:
    return [row for word in words or () if (row := vocabulary.find(word)) is not None]
