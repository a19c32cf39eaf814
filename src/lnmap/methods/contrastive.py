"""Contrastive refinement (Li et al. 2022, stage C1): each translation must come before its nearest rivals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from lnmap.induce import Induced, induce
from lnmap.methods.base import LinearAlignment, Method, Run, require_finite, require_pairs
from lnmap.methods.negatives import info_nce, nearest_words
from lnmap.methods.options import option
from lnmap.methods.vecmap.mapping import MultiStepOptions, choose_ridge, multi_step
from lnmap.normalize import Normalizer, unit

Maps = tuple[Tensor, Tensor]
_SMALL = 2500  # seed pairs below which the published numbers for 1 000 pairs are used, else those for 5 000


@dataclass(frozen=True)
class ContrastiveOptions(MultiStepOptions):
    """Options of `contrastive`; 0 or auto: by the number of seed pairs, below 2 500 / from 2 500 on."""

    rounds: int = option(0, "rounds of mapping and induction; 0: 3 / 2", low=0)
    closed_rounds: int = option(0, "first rounds that use the closed form as it is, without training", low=0)
    learn_from: str = option(
        "auto", "pairs of the loss: the seed, or also induced ones; auto: all / seed", ("auto", "seed", "all")
    )
    steps: int = option(0, "gradient steps a round; 0: 50 / 200", low=0)
    rate: float = option(0.0, "step size; 0: 2 / 1.5", low=0)
    decay: float = option(0.0, "what the step size is multiplied by after each step; 0: 1 / 0.99", low=0)
    clip: float = option(0.15, "largest norm of the gradient; a longer one is scaled to it", low=1e-9)
    temperature: float = option(1.0, "temperature of the loss", low=1e-3)
    negatives: int = option(0, "hard negatives a pair has on each side; 0: 60 / 150", low=0)
    negative_words: int = option(60_000, "most frequent words that may be negatives", low=1)
    refresh: int = option(10, "steps after which the negatives are sought again; published: 1", low=1)
    induced: int = option(0, "most pairs induced from each side after a round; 0: 6 000 / 10 000", low=0)
    induced_words: int = option(0, "most frequent words pairs are induced among; 0: 20 000 / 60 000", low=0)

    def settled(self, pairs: int) -> ContrastiveOptions:
        """Fill in what is left to the number of seed pairs."""
        chosen = {name: getattr(self, name) for name in _BY_SIZE}
        index = int(pairs >= _SMALL)
        return replace(self, **{name: _BY_SIZE[name][index] for name, v in chosen.items() if v in (0, "auto")})


_BY_SIZE = {
    "rounds": (3, 2),
    "learn_from": ("all", "seed"),
    "steps": (50, 200),
    "rate": (2.0, 1.5),
    "decay": (1.0, 0.99),
    "negatives": (60, 150),
    "induced": (6000, 10_000),
    "induced_words": (20_000, 60_000),
}


class Contrastive(Method):
    """Two linear maps into a common space, started by VecMap's steps, trained against hard negatives, in rounds."""

    name = "contrastive"
    title = "Contrastive refinement with self-learning (C1)"
    citation = "Li et al. 2022, ACL"
    supervision = "seed + unaligned words"
    Options = ContrastiveOptions
    profiles = {"published": {"ridge": 0.0, "closed_rounds": 0, "refresh": 1}}

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Map, refine and induce in turns; the seed is part of every dictionary."""
        require_pairs(self, pairs, 1)
        norms = Normalizer(self.options.normalize), Normalizer(self.options.normalize)
        x, z = norms[0].fit(source), norms[1].fit(target)
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
        n = options.induced_words
        found = induce(x[:n] @ maps[0], z[:n] @ maps[1], mode="union", memory=run.memory, progress=run.progress)
        rows = best_of_each_side(found, options.induced)
        new = rows[~(torch.isin(rows[:, 0], seed[:, 0]) | torch.isin(rows[:, 1], seed[:, 1]))]
        run.record(round=number, induced=len(new), mean_csls=float(found.csls.mean()))
        return new


def best_of_each_side(found: Induced, count: int) -> Tensor:
    """Rows of the `count` best pairs found from the sources and the `count` best found from the targets, (k, 2).

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
        """The matrix with these values (e,), times vectors (m, c): shape (n, c)."""
        return embedding_bag(self.columns, vectors, self.starts, mode="sum", per_sample_weights=values[self.order])

    def dots(self, queries: Tensor, vectors: Tensor) -> Tensor:
        """Dot product of queries[row] and vectors[column] of each entry, (e,).

        It is the derivative by the entries of queries . (matrix vectors), and its kernel is several times faster than
        gathering the vectors.
        """
        values = queries.new_zeros(len(self.order)).requires_grad_()
        return torch.autograd.grad(self.product(values, vectors), values, queries)[0]


class Contrast:
    """InfoNCE of pairs against the nearest wrong words of both sides, and its gradient by the two maps.

    :param x: normalised vectors (n, d_s), `z` (m, d_t), most frequent word first; `pairs` rows (k, 2).
    """

    def __init__(self, x: Tensor, z: Tensor, pairs: Tensor, options: ContrastiveOptions, memory: int) -> None:
        self.x, self.z, self.pairs, self.options, self.memory = x, z, pairs, options, memory

    def seek(self, maps: Maps) -> None:
        """Find the negatives of all pairs anew, and lay out the words and scores the loss is made of."""
        n = self.options.negative_words
        sides, sought = (self.x, self.z), self.pairs.T
        words = [unit(side[rows] @ w) for side, rows, w in zip(sides, sought, maps, strict=True)]
        everything = [unit(side[:n] @ w) for side, w in zip(sides, maps, strict=True)]
        found = nearest_words(*words, *everything, self.options.negatives, self.memory)
        x, y = self.pairs[:, :1], self.pairs[:, 1:]
        left = torch.cat([x.expand_as(found.targets), found.sources], dim=1)  # (k, 2 n): the wrong pairs
        right = torch.cat([found.targets, y.expand_as(found.sources)], dim=1)
        width = len(self.z)
        self.known = torch.isin(left * width + right, x[:, 0] * width + y[:, 0])
        self.words_x, self.left = torch.cat([x, left], dim=1).unique(return_inverse=True)
        self.words_z, self.right = torch.cat([y, right], dim=1).unique(return_inverse=True)
        self.by_left = Grouped(self.left.flatten(), self.right.flatten())
        self.by_right = Grouped(self.right.flatten(), self.left.flatten())

    def __call__(self, maps: Maps) -> tuple[Tensor, Sequence[Tensor]]:
        """Loss and gradients at the maps (d_s, c) and (d_t, c), the negatives held fixed."""
        leaves = [w.detach().requires_grad_() for w in maps]
        a, b = unit(self.x[self.words_x] @ leaves[0]), unit(self.z[self.words_z] @ leaves[1])
        scores = self.by_left.dots(a.detach(), b.detach()).view_as(self.left)
        scores[:, 1:].masked_fill_(self.known, -torch.inf)
        loss = info_nce(scores.requires_grad_(), self.options.temperature)
        pull = torch.autograd.grad(loss, scores)[0].flatten()
        pulls = self.by_left.product(pull, b.detach()), self.by_right.product(pull, a.detach())
        return loss.detach(), torch.autograd.grad((a, b), leaves, pulls)
