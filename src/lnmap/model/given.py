"""What people said: seed pairs and marks. They come before what the model finds, and what is marked wrong is left out.

This is the one place that decides; translations, induced lexicons, exports and the page follow it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace

import torch

from lnmap.embeddings import Embeddings
from lnmap.induce import RankBy
from lnmap.lexicon import Lexicon
from lnmap.model.answers import Candidate, Entry, Translation
from lnmap.model.marks import Judgement
from lnmap.retrieve import BilingualSpace, Criterion


class GivenPairs:
    """The pairs of one direction by the word asked for: the seed, and with `marked` what was marked right or added.

    Words are told apart as the evaluation does: as they stand in the vocabulary, else in lower case.

    :param pairs: the seed, words of the language translated from first; one that nobody gave counts for nothing.
    """

    def __init__(self, pairs: Lexicon, asked: Embeddings, answering: Embeddings) -> None:
        self.asked, self.answering = asked, answering
        self._answers: dict[str, dict[str, Judgement | None]] = {}
        self._wrong: dict[str, dict[str, None]] = {}
        for word, answer in pairs if pairs.is_given else ():
            self._answers.setdefault(self._key(word), {})[self._spelt(answer)] = None

    def marked(self, marks: Iterable[tuple[tuple[str, str], Judgement]]) -> GivenPairs:
        """Return these pairs as marks correct them; a mark counts more than the seed.

        :param marks: judgements of pairs, words of the language translated from first.
        """
        made = copy(self)
        made._answers, made._wrong, own = dict(self._answers), {}, set[str]()
        for (word, answer), mark in marks:
            key, spelt = self._key(word), self._spelt(answer)
            if key not in own:
                own.add(key)
                made._answers[key], made._wrong[key] = dict(self._answers.get(key, {})), {}
            made._answers[key].pop(spelt, None)
            made._wrong[key].pop(spelt, None)
            if mark == "wrong":
                made._wrong[key][spelt] = None
            else:
                made._answers[key][spelt] = mark
        return made

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((word, answer) for word, answers in self._answers.items() for answer in answers)

    def of(self, word: str) -> tuple[str, ...]:
        """Return the translations that were given for a word."""
        return tuple(self._answers.get(self._key(word), ()))

    def wrong(self, word: str) -> tuple[str, ...]:
        """Return the answers to a word that were marked wrong."""
        return tuple(self._wrong.get(self._key(word), ()))

    def wrong_rows(self, words: Iterable[str] | None = None) -> dict[int, set[int]]:
        """Return the rows of the pairs that were marked wrong, of some words or of all, by the word asked for."""
        every = self._wrong if words is None else words
        pairs = (self.rows(word, answer) for word in every for answer in self.wrong(word))
        found: dict[int, set[int]] = {}
        for asked, answering in filter(None, pairs):
            found.setdefault(asked, set()).add(answering)
        return found

    def most_wrong(self, words: Iterable[str]) -> int:
        """Return how many answers to one of these words were marked wrong, at most."""
        return max((len(self.wrong(word)) for word in words), default=0) if self._wrong else 0

    def drop(
        self, word: str, found: Sequence[Candidate], k: int
    ) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
        """Return the k best candidates that nobody marked wrong, and those of the rest that somebody did."""
        wrong = self.wrong(word)
        dropped = tuple(replace(one, mark="wrong") for one in found if one.word in wrong)
        return tuple(one for one in found if one.word not in wrong)[:k], dropped

    def rows(self, word: str, answer: str) -> tuple[int, int] | None:
        """Return the rows of a pair; None if one of its words has no vector."""
        asked, answering = self.asked.find(word), self.answering.find(answer)
        return None if asked is None or answering is None else (asked, answering)

    def mark(self, word: str, answer: str) -> Judgement | None:
        """Return the mark by which a pair was given; None for a seed pair that nobody marked."""
        return self._answers[self._key(word)][answer]

    def put_first(
        self,
        found: dict[str, Translation],
        words: Iterable[str],
        k: int,
        space: Callable[[], BilingualSpace],
        criterion: Criterion,
    ) -> dict[str, Translation]:
        """Return the translations of some words: all that were given, then the model's own until there are k.

        :param found: the model's own translations, as far as it knows the words.
        :param space: makes the space that they come from.
        """
        wanted = {word: given for word in words if (given := self.of(word))}
        own = {
            (word, one.word): one
            for word in wanted
            if word in found
            for one in (*found[word].candidates, *found[word].withheld)
        }
        every = ((word, answer) for word, given in wanted.items() for answer in given)
        others = {pair: rows for pair in every if pair not in own and (rows := self.rows(*pair))}
        if others:
            own |= zip(others, self._rate(space(), list(others.values()), criterion), strict=True)
        return found | {
            word: _joined(
                found.get(word) or Translation(word, ()),
                [
                    replace(own.get((word, a)) or Candidate(a), given=True, confidence=None, mark=self.mark(word, a))
                    for a in given
                ],
                k,
            )
            for word, given in wanted.items()
        }

    @torch.no_grad()
    def entries(
        self,
        space: BilingualSpace,
        rank_by: RankBy = "csls",
        max_rank: int | None = None,
        words: Iterable[str] | None = None,
    ) -> list[Entry]:
        """Return the given pairs as entries of a lexicon, best first; those without vectors have no scores.

        :param max_rank: both words must be among this many most frequent words.
        :param words: only pairs of these words.
        """
        pairs = self if words is None else ((word, answer) for word in words for answer in self.of(word))
        rows = {pair: self.rows(*pair) for pair in pairs}
        if max_rank is not None:
            rows = {pair: found for pair, found in rows.items() if found and max(found) < max_rank}
        known = [found for found in rows.values() if found]
        asked, answers = torch.tensor(known, device=space.source.device).reshape(-1, 2).long().unbind(dim=1)
        hits = space.unjudged.score(asked, answers[:, None])
        scores = iter(zip(hits.scores[:, 0].tolist(), hits.cosines[:, 0].tolist(), strict=True))
        none = None, None
        rated = [(*pair, *(next(scores) if found else none)) for pair, found in rows.items()]
        made = [Entry(w, a, csls, cosine, given=True, mark=self.mark(w, a)) for w, a, csls, cosine in rated]
        by = "csls" if rank_by == "confidence" else rank_by  # what was given has no confidence
        return sorted(made, key=lambda entry: descending(getattr(entry, by)))

    @torch.no_grad()
    def _rate(self, space: BilingualSpace, pairs: Sequence[tuple[int, int]], criterion: Criterion) -> list[Candidate]:
        """Score pairs of rows, and look where the model itself would have put them."""
        rows, answers = torch.tensor(pairs, device=space.source.device).unbind(dim=1)
        hits, ranks = space.score(rows, answers[:, None], criterion), space.ranks(rows, answers[:, None], criterion)
        columns = answers.tolist(), hits.scores[:, 0].tolist(), hits.cosines[:, 0].tolist(), ranks.tolist()
        words = self.answering.words
        return [
            Candidate(words[a], score, cosine, rank=rank + 1) for a, score, cosine, rank in zip(*columns, strict=True)
        ]

    def _key(self, word: str) -> str:
        row = self.asked.find(word)
        return word.lower() if row is None else self.asked.words[row]

    def _spelt(self, answer: str) -> str:
        row = self.answering.find(answer)
        return answer if row is None else self.answering.words[row]


def descending(score: float | None) -> float:
    """Return what sorts the best score first, and none at all last."""
    return float("inf") if score is None else -score


def _joined(own: Translation, given: Sequence[Candidate], k: int) -> Translation:
    """Put marked candidates first, then those of the seed, then the model's own, which are not repeated."""
    given = sorted(given, key=lambda one: (one.mark is None, descending(one.score)))
    words = {one.word for one in given}
    rest = [one for one in own.candidates if one.word not in words][: max(0, k - len(given))]
    withheld = tuple(one for one in own.withheld if one.word not in words)
    return replace(own, candidates=(*given, *rest), withheld=withheld, spellings=())
