"""What a model answers: candidates, translations, entries of a lexicon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from lnmap.embeddings import Embeddings
from lnmap.errors import OptionError
from lnmap.model.marks import Judgement

GIVEN = "given"  # the label of an answer that was a seed pair


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
    """One possible translation.

    :param score: by the criterion of the search; None, like `cosine`, where one of the words has no vector.
    :param confidence: the probability that it is right, if the model was calibrated and it was not given.
    :param given: a person gave it, as a seed pair or by a mark, so that there is nothing to estimate.
    :param rank: its place in the model's own order, from 1.
    :param mark: 'right', 'added' or 'wrong', if somebody marked the pair.
    """

    word: str
    score: float | None = None
    cosine: float | None = None
    confidence: float | None = None
    given: bool = False
    rank: int | None = None
    mark: Judgement | None = None

    def __str__(self) -> str:
        score = "" if self.score is None else f" {self.score:.2f}"
        sure = "" if self.confidence is None else f" {self.confidence:.0%}"
        return f"{self.word}{score}{f' {self.mark or GIVEN}' if self.given else sure}"


@dataclass(frozen=True)
class Translation:
    """The answer to one word: given translations, then candidates, best first, or the nearest spellings.

    :param spellings: of an unknown word; those of a word translated by its subwords are one slip of the fingers away.
    :param subwords: the word is not in the vocabulary and was translated by the vectors of its subwords.
    :param withheld: candidates below the least confidence asked for.
    :param dropped: candidates that somebody marked wrong.
    """

    query: str
    candidates: tuple[Candidate, ...]
    spellings: tuple[str, ...] = ()
    withheld: tuple[Candidate, ...] = ()
    subwords: bool = False
    dropped: tuple[Candidate, ...] = ()

    def __repr__(self) -> str:
        answers = ", ".join(str(replace(candidate, confidence=None)) for candidate in self.candidates)
        others = f"{len(self.withheld)} withheld" if self.withheld else f"unknown, near {', '.join(self.spellings)}"
        return f"Translation({self.query!r}: {answers or others})"

    @property
    def known(self) -> bool:
        """Whether the word could be looked up: in the vocabulary, by its subwords, or among the given pairs."""
        return bool(self.candidates or self.withheld or self.dropped)

    @property
    def no_translation(self) -> bool:
        """Whether the word is known but no candidate was sure enough, or all were marked wrong."""
        return self.known and not self.candidates

    @property
    def words(self) -> list[str]:
        """The candidates' words."""
        return [candidate.word for candidate in self.candidates]


@dataclass(frozen=True)
class Entry:
    """One pair of an induced lexicon; a given one has no confidence, and no score where a word has no vector."""

    source: str
    target: str
    csls: float | None
    cosine: float | None
    confidence: float | None = None
    given: bool = False
    mark: Judgement | None = None


def spelt(word: str, found: Translation | None, asked: Embeddings) -> Translation:
    """Return what was found for a word, with the spellings that may have been meant if it is in no vocabulary."""
    if found is None:
        return Translation(word, (), tuple(asked.spellings(word)))
    return replace(found, spellings=tuple(asked.slips(word))) if found.subwords else found


def check_least(confidence: float | None, calibrated: bool) -> None:
    """Refuse a least confidence that is no probability, or that the model cannot judge by."""
    if confidence is None:
        return
    if not 0 <= confidence <= 1:
        raise OptionError(f"a confidence is a probability between 0 and 1, not {confidence}")
    if not calibrated:
        raise OptionError("this model knows no confidence", advice="align again with {calibrate:True}")


def is_sure(value: float | None, least: float | None) -> bool:
    """Whether a confidence or a score reaches the least one asked for, if any."""
    return least is None or (value is not None and value >= least)


def answer(
    word: str, found: Sequence[Candidate], dropped: tuple[Candidate, ...], least: float | None, subwords: bool = False
) -> Translation:
    """Keep the candidates that are sure enough, and withhold the others; `dropped` ones were marked wrong."""
    sure = tuple(candidate for candidate in found if is_sure(candidate.confidence, least))
    unsure = tuple(candidate for candidate in found if candidate not in sure)
    return Translation(word, sure, withheld=unsure, subwords=subwords, dropped=dropped)
