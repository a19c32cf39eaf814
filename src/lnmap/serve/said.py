"""Said: which answers come first after what people said, for every word of a model at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import torch
from torch import Tensor

from lnmap.direction import Direction
from lnmap.model.marks import LatestMarks, Pair, changes, ordered
from lnmap.model.model import Model
from lnmap.retrieve import UNKNOWN

NextBest = dict[tuple[Direction, int, frozenset[int]], int]  # what follows the answers to a row that are wrong

_SPELT = -2  # in place of the row of an answer that has no vector


class Said:
    """A model with the seed pairs and the marks that count now; never changed, so that requests may share it.

    :param before: the same with earlier marks: only what has changed since is computed.
    :param known: what was searched for earlier marks, and is not searched again; it grows.
    """

    def __init__(self, model: Model, marks: LatestMarks, known: NextBest, before: Said | None = None) -> None:
        self.marks = marks
        self.model: Model = replace(model, marks=marks, _said=dict(before.model._said) if before else {})
        self.given: dict[Direction, Tensor] = {}  # row of the best given answer to each word, or UNKNOWN, _SPELT, (n,)
        self.spelt: dict[Direction, dict[int, str]] = {}  # given answers of words whose given answers have no vectors
        self.others: dict[Direction, Tensor] = {}  # row of what takes the place of a wrong best answer, or UNKNOWN
        pairs = [] if before is None else _changed(before.marks, marks)
        for direction in Direction:
            if before is None:
                size = (len(model.side(direction.asked)),)
                self.given[direction], self.others[direction] = torch.full(size, UNKNOWN), torch.full(size, UNKNOWN)
                self.spelt[direction], words = {}, self.model.given(direction).words()
            else:
                named = (ordered(pair, direction)[0] for pair in pairs)
                words = self.model.given(direction).changed(before.model.given(direction), named)
                self.given[direction] = before.given[direction].clone()
                self.others[direction] = before.others[direction].clone()
                self.spelt[direction] = dict(before.spelt[direction])
            rows = {word: row for word in words if (row := model.side(direction.asked).find(word)) is not None}
            if rows:
                self._find_given(direction, rows)
                self._find_others(direction, rows, known)

    @torch.no_grad()
    def _find_given(self, direction: Direction, words: Mapping[str, int]) -> None:
        """Find the best given answers to some words, by their rows."""
        said, space, answering = self.model.given(direction), self.model.space(direction), direction.answering
        found, spelt, index = self.given[direction], self.spelt[direction], self.model.side(answering).index
        rated: list[tuple[int, int]] = []
        for word, row in words.items():
            found[row] = UNKNOWN
            spelt.pop(row, None)
            answers = said.first_of(word)
            known = [index[answer] for answer in answers if answer in index]
            if len(known) == 1:
                found[row] = known[0]
            elif known:
                rated += [(row, hit) for hit in known]
            elif answers:
                found[row], spelt[row] = _SPELT, answers[-1]
        rows, hits = torch.tensor(rated, device=space.source.device).reshape(-1, 2).long().unbind(dim=1)
        scores = space.unjudged.score(rows, hits[:, None]).scores[:, 0].tolist()
        best: dict[int, float] = {}
        for (row, hit), score in zip(rated, scores, strict=True):
            if row not in best or score > best[row]:
                found[row], best[row] = hit, score

    @torch.no_grad()
    def _find_others(self, direction: Direction, words: Mapping[str, int], known: NextBest) -> None:
        """Find the best answers that were not marked wrong, where the best of all was."""
        found, space = self.others[direction], self.model.space(direction)
        wrong = {row: frozenset(bad) for row, bad in self.model.given(direction).wrong_rows(words).items()}
        for row in words.values():
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
        return found.masked_fill(said == _SPELT, UNKNOWN)

    def first_words(self, rows: Tensor, best: Tensor, direction: Direction, given: bool = True) -> list[str]:
        """Return the first answers to rows (n,) as words."""
        words, spelt = self.model.side(direction.answering).words, self.spelt[direction]
        found = zip(rows.tolist(), self.first(rows, best, direction, given).tolist(), strict=True)
        return [spelt[row] if hit == UNKNOWN else words[hit] for row, hit in found]

    def are_given(self, rows: Tensor, direction: Direction) -> Tensor:
        """Whether the first answer to each row is a given one, (n,)."""
        return self.given[direction][rows] != UNKNOWN


def _changed(before: LatestMarks, now: LatestMarks) -> Iterable[Pair]:
    """Return the pairs that may have other marks than before: all of them if the journal is another one."""
    news = changes(before, now)
    return [*before, *now] if news is None else [pair for pair, _ in news]
