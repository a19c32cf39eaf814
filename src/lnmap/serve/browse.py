"""Browse: the best translation of every word as one long table, returned page by page."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnmap.direction import Direction
from lnmap.serve.loaded import LoadedModel
from lnmap.serve.lookup import DIGITS
from lnmap.serve.marks import LatestMarks, Mark, Pair, ordered
from lnmap.serve.schemas import LexiconEntry, LexiconPage, Selection
from lnmap.serve.words import fold


def browse(loaded: LoadedModel, marks: LatestMarks, wanted: Selection) -> LexiconPage:
    """Return one page of the lexicon, or of the marked pairs."""
    table = loaded.best(wanted.direction)
    known = table.known
    page = slice(wanted.offset, wanted.offset + wanted.limit)
    if wanted.show in ("right", "wrong", "added"):
        chosen = _marked(marks, wanted)
        entries = [_marked_entry(loaded, mark, wanted.direction) for mark in chosen[page]]
        total = len(chosen)
    else:
        rows = _filter(loaded, marks, known, wanted)
        entries = _entries(loaded, _sorted(loaded, rows, wanted)[page], marks, wanted.direction)
        total = len(rows)
    return LexiconPage(entries=entries, total=total, known=len(known), words=len(table))


def _filter(loaded: LoadedModel, marks: LatestMarks, rows: Tensor, wanted: Selection) -> Tensor:
    direction = wanted.direction
    best = loaded.best(direction).rows[rows]
    if wanted.mutual:
        kept = loaded.best(direction.opposite).rows[best] == rows
        rows, best = rows[kept], best[kept]
    if text := fold(wanted.text.strip()):
        asked, answering = (loaded.words[side].folded for side in (direction.asked, direction.answering))
        pairs = zip(rows.tolist(), best.tolist(), strict=True)
        rows = torch.tensor([row for row, hit in pairs if text in asked[row] or text in answering[hit]]).long()
    if wanted.show == "unmarked" and marks:
        vocabulary = loaded.model.side(direction.asked)
        marked = {vocabulary.find(ordered(pair, direction)[0]) for pair in marks}
        rows = rows[~torch.isin(rows, torch.tensor([row for row in marked if row is not None]).long())]
    return rows


def _sorted(loaded: LoadedModel, rows: Tensor, wanted: Selection) -> Tensor:
    if wanted.sort == "frequency":
        return rows
    scores = _certainty(loaded, rows, wanted.direction)
    return rows[torch.argsort(scores, stable=True, descending=wanted.sort == "surest")]


def _certainty(loaded: LoadedModel, rows: Tensor, direction: Direction) -> Tensor:
    """Return the confidence in the best translations; CSLS where there is none, or until all words are searched."""
    space = loaded.model.space(direction)
    if not (space.best.complete and space.swapped().best.complete):
        return space.search_best(rows).scores[:, 0]
    if direction not in loaded.certainty:
        found = loaded.model.best(torch.arange(len(space.source)), direction)
        loaded.certainty[direction] = (found.scores if found.confidence is None else found.confidence)[:, 0]
    return loaded.certainty[direction][rows]


def _entries(loaded: LoadedModel, rows: Tensor, marks: LatestMarks, direction: Direction) -> list[LexiconEntry]:
    found = loaded.model.best(rows, direction)
    returns = loaded.best(direction.opposite).look_up(found.rows[:, 0])[0] == rows
    asked, answering = (loaded.model.side(side).words for side in (direction.asked, direction.answering))
    entries = []
    for row, ((hit, *scores),), back in zip(rows.tolist(), found.lists(), returns.tolist(), strict=True):
        pair = ordered((asked[row], answering[hit]), direction)
        entries.append(_entry(pair, marks.get(pair), row, scores, back))
    return entries


def _marked(marks: LatestMarks, wanted: Selection) -> list[Mark]:
    """Choose the pairs with one kind of mark, latest first."""
    text = fold(wanted.text.strip())
    return [
        mark
        for mark in reversed(list(marks.values()))
        if mark.mark == wanted.show and (text in fold(mark.source) or text in fold(mark.target))
    ]


def _marked_entry(loaded: LoadedModel, mark: Mark, direction: Direction) -> LexiconEntry:
    """Describe a marked pair, with its scores if both of its words are known."""
    pair = (mark.source, mark.target)
    words = zip((direction.asked, direction.answering), ordered(pair, direction), strict=True)
    asked, answer = (loaded.model.side(side).find(word) for side, word in words)
    if asked is None or answer is None:
        return _entry(pair, mark, asked)
    found = loaded.model.score(torch.tensor([asked]), torch.tensor([[answer]]), direction)
    back = loaded.best(direction.opposite).look_up(torch.tensor([answer]))[0].item()
    return _entry(pair, mark, asked, found.lists()[0][0][1:], back == asked)


def _entry(
    pair: Pair,
    mark: Mark | None,
    row: int | None,
    scores: Sequence[float | None] = (None, None, None),
    returns: bool | None = None,
) -> LexiconEntry:
    csls, cosine, confidence = (None if score is None else round(score, DIGITS) for score in scores)
    return LexiconEntry(
        source=pair[0],
        target=pair[1],
        rank=None if row is None else row + 1,
        csls=csls,
        cosine=cosine,
        confidence=confidence,
        returns=returns,
        mark=mark.mark if mark else None,
    )
