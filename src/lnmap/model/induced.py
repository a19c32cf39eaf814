"""The induced lexicon: given pairs first, then the model's own, and a count of those left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import torch
from torch import Tensor

from lnmap.embeddings import is_word
from lnmap.errors import OptionError
from lnmap.induce import Mode, RankBy, induce
from lnmap.judge import JudgedSpace
from lnmap.judge.pairs import induce_judged
from lnmap.model.answers import Entry, Found, is_sure
from lnmap.model.dropped import Paired, without_wrong
from lnmap.model.given import GivenPairs, descending
from lnmap.model.parts import ModelParts
from lnmap.progress import html_table
from lnmap.retrieve import BilingualSpace, Hits


class InducedLexicon(list[Entry]):
    """The entries of an induced lexicon, given pairs and then the best first, and what was left out.

    :param left_out: how many pairs were marked wrong (`wrong`), held a token that is no word (`words_only`), had too
        low a score (`least`) or confidence (`min_confidence`), gave way to given ones (`given`), or came after the last
        one asked for (`limit`).
    """

    def __init__(self, entries: Iterable[Entry] = (), left_out: Mapping[str, int] | None = None) -> None:
        super().__init__(entries)
        self.left_out = dict(left_out or {})

    def __repr__(self) -> str:
        left = ", ".join(f"{count:,} by {name}" for name, count in self.left_out.items() if count)
        first = [(entry.source, entry.target) for entry in self[:3]]
        return f"InducedLexicon({len(self):,} pairs, first {first}{f', left out: {left}' if left else ''})"

    def _repr_html_(self) -> str:
        shown = [(e.source, e.target, *map(_digits, (e.csls, e.cosine)), "given" * e.given) for e in self[:10]]
        return f"<p>{escape(repr(self))}</p>" + html_table(("source", "target", "CSLS", "cosine", ""), shown)


def ranking(model: ModelParts, rank_by: RankBy | None) -> RankBy:
    """Return what pairs are sorted by: by default the confidence where a judge knows it, else CSLS."""
    if rank_by == "confidence" and not model.calibrated:
        raise OptionError("this model knows no confidence", advice="align again with {calibrate:True}")
    return rank_by or ("csls" if model.judges is None else "confidence")


@dataclass(frozen=True)
class Selection:
    """Which pairs are wanted; see `Model.induce`."""

    mode: Mode
    count: int
    rank_by: RankBy
    least: float | None
    min_confidence: float | None
    limit: int | None
    words_only: bool
    max_rank: int | None = None


@torch.no_grad()
def induce_lexicon(
    space: BilingualSpace,
    words: tuple[Sequence[str], Sequence[str]],
    wanted: Selection,
    said: GivenPairs | None,
    judge: Callable[[BilingualSpace, Tensor, Hits], Found],
) -> InducedLexicon:
    """Induce a lexicon; see `Model.induce`.

    :param words: of the language translated from and of the other one.
    :param said: what people said; None for the model's own pairs only.
    :param judge: adds the confidence to what a search has found.
    """
    found = _find_pairs(space, wanted)
    wrong = said.wrong_rows() if said else {}
    kept = without_wrong(space, found, wrong, wanted.mode, wanted.count, wanted.max_rank) if wrong else found
    own = judge(space, kept.rows[:, 0], Hits(kept.rows[:, 1:], kept.csls[:, None], kept.cosine[:, None], kept.sure))
    asked, answering = words
    entries = [
        Entry(asked[row], answering[hit], csls, cosine, sure)
        for row, ((hit, csls, cosine, sure),) in zip(kept.rows[:, 0].tolist(), own.lists(), strict=True)
    ]
    entries.sort(key=lambda entry: descending(getattr(entry, wanted.rank_by)))
    given = said.entries(space, wanted.rank_by, wanted.max_rank) if said else []
    dropped = sum(target in wrong.get(source, ()) for source, target in found.rows.tolist()) if wrong else 0
    return select(entries, given, wanted, dropped)


def _find_pairs(space: BilingualSpace, wanted: Selection) -> Paired:
    """Induce pairs, best first, with their confidence where a judge knows it."""
    if isinstance(space, JudgedSpace):
        found, sure = induce_judged(
            space, mode=wanted.mode, count=wanted.count, rank_by=wanted.rank_by, max_rank=wanted.max_rank
        )
        return Paired(found.rows, found.csls, found.cosine, sure)
    found = induce(
        space.source,
        space.target,
        mode=wanted.mode,
        count=wanted.count,
        rank_by="csls" if wanted.rank_by == "confidence" else wanted.rank_by,
        max_rank=wanted.max_rank,
        means=space.known_means,
        memory=space.memory,
        progress=space.progress,
        scaled=True,
    )
    if found.means is not None:
        space.keep_means(found.means)
    return Paired(found.rows, found.csls, found.cosine)


def select(own: Sequence[Entry], given: Sequence[Entry], wanted: Selection, dropped: int = 0) -> InducedLexicon:
    """Put given pairs before the model's own, best first, and leave out what is not wanted.

    :param dropped: how many pairs were left out already, because they were marked wrong.
    """
    spelt = [entry for entry in own if not wanted.words_only or (is_word(entry.source) and is_word(entry.target))]
    good = [entry for entry in spelt if is_sure(getattr(entry, wanted.rank_by), wanted.least)]
    sure = [entry for entry in good if is_sure(entry.confidence, wanted.min_confidence)]
    beside = _beside_given(sure, given, wanted.mode, wanted.count)
    every = [*given, *beside]
    left = {
        "wrong": dropped,
        "words_only": len(own) - len(spelt),
        "least": len(spelt) - len(good),
        "min_confidence": len(good) - len(sure),
        "given": len(sure) - len(beside),
        "limit": len(every) - len(every[: wanted.limit]),
    }
    return InducedLexicon(every[: wanted.limit], left)


def _beside_given(own: Sequence[Entry], given: Sequence[Entry], mode: Mode, count: int) -> list[Entry]:
    """Leave out what the given pairs say already, and further translations of words that have `count` of them.

    What counts are the words that choose in this mode: those asked for, the answers, both, or either.
    """
    said = {(entry.source, entry.target) for entry in given}
    sources, targets = (Counter(getattr(entry, side) for entry in given) for side in ("source", "target"))
    first, second = set(sources), set(targets)
    kept = []
    for entry in own:
        room = (
            entry.source not in first or sources[entry.source] < count,
            entry.target not in second or targets[entry.target] < count,
        )
        fits = {"forward": room[0], "backward": room[1], "mutual": all(room), "union": any(room)}[mode]
        if fits and (entry.source, entry.target) not in said:
            sources[entry.source] += 1
            targets[entry.target] += 1
            kept.append(entry)
    return kept


def _digits(score: float | None) -> str:
    return "" if score is None else f"{score:.3f}"
