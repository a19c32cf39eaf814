"""Browse: the best translation of every word as one long table, returned page by page."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnmap.direction import Direction
from lnmap.retrieve import UNKNOWN
from lnmap.serve.loaded import LoadedModel
from lnmap.serve.lookup import rounded
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
        entries = _entries(loaded, _sorted(loaded, rows, wanted)[page], marks, wanted)
        total = len(rows)
    return LexiconPage(entries=entries, total=total, known=len(known), words=len(table))


def _filter(loaded: LoadedModel, marks: LatestMarks, rows: Tensor, wanted: Selection) -> Tensor:
    direction = wanted.direction
    if not wanted.tokens:
        rows = rows[loaded.are_words[direction.asked][rows] | _are_given(loaded, rows, wanted)]
    best = loaded.first(rows, loaded.best(direction).rows[rows], direction, wanted.given)
    if wanted.mutual:
        back = loaded.first(best, loaded.best(direction.opposite).rows[best], direction.opposite, wanted.given)
        kept = (back == rows) | _are_given(loaded, rows, wanted)
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
    scores = _certainty(loaded, rows, wanted.direction).masked_fill(_are_given(loaded, rows, wanted), torch.inf)
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


def _are_given(loaded: LoadedModel, rows: Tensor, wanted: Selection) -> Tensor:
    """Whether the first answer to each row is a given one that is to be shown, (n,)."""
    return (loaded.given[wanted.direction][rows] != UNKNOWN) & wanted.given


def _entries(loaded: LoadedModel, rows: Tensor, marks: LatestMarks, wanted: Selection) -> list[LexiconEntry]:
    direction = wanted.direction
    answers = loaded.model.best(rows, direction).lists()
    given = _are_given(loaded, rows, wanted)
    said = loaded.model.score(rows[given], loaded.given[direction][rows[given]][:, None], direction).lists()
    for place, one in zip(given.nonzero()[:, 0].tolist(), said, strict=True):
        answers[place] = one
    hits = torch.tensor([one[0][0] for one in answers], dtype=torch.long)
    best = loaded.best(direction.opposite).look_up(hits)[0]
    returns = loaded.first(hits, best, direction.opposite, wanted.given) == rows
    asked, answering = (loaded.model.side(side).words for side in (direction.asked, direction.answering))
    entries = []
    for row, ((hit, *scores),), back, is_given in zip(
        rows.tolist(), answers, returns.tolist(), given.tolist(), strict=True
    ):
        pair = ordered((asked[row], answering[hit]), direction)
        entries.append(_entry(pair, marks.get(pair), row, scores, back, is_given))
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
    word, translation = ordered(pair, direction)
    given = translation in loaded.model.given(direction).of(word)
    words = zip((direction.asked, direction.answering), (word, translation), strict=True)
    asked, answer = (loaded.model.side(side).find(word) for side, word in words)
    if asked is None or answer is None:
        return _entry(pair, mark, asked, given=given)
    found = loaded.model.score(torch.tensor([asked]), torch.tensor([[answer]]), direction)
    hit = torch.tensor([answer])
    back = loaded.first(hit, loaded.best(direction.opposite).look_up(hit)[0], direction.opposite).item()
    return _entry(pair, mark, asked, found.lists()[0][0][1:], back == asked, given)


def _entry(
    pair: Pair,
    mark: Mark | None,
    row: int | None,
    scores: Sequence[float | None] = (None, None, None),
    returns: bool | None = None,
    given: bool = False,
) -> LexiconEntry:
    csls, cosine, confidence = map(rounded, scores)
    return LexiconEntry(
        source=pair[0],
        target=pair[1],
        rank=None if row is None else row + 1,
        csls=csls,
        cosine=cosine,
        confidence=None if given else confidence,
        given=given,
        returns=returns,
        mark=mark.mark if mark else None,
    )
