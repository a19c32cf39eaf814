"""The adversarial game shared by `muse-unsup`, `aae` and `bliss` (Conneau et al. 2018, section 2).

A discriminator learns to tell mapped source vectors W x from target vectors y (equation 3); the map learns to be taken
for the target (equation 4). A game may collapse: by default the methods check how well the two vocabularies found each
other, and start again with other draws, a bounded number of times. The published programs play once and do not check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from lnmap.errors import InputError, TrainingError
from lnmap.methods.base import Method, Run
from lnmap.methods.graph import Repeated
from lnmap.methods.options import Options, option
from lnmap.methods.procrustes import rotation
from lnmap.normalize import unit
from lnmap.retrieve import NEIGHBOURS, neighbourhood_means, top_k

LEAST_WORDS = 100
QUICK = {"epochs": 1, "iterations": 4, "batch": 16, "dis_hidden": 8, "restarts": 0, "least_gain": 0.0}
_CHANCE = 999  # stream of the random rotation
T = TypeVar("T")


@dataclass(frozen=True)
class AdversarialOptions(Options):
    """Options of the game: MUSE's, with a budget for CPUs (fewer and larger steps, a narrower discriminator)."""

    epochs: int = option(4, "epochs of the game; the criterion is taken after each", low=1)
    iterations: int = option(2_000, "map steps per epoch", low=1)
    batch: int = option(128, "words of each language in a step", low=1)
    most_frequent: int = option(75_000, "words are drawn from this many most frequent ones", low=1)
    dis_steps: int = option(5, "discriminator steps before each map step", low=1)
    dis_hidden: int = option(512, "width of the discriminator's two hidden layers", low=1)
    dis_dropout: float = option(0.1, "dropout on the discriminator's input", low=0)
    dis_lr: float = option(0.5, "learning rate of the discriminator (SGD)", low=0)
    smoothing: float = option(0.1, "label smoothing of the discriminator", low=0)
    map_lr: float = option(0.5, "learning rate of the map (SGD)", low=0)
    map_beta: float = option(0.01, "pull of the map towards orthogonality after each step", low=0)
    lr_decay: float = option(0.98, "factor on the map's learning rate after each epoch", low=0)
    lr_shrink: float = option(0.5, "factor on it when the criterion falls, from the second fall on", low=0)
    least_lr: float = option(0.0, "floor of that decay; the game ends when the factor leads below it", low=0)
    criterion_words: int = option(10_000, "most frequent source words the criterion is taken over", low=1)
    muse_ranks: bool = option(
        False,
        "cut targets as MUSE does: the criterion leaves out matches whose target is beyond criterion_words, and each "
        "limit lets in one target more",
    )
    restarts: int = option(2, "how often a collapsed game is started again with other draws", low=0)
    least_gain: float = option(
        0.18, "least share of the way from a refined random map's criterion to 1; 0 accepts all", low=0
    )


class Discriminator:
    """d -> hidden -> hidden -> 1, LeakyReLU 0.2, dropout on the input; the logit of "a mapped source word"."""

    def __init__(self, dim: int, hidden: int, dropout: float, generator: torch.Generator, gain: float = 1.0) -> None:
        self.dropout, self.generator = dropout, generator
        self.layers: list[tuple[Tensor, Tensor]] = []
        for fan_in, fan_out in ((dim, hidden), (hidden, hidden), (hidden, 1)):
            bound = fan_in**-0.5
            weight = uniform((fan_out, fan_in), gain * bound, generator)
            self.layers.append((weight, uniform((fan_out,), bound, generator)))
        self.parameters = [tensor for layer in self.layers for tensor in layer]

    def __call__(self, x: Tensor, train: bool = False) -> Tensor:
        """(b, d) -> (b,)."""
        if train and self.dropout > 0:
            keep = torch.rand(x.shape, generator=self.generator, device=x.device) >= self.dropout
            x = x * keep / (1 - self.dropout)
        for weight, bias in self.layers[:-1]:
            x = functional.leaky_relu(functional.linear(x, weight, bias), 0.2)
        return functional.linear(x, *self.layers[-1])[:, 0]


class Game:
    """One direction: a map W (d, d) from `source` to `target`, its discriminator, and the best W so far.

    All that a step changes stays where it is in memory, so that a GPU can repeat recorded steps.
    """

    def __init__(
        self,
        source: Tensor,
        target: Tensor,
        options: AdversarialOptions,
        generator: torch.Generator,
        start: Tensor | None = None,
        gain: float = 1.0,
    ) -> None:
        self.source, self.target, self.options, self.generator = source, target, options, generator
        dim = target.shape[1]
        self.w = torch.eye(dim, dtype=source.dtype, device=source.device) if start is None else start.clone()
        self.discriminator = Discriminator(dim, options.dis_hidden, options.dis_dropout, generator, gain)
        self.lr = torch.tensor(options.map_lr, dtype=source.dtype, device=source.device)
        self.score, self.falls = -torch.inf, 0
        self.best = self.w.clone()
        self.loss = torch.zeros(2, device=source.device)  # sum and number of the discriminator's losses in this epoch
        share = torch.ones(options.batch, device=source.device)
        self._labels = torch.cat([share * (1 - options.smoothing), share * options.smoothing])  # source, target
        self.state = [self.w, self.loss, *self.discriminator.parameters]  # all that steps change

    def draw(self, x: Tensor) -> Tensor:
        """Return vectors (b, d) of words drawn evenly from the most frequent ones of a vocabulary."""
        size = min(self.options.most_frequent, len(x))
        return x[torch.randint(size, (self.options.batch,), generator=self.generator, device=x.device)]

    def discriminate(self) -> None:
        """Take one discriminator step on mapped source words and target words (equation 3)."""
        x = torch.cat([self.draw(self.source) @ self.w, self.draw(self.target)])
        parameters = self.discriminator.parameters
        for parameter in parameters:
            parameter.requires_grad_(True)
        loss = functional.binary_cross_entropy_with_logits(self.discriminator(x, train=True), self._labels)
        gradients = torch.autograd.grad(loss, parameters)
        for parameter in parameters:
            parameter.requires_grad_(False)
        torch._foreach_add_(parameters, list(gradients), alpha=-self.options.dis_lr)
        self.loss[0] += loss.detach()
        self.loss[1] += 1

    def fool(self, weight: float = 0.5) -> None:
        """Take one map step: labels flipped, the discriminator at rest (equation 4), then `orthogonalize`.

        Targets do not depend on W, so only the mapped words are scored; `weight` 1/2 keeps the mean over both.
        """
        self.step(self.fooling_gradient(self.draw(self.source), weight))
        self.orthogonalize()

    def fooling_gradient(self, x: Tensor, weight: float = 0.5) -> Tensor:
        """Return the gradient (d, d) of equation 4 on source vectors (b, d)."""
        w = self.w.detach().requires_grad_(True)
        logits = self.discriminator(x @ w)
        flipped = torch.full_like(logits, self.options.smoothing)
        loss = functional.binary_cross_entropy_with_logits(logits, flipped) * weight
        return torch.autograd.grad(loss, w)[0]

    def step(self, gradient: Tensor, factor: float = 1.0) -> None:
        """W <- W - factor lr gradient."""
        self.w.sub_(self.lr * factor * gradient)

    def orthogonalize(self) -> None:
        """W <- (1 + beta) W - beta W W^T W: a step towards the nearest orthogonal matrix."""
        beta = self.options.map_beta
        if beta > 0:
            self.w.copy_((1 + beta) * self.w - beta * (self.w @ self.w.T @ self.w))

    def end_epoch(self, score: float) -> None:
        """Keep W if it is the best so far, and lower the learning rate."""
        self.lr.mul_(self.options.lr_decay).clamp_(min=self.options.least_lr)
        if score > self.score:
            self.best, self.score = self.w.clone(), score
        elif score < self.score:
            self.falls += 1
            if self.falls > 1:
                self.lr *= self.options.lr_shrink

    def mean_loss(self) -> float:
        """Return the mean discriminator loss since it was last asked for."""
        total, number = self.loss.tolist()
        self.loss.zero_()
        return total / max(number, 1)


def play(games: Sequence[Game], run: Run, attempt: int, turn: Callable[[Game, Game], None] | None = None) -> None:
    """Play the games side by side for all epochs; `turn(game, other)` is the map step of games that share a loss."""
    options = games[0].options

    def step() -> None:
        for _ in range(options.dis_steps):
            for game in games:
                game.discriminate()
        for index, game in enumerate(games):
            if turn is None:
                game.fool()
            else:
                turn(game, games[1 - index])

    repeated = Repeated([step], [t for game in games for t in game.state], games[0].w.device, games[0].generator)
    with run.progress.task(f"adversarial training, attempt {attempt}", options.epochs * options.iterations) as task:
        for epoch in range(1, options.epochs + 1):
            for _ in range(options.iterations):
                repeated.run()
                task.advance()
            for direction, game in enumerate(games):
                score = mean_cosine(game.source @ game.w, game.target, options, run.memory)
                loss, lr = game.mean_loss(), float(game.lr)
                game.end_epoch(score)
                run.record(attempt=attempt, epoch=epoch, direction=direction, criterion=score, dis_loss=loss, lr=lr)
            if any(bool(game.lr < options.least_lr) for game in games):
                break


def mean_cosine(x: Tensor, y: Tensor, options: AdversarialOptions, memory: int) -> float:
    """Return the unsupervised criterion of the paper: the mean cosine of the CSLS matches of frequent words."""
    return forward_matches(x, y, options.criterion_words, options, memory)[1]


def forward_matches(
    x: Tensor, y: Tensor, max_rank: int, options: AdversarialOptions, memory: int
) -> tuple[Tensor, float]:
    """Return the CSLS matches (k, 2) of source words, both ranks below `max_rank`, and the criterion.

    MUSE numbers words from 0 and compares by `<=`, so that `muse_ranks` lets in one target more.
    """
    x, y = unit(x), unit(y)
    words, more = options.criterion_words, int(options.muse_ranks)
    bias = neighbourhood_means(y, x, NEIGHBOURS, memory=memory) / -2
    scores, rows = top_k(x[: max(max_rank, words)], y, 1, bias, memory=memory)
    pairs = numbered(rows[:max_rank, 0])
    cosines = (scores - bias[rows])[:words]
    if options.muse_ranks:
        cosines = cosines[rows[:words] < words + more]
    return pairs[pairs[:, 1] < max_rank + more], float(cosines.mean())


def numbered(rows: Tensor) -> Tensor:
    """Pair each word with its match: rows (n,) -> (n, 2)."""
    return torch.stack([torch.arange(len(rows), device=rows.device), rows], dim=1)


def random_rotation(dim: int, run: Run) -> Tensor:
    """Draw an orthogonal matrix (d, d) evenly."""
    normal = torch.randn(dim, dim, generator=run.generator(_CHANCE), device=run.device)
    return rotation(normal, torch.eye(dim, device=run.device))


def is_aligned(score: float, by_chance: float, options: AdversarialOptions) -> tuple[bool, str]:
    """Compare the criterion after refinement with that of a rotation refined from a random start.

    Refinement brings any two vocabularies closer: from chance, English-French and English-Finnish reach a mean cosine
    near 0.48, collapsed games 0.51 to 0.53, true alignments 0.70 and 0.60. So the criterion counts by how much of the
    way from chance to 1 it has gone: 0.43 and 0.24 of it in the true cases, at most 0.11 in the collapsed ones. No gold
    data is seen.
    """
    if not options.least_gain:
        return True, "not checked"
    why = f"mean cosine of matches {score:.3f}, from a random rotation {by_chance:.3f}"
    return score - by_chance >= options.least_gain * (1 - by_chance), why


def until_aligned(method: Method, run: Run, attempt: Callable[[int], tuple[T, bool, str]]) -> T:
    """Call `attempt(number)` until its result is aligned, at most 1 + `restarts` times."""
    attempts, why = method.options.restarts + 1, ""
    for number in range(1, attempts + 1):
        result, aligned, why = attempt(number)
        run.record(attempt=number, aligned=aligned, reason=why)
        if aligned:
            return result
        run.progress.note(f"{method.name}: attempt {number} of {attempts} collapsed ({why})")
    raise TrainingError(
        f"{method.name} found no alignment in {attempts} attempts (the last: {why})",
        advice="try another {seed}, a larger budget, or a method that uses a seed dictionary",
    )


def check_vocabularies(method: Method, source: Tensor, target: Tensor, run: Run) -> None:
    """Refuse tiny vocabularies, and note which cut-offs were lowered to what there is."""
    size = min(len(source), len(target))
    if size < LEAST_WORDS:
        raise InputError(
            f"{method.name} needs at least {LEAST_WORDS} words on each side, got {len(source)} and {len(target)}; "
            "read larger vocabularies"
        )
    limits = {name: getattr(method.options, name) for name in ("most_frequent", "criterion_words", "max_rank")}
    lowered = [f"{name}={limit}" for name, limit in limits.items() if limit > size]
    if lowered:
        run.progress.note(f"{method.name}: {', '.join(lowered)} exceed a vocabulary of {size} words; all of it is used")


def uniform(shape: tuple[int, ...], bound: float, generator: torch.Generator) -> Tensor:
    """Draw evenly from [-bound, bound]."""
    return (torch.rand(shape, generator=generator, device=generator.device) * 2 - 1) * bound
