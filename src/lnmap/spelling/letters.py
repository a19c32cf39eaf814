"""Which letters of two languages correspond, learnt from pairs of words.

Some translations are the same word in another spelling: names, loans, cognates. The letters of such a pair were written
together, one operation after the other: a letter of each word, or a letter of one word alone. The letters of any other
pair have nothing to do with each other. How likely each operation is, is learnt by expectation maximisation from pairs
that are mixtures of both kinds, beginning with what romanisation says (Ristad and Yianilos 1998 have the operations).

The two explanations are compared for words of the same two lengths. With q(a), q(b) for how frequent letters are, and
relative weights m(a, b) = p(a, b) / (q(a) q(b)), d(a) = p(a, -) / q(a), i(b) = p(-, b) / q(b), the sum over all ways to
write both words is the product of all d and i, times K(n, m), where

    K(i, j) = K(i, j - 1) + K(i - 1, j) + m(a_i, b_j) / (d(a_i) i(b_j)) K(i - 1, j - 1)

so that a row of K is a cumulative sum, and nothing is smaller than one.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnmap.direction import Side
from lnmap.errors import InputError
from lnmap.spelling.folding import fold, plain, romanise

Matrix = NDArray[np.float64]
_SHARE = 0.1  # of pairs that are one word in two spellings, before their letters are seen; low: only clear cases teach
_PRIOR = 300.0  # operations that what romanisation says is worth
_ALONE, _ANY = 0.15, 0.15  # share of letters written alone, and with any other letter, where nothing is known
_FEW = 0.02  # share of letters written alone, at least
_UNSEEN = 20.0  # how much more likely a letter is beside itself than elsewhere, where it was never seen
_PARTLY = 0.3  # likeness of letters of which one romanisation holds the other
_ROUNDS, _SETTLED = 30, 1e-3  # of learning, at most, and until what a pair gains is less
_PAIRS = 5000  # that are learnt from, the first ones
_LONGEST = 32  # letters of a word that are looked at; with `_FEW` this keeps K finite
_BLOCK, _MANY = 2048, 1 << 15  # pairs at a time; on a GPU
_KANA = re.compile("[ぁ-ゖァ-ヺ]")


@dataclass(frozen=True)
class _Coded:
    """Words as numbers of letters: (n, longest), padded with -1, and their lengths (n,)."""

    letters: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, forms: Sequence[str], alphabet: str) -> _Coded:
        lengths = np.array([len(form) for form in forms], dtype=np.int64)
        known, written = (np.array(list(map(ord, text)), dtype=np.int64) for text in (alphabet, "".join(forms)))
        number = np.zeros(known.max(initial=0) + 1, dtype=np.int64)
        number[known] = np.arange(len(known))
        letters = np.full((len(forms), int(lengths.max(initial=1))), -1, dtype=np.int64)
        letters[np.arange(letters.shape[1]) < lengths[:, None]] = number[written]
        return cls(letters, lengths)

    def sums(self, values: Matrix) -> Matrix:
        """Add the values of the letters of each word."""
        return np.append(values, 0.0)[self.letters].sum(axis=1)


@dataclass(frozen=True)
class _Weights:
    """Logarithms of d (n,) and i (m,), the ratios m / (d i) (n, m), and what any two words of two lengths have."""

    left: Matrix
    right: Matrix
    ratios: Matrix
    lengths: Matrix


class Letters:
    """How letters of two languages are written together; `fit` learns it.

    :param alphabets: letters that were seen, of each side.
    :param seen: how often, in all words.
    :param together: how often letters of both sides were written together, shape (n, m).
    :param alone: how often letters of each side were written alone.
    :param kana: whether a side is Japanese; its Chinese characters have many readings and are not romanised.
    """

    def __init__(
        self,
        alphabets: dict[Side, str],
        seen: dict[Side, Matrix],
        together: Matrix,
        alone: dict[Side, Matrix],
        kana: dict[Side, bool],
    ) -> None:
        self.alphabets, self.seen, self.together, self.alone, self.kana = alphabets, seen, together, alone, kana

    @classmethod
    def fit(cls, source_words: Sequence[str], target_words: Sequence[str]) -> Letters:
        """Learn from translations, one pair per row; few or none leave what romanisation says."""
        if len(source_words) != len(target_words):
            raise InputError(f"{len(source_words)} source words but {len(target_words)} target words; pairs are needed")
        words = {Side.SOURCE: source_words[:_PAIRS], Side.TARGET: target_words[:_PAIRS]}
        kana = {side: any(_KANA.search(word) for word in words[side]) for side in Side}
        written = {side: [_letters(word, kana[side]) for word in words[side]] for side in Side}
        pairs = dict.fromkeys(zip(written[Side.SOURCE], written[Side.TARGET], strict=True))
        forms = {side: [pair[row] for pair in pairs] for row, side in enumerate(Side)}
        counts = {side: Counter("".join(dict.fromkeys(forms[side]))) for side in Side}
        alphabets = {side: "".join(sorted(count)) for side, count in counts.items()}
        seen = {side: np.array([counts[side][one] for one in alphabets[side]], dtype=float) for side in Side}
        alone = {side: np.zeros(len(alphabets[side])) for side in Side}
        letters = cls(alphabets, seen, np.zeros((len(alone[Side.SOURCE]), len(alone[Side.TARGET]))), alone, kana)
        if pairs:
            letters._learn(*(_Coded.of(forms[side], alphabets[side]) for side in Side))
        return letters

    def log_odds(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float32]:
        """Return how much more likely each pair of a source and a target word is one word in two spellings than not.

        Natural logarithms, shape (n,); below zero for most pairs. What is against a pair says little: translations
        need not look alike. `numpy.logaddexp(0, log_odds)` keeps what speaks for it.
        """
        if len(left) != len(right):
            raise InputError(f"{len(left)} words but {len(right)} others; pairs are needed")
        rows = torch.arange(len(left))
        return self.log_odds_of(left, right, rows, rows).numpy()

    def log_odds_of(self, left: Sequence[str], right: Sequence[str], rows: Tensor, others: Tensor) -> Tensor:
        """Return the log odds of pairs that are given by the rows of their words, (n,), computed where the rows are."""
        if not len(rows):
            return torch.zeros(0, device=rows.device)
        coded, alphabets = [], []
        for side, words in zip(Side, (left, right), strict=True):
            forms = [_letters(word, self.kana[side]) for word in words]
            alphabets.append(self.alphabets[side] + "".join(sorted({*"".join(forms)} - {*self.alphabets[side]})))
            coded.append(_Coded.of(forms, alphabets[-1]))
        weights = self._weights(alphabets[0], alphabets[1])
        return _odds(weights, coded[0], coded[1], rows, others).float().to(rows.device)

    def state(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return everything needed to rebuild it."""
        tensors = {"together": torch.from_numpy(self.together)}
        for side in Side:
            tensors |= {f"{name}.{side}": torch.from_numpy(getattr(self, name)[side]) for name in ("seen", "alone")}
        alphabets = {str(side): self.alphabets[side] for side in Side}
        return {"alphabets": alphabets, "kana": {str(side): self.kana[side] for side in Side}}, tensors

    @classmethod
    def from_state(cls, values: dict[str, Any], tensors: dict[str, Tensor]) -> Letters:
        """Rebuild from `state()`."""
        alphabets = {side: str(values["alphabets"][str(side)]) for side in Side}
        seen, alone = ({side: tensors[f"{name}.{side}"].cpu().numpy() for side in Side} for name in ("seen", "alone"))
        kana = {side: bool(values["kana"][str(side)]) for side in Side}
        return cls(alphabets, seen, tensors["together"].cpu().numpy(), alone, kana)

    def _learn(self, left: _Coded, right: _Coded) -> None:
        """Repeat: how likely each pair is one word in two spellings, then what such pairs say about letters."""
        rows = torch.arange(len(left.lengths))
        before = -math.inf
        for _ in range(_ROUNDS):
            weights = self._weights(self.alphabets[Side.SOURCE], self.alphabets[Side.TARGET])
            together = np.zeros_like(self.together)
            odds = _odds(weights, left, right, rows, rows, together).numpy()
            share = np.exp(-np.logaddexp(0, -odds))
            self.together = together
            for side, coded, axis in ((Side.SOURCE, left, 1), (Side.TARGET, right, 0)):
                there = coded.letters >= 0
                written = np.bincount(coded.letters[there], np.broadcast_to(share[:, None], there.shape)[there])
                self.alone[side] = np.maximum(written - together.sum(axis=axis), 0)
            gain = float(np.logaddexp(0, odds).mean())
            if gain - before < _SETTLED:
                break
            before = gain

    def _weights(self, left: str, right: str) -> _Weights:
        """Return the weights of letters, those of the alphabets first; others have what romanisation says alone."""
        alike, (n, m) = _likeness(left, right), self.together.shape
        usual = [(seen + 0.5) / (seen + 0.5).sum() for seen in self.seen.values()]
        forth, back = _written(alike[:n, :m], usual[1]), _written(alike[:n, :m].T, usual[0]).T
        together = self.together + _PRIOR * (usual[0][:, None] * forth + usual[1] * back) / 2
        least = max(_PRIOR * _ALONE, _FEW * together.sum())
        alone = [self.alone[side] + least * one for side, one in zip(Side, usual, strict=True)]
        masses = [one.sum() for one in (*alone, together)] if n and m else [_ALONE, _ALONE, 1 - _ALONE]
        total = sum(masses)
        shares = [mass / total for mass in masses]
        q, r = together.sum(axis=1) + alone[0], together.sum(axis=0) + alone[1]
        q, r = q / q.sum(), r / r.sum()
        likely = np.where(alike > 0, alike * _UNSEEN, _ANY)  # letters that were seen on neither side
        likely[:n, :m] = together / (masses[2] * q[:, None] * r)
        likely[n:, :m] = _written(alike[n:, :m], r) / (1 - _ALONE) / r
        likely[:n, m:] = (_written(alike[:n, m:].T, q) / (1 - _ALONE) / q).T
        d = np.append(alone[0] / (total * q), np.full(len(left) - n, shares[0]))
        i = np.append(alone[1] / (total * r), np.full(len(right) - m, shares[1]))
        return _Weights(np.log(d), np.log(i), shares[2] * likely / (d[:, None] * i), _any_words(*shares))


def _letters(word: str, japanese: bool) -> str:
    """Return the letters that are compared: without accents; characters that stand for syllables are romanised."""
    whole = unicodedata.normalize("NFKC", word).lower()
    if whole.isascii():
        return (whole or word)[:_LONGEST]
    return (whole.translate(_COMPARED[japanese]) or word)[:_LONGEST]


class _Compared(dict[int, str]):
    """What each character is compared as; filled as characters are met."""

    def __init__(self, latin: Callable[[str], str]) -> None:
        self.latin = latin

    def __missing__(self, code: int) -> str:
        letters = plain(chr(code))
        self[code] = "".join(self.latin(one) if unicodedata.east_asian_width(one) == "W" else one for one in letters)
        return self[code]


_COMPARED = {True: _Compared(fold), False: _Compared(romanise)}


def _likeness(left: str, right: str) -> Matrix:
    """Return 1 for letters of the same romanisation, less where one holds the other, else 0: shape (n, m)."""
    found = np.zeros((len(left), len(right)))
    romanised = [(one, fold(one)) for one in right]
    for row, letter in enumerate(left):
        latin = fold(letter)
        for column, (other, other_latin) in enumerate(romanised):
            if letter == other or latin == other_latin:
                found[row, column] = 1
            elif latin.isalpha() and other_latin.isalpha() and (latin in other_latin or other_latin in latin):
                found[row, column] = _PARTLY
    return found


def _written(alike: Matrix, usual: Matrix) -> Matrix:
    """Return the share of each right letter beside each left one (n, m), before any pair was seen."""
    sums = alike.sum(axis=1, keepdims=True)
    known = np.minimum(sums, 1) * (1 - _ALONE - _ANY)
    return known * alike / np.maximum(sums, 1e-9) + (1 - _ALONE - known) * usual


def _any_words(left: float, right: float, both: float) -> Matrix:
    """Return the logarithm of what all words of two lengths have together, (longest + 1, longest + 1)."""
    k = np.ones((_LONGEST + 1, _LONGEST + 1))
    for row in range(1, _LONGEST + 1):
        k[row] = np.cumsum(k[row - 1] + both / (left * right) * np.append(0, k[row - 1, :-1]))
    steps = np.arange(_LONGEST + 1)
    return np.log(k) + steps[:, None] * math.log(left) + steps * math.log(right)


def _odds(
    weights: _Weights, left: _Coded, right: _Coded, rows: Tensor, others: Tensor, together: Matrix | None = None
) -> Tensor:
    """Return the log odds of pairs of rows; add to `together` how often letters were written together in them."""
    device = rows.device if rows.device.type == "cuda" else torch.device("cpu")  # not every device has float64

    def there(values: NDArray[Any]) -> Tensor:
        return torch.from_numpy(values).to(device)

    x, y = rows.to(device), others.to(device)
    n, m = there(left.lengths)[x], there(right.lengths)[y]
    found = there(left.sums(weights.left))[x] + there(right.sums(weights.right))[y] - there(weights.lengths)[n, m]
    found += math.log(_SHARE / (1 - _SHARE))
    ratios, width = there(weights.ratios).reshape(-1), len(weights.right)
    first, second = there(left.letters.clip(0) * width), there(right.letters.clip(0))
    order = (n * (_LONGEST + 1) + m).argsort(stable=True)
    for block in order.split(_BLOCK if device.type == "cpu" else _MANY):
        a = first[x[block], : n[block].max()].T  # (N, B)
        b = second[y[block], : m[block].max()].T  # (M, B)
        cells = a[:, None] + b
        k = ratios[cells]  # (N, M, B)
        with torch.set_grad_enabled(together is not None):
            last = _ways(k.requires_grad_(together is not None), n[block], m[block]).log()
            found[block] += last.detach()
            if together is not None and k.numel():  # words without letters say nothing
                (slope,) = torch.autograd.grad(last @ found[block].sigmoid(), k)
                counted = (slope * k.detach()).reshape(-1).numpy()
                together += np.bincount(cells.reshape(-1).numpy(), counted, together.size).reshape(together.shape)
    return found


def _ways(ratios: Tensor, n: Tensor, m: Tensor) -> Tensor:
    """Return K (B,) at the ends (n, m) of pairs of words, for ratios of shape (N, M, B)."""
    length, width, pairs = ratios.shape
    row = ratios.new_ones(width + 1, pairs)
    columns = torch.arange(pairs, device=row.device)
    found = row[m, columns]
    for i in range(length):
        stepped = torch.cat([row[:1], row[1:] + ratios[i] * row[:-1]])
        row = stepped.cumsum(0)
        found = torch.where(n == i + 1, row[m, columns], found)
    return found
