"""Learn the judge by cross-fitting: each fold of the seed is judged by systems that have not seen its words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from lnmap.direction import Direction, Side
from lnmap.judge.calibration import Calibration
from lnmap.judge.kinds import Kinds
from lnmap.judge.logit import Judge
from lnmap.judge.panel import CHOSEN_BACK, KIND, Panel
from lnmap.judge.usual import USUAL
from lnmap.methods.auto.candidates import NEAR, Field, mean_of_nearest
from lnmap.methods.auto.start import without
from lnmap.methods.auto.systems import Vocabularies, fit_systems, mapped
from lnmap.methods.base import Run
from lnmap.methods.ensemble import EnsembleAlignment
from lnmap.progress import Task
from lnmap.retrieve import UNKNOWN, BilingualSpace

FOLD = 4.0  # CPU seconds for 17 000 words, to show how far a run has come
_NEARLY_ALL = 0.9  # of the words of a seed, or of right answers
_CHOSEN = 2.0  # where nearly all words of one side are this much rarer, frequent ones of the other side were chosen
RIDGE, _RIDGE_KIND = 30.0, 100.0
_SEVERAL = 1.2  # translations per word, in a dictionary that gives all
# Where words come with one translation of several, the usual judge says which others may be right, too: by so much of
# the probability that it gives them. What is learnt then stays nearer to it, and log odds gain what was found best on
# twelve directions: a calibration error of 0.059 instead of 0.077.
_BELIEVED, _RIDGE_ONE, _RIDGE_ONE_KIND, _GAIN = 0.1, 300.0, 50.0, 0.45


class Outcomes(NamedTuple):
    """Candidates of held-out words: features (n, k, f), which may be answers, which are right (n, k), and both rows."""

    features: Tensor
    there: Tensor
    right: Tensor
    words: Tensor
    candidates: Tensor

    def ranks(self, judge: Judge) -> Tensor:
        """Return 1 / rank of the first right candidate of each word, 0 where there is none: (n,)."""
        order = judge.probability(self.features, self.there).argsort(dim=1, descending=True, stable=True)
        found = self.right.gather(1, order).float()
        return (found / torch.arange(1, found.shape[1] + 1, device=found.device)).amax(dim=1)

    def chosen(self, judge: Judge, least: float) -> Tensor:
        """Return the pairs (h, 2) of words and answers that would have joined a dictionary: sure, and chosen back."""
        sure, place = judge.probability(self.features, self.there).max(dim=1, keepdim=True)
        back = self.features[..., judge.weights.names.index(CHOSEN_BACK)].gather(1, place) > 0
        kept = ((sure >= least) & back)[:, 0]
        return torch.cat([self.words[:, None], self.candidates.gather(1, place)], dim=1)[kept]


def learn_judges(
    vectors: Vocabularies,
    seed: Tensor,
    known: Tensor,
    panel: Panel,
    kinds: dict[Side, Kinds],
    fields: dict[Direction, Field],
    rest: Callable[[Tensor], Tensor],
    parts: Sequence[Tensor],
    ridge: float,
    whole: Task,
    run: Run,
) -> tuple[Panel, dict[Direction, Judge], dict[Direction, Outcomes]]:
    """Return the panel with the kinds of words that answers are, the judge of each direction, and what it learnt from.

    :param seed: all pairs (k, 2) that were given.
    :param known: all pairs known to be right (m, 2).
    :param fields: both vocabularies as systems see them that were fitted on the whole dictionary.
    :param rest: returns the dictionary (k, 2) without held-out pairs (h, 2).
    :param parts: pairs (h, 2) of the seed that are held out in turn.
    :param ridge: how much it takes to change the usual weights.
    :param whole: advanced by `FOLD` after each.
    """
    judges: dict[Direction, Judge] = {}
    gathered: dict[Direction, list[Outcomes]] = {direction: [] for direction in Direction}
    for held in parts:
        systems = fit_systems(vectors, rest(held), run)
        for direction, one in _judged_fold(systems, vectors, fields, held, known, panel, run).items():
            gathered[direction].append(one)
        whole.advance(FOLD)
    outcomes, liked = {}, {}
    for direction, found_words in gathered.items():
        every = Outcomes(*(torch.cat(column) for column in zip(*found_words, strict=True)))
        side, complete = direction.answering, _complete(known, direction)
        frequent = chosen(seed, vectors, direction)
        judges[direction], weights = fit_judge(panel.names(direction), every, kinds[side], complete, frequent, ridge)
        liked[side] = kinds[side].scores(weights)
        features = torch.cat([every.features, liked[side][every.candidates][..., None]], dim=-1)
        outcomes[direction] = every._replace(features=features)
    return replace(panel, kinds=liked), judges, outcomes


def chosen(seed: Tensor, vectors: Vocabularies, direction: Direction) -> bool:
    """Return whether a seed (k, 2) was chosen by how frequent its answers are: it has far rarer words to be asked for.

    Translations of the thousand most frequent English words tell little about which English words answer others: rarer
    ones were never asked for.
    """
    sizes = torch.tensor([len(vectors.source), len(vectors.target)], dtype=torch.float64)
    share = seed.cpu().double().quantile(_NEARLY_ALL, dim=0) / sizes
    asked, answering = (0, 1) if direction is Direction.FORWARD else (1, 0)
    return bool(_CHOSEN * share[answering] < share[asked])


def fit_judge(
    names: tuple[str, ...],
    found: Outcomes,
    kinds: Kinds,
    complete: bool,
    frequent: bool = False,
    ridge: float = RIDGE,
) -> tuple[Judge, Tensor]:
    """Fit a judge that also looks at the kind of word, one more feature; return the kinds' weights (r,) with it.

    :param complete: words come with all their translations.
    :param frequent: answers were chosen by how frequent they are; candidates that are rarer than nearly all right ones
        could not have been given.
    """
    possible = found.there
    if frequent and found.right.any():
        ranks = found.candidates[found.right].cpu().double()
        possible = found.there & (found.candidates <= int(ranks.quantile(_NEARLY_ALL)))
    coordinates = kinds.coordinates(found.candidates)  # (n, k, r)
    every = torch.cat([found.features, coordinates], dim=-1)
    believed, ridge_kind = None, _RIDGE_KIND
    if not complete:
        believed = _BELIEVED * _usual(names).softmax(found.features, possible)
        ridge, ridge_kind = max(ridge, _RIDGE_ONE), _RIDGE_ONE_KIND
    ridges = torch.tensor([ridge] * len(names) + [ridge_kind] * coordinates.shape[-1], dtype=torch.float64)
    judge = Judge.fit((*names, *kinds.names), every, found.there, found.right, USUAL, ridges, believed, possible)
    judge = judge if complete else replace(judge, calibration=Calibration(bias=_GAIN))
    own, rest = judge.weights.values[: len(names)], judge.weights.values[len(names) :]
    weights = replace(judge.weights, names=(*names, KIND), values=(*own, 1.0))
    return replace(judge, weights=weights), torch.tensor(rest)


def unseen(dictionary: Tensor, seed: Tensor, held: Tensor, own: Tensor) -> Tensor:
    """Return a dictionary (k, 2) without held-out pairs (h, 2), but with what their words chose by themselves.

    Pairs that joined the dictionary look better to systems fitted on them than they are; held-out words must look as
    good, or the judge is too sure of the rest.

    :param own: pairs (m, 2) that words of the seed chose when they were held out, in the round before.
    """
    theirs = torch.isin(own[:, 0], held[:, 0]) | torch.isin(own[:, 1], held[:, 1])
    return torch.cat([without(dictionary, held), without(own[theirs], without(seed, held))])


def usual(panel: Panel, direction: Direction) -> Judge:
    """Return the judge where no words are held out."""
    return replace(_usual(panel.names(direction)), calibration=Calibration(bias=_GAIN))


def _usual(names: tuple[str, ...]) -> Judge:
    values = USUAL.of(names).tolist()
    return Judge(replace(USUAL, names=names, values=tuple(values[:-1])))


def _judged_fold(
    systems: EnsembleAlignment,
    vectors: Vocabularies,
    fields: dict[Direction, Field],
    held: Tensor,
    known: Tensor,
    panel: Panel,
    run: Run,
) -> dict[Direction, Outcomes]:
    """Ask systems for the words of a fold (h, 2) that they have not seen, in both directions."""
    found = _without_fold(systems, vectors, fields[Direction.FORWARD].space, run)
    sides = zip(Direction, (found, found.swapped()), strict=True)
    return {direction: _judged_words(field, held, known, panel, direction, run) for direction, field in sides}


def _without_fold(systems: EnsembleAlignment, vectors: Vocabularies, space: BilingualSpace, run: Run) -> Field:
    """Return the words as systems map them that have not seen a fold; means are those of the whole dictionary."""
    means = space.means[0].clone(), space.means[1].clone()
    sides = (mapped(systems, vectors, side, len(words)) for side, words in zip(Side, means, strict=True))
    return Field.of(BilingualSpace(*sides, memory=run.memory, means=means, scaled=True))


def _judged_words(field: Field, held: Tensor, known: Tensor, panel: Panel, direction: Direction, run: Run) -> Outcomes:
    """Ask for held-out words (h, 2), and look up which candidates are right."""
    columns = [0, 1] if direction is Direction.FORWARD else [1, 0]
    held, known = held[:, columns], known[:, columns]
    size = max(len(field.asked), len(field.answering), int(known.max()) + 1)
    words = held[(held[:, 0] < len(field.asked)) & (held[:, 1] < len(field.answering)), 0].unique()
    near = field.nearest(words, NEAR, run)
    field.space.means[0][words] = mean_of_nearest(near[0])
    _look_back(field, field.lists(words, *near).candidates.unique(), run)
    lists, there = field.lists(words, *near).with_spelt_alike(panel, direction, len(field.answering))
    others = lists.candidates.unique()  # some came into the lists by their new means, or by their spelling
    _look_back(field, others[field.space.swapped().best.rows[others] == UNKNOWN], run)
    right = torch.isin(words[:, None] * size + lists.candidates, known[:, 0] * size + known[:, 1])
    return Outcomes(lists.describe(panel, field.space, direction), there, right & there, words, lists.candidates)


def _look_back(field: Field, targets: Tensor, run: Run) -> None:
    """Find the means of targets, and the words that they choose themselves, in the space as it is now.

    Systems that have seen a pair put its words far nearer to each other than they would have; a judge that learnt from
    their means would take words of the seed for wrong answers.
    """
    back = field.swapped()
    table = back.space.best
    means, table.rows[targets], table.scores[targets] = back.look(targets, run)
    field.space.target_means[targets] = means


def _complete(known: Tensor, direction: Direction) -> bool:
    """Whether words come with all their translations: then many have several."""
    words = known.unique(dim=0)[:, 0 if direction is Direction.FORWARD else 1]
    return len(words) >= _SEVERAL * len(words.unique())


def folds(seed: Tensor, parts: int, run: Run) -> list[Tensor]:
    """Split seed pairs (k, 2) by their source words: a list of held-out pairs."""
    words = seed[:, 0].unique()
    order = torch.randperm(len(words), generator=torch.Generator().manual_seed(run.seed)).to(words.device)
    return [seed[torch.isin(seed[:, 0], words[order[i::parts]])] for i in range(min(parts, len(words)))]
