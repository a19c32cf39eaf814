"""What a model answers: candidates, translations, entries of a lexicon."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from torch import Tensor

from lnmap.progress import html_table


@dataclass(frozen=True)
class Found:
    """Answers to some words by row, best first: rows, scores, cosines and, if calibrated, confidence, each (n, k)."""

    rows: Tensor
    scores: Tensor
    cosines: Tensor
    confidence: Tensor | None = None

    def lists(self) -> list[list[tuple[int, Any, Any, Any]]]:
        """Return (row, score, cosine, confidence) of each answer to each word."""
        none = [[None] * self.rows.shape[1]] * len(self.rows)
        sure = none if self.confidence is None else self.confidence.tolist()
        columns = self.rows.tolist(), self.scores.tolist(), self.cosines.tolist(), sure
        return [list(zip(*one, strict=True)) for one in zip(*columns, strict=True)]


@dataclass(frozen=True)
class Candidate:
    """One possible translation; `confidence` is the probability that it is right, if the model was calibrated."""

    word: str
    score: float
    cosine: float
    confidence: float | None = None


@dataclass(frozen=True)
class Translation:
    """The answer to one word: candidates, best first, or the nearest spellings if the word is unknown.

    :param subwords: the word is not in the vocabulary and was translated by the vectors of its subwords.
    :param withheld: candidates below the least confidence asked for.
    """

    query: str
    candidates: tuple[Candidate, ...]
    spellings: tuple[str, ...] = ()
    withheld: tuple[Candidate, ...] = ()
    subwords: bool = False

    def __repr__(self) -> str:
        answers = ", ".join(f"{candidate.word} {candidate.score:.2f}" for candidate in self.candidates)
        others = f"{len(self.withheld)} withheld" if self.withheld else f"unknown, near {', '.join(self.spellings)}"
        return f"Translation({self.query!r}: {answers or others})"

    @property
    def known(self) -> bool:
        """Whether the word could be looked up: in the vocabulary, or by its subwords."""
        return bool(self.candidates or self.withheld)

    @property
    def no_translation(self) -> bool:
        """Whether the word is known but no candidate was sure enough."""
        return bool(self.withheld) and not self.candidates

    @property
    def words(self) -> list[str]:
        """The candidates' words."""
        return [candidate.word for candidate in self.candidates]


@dataclass(frozen=True)
class Entry:
    """One pair of an induced lexicon."""

    source: str
    target: str
    csls: float
    cosine: float
    confidence: float | None = None


class InducedLexicon(list[Entry]):
    """The entries of an induced lexicon, best first, and what was left out.

    :param left_out: how many pairs had too low a score (`least`), too low a confidence (`min_confidence`), or came
        after the last one asked for (`limit`).
    """

    def __init__(self, entries: Iterable[Entry] = (), left_out: Mapping[str, int] | None = None) -> None:
        super().__init__(entries)
        self.left_out = dict(left_out or {})

    def __repr__(self) -> str:
        left = ", ".join(f"{count:,} by {name}" for name, count in self.left_out.items() if count)
        first = [(entry.source, entry.target) for entry in self[:3]]
        return f"InducedLexicon({len(self):,} pairs, first {first}{f', left out: {left}' if left else ''})"

    def _repr_html_(self) -> str:
        shown = [(e.source, e.target, f"{e.csls:.3f}", f"{e.cosine:.3f}") for e in self[:10]]
        return f"<p>{escape(repr(self))}</p>" + html_table(("source", "target", "CSLS", "cosine"), shown)


def is_sure(confidence: float | None, least: float | None) -> bool:
    """Whether a candidate reaches the least confidence asked for, if any."""
    return least is None or (confidence is not None and confidence >= least)


def answer(word: str, found: tuple[Candidate, ...], least: float | None, subwords: bool = False) -> Translation:
    """Keep the candidates that are sure enough, and withhold the others."""
    sure = tuple(candidate for candidate in found if is_sure(candidate.confidence, least))
    unsure = tuple(candidate for candidate in found if candidate not in sure)
    return Translation(word, sure, withheld=unsure, subwords=subwords)
