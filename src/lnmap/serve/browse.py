"""Browse: the best translation of every word as one long table, returned page by page."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnmap.direction import Direction
from lnmap.model.marks import LatestMarks, Mark, Pair, ordered
from lnmap.retrieve import UNKNOWN
from lnmap.serve.loaded import LoadedModel
from lnmap.serve.lookup import rounded
from lnmap.serve.said import Said
from lnmap.serve.schemas import LexiconEntry, LexiconPage, Selection
from lnmap.serve.words import fold


def browse(loaded: LoadedModel, said: Said, wanted: Selection) -> LexiconPage:
    """Return one page of the lexicon, or of the marked pairs."""
    table = loaded.best(wanted.direction)
    known = table.known if loaded.has_means else table.known[:0]
    page = slice(wanted.offset, wanted.offset + wanted.limit)
    if wanted.show in ("right", "wrong", "added"):
        chosen = _marked(said.marks, wanted)
        entries = [_marked_entry(loaded, said, mark, wanted.direction) for mark in chosen[page]]
        total = len(chosen)
    else:
        rows = _filter(loaded, said, known, wanted)
        entries = _entries(loaded, said, _sorted(loaded, said, rows, wanted)[page], wanted)
        total = len(rows)
    return LexiconPage(entries=entries, total=total, known=len(known), words=len(table))


def _filter(loaded: LoadedModel, said: Said, rows: Tensor, wanted: Selection) -> Tensor:
    direction = wanted.direction
    if not wanted.tokens:
        rows = rows[loaded.are_words[direction.asked][rows] | _are_given(said, rows, wanted)]
    best = loaded.best(direction).rows[rows]
    if wanted.mutual:
        first = said.first(rows, best, direction, wanted.given)
        back = said.first(first, loaded.best(direction.opposite).rows[first], direction.opposite, wanted.given)
        kept = (back == rows) | _are_given(said, rows, wanted)
        rows, best = rows[kept], best[kept]
    if text := fold(wanted.text.strip()):
        asked = loaded.words[direction.asked].folded
        pairs = zip(rows.tolist(), said.first_words(rows, best, direction, wanted.given), strict=True)
        rows = torch.tensor([row for row, answer in pairs if text in asked[row] or text in fold(answer)]).long()
    if wanted.show == "unmarked" and said.marks:
        rows = rows[~torch.isin(rows, torch.tensor(said.model.given(direction).marked_rows()).long())]
    return rows


def _sorted(loaded: LoadedModel, said: Said, rows: Tensor, wanted: Selection) -> Tensor:
    if wanted.sort == "frequency" or not len(rows):
        return rows
    scores, given = _certainty(loaded, said, rows, wanted), _are_given(said, rows, wanted)
    if wanted.sort != "doubtful":
        scores = scores.masked_fill(given, torch.inf)
        return rows[torch.argsort(scores, stable=True, descending=wanted.sort == "surest")]
    if not loaded.model.calibrated or not _all_searched(loaded, wanted.direction):
        scores = scores.argsort().argsort() / len(
            rows
        )  # how many words are less certain takes the place of a probability
    worth = (1 - scores).masked_fill(given, 0) / (rows + 1)  # what a correction repairs of a text, by Zipf's law
    return rows[torch.argsort(worth, stable=True, descending=True)]


def _certainty(loaded: LoadedModel, said: Said, rows: Tensor, wanted: Selection) -> Tensor:
    """Return the confidence in the best translations; CSLS where there is none, or until all words are searched."""
    direction = wanted.direction
    space = loaded.model.space(direction)
    if not _all_searched(loaded, direction):
        return space.search_best(rows).scores[:, 0]
    if direction not in loaded.certainty:
        found = loaded.model.best(torch.arange(len(space.source)), direction)
        loaded.certainty[direction] = (found.scores if found.confidence is None else found.confidence)[:, 0]
    certain, others = loaded.certainty[direction][rows], said.others[direction][rows]
    changed = (others != UNKNOWN) & wanted.given
    if changed.any():
        found = loaded.model.score(rows[changed], others[changed][:, None], direction)
        certain[changed] = (found.scores if found.confidence is None else found.confidence)[:, 0]
    return certain


def _all_searched(loaded: LoadedModel, direction: Direction) -> bool:
    space = loaded.model.space(direction)
    return space.best.complete and space.swapped().best.complete


def _are_given(said: Said, rows: Tensor, wanted: Selection) -> Tensor:
    """Whether the first answer to each row is a given one that is to be shown, (n,)."""
    return said.are_given(rows, wanted.direction) & wanted.given


def _entries(loaded: LoadedModel, said: Said, rows: Tensor, wanted: Selection) -> list[LexiconEntry]:
    direction, none = wanted.direction, (UNKNOWN, None, None, None)
    best = loaded.best(direction).look_up(rows)[0]
    first, given = said.first(rows, best, direction, wanted.given), _are_given(said, rows, wanted)
    answers = loaded.model.best(rows, direction).lists()
    changed = (first != best).nonzero()[:, 0]
    known = changed[first[changed] != UNKNOWN]
    scored = loaded.model.score(rows[known], first[known][:, None], direction).lists()
    for place in changed.tolist():
        answers[place] = [none]
    for place, one in zip(known.tolist(), scored, strict=True):
        answers[place] = one
    hits = torch.where(first == UNKNOWN, best, first)
    back = said.first(hits, loaded.best(direction.opposite).look_up(hits)[0], direction.opposite, wanted.given)
    returns = (back == rows) | (first == UNKNOWN)
    asked = loaded.model.side(direction.asked).words
    translations = said.first_words(rows, best, direction, wanted.given)
    entries = []
    for row, answer, ((_, *scores),), returned, is_given in zip(
        rows.tolist(), translations, answers, returns.tolist(), given.tolist(), strict=True
    ):
        pair = ordered((asked[row], answer), direction)
        entries.append(_entry(pair, said.marks.get(pair), row, scores, returned, is_given))
    return entries


def _marked(marks: LatestMarks, wanted: Selection) -> list[Mark]:
    """Choose the pairs with one kind of mark, latest first."""
    text = fold(wanted.text.strip())
    return [
        mark
        for mark in reversed(list(marks.values()))
        if mark.mark == wanted.show and (not text or text in fold(mark.source) or text in fold(mark.target))
    ]


def _marked_entry(loaded: LoadedModel, said: Said, mark: Mark, direction: Direction) -> LexiconEntry:
    """Describe a marked pair, with its scores if both of its words are known."""
    pair = (mark.source, mark.target)
    word, translation = ordered(pair, direction)
    given = translation in said.model.given(direction).of(word)
    words = zip((direction.asked, direction.answering), (word, translation), strict=True)
    asked, answer = (loaded.model.side(side).find(word) for side, word in words)
    if asked is None or answer is None:
        return _entry(pair, mark, asked, given=given)
    found = loaded.model.score(torch.tensor([asked]), torch.tensor([[answer]]), direction)
    hit = torch.tensor([answer])
    back = said.first(hit, loaded.best(direction.opposite).look_up(hit)[0], direction.opposite).item()
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
