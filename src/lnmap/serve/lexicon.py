"""Lexicon: the best translation of every word as one long table, of which a person sees a page at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lnmap.serve.best import Rows
from lnmap.serve.explorer import Explorer, sides
from lnmap.serve.marks import Mark, Pair
from lnmap.serve.words import fold

Sort = Literal["frequency", "surest", "unsurest"]
Show = Literal["all", "unmarked", "right", "wrong", "added"]


@dataclass(frozen=True)
class Query:
    """Which entries, in which order, from where to where."""

    reverse: bool = False
    sort: Sort = "frequency"
    show: Show = "all"
    text: str = ""
    mutual: bool = False
    offset: int = 0
    limit: int = 50


@dataclass(frozen=True)
class Entry:
    """One pair of the table; its words as (source, target) whatever the direction. Scores of unknown words are None."""

    pair: Pair
    rank: int | None
    csls: float | None
    cosine: float | None
    confidence: float | None
    returns: bool | None
    mark: Mark | None


@dataclass(frozen=True)
class Page:
    """Some entries, how many there are in all, and how many words have been looked at so far."""

    entries: Sequence[Entry]
    total: int
    known: int
    words: int


def browse(explorer: Explorer, marks: Mapping[Pair, Mark], query: Query) -> Page:
    """Give a page of the lexicon, or of the marked pairs."""
    table = explorer.ways[query.reverse].best
    known = table.known
    window = slice(query.offset, query.offset + query.limit)
    if query.show in ("right", "wrong", "added"):
        chosen = _marked(marks, query)
        entries = [_described(explorer, mark, query.reverse) for mark in chosen[window]]
        return Page(entries, len(chosen), len(known), len(table))
    rows = _filter(explorer, marks, known, query)
    page = rows[_order(explorer, rows, query)][window]
    return Page(_entries(explorer, page, marks, query.reverse), len(rows), len(known), len(table))


def _filter(explorer: Explorer, marks: Mapping[Pair, Mark], rows: Rows, query: Query) -> Rows:
    best = explorer.ways[query.reverse].best.peek(rows)
    if query.mutual:
        kept = explorer.ways[not query.reverse].best.peek(best) == rows
        rows, best = rows[kept], best[kept]
    if query.text:
        wanted = fold(query.text)
        asked, answer = (explorer.words[side].folded for side in sides(query.reverse))
        pairs = zip(rows.tolist(), best.tolist(), strict=True)
        rows = np.array([row for row, hit in pairs if wanted in asked[row] or wanted in answer[hit]], dtype=np.int64)
    if query.show == "unmarked" and marks:
        asked_side = explorer.model.side(sides(query.reverse)[0])
        marked = {asked_side.find(_turned(pair, query.reverse)[0]) for pair in marks}
        rows = rows[~np.isin(rows, [row for row in marked if row is not None])]
    return rows


def _order(explorer: Explorer, rows: Rows, query: Query) -> Rows:
    """Places of the rows in the wanted order; without a calibrated confidence CSLS decides."""
    if query.sort == "frequency":
        return np.arange(len(rows))
    way = explorer.ways[query.reverse]
    found = way.best_of(rows)
    confidence = way.confidence(rows, found) if way.back.complete else None
    score = found.csls if confidence is None else confidence
    return np.argsort(score if query.sort == "unsurest" else -score, kind="stable")


def _entries(explorer: Explorer, rows: Rows, marks: Mapping[Pair, Mark], reverse: bool) -> list[Entry]:
    """Describe the best translations of a page of words."""
    if not len(rows):
        return []
    way = explorer.ways[reverse]
    found = way.best_of(rows)
    returns = explorer.back_of(found.rows, reverse) == rows
    confidence = way.confidence(rows, found)
    sure = [None] * len(rows) if confidence is None else confidence.tolist()
    asked, answer = (explorer.model.side(side).words for side in sides(reverse))
    columns = zip(rows.tolist(), found.rows.tolist(), found.csls.tolist(), found.cosine.tolist(), strict=True)
    entries = []
    for i, (row, hit, csls, cosine) in enumerate(columns):
        pair = _turned((asked[row], answer[hit]), reverse)
        entries.append(Entry(pair, row + 1, csls, cosine, sure[i], bool(returns[i]), marks.get(pair)))
    return entries


def _marked(marks: Mapping[Pair, Mark], query: Query) -> list[Mark]:
    """Choose the pairs with one kind of mark, latest first."""
    wanted = fold(query.text)
    return [
        mark
        for mark in reversed(list(marks.values()))
        if mark.mark == query.show and (wanted in fold(mark.source) or wanted in fold(mark.target))
    ]


def _described(explorer: Explorer, mark: Mark, reverse: bool) -> Entry:
    """Add the scores of a marked pair whose two words are known."""
    way, pair = explorer.ways[reverse], (mark.source, mark.target)
    words = zip(sides(reverse), _turned(pair, reverse), strict=True)
    asked, answer = (explorer.model.side(side).find(word) for side, word in words)
    if asked is None or answer is None:
        return Entry(pair, None if asked is None else asked + 1, None, None, None, None, mark)
    row, hit = np.array([asked]), np.array([answer])
    found = way.scores(row, hit)
    confidence = way.confidence(row, found)
    returns = int(explorer.back_of(hit, reverse)[0]) == asked
    sure = None if confidence is None else float(confidence[0])
    return Entry(pair, asked + 1, float(found.csls[0]), float(found.cosine[0]), sure, returns, mark)


def _turned(pair: Pair, reverse: bool) -> Pair:
    return (pair[1], pair[0]) if reverse else pair
