"""BLISS(R): a seed, unaligned words and weak orthogonality at once (Patra et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from lnmap.methods.adversarial import QUICK, AdversarialOptions, Game, check_vocabularies, numbered
from lnmap.methods.base import (
    Cost,
    LinearAlignment,
    Method,
    Run,
    require_equal_dimensions,
    require_finite,
    require_pairs,
)
from lnmap.methods.graph import Repeated
from lnmap.methods.options import option
from lnmap.methods.procrustes import rotate_pairs
from lnmap.methods.rcsls import mean_rows
from lnmap.normalize import fit_both, unit
from lnmap.retrieve import NEIGHBOURS, neighbourhood_means, top_k


@dataclass(frozen=True)
class BlissOptions(AdversarialOptions):
    """Options of `bliss`: three tenths of the original's steps, a narrower discriminator, neighbours kept a while."""

    normalize: str = option("unit", "normalisation recipe of both languages")
    epochs: int = option(20, "epochs; after each the criterion is taken", low=1)
    iterations: int = option(471, "iterations per epoch", low=1)
    refresh: int = option(
        157, "iterations before the neighbours of the seed words are searched again; 1: those of each batch", low=1
    )
    batch: int = option(32, "words of each language, and seed pairs, in a step", low=1)
    dis_hidden: int = option(256, "width of the discriminator's two hidden layers", low=1)
    dis_lr: float = option(0.1, "learning rate of the discriminator (SGD)", low=0)
    map_lr: float = option(0.1, "learning rate of the adversarial and orthogonality losses (SGD)", low=0)
    map_beta: float = option(0.0, "pull of the map towards orthogonality after each step", low=0)
    rcsls_lr: float = option(0.1, "learning rate of the RCSLS loss on seed pairs (SGD, never lowered)", low=0)
    candidates: int = option(100_000, "most frequent words of each side among which neighbours are searched", low=1)
    neighbours: int = option(NEIGHBOURS, "k of CSLS", low=1)
    patience: int = option(2, "epochs without a better criterion before the learning rate shrinks", low=1)
    least_lr: float = option(1e-5, "floor of the map's learning rate", low=0)
    start_competes: bool = option(True, "keep the start, Procrustes on the seed, if no epoch has a better criterion")
    hub: int = option(20, "a target matched by more source words than this is a hub, and left out", low=1)
    refinements: int = option(3, "Procrustes refinements at the end, each kept only if the criterion gains", low=0)
    max_rank: int = option(15_000, "targets of pairs refined on are among this many most frequent words", low=1)


class Bliss(Method):
    """Adversarial loss + RCSLS loss on the seed + cos(x, W^T W x), a third of each (Patra et al. 2019, section 3)."""

    name = "bliss"
    title = "Semi-supervised alignment with weak orthogonality, BLISS(R)"
    citation = "Patra et al. 2019, ACL"
    supervision = "seed + unaligned words"
    keeps_target = True
    Options = BlissOptions
    profiles = {
        "original": {
            "epochs": 200,
            "iterations": 157,  # 5,000 / 32, rounded up
            "refresh": 1,
            "dis_hidden": 2048,
            "most_frequent": 75_001,  # the program draws row numbers up to and including 75,000
            "start_competes": False,
        }
    }
    departures = {
        None: "three tenths of the steps, against a narrower discriminator; the neighbours of the seed words are "
        "searched every 157 iterations; the start, Procrustes on the seed, competes with the maps of the epochs",
        "original": "none known but the random draws and rounding; a vocabulary below 100,000 words is not refused",
    }
    revisions = {"original": 2}
    costs = {
        None: Cost(one=341),
        "original": Cost(4_821, 2_143 / 2, 1_995),  # searches among 100 000 of the paper's 200 000 words
    }
    quick = {**QUICK, "refinements": 1}

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Start from Procrustes on the seed, train the three losses, refine."""
        require_pairs(self, pairs)
        require_equal_dimensions(self, source, target)
        check_vocabularies(self, source, target, run)
        norms, x, y = fit_both(self.options.normalize, source, target)
        w, score = self._train(x, y, rotate_pairs(x, y, pairs), pairs, run)
        w = self._refine(x, y, w, score, run)
        require_finite(self.name, map=w)
        return LinearAlignment.onto_target(norms, w)

    def _train(self, x: Tensor, y: Tensor, start: Tensor, pairs: Tensor, run: Run) -> tuple[Tensor, float]:
        """Play all epochs; return the map with the best criterion, and the criterion."""
        options: BlissOptions = self.options
        generator = run.generator(1)
        game = Game(x, y, options, generator, start=start, gain=6**0.5)  # Kaiming: +-sqrt(6 / fan_in)
        seed = SeedLoss(x, y, pairs, options, run.memory)
        each_batch = options.refresh == 1

        def step() -> None:
            game.fool(weight=1 / 3)
            gradient = seed.gradient(options.batch, generator, game.w if each_batch else None)
            game.w.sub_(options.rcsls_lr / 3 * gradient)
            game.step(weak_orthogonality(game.draw(x), game.w), 1 / 3)
            for _ in range(options.dis_steps):
                game.discriminate()

        # A step that searches is not recorded for replay: searches allocate as they go.
        take = step if each_batch else Repeated([step], game.state, x.device, generator).run
        best, waited = start, 0
        best_score = self._match(x @ start, y, run)[1] if options.start_competes else -torch.inf
        with run.progress.task("bliss", options.epochs) as task:
            for epoch in range(1, options.epochs + 1):
                for iteration in range(options.iterations):
                    if not each_batch and iteration % options.refresh == 0:
                        seed.search(game.w)
                    take()
                score, lr = self._match(x @ game.w, y, run)[1], float(game.lr)
                run.record(epoch=epoch, criterion=score, dis_loss=game.mean_loss(), lr=lr)
                lr *= options.lr_decay
                waited = 0 if score > best_score else waited + 1
                if score > best_score:
                    best, best_score = game.w.clone(), score
                elif waited % options.patience == 0:
                    lr *= options.lr_shrink
                game.lr.fill_(max(lr, options.least_lr))
                task.advance()
        return best, best_score

    def _refine(self, x: Tensor, y: Tensor, w: Tensor, score: float, run: Run) -> Tensor:
        """Solve Procrustes on the matches of all source words, while the criterion improves."""
        for iteration in range(1, self.options.refinements + 1):
            rows = self._match(x @ w, y, run)[0]
            rows = rows[rows[:, 1] < self.options.max_rank]
            if not len(rows):
                break
            refined = rotate_pairs(x, y, rows)
            new_score = self._match(x @ refined, y, run)[1]
            run.record(refinement=iteration, pairs=len(rows), criterion=new_score, kept=new_score > score)
            if new_score <= score:
                break
            w, score = refined, new_score
        return w

    def _match(self, x: Tensor, y: Tensor, run: Run) -> tuple[Tensor, float]:
        """Return the CSLS matches (k, 2) of source words that are no hubs, and the criterion.

        The criterion is the mean CSLS of the most frequent source words' matches.
        """
        x, y = unit(x), unit(y)
        r_y = neighbourhood_means(y, x, self.options.neighbours, memory=run.memory)
        scores, targets = top_k(x, y, 1, r_y / -2, memory=run.memory)
        pairs = numbered(targets[:, 0])
        head = min(self.options.criterion_words, len(x))
        r_x = neighbourhood_means(x[:head], y, self.options.neighbours, memory=run.memory)
        csls = (2 * scores[:head, 0] - r_x)[self._no_hub(pairs[:head, 1])]
        return pairs[self._no_hub(pairs[:, 1])], float(csls.mean()) if len(csls) else -torch.inf

    def _no_hub(self, targets: Tensor) -> Tensor:
        """Return which targets (n,) occur no more than `hub` times among them."""
        return torch.bincount(targets)[targets] <= self.options.hub


class SeedLoss:
    """RCSLS over random batches of seed pairs; neighbours are those of the last `search`, or of the batch.

    With the neighbours fixed the loss is linear in W, so its gradient is two products, but it must not be followed far:
    the learning rate times the steps before the next search plays the part of RCSLS's step size.
    """

    def __init__(self, x: Tensor, y: Tensor, pairs: Tensor, options: BlissOptions, memory: int) -> None:
        self.pool_x, self.pool_y = x[: options.candidates], y[: options.candidates]
        self.x, self.y = x[pairs[:, 0]], y[pairs[:, 1]]  # (n, d)
        self.pull_x, self.pull_y = torch.zeros_like(self.x), torch.zeros_like(self.y)
        self.neighbours, self.memory = options.neighbours, memory

    def search(self, w: Tensor) -> None:
        """Take the neighbours of the pairs' words under W."""
        pull_x, pull_y = self._pull(self.x, self.y, w)
        self.pull_x.copy_(pull_x)
        self.pull_y.copy_(pull_y)

    def gradient(self, batch: int, generator: torch.Generator, w: Tensor | None = None) -> Tensor:
        """Return the gradient (d, d) over a random batch of pairs, with the neighbours under W if it is given."""
        rows = torch.randint(len(self.x), (batch,), generator=generator, device=self.x.device)
        x, y = self.x[rows], self.y[rows]
        pull_x, pull_y = (self.pull_x[rows], self.pull_y[rows]) if w is None else self._pull(x, y, w)
        return (x.T @ pull_y + pull_x.T @ y) / batch

    def _pull(self, x: Tensor, y: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        """Return what pulls on pairs (n, d): the mean neighbour of y, and that of x less twice y."""
        near_y = top_k(x @ w, self.pool_y, self.neighbours, memory=self.memory)[1]  # (n, k)
        near_x = top_k(y, self.pool_x @ w, self.neighbours, memory=self.memory)[1]
        return mean_rows(self.pool_x, near_x), mean_rows(self.pool_y, near_y) - 2 * y


def weak_orthogonality(x: Tensor, w: Tensor) -> Tensor:
    """Return the gradient of minus the mean cosine of x and W^T W x over a batch (b, d)."""
    w = w.detach().requires_grad_(True)
    loss = -functional.cosine_similarity(x, x @ w @ w.T, dim=1).mean()
    return torch.autograd.grad(loss, w)[0]
