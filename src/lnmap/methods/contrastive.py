"""Contrastive refinement (Li et al. 2022, stage C1): each translation must come before its nearest rivals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from lnmap.induce import Induced, induce
from lnmap.methods.base import Cost, LinearAlignment, Method, Run, require_finite, require_pairs
from lnmap.methods.negatives import info_nce, nearest_words
from lnmap.methods.options import option
from lnmap.methods.vecmap.mapping import MultiStepOptions, choose_ridge, multi_step
from lnmap.normalize import fit_both, unit
from lnmap.retrieve import neighbourhood_means, top_k

Maps = tuple[Tensor, Tensor]
_SMALL = 2500  # seed pairs below which a seed is small


@dataclass(frozen=True)
class ContrastiveOptions(MultiStepOptions):
    """Options of `contrastive`; the profiles c1-1k and c1-5k have the published numbers for 1 000 and 5 000 pairs."""

    rounds: int = option(0, "rounds of mapping and induction; 0: 3 below 2 500 seed pairs, else 2", low=0)
    closed_rounds: int = option(1, "first rounds that use the closed form as it is, without training", low=0)
    learn_from: str = option("all", "pairs of the loss: the seed and induced ones, or the seed", ("all", "seed"))
    steps: int = option(0, "gradient steps per round; 0: 15 below 2 500 seed pairs, else 8", low=0)
    rate: float = option(5.0, "step size", low=1e-9)
    decay: float = option(1.0, "what the step size is multiplied by after each step", low=1e-9)
    clip: float = option(0.15, "largest norm of the gradient; a longer one is scaled to it", low=1e-9)
    temperature: float = option(1.0, "temperature of the loss", low=1e-3)
    negatives: int = option(60, "hard negatives of a pair on each side", low=1)
    negative_words: int = option(60_000, "most frequent words that may be negatives", low=1)
    rivals: str = option(
        "unknown", "negatives: words that no pair joins, or, as published, all but a pair's own", ("unknown", "others")
    )
    refresh: int = option(5, "steps after which the negatives are sought again", low=1)
    length_gradient: bool = option(True, "let the gradient pass through the scaling of mapped words to length one")
    induced: int = option(0, "most pairs induced from each side; 0: 6 000 below 2 500 seed pairs, else 10 000", low=0)
    induced_words: int = option(20_000, "most frequent words pairs are induced for", low=1)
    induction: str = option(
        "frequent",
        "frequent: pairs among `induced_words`, best CSLS first; published: their best among all words, by CSLS "
        "without the word's own mean",
        ("frequent", "published"),
    )

    def settled(self, pairs: int) -> ContrastiveOptions:
        """Fill in what is left to the number of seed pairs."""
        automatic: dict[str, tuple[Any, Any]] = {"rounds": (3, 2), "steps": (15, 8), "induced": (6000, 10_000)}
        size = int(pairs >= _SMALL)
        return replace(self, **{name: values[size] for name, values in automatic.items() if not getattr(self, name)})


_PUBLISHED: dict[str, Any] = {
    "normalize": "unit",
    "closed_rounds": 0,
    "clip": 0.15,
    "negative_words": 60_000,
    "rivals": "others",
    "refresh": 1,
    "length_gradient": False,
    "induction": "published",
}
# The published program makes one step more than its option says.
_C1_1K = {"rounds": 3, "learn_from": "all", "steps": 51, "rate": 2.0, "decay": 1.0, "negatives": 60}
_C1_5K = {"rounds": 2, "learn_from": "seed", "steps": 201, "rate": 1.5, "decay": 0.99, "negatives": 150}
_RIDGE = "none known where the pairs span all dimensions; with fewer, a ridge makes the singular whitening possible"


class Contrastive(Method):
    """Two linear maps into a common space, started by VecMap's steps, trained against hard negatives, in rounds."""

    name = "contrastive"
    title = "Contrastive refinement with self-learning (C1)"
    citation = "Li et al. 2022, ACL"
    supervision = "seed + unaligned words"
    Options = ContrastiveOptions
    profiles = {
        "c1-1k": {**_PUBLISHED, **_C1_1K, "induced": 6000, "induced_words": 20_000},
        "c1-5k": {**_PUBLISHED, **_C1_5K, "induced": 10_000, "induced_words": 60_000},
    }
    revisions = {"c1-1k": 2, "c1-5k": 2}
    departures = {
        None: "a first round without training, then fewer and longer steps; vectors are centred, negatives kept for 5 "
        "steps, known translations are none, pairs are induced among frequent words only",
        "c1-1k": _RIDGE,
        "c1-5k": _RIDGE,
    }
    costs = {None: Cost(one=56)}
    quick = {"rounds": 2, "steps": 3, "negatives": 20}

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Map, refine and induce in turns; the seed is part of every dictionary."""
        require_pairs(self, pairs)
        norms, x, z = fit_both(self.options.normalize, source, target)
        options = self.options.settled(len(pairs))
        dictionary = pairs
        for number in range(1, options.rounds + 1):
            rows = x[dictionary[:, 0]], z[dictionary[:, 1]]
            maps = multi_step(*rows, options, choose_ridge(*rows, options, run))
            learnt = dictionary if options.learn_from == "all" else pairs
            if number > options.closed_rounds:
                maps = refine(maps, Contrast(x, z, learnt, options, run.memory), options, run, number)
            require_finite(self.name, source=maps[0], target=maps[1])
            if number < options.rounds:
                dictionary = torch.cat([pairs, self._grow(x, z, maps, pairs, options, run, number)])
        return LinearAlignment(norms, *maps)

    def _grow(
        self, x: Tensor, z: Tensor, maps: Maps, seed: Tensor, options: ContrastiveOptions, run: Run, number: int
    ) -> Tensor:
        """Induce pairs (k, 2) of words that are not in the seed."""
        n, noted = options.induced_words, {}
        if options.induction == "published":
            rows = induce_one_sided(x @ maps[0], z @ maps[1], n, options.induced, run)
        else:
            found = induce(x[:n] @ maps[0], z[:n] @ maps[1], mode="union", memory=run.memory, progress=run.progress)
            rows, noted = best_of_each_side(found, options.induced), {"mean_csls": float(found.csls.mean())}
        new = rows[~(torch.isin(rows[:, 0], seed[:, 0]) | torch.isin(rows[:, 1], seed[:, 1]))]
        run.record(round=number, induced=len(new), **noted)
        return new


def induce_one_sided(x: Tensor, z: Tensor, words: int, count: int, run: Run) -> Tensor:
    """Return the rows (k, 2) of the `count` best pairs of the first `words` of each side with any word of the other.

    A pair found from a word x is scored by 2 cos(x, z) - r(z), so that a word amid many near ones comes first.
    """
    sides, found = (unit(x), unit(z)), []
    for here, there in (sides, sides[::-1]):
        means = neighbourhood_means(there, here, memory=run.memory)
        scores, best = top_k(here[:words], there, 1, means / -2, memory=run.memory, progress=run.progress)
        order = scores[:, 0].argsort(descending=True, stable=True)[:count]
        found.append(torch.stack([order, best[order, 0]], dim=1))
    return torch.cat([found[0], found[1].flip(1)]).unique(dim=0)


def best_of_each_side(found: Induced, count: int) -> Tensor:
    """Return the rows (k, 2) of the `count` best pairs found from the sources and the `count` best from the targets.

    In a union, best first, a word's own choice is the first pair it is in.
    """
    kept = torch.zeros(len(found), dtype=torch.bool, device=found.rows.device)
    for words in found.rows.T:
        order = torch.argsort(words, stable=True)
        first = torch.ones_like(kept)
        first[1:] = words[order][1:] != words[order][:-1]
        kept[order[first].sort().values[:count]] = True
    return found.rows[kept]


def refine(maps: Maps, contrast: Contrast, options: ContrastiveOptions, run: Run, number: int) -> Maps:
    """Full-batch gradient descent on the contrastive loss."""
    losses = []
    with run.progress.task(f"contrastive, round {number}", options.steps) as task:
        for step in range(options.steps):
            if step % options.refresh == 0:
                contrast.seek(maps)
            loss, gradients = contrast(maps)
            norm = torch.cat([gradient.flatten() for gradient in gradients]).norm()
            length = options.rate * options.decay**step * (options.clip / norm.clamp_min(options.clip))
            maps = maps[0] - length * gradients[0], maps[1] - length * gradients[1]
            losses.append(loss)
            task.advance()
    run.record(round=number, pairs=len(contrast.pairs), first_loss=float(losses[0]), loss=float(losses[-1]))
    return maps


class Grouped:
    """Entries (e,) of a sparse matrix sorted by row: products with it without a scatter and without gathered vectors.

    :param rows: the row of each entry, each of 0 .. n-1 at least once; `columns` the column of each.
    """

    def __init__(self, rows: Tensor, columns: Tensor) -> None:
        self.order = torch.argsort(rows, stable=True)
        self.columns = columns[self.order]
        self.starts = torch.searchsorted(rows[self.order], torch.arange(int(rows.max()) + 1, device=rows.device))

    def product(self, values: Tensor, vectors: Tensor) -> Tensor:
        """Return the matrix with these values (e,), times vectors (m, c): shape (n, c)."""
        return embedding_bag(self.columns, vectors, self.starts, mode="sum", per_sample_weights=values[self.order])

    def dots(self, queries: Tensor, vectors: Tensor) -> Tensor:
        """Return the dot product of queries[row] and vectors[column] of each entry, (e,).

        It is the derivative by the entries of queries . (matrix vectors), and its kernel is several times faster than
        gathering the vectors.
        """
        values = queries.new_zeros(len(self.order)).requires_grad_()
        constant = vectors.detach().requires_grad_()  # torch 2.4 fails where the vectors have no derivative
        return torch.autograd.grad(self.product(values, constant), values, queries)[0]


class Contrast:
    """InfoNCE of pairs against the nearest wrong words of both sides, and its gradient by the two maps.

    :param x: normalised vectors (n, d_s), `z` (m, d_t), most frequent word first; `pairs` rows (k, 2).
    """

    def __init__(self, x: Tensor, z: Tensor, pairs: Tensor, options: ContrastiveOptions, memory: int) -> None:
        self.x, self.z, self.pairs, self.options, self.memory = x, z, pairs, options, memory

    def seek(self, maps: Maps) -> None:
        """Find the negatives of all pairs anew, and lay out the words and scores the loss is made of."""
        n = self.options.negative_words
        from_x, from_y = unit(self.x[self.pairs[:, 0]] @ maps[0]), unit(self.z[self.pairs[:, 1]] @ maps[1])
        all_x, all_y = unit(self.x[:n] @ maps[0]), unit(self.z[:n] @ maps[1])
        others = self.options.rivals == "others"
        found = nearest_words(from_x, from_y, all_x, all_y, self.options.negatives + others, self.memory)
        x, y = self.pairs[:, :1], self.pairs[:, 1:]
        left = torch.cat([x.expand_as(found.targets), found.sources], dim=1)  # (k, 2 n): the wrong pairs
        right = torch.cat([found.targets, y.expand_as(found.sources)], dim=1)
        if others:
            self.known = torch.cat([_own_or_last(found.targets, y), _own_or_last(found.sources, x)], dim=1)
        else:
            width = len(self.z)
            self.known = torch.isin(left * width + right, x[:, 0] * width + y[:, 0])  # (k, 2 n)
        self.words_x, self.left = torch.cat([x, left], dim=1).unique(return_inverse=True)
        self.words_z, self.right = torch.cat([y, right], dim=1).unique(return_inverse=True)
        self.by_left = Grouped(self.left.flatten(), self.right.flatten())
        self.by_right = Grouped(self.right.flatten(), self.left.flatten())

    def __call__(self, maps: Maps) -> tuple[Tensor, Sequence[Tensor]]:
        """Return the loss and its gradients at the maps (d_s, c) and (d_t, c), the negatives held fixed."""
        leaves = [w.detach().requires_grad_() for w in maps]
        a, b = self._scaled(self.x[self.words_x] @ leaves[0]), self._scaled(self.z[self.words_z] @ leaves[1])
        scores = self.by_left.dots(a.detach(), b.detach()).view_as(self.left)
        scores[:, 1:].masked_fill_(self.known, -torch.inf)
        loss = info_nce(scores.requires_grad_(), self.options.temperature)
        pull = torch.autograd.grad(loss, scores)[0].flatten()
        pulls = self.by_left.product(pull, b.detach()), self.by_right.product(pull, a.detach())
        return loss.detach(), torch.autograd.grad((a, b), leaves, pulls)

    def _scaled(self, mapped: Tensor) -> Tensor:
        """Scale mapped words (n, c) to length one; without `length_gradient` the lengths count as constants."""
        if self.options.length_gradient:
            return unit(mapped)
        return mapped / mapped.detach().norm(dim=1, keepdim=True).clamp_min(1e-12)


def _own_or_last(found: Tensor, own: Tensor) -> Tensor:
    """Mark in each row of words (k, n) its own (k, 1), or the last if it is not there: n - 1 others are left."""
    marked = found == own
    marked[:, -1] |= ~marked.any(dim=1)
    return marked
