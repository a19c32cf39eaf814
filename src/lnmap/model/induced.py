"""The induced lexicon: given pairs first, then the model's own, and a count of those left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from torch import Tensor

from lnmap.embeddings import is_word
from lnmap.errors import OptionError
from lnmap.induce import Induced, Mode, RankBy, induce
from lnmap.judge import JudgedSpace
from lnmap.judge.pairs import induce_judged
from lnmap.model.answers import Entry, is_sure
from lnmap.model.parts import ModelParts
from lnmap.progress import html_table
from lnmap.retrieve import BilingualSpace


class InducedLexicon(list[Entry]):
    """The entries of an induced lexicon, given pairs and then the best first, and what was left out.

    :param left_out: how many pairs held a token that is no word (`words_only`), had too low a score (`least`) or
        confidence (`min_confidence`), gave way to given ones (`given`), or came after the last one asked for (`limit`).
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


def find_pairs(
    space: BilingualSpace, mode: Mode, count: int, rank_by: RankBy, max_rank: int | None
) -> tuple[Induced, Tensor | None]:
    """Induce pairs, best first, and their confidence (m, 1) where a judge knows it."""
    if isinstance(space, JudgedSpace):
        return induce_judged(space, mode=mode, count=count, rank_by=rank_by, max_rank=max_rank)
    found = induce(
        space.source,
        space.target,
        mode=mode,
        count=count,
        rank_by="csls" if rank_by == "confidence" else rank_by,
        max_rank=max_rank,
        means=space.means,
        memory=space.memory,
        progress=space.progress,
    )
    return found, None


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


def select(own: Sequence[Entry], given: Sequence[Entry], wanted: Selection) -> InducedLexicon:
    """Put given pairs before the model's own, best first, and leave out what is not wanted."""
    spelt = [entry for entry in own if not wanted.words_only or (is_word(entry.source) and is_word(entry.target))]
    good = [entry for entry in spelt if is_sure(getattr(entry, wanted.rank_by), wanted.least)]
    sure = [entry for entry in good if is_sure(entry.confidence, wanted.min_confidence)]
    beside = _beside_given(sure, given, wanted.mode, wanted.count)
    every = [*given, *beside]
    left = {
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
