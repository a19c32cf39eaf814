"""Said: which answers come first after what people said, for every word of a model at once."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from lnmap.direction import Direction
from lnmap.model.marks import LatestMarks
from lnmap.model.model import Model
from lnmap.retrieve import UNKNOWN

NextBest = dict[tuple[Direction, int, frozenset[int]], int]  # what follows the answers to a row that are wrong


class Said:
    """A model with the seed pairs and the marks that count now; never changed, so that requests may share it.

    :param known: what was searched for earlier marks, and is not searched again; it grows.
    """

    def __init__(self, model: Model, marks: LatestMarks, known: NextBest) -> None:
        self.marks, self.model = marks, replace(model, marks=marks, _given={})
        self.given: dict[Direction, Tensor] = {}  # row of the best given answer to each word, or UNKNOWN, (n,)
        self.spelt: dict[Direction, dict[int, str]] = {}  # given answers of words whose given answers have no vectors
        self.others: dict[Direction, Tensor] = {}  # row of what takes the place of a wrong best answer, or UNKNOWN
        for direction in Direction:
            self.given[direction], self.spelt[direction] = _first_given(self.model, direction)
            self.others[direction] = _next_best(self.model, direction, known)

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


def _first_given(model: Model, direction: Direction) -> tuple[Tensor, dict[int, str]]:
    """Return the row of the best given answer to each word (n,), or UNKNOWN; and answers that have no row."""
    given = model.given(direction)
    found = torch.full((len(model.side(direction.asked)),), UNKNOWN)
    spelt: dict[int, str] = {}
    entries = given.entries(model.space(direction))
    for entry in reversed(sorted(entries, key=lambda entry: entry.mark is None)):  # the last one stays
        row, rows = model.side(direction.asked).find(entry.source), given.rows(entry.source, entry.target)
        if row is not None:
            found[row] = rows[1] if rows else UNKNOWN
            spelt.pop(row, None)
            spelt |= {} if rows else {row: entry.target}
    return found, spelt


@torch.no_grad()
def _next_best(model: Model, direction: Direction, known: NextBest) -> Tensor:
    """Return the row of the best answer that was not marked wrong (n,), or UNKNOWN where the best of all was not."""
    found = torch.full((len(model.side(direction.asked)),), UNKNOWN)
    wrong = {row: frozenset(answers) for row, answers in model.given(direction).wrong_rows().items()}
    if not wrong:
        return found
    space, asked = model.space(direction), torch.tensor(list(wrong))
    best = dict(zip(wrong, space.best.look_up(asked)[0].tolist(), strict=True))
    missing = [row for row, bad in wrong.items() if best[row] in bad and (direction, row, bad) not in known]
    if missing:
        most = 1 + max(len(wrong[row]) for row in missing)
        for row, hits in zip(missing, space.search(torch.tensor(missing), most).rows.tolist(), strict=True):
            known[direction, row, wrong[row]] = next((hit for hit in hits if hit not in wrong[row]), UNKNOWN)
    for row, bad in wrong.items():
        if best[row] in bad:
            found[row] = known[direction, row, bad]
    return found
