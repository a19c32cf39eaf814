"""Grow a dictionary: words that choose each other and that the judge is sure enough of join the seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from lnmap.direction import Direction, Side
from lnmap.judge.kinds import Kinds
from lnmap.judge.logit import Judge
from lnmap.judge.panel import Panel
from lnmap.judge.words import WordFacts
from lnmap.methods.auto.candidates import Field, Lists, survey
from lnmap.methods.auto.judging import FOLD, RIDGE, Outcomes, folds, learn_judges, unseen, usual
from lnmap.methods.auto.start import FEW, doubt, without
from lnmap.methods.auto.systems import Vocabularies, columns, fit_systems, mapped
from lnmap.methods.base import Run
from lnmap.methods.ensemble import EnsembleAlignment
from lnmap.progress import Task

# CPU seconds for 17 000 words, to show how far a run has come.
SEARCH, GROWTH = 6.0, 3.0


_LIST = 10  # candidates of a word that may join the dictionary with it
# Learnt once, judges have seen systems that know less than those whose answers they put in order.
_RIDGE_ONCE = 100.0


class Start(NamedTuple):
    """A way to start: a name, and what finds the pairs to begin with from seed pairs (k, 2)."""

    name: str
    find: Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Stand:
    """Where a run stands: a dictionary (k, 2), the systems fitted on it, and the judges of what they find.

    :param held: pairs (h, 2) that words of the seed chose when they were held out, in the round before.
    """

    dictionary: Tensor
    systems: EnsembleAlignment
    panel: Panel
    found: dict[Direction, tuple[Field, Lists]]
    judges: dict[Direction, Judge]
    outcomes: dict[Direction, Outcomes]
    held: Tensor | None = None

    @cached_property
    def ranks(self) -> Tensor:
        """1 / rank of the right answer of each held-out word of both sides, (h,)."""
        found = [one.ranks(self.judges[direction]) for direction, one in self.outcomes.items()]
        return torch.cat(found) if found else torch.zeros(0)

    def own(self, least: float) -> Tensor | None:
        """Return the pairs (h, 2) that held-out words of both sides chose; None if nothing was held out."""
        found = [one.chosen(self.judges[direction], least) for direction, one in self.outcomes.items()]
        return torch.cat([found[0], found[1].flip(1)]).unique(dim=0) if found else None

    @property
    def words(self) -> int:
        """Held-out words of one side."""
        return len(self.ranks) // 2

    @property
    def share(self) -> float:
        """Per cent of held-out words whose first answer is right."""
        return 100 * float((self.ranks == 1).float().mean()) if len(self.ranks) else 0.0


@dataclass(frozen=True)
class Ground:
    """What all rounds share.

    :param seed: pairs of rows that were given (k, 2); what the judges learn from.
    :param known: all pairs known to be right (m, 2).
    :param facts: what the words themselves say.
    :param most: most frequent words of each side that are searched.
    :param folds: parts of the seed that are held out in turn to learn the judges from; 0: they learn nothing.
    :param once: the judges learn before the dictionary grows only, and from all parts but one.
    """

    vectors: Vocabularies
    seed: Tensor
    known: Tensor
    facts: WordFacts
    most: int
    folds: int
    once: bool = False

    @cached_property
    def words(self) -> int:
        """Source words of the seed."""
        return len(self.seed[:, 0].unique())

    @property
    def few(self) -> bool:
        """Whether the seed is too small to hold words out of it."""
        return self.words < FEW

    @cached_property
    def kinds(self) -> dict[Side, Kinds]:
        """What kind of word each word is."""
        return {Side.SOURCE: Kinds(self.vectors.source), Side.TARGET: Kinds(self.vectors.target)}

    @property
    def learns(self) -> bool:
        """Whether the judges learn from the seed."""
        return self.folds > 0 and not self.few

    def seconds(self, rounds: int) -> float:
        """Return about how many CPU seconds some rounds take for 17 000 words, growth after each included."""
        parts = 0 if not self.learns or not rounds else self.folds - 1 if self.once else self.folds * rounds
        return rounds * (SEARCH + GROWTH) + parts * FOLD

    def stand(self, dictionary: Tensor, own: Tensor | None, start: Start, last: bool, whole: Task, run: Run) -> Stand:
        """Fit the systems on a dictionary, search both vocabularies, and learn the judges from the seed.

        :param own: pairs (h, 2) that words of the seed chose when they were held out, in the round before; None in the
            first one.
        :param start: how the first dictionary was found from the seed; held-out words take no part in it.
        :param last: nothing more is to grow, so that nothing is searched unless the judges learn from it.
        :param whole: advanced by the seconds that one round takes, growth aside.
        """
        systems = fit_systems(self.vectors, dictionary, run)
        panel = Panel(columns(systems, self.vectors), self._facts(dictionary, run))
        if last and not self.learns:
            return Stand(dictionary, systems, panel, {}, {one: usual(panel, one) for one in Direction}, {})
        found = self._search(systems, run)
        whole.advance(SEARCH)
        if not self.learns:
            return Stand(dictionary, systems, panel, found, {one: usual(panel, one) for one in Direction}, {})
        fields = {direction: field for direction, (field, _) in found.items()}

        def rest(held: Tensor) -> Tensor:
            return start.find(without(self.seed, held)) if own is None else unseen(dictionary, self.seed, held, own)

        parts = folds(self.seed, self.folds, run)
        parts, ridge = (parts[: max(1, len(parts) - 1)], _RIDGE_ONCE) if self.once else (parts, RIDGE)
        panel, judges, outcomes = learn_judges(
            self.vectors, self.seed, self.known, panel, self.kinds, fields, rest, parts, ridge, whole, run
        )
        return Stand(dictionary, systems, panel, found, judges, outcomes, own)

    def _facts(self, dictionary: Tensor, run: Run) -> WordFacts:
        """Let a dictionary (k, 2) that is mostly right teach what a small seed cannot: which letters correspond."""
        return self.facts.taught(dictionary) if self.few and not doubt(run.log) else self.facts

    def stand_again(
        self,
        dictionary: Tensor,
        own: Tensor | None,
        start: Start,
        last: bool,
        learnt: Stand | None,
        whole: Task,
        run: Run,
    ) -> Stand:
        """Do the same with a larger dictionary; judges that learn once stay as they are.

        :param learnt: where the run stood before; None in a run that was killed then.
        """
        if not (self.once and self.learns):
            return self.stand(dictionary, own, start, last, whole, run)
        learnt = learnt or self.stand(start.find(self.seed), None, start, True, whole, run)
        systems = fit_systems(self.vectors, dictionary, run)
        panel = replace(learnt.panel, columns=columns(systems, self.vectors))
        found = {} if last else self._search(systems, run)
        whole.advance(SEARCH)
        return replace(learnt, dictionary=dictionary, systems=systems, panel=panel, found=found)

    def _search(self, systems: EnsembleAlignment, run: Run) -> dict[Direction, tuple[Field, Lists]]:
        """Map the most frequent words, and search them from both sides."""
        source, target = (mapped(systems, self.vectors, side, self.most) for side in Side)
        return survey(source, target, run)


def answers(now: Stand, direction: Direction, words: Tensor) -> tuple[Tensor, Tensor]:
    """Return the judged answers of words (n,) of the language asked for, and their probabilities, each (n,)."""
    field, lists = now.found[direction]
    best, sure = [words.new_zeros(0)], [lists.top.new_zeros(0)]
    for part in lists.of(words, _LIST).parts():
        every, there = part.with_spelt_alike(now.panel, direction, len(field.answering))
        chance = now.judges[direction].probability(every.describe(now.panel, field.space, direction), there)
        top, place = chance.max(dim=1)
        best.append(every.candidates.gather(1, place[:, None])[:, 0])
        sure.append(top)
    return torch.cat(best), torch.cat(sure)


def grown(now: Stand, seed: Tensor, least: float) -> Tensor:
    """Return the seed (k, 2) and the pairs of words outside it that choose each other and are sure enough.

    :param least: the mean of both probabilities that a pair must have.
    """
    rows = torch.arange(len(now.found[Direction.FORWARD][0].asked), device=seed.device)
    rows = rows[~torch.isin(rows, seed[:, 0])]
    there, sure = answers(now, Direction.FORWARD, rows)
    new = ~torch.isin(there, seed[:, 1])
    rows, there, sure = rows[new], there[new], sure[new]
    asked, place = there.unique(return_inverse=True)  # the others are nobody's answers
    back, sure_back = answers(now, Direction.BACKWARD, asked)
    kept = (back[place] == rows) & ((sure + sure_back[place]) / 2 >= least)
    pairs = torch.stack([rows[kept], there[kept]], dim=1)
    return torch.cat([seed, pairs[now.panel.facts.native(pairs)]])
