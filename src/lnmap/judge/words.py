"""What the words themselves say about a pair: how they are spelt, how frequent they are, and whether one is foreign."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lnmap.direction import Side
from lnmap.embeddings import is_word
from lnmap.retrieve import UNKNOWN
from lnmap.spelling import fold
from lnmap.spelling.letters import Letters

FREQUENCY = ("frequency", "rarer", "frequency apart")
SPELLING = ("letters", "alike", "alike and rare", "alike but rarer", "length apart", "foreign")
FOREIGN = 0.7  # likeness from which a word counts as one of the other language
_HEAD = 10  # added to ranks: the very first of them say little
_MOST_ODDS = 12.0
_BLOCK = 4096  # words whose pairs are spelt out at a time


class WordFacts:
    """Both vocabularies as strings and ranks.

    :param words: of each side, most frequent first.
    :param letters: which letters correspond; None leaves spelling out.
    :param foreign: how likely each word of a side belongs to the other language, (n,).
    """

    def __init__(
        self, words: dict[Side, Sequence[str]], letters: Letters | None, foreign: dict[Side, Tensor] | None
    ) -> None:
        self.words, self.letters, self.foreign = words, letters, foreign or {}
        self._numbers: dict[str, int] = {}
        self._folded: dict[Side, tuple[Tensor, Tensor]] = {}
        self._first: dict[Side, Tensor] = {}
        self._word: dict[Side, Tensor] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return FREQUENCY + (SPELLING if self.letters else ())

    def taught(self, pairs: Tensor) -> WordFacts:
        """Return the same, with letters learnt from other pairs of rows (k, 2)."""
        if self.letters is None:
            return self
        source, target = (
            [self.words[side][row] for row in rows] for side, rows in zip(Side, pairs.T.tolist(), strict=True)
        )
        facts = WordFacts(self.words, Letters.fit(source, target), self.foreign)
        facts._numbers, facts._folded, facts._first = self._numbers, self._folded, self._first
        facts._word = self._word
        return facts

    def describe(self, asked: Side, rows: Tensor, candidates: Tensor, spelt: Sequence[str] | None = None) -> Tensor:
        """Describe candidates (n, k) of words: shape (n, k, f).

        :param rows: of the words asked for (n,); ignored where `spelt` has words outside the vocabulary.
        """
        rank = torch.full_like(candidates[:, 0], len(self.words[asked])) if spelt is not None else rows
        own = _log(rank)[:, None] - math.log(len(self.words[asked]) + _HEAD)
        other = _log(candidates) - math.log(len(self.words[asked.other]) + _HEAD)
        found = [other, (other - own).clamp_min(0), (own - other).clamp_min(0)]
        if self.letters is None:
            return torch.stack(found, dim=-1)
        same, length = self._alike(asked, rows, spelt, candidates)
        odds = self._odds(asked, rows, spelt, candidates)
        foreign = self.foreign[asked.other].to(other.device)[candidates] if self.foreign else torch.zeros_like(other)
        found += [odds, same, same * own, same * (other - own), length, foreign.to(other) * same]
        return torch.stack(found, dim=-1)

    def spelt_like(self, asked: Side, rows: Tensor, spelt: Sequence[str] | None = None) -> Tensor:
        """Return the word of the other language that is spelt like each word, the most frequent one, or -1: (n, 1)."""
        if self.letters is None:
            return torch.full_like(rows, UNKNOWN)[:, None]
        numbers, _ = self._fold(asked.other)
        if asked not in self._first:
            first = torch.full((len(self._numbers),), len(numbers))
            first.scatter_reduce_(0, numbers, torch.arange(len(numbers)), "amin")
            self._first[asked] = torch.where(first < len(numbers), first, UNKNOWN)
        first = self._first[asked]
        own, _ = self._fold_words(asked, rows, spelt)
        known = (own >= 0) & (own < len(first))
        return torch.where(known, first[own.clamp(0, len(first) - 1)], UNKNOWN)[:, None].to(rows)

    def may_answer(self, asked: Side, candidates: Tensor) -> Tensor:
        """Return which candidates (n, k) are words of their own language: what is foreign there is no answer."""
        if asked.other not in self.foreign:
            return torch.ones_like(candidates, dtype=torch.bool)
        return self.foreign[asked.other].to(candidates.device)[candidates] < FOREIGN

    def words_for_words(
        self, asked: Side, rows: Tensor, candidates: Tensor, spelt: Sequence[str] | None = None
    ) -> Tensor:
        """Return which candidates (n, k) are words, where a word is asked for: no sign, number or markup translates it.

        Not for a dictionary that grows: words that choose a sign choose a wrong word without it, and pairs join it.
        """
        own = [is_word(word) for word in self._words(asked, rows, spelt)]
        return self._are_words(asked.other, candidates) | ~torch.tensor(own, device=candidates.device)[:, None]

    def native(self, pairs: Tensor) -> Tensor:
        """Return which pairs of rows (k, 2) have no word that is foreign in its vocabulary, (k,)."""
        kept = torch.ones(len(pairs), dtype=torch.bool, device=pairs.device)
        for side, rows in zip(Side, pairs.T, strict=True):
            if side in self.foreign:
                kept &= self.foreign[side].to(rows.device)[rows] < FOREIGN
        return kept

    def _alike(
        self, asked: Side, rows: Tensor, spelt: Sequence[str] | None, candidates: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return whether words are the same when folded, and how far apart their lengths are, each (n, k)."""
        numbers, lengths = self._fold(asked.other)
        own, length = (one[:, None].to(candidates.device) for one in self._fold_words(asked, rows, spelt))
        there = lengths.to(candidates.device)[candidates]
        same = (numbers.to(candidates.device)[candidates] == own).float()
        return same, (length - there).abs() / torch.maximum(length, there).clamp_min(1)

    def _are_words(self, side: Side, rows: Tensor) -> Tensor:
        """Return which rows of a side (n, k) are words; each is looked at once."""
        known = self._word.setdefault(side, torch.full((len(self.words[side]),), UNKNOWN, dtype=torch.int8))
        new = rows.unique().cpu()
        new = new[known[new] == UNKNOWN]
        words = self.words[side]
        known[new] = torch.tensor([is_word(words[row]) for row in new.tolist()], dtype=torch.int8)
        return known.to(rows.device)[rows] == 1

    def _fold_words(self, asked: Side, rows: Tensor, spelt: Sequence[str] | None) -> tuple[Tensor, Tensor]:
        """Return the number of each word's folded form, -1 where the other language has none, and its length, (n,)."""
        if spelt is None and asked in self._folded:
            numbers, lengths = self._folded[asked]
            return numbers[rows.to(numbers.device)], lengths[rows.to(lengths.device)]
        forms = [fold(word) for word in self._words(asked, rows, spelt)]
        numbers = torch.tensor([self._numbers.get(form, UNKNOWN) for form in forms], dtype=torch.long)
        return numbers, torch.tensor([float(len(form)) for form in forms])

    def _words(self, asked: Side, rows: Tensor, spelt: Sequence[str] | None) -> Sequence[str]:
        return [self.words[asked][row] for row in rows.tolist()] if spelt is None else spelt

    def _fold(self, side: Side) -> tuple[Tensor, Tensor]:
        """Return the number of each word's folded form, and its length, each (n,)."""
        if side not in self._folded:
            forms = [fold(word) for word in self.words[side]]
            numbers = [self._numbers.setdefault(form, len(self._numbers)) for form in forms]
            self._folded[side] = torch.tensor(numbers), torch.tensor([float(len(form)) for form in forms])
        return self._folded[side]

    def _odds(self, asked: Side, rows: Tensor, spelt: Sequence[str] | None, candidates: Tensor) -> Tensor:
        """Return how far letters speak for each pair being one word in two spellings, (n, k)."""
        assert self.letters is not None
        words, found = self._words(asked, rows, spelt), [torch.zeros(0, device=candidates.device)]
        for start in range(0, len(words), _BLOCK):
            part = candidates[start : start + _BLOCK]
            hits, right = part.unique(return_inverse=True)
            left = torch.arange(len(part), device=part.device)[:, None].expand_as(part)
            own, there = words[start : start + _BLOCK], [self.words[asked.other][hit] for hit in hits.tolist()]
            pairs = (own, there, left.flatten(), right.flatten())
            turned = (there, own, right.flatten(), left.flatten())
            found.append(self.letters.log_odds_of(*(pairs if asked is Side.SOURCE else turned)))
        odds = torch.cat(found)
        return torch.logaddexp(torch.zeros_like(odds), odds).clamp_max(_MOST_ODDS).reshape(candidates.shape)

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what cannot be read off the words again."""
        if self.letters is None:
            return {}, {}
        values, tensors = self.letters.state()
        foreign = {f"foreign.{side}": tensor for side, tensor in self.foreign.items()}
        return {"letters": values}, {f"letters.{name}": tensor for name, tensor in tensors.items()} | foreign

    @classmethod
    def from_state(
        cls, words: dict[Side, Sequence[str]], values: dict[str, Any], tensors: dict[str, Tensor]
    ) -> WordFacts:
        """Rebuild from `state()` and the words."""
        if "letters" not in values:
            return cls(words, None, None)
        own = {name.removeprefix("letters."): t for name, t in tensors.items() if name.startswith("letters.")}
        foreign = {side: tensors[f"foreign.{side}"] for side in Side if f"foreign.{side}" in tensors}
        return cls(words, Letters.from_state(values["letters"], own), foreign)


def _log(rows: Tensor) -> Tensor:
    return (rows.float() + _HEAD).log()
