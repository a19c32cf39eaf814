"""What people said: seed pairs and marks. They come before what the model finds, and what is marked wrong is left out.

This is the one place that decides; translations, induced lexicons, exports and the page follow it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import NamedTuple

import torch

from lnmap.embeddings import Embeddings
from lnmap.induce import RankBy
from lnmap.lexicon import Lexicon
from lnmap.model.answers import Candidate, Entry, Translation
from lnmap.model.marks import Judgement, Pair
from lnmap.retrieve import BilingualSpace, Criterion


class _Word(NamedTuple):
    """What was said of one word; never changed, because the pairs before and after a mark share it.

    :param answers: those that were given, in their order, with the marks that gave them.
    :param marks: by the pair as it was marked, with its place among the marks of all words.
    """

    answers: dict[str, Judgement | None]
    wrong: dict[str, None]
    marks: dict[Pair, tuple[int, Judgement]]


class GivenPairs:
    """The pairs of one direction by the word asked for: the seed, and with `marked` what was marked right or added.

    Words are told apart as the evaluation does: as they stand in the vocabulary, else in lower case.

    :param pairs: the seed, words of the language translated from first; one that nobody gave counts for nothing.
    """

    def __init__(self, pairs: Lexicon, asked: Embeddings, answering: Embeddings) -> None:
        self.asked, self.answering = asked, answering
        self._seed: dict[str, _Word] = {}
        self._marked: dict[str, _Word] = {}  # words that have marks
        self._places = 0  # of marks, as far as they are taken
        for word, answer in pairs if pairs.is_given else ():
            self._seed.setdefault(self._key(word), _Word({}, {}, {})).answers[self._spelt(answer)] = None

    def marked(self, marks: Iterable[tuple[Pair, Judgement]]) -> GivenPairs:
        """Return these pairs as further marks correct them; a mark counts more than the seed, and 'none' takes it back.

        Only the words of these marks are looked at.

        :param marks: judgements of pairs, words of the language translated from first.
        """
        made, news = copy(self), dict[str, list[tuple[int, Pair, Judgement]]]()
        for pair, mark in marks:
            news.setdefault(self._key(pair[0]), []).append((made._places, pair, mark))
            made._places += 1
        made._marked = dict(self._marked)
        for key, said in news.items():
            word = self._after(key, said)
            if word.marks:
                made._marked[key] = word
            else:
                made._marked.pop(key, None)
        return made

    def _after(self, key: str, news: Iterable[tuple[int, Pair, Judgement]]) -> _Word:
        """Return what is said of a word after further marks: the same object if they say nothing new."""
        before = self._of(key)
        word, new, moved = _Word(dict(before.answers), dict(before.wrong), dict(before.marks)), False, False
        for place, pair, mark in news:
            known = word.marks.get(pair)
            if mark == (known[1] if known else "none"):
                continue
            new, moved = True, moved or known is not None
            if mark == "none":
                del word.marks[pair]
            else:
                word.marks[pair] = known[0] if known else place, mark
                self._apply(word, pair, mark)
        if not moved:  # what is new came last, as its mark does
            return word if new else before
        word = _Word(dict(self._seed[key].answers) if key in self._seed else {}, {}, word.marks)
        for pair, (_, mark) in word.marks.items():
            self._apply(word, pair, mark)
        return word

    def _apply(self, word: _Word, pair: Pair, mark: Judgement) -> None:
        spelt = self._spelt(pair[1])
        word.answers.pop(spelt, None)
        word.wrong.pop(spelt, None)
        if mark == "wrong":
            word.wrong[spelt] = None
        else:
            word.answers[spelt] = mark

    def changed(self, before: GivenPairs, words: Iterable[str]) -> list[str]:
        """Return those of the words of which something else was said before, as `words` spells them."""
        keys = dict.fromkeys(map(self._key, words))
        return [key for key in keys if self._marked.get(key) is not before._marked.get(key)]

    def words(self) -> Iterable[str]:
        """Return the words that something was said of: those of the seed, then by their first marks."""
        return dict.fromkeys([*self._seed, *self._by_place()])

    def marked_rows(self) -> list[int]:
        """Return the rows of the words asked for that have marks."""
        return [self.asked.index[word] for word in self._marked.keys() & self.asked.index.keys()]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((word, answer) for word in self.words() for answer in self._of(word).answers)

    def of(self, word: str) -> tuple[str, ...]:
        """Return the translations that were given for a word."""
        return tuple(self._of(self._key(word)).answers)

    def first_of(self, word: str) -> list[str]:
        """Return the given translations of which the best comes first: marked ones if there are any.

        Those that have vectors, else one that has none.
        """
        answers = self._of(self._key(word)).answers
        said = [answer for answer, mark in answers.items() if mark is not None] or list(answers)
        return [answer for answer in said if answer in self.answering.index] or said[:1]

    def wrong(self, word: str) -> tuple[str, ...]:
        """Return the answers to a word that were marked wrong."""
        return tuple(self._of(self._key(word)).wrong)

    def _of(self, key: str) -> _Word:
        return self._marked.get(key) or self._seed.get(key) or _Word({}, {}, {})

    def _by_place(self) -> list[str]:
        """Return the marked words by the first of their marks that count."""
        return sorted(self._marked, key=lambda key: next(iter(self._marked[key].marks.values())))

    def wrong_rows(self, words: Iterable[str] | None = None) -> dict[int, set[int]]:
        """Return the rows of the pairs that were marked wrong, of some words or of all, by the word asked for."""
        every = self._by_place() if words is None else words
        pairs = (self.rows(word, answer) for word in every for answer in self.wrong(word))
        found: dict[int, set[int]] = {}
        for asked, answering in filter(None, pairs):
            found.setdefault(asked, set()).add(answering)
        return found

    def most_wrong(self, words: Iterable[str]) -> int:
        """Return how many answers to one of these words were marked wrong, at most."""
        return max((len(self.wrong(word)) for word in words), default=0) if self._marked else 0

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
        return self._of(self._key(word)).answers[answer]

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
    def entries(self, space: BilingualSpace, rank_by: RankBy = "csls", max_rank: int | None = None) -> list[Entry]:
        """Return the given pairs as entries of a lexicon, best first; those without vectors have no scores.

        :param max_rank: both words must be among this many most frequent words.
        """
        rows = {pair: self.rows(*pair) for pair in self}
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
        return unicodedata.normalize("NFC", word.lower()) if row is None else self.asked.words[row]

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
