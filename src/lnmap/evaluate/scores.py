"""Scores: how often the right word comes first, over which words, and how sure that is.

All scores are percentages. Two denominators are given: the distinct source words with a gold target in the
vocabularies (MUSE, VecMap, the paper) and all distinct source words of the file (fastText's scorer).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnmap.embeddings import Embeddings
from lnmap.errors import LexiconError
from lnmap.evaluate.groups import Groups, measure_groups, rounded
from lnmap.lexicon import Lexicon
from lnmap.progress import html_table
from lnmap.retrieve import BilingualSpace, Criterion, Hits

CUTS = (1, 5, 10)
_RESAMPLES = 1000
Judge = Callable[[Tensor, Hits], Tensor | None]


@dataclass(frozen=True)
class WordResult:
    """One test word: its gold translations, what was answered, and the rank (0 = first) of the best gold word.

    :param frequency_rank: row of the source word, 0 for the most frequent one.
    :param confidence: that of the first answer, where the model has one.
    """

    source: str
    gold: tuple[str, ...]
    answers: tuple[str, ...]
    rank: int
    frequency_rank: int
    confidence: float | None = None


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Scores of one system on one test dictionary, with the rows they come from; a notebook shows them as a table."""

    rows: Sequence[WordResult]
    words_in_file: int
    seen_pairs: int
    test_pairs: int
    criterion: Criterion = "csls"

    def __repr__(self) -> str:
        cells = self.cells if len(self.rows) else {}
        scores = ", ".join(f"{name} {cells[name]}" for name in ("P@1", "P@5", "P@10", "MRR") if name in cells)
        return (
            f"Evaluation({scores or 'no scores'}; {len(self.rows):,} of {self.words_in_file:,} words, {self.criterion})"
        )

    def _repr_html_(self) -> str:
        cells = self.cells if len(self.rows) else {}
        return html_table(list(cells), [list(cells.values())])

    @property
    def cells(self) -> dict[str, Any]:
        """The scores as a person reads them, by column of a table."""
        low, high = self.interval()
        return {
            "P@1": f"{self.precision(1):.1f}",
            "95 % interval": f"{low:.1f}-{high:.1f}",
            "P@5": f"{self.precision(5):.1f}",
            "P@10": f"{self.precision(10):.1f}",
            "MRR": f"{self.mrr:.1f}",
            "words": len(self.rows),
            "coverage": f"{self.coverage:.1f} %",
            "P@1 of all": f"{self.precision(1, of_all=True):.1f}",
            "pairs seen": f"{self.seen_pairs:,} of {self.test_pairs:,}",
        }

    @property
    def ranks(self) -> NDArray[np.int64]:
        """Ranks of the best gold word, shape (n,)."""
        return np.asarray([row.rank for row in self.rows], dtype=np.int64)

    def precision(self, k: int = 1, *, of_all: bool = False) -> float:
        """Percentage of words with a gold translation among the first k answers."""
        return 100.0 * int((self.ranks < k).sum()) / (self.words_in_file if of_all else len(self.rows))

    @property
    def mrr(self) -> float:
        """Mean reciprocal rank, times 100."""
        return float(100.0 * (1.0 / (1.0 + self.ranks)).mean())

    @property
    def coverage(self) -> float:
        """Percentage of the file's source words that could be tested."""
        return 100.0 * len(self.rows) / self.words_in_file

    def interval(self, k: int = 1, level: float = 0.95, seed: int = 0) -> tuple[float, float]:
        """Bootstrap confidence interval of P@k over words."""
        return _bootstrap((self.ranks < k).astype(np.float64), level, seed)

    @property
    def groups(self) -> Groups:
        """By group of words: `n`, `p@1` and, where there is a confidence, `mean_confidence` and `ece`."""
        return measure_groups(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the scores under stable names."""
        low, high = self.interval()
        scores: dict[str, Any] = {f"p@{k}": round(self.precision(k), 2) for k in CUTS}
        return scores | {
            "mrr": round(self.mrr, 2),
            "coverage": round(self.coverage, 2),
            "n": len(self.rows),
            "n_all": self.words_in_file,
            "p@1_interval": [round(low, 2), round(high, 2)],
            "p@1_all": round(self.precision(1, of_all=True), 2),
            "test_pairs": self.test_pairs,
            "test_pairs_seen_in_training": self.seen_pairs,
            "criterion": self.criterion,
            "groups": rounded(self.groups),
        }


@dataclass(frozen=True)
class Comparison:
    """Two systems on the same words: difference of P@1, its interval, and the exact sign-test p-value."""

    difference: float
    interval: tuple[float, float]
    p_value: float
    n: int


def evaluate(
    space: BilingualSpace,
    source: Embeddings,
    target: Embeddings,
    gold: Lexicon,
    *,
    criterion: Criterion = "csls",
    trained_on: Lexicon | None = None,
    judge: Judge | None = None,
) -> Evaluation:
    """Score a space, searched from its source side, against a gold dictionary.

    :param judge: gives the confidence (n, k) of what was found for source rows (n,), or None where there is none.
    """
    wanted = _gold_rows(source, target, gold)
    if not wanted:
        raise LexiconError(
            f"none of the {len(gold):,} test pairs has both words in the vocabularies",
            advice="check that its first column is the language translated from (or use {direction:backward})",
        )
    words = torch.tensor(list(wanted), device=space.source.device)
    width = max(len(rows) for rows in wanted.values())
    padded = torch.tensor([rows + [-1] * (width - len(rows)) for rows in wanted.values()], device=words.device)
    ranks = space.ranks(words, padded, criterion).tolist()
    hits = space.search(words, max(CUTS), criterion)
    first = Hits(hits.rows[:, :1], hits.scores[:, :1], hits.cosines[:, :1])
    judged = hits.confidence if judge is None or hits.confidence is not None else judge(words, first)
    sure = [None] * len(words) if judged is None else judged[:, 0].tolist()
    rows = []
    for (word, right), rank, answer, own in zip(wanted.items(), ranks, hits.rows.tolist(), sure, strict=True):
        gold_words, answered = (tuple(target.words[t] for t in found) for found in (right, answer))
        rows.append(WordResult(source.words[word], gold_words, answered, rank, word, own))
    seen, total = _seen(gold, trained_on)
    return Evaluation(rows, _words_in_file(source, gold), seen, total, criterion)


def compare(a: Evaluation, b: Evaluation, level: float = 0.95, seed: int = 0) -> Comparison:
    """Compare P@1 of `a` with `b` on the words both were tested on."""
    right = {row.source: row.rank == 0 for row in b.rows}
    both = [(row.rank == 0, right[row.source]) for row in a.rows if row.source in right]
    if not both:
        raise LexiconError("the two evaluations share no test word; score both systems on the same dictionary")
    hits = np.asarray(both, dtype=np.float64)
    won = int(((hits[:, 0] == 1) & (hits[:, 1] == 0)).sum())
    lost = int(((hits[:, 0] == 0) & (hits[:, 1] == 1)).sum())
    difference = hits[:, 0] - hits[:, 1]
    return Comparison(
        100 * float(difference.mean()), _bootstrap(difference, level, seed), sign_test(won, lost), len(both)
    )


def sign_test(won: int, lost: int) -> float:
    """Two-sided exact sign test (McNemar) on the words that only one of two systems got right."""
    n = won + lost
    tail = term = 1  # binomial coefficients (n over i), each from the one before
    for i in range(min(won, lost)):
        term = term * (n - i) // (i + 1)
        tail += term
    return min(1.0, 2 * tail / 2**n)


def _gold_rows(source: Embeddings, target: Embeddings, gold: Lexicon) -> dict[int, list[int]]:
    """Known gold target rows of each known source row, in file order."""
    wanted: dict[int, list[int]] = {}
    for s, t in gold.rows(source, target).tolist():
        targets = wanted.setdefault(s, [])
        if t not in targets:
            targets.append(t)
    return wanted


def _words_in_file(source: Embeddings, gold: Lexicon) -> int:
    """Distinct source words of the file: as the vocabulary tells them apart, else without regard to letter case."""
    found = ((source.find(word), word) for word, _ in gold)
    return len({word.lower() if row is None else row for row, word in found})


def _seen(gold: Lexicon, trained_on: Lexicon | None) -> tuple[int, int]:
    """Distinct test pairs that were trained on, and distinct test pairs."""
    test, train = ({(s.lower(), t.lower()) for s, t in pairs} for pairs in (gold, trained_on or ()))
    return len(test & train), len(test)


def _bootstrap(values: NDArray[np.float64], level: float, seed: int) -> tuple[float, float]:
    """Percentile interval of 100 x mean over resampled words."""
    # Words with equal values are alike: how often each value is drawn is all that counts.
    distinct, counts = np.unique(values, return_counts=True)
    draws = np.random.default_rng(seed).multinomial(len(values), counts / len(values), _RESAMPLES)
    means = 100 * (draws @ distinct) / len(values)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
