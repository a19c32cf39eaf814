"""Self-learning (Artetxe et al. 2017; Artetxe et al. 2018, ACL): map, induce a dictionary, map with it, and so on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from lnmap.direction import Direction
from lnmap.errors import InputError
from lnmap.methods.base import Run
from lnmap.methods.options import Options, option
from lnmap.methods.procrustes import rotate_pairs
from lnmap.normalize import RENORM, Normalizer
from lnmap.retrieve import score_blocks

LEAST_WORDS = 100  # below this the shape of a vocabulary says nothing


@dataclass(frozen=True)
class SelfLearningOptions(Options):
    """Options of the self-learning loop."""

    words: int = option(20_000, "most frequent words of each language the loop works on; 0 for all", low=0)
    neighbours: int = option(10, "k of CSLS in the loop; 0 for plain dot products", low=0)
    direction: str = option("union", "induce from both sides and concatenate, or from the source", ("union", "forward"))
    keep: float = option(0.1, "probability that a score survives dropout, at the start", low=1e-3)
    keep_growth: float = option(2.0, "what that probability is multiplied by when progress stops", low=1.01)
    patience: int = option(50, "iterations without improvement that end a stage", low=1)
    threshold: float = option(1e-6, "the least gain of the mean similarity that counts as improvement", low=0)
    max_iterations: int = option(2000, "upper bound of all iterations together", low=1)
    schedule: str = option(
        "fast",
        "fast: the stochastic stages on fewer words with less patience; original: as published",
        ("fast", "original"),
    )
    fast_words: int = option(4000, "words of each language in the stochastic stages of the fast schedule", low=1)
    fast_patience: int = option(10, "patience of those stages", low=1)
    fast_finish: int = option(15, "most iterations on all `words`, without dropout, that end the fast schedule", low=1)


class Stage(NamedTuple):
    """A stretch of the loop with one vocabulary size and one dropout."""

    words: int
    keep: float
    patience: int
    longest: int


def stages(options: SelfLearningOptions, largest: int) -> list[Stage]:
    """Lay out the loop for vocabularies of at most `largest` words."""
    words = min(options.words or largest, largest)
    keeps = [min(options.keep, 1.0)]
    while keeps[-1] < 1:
        keeps.append(min(1.0, keeps[-1] * options.keep_growth))
    plan = [Stage(words, keep, options.patience, options.max_iterations) for keep in keeps]
    if options.schedule == "fast" and len(plan) > 1:
        small = min(options.fast_words, words)
        last = plan[-1]._replace(patience=1, longest=options.fast_finish)
        plan = [stage._replace(words=small, patience=options.fast_patience) for stage in plan]
        plan += [last] if small < words else []
    return plan


class Sweep(NamedTuple):
    """What one pass over the scores of all words (n,) gives: chosen candidates, best scores, means of the k best."""

    chosen: Tensor
    best: Tensor
    means: Tensor


class Similarities:
    """Dot products of x (n, d) and z (m, d), swept in blocks of rows in either direction.

    The matrix and its transpose are held if together they take at most half of `memory`; else each sweep computes them.
    """

    def __init__(self, x: Tensor, z: Tensor, memory: int) -> None:
        self.sides, self.memory = {Direction.FORWARD: (x, z), Direction.BACKWARD: (z, x)}, memory
        self.held: dict[Direction, Tensor] = {}
        if 2 * len(x) * len(z) * x.element_size() <= memory // 2:
            scores = x @ z.T
            self.held = {Direction.FORWARD: scores, Direction.BACKWARD: scores.T.contiguous()}

    def blocks(self, direction: Direction) -> Iterator[Tensor]:
        """Yield the scores (b, m) of blocks of words, source words if forward; not to be changed."""
        if not self.held:
            yield from (block for _, block in score_blocks(*self.sides[direction], memory=self.memory // 4))
        else:
            scores = self.held[direction]
            yield from scores.split(max(1, self.memory // (8 * scores.shape[1] * scores.element_size())))

    def sweep(
        self, direction: Direction, k: int, bias: Tensor | None, keep: float, generator: torch.Generator
    ) -> Sweep:
        """Choose each word's best candidate by score + bias, after dropout sets each to 0 with probability 1 - keep.

        `best` and `means` are of the plain scores; both are empty if k is 0 and there is a bias.
        """
        chosen, best, means = [], [], []
        for block in self.blocks(direction):
            if k or bias is None:
                top, row = block.max(dim=1)
                best.append(top)
                means.append(block.topk(min(k, block.shape[1]), dim=1, sorted=False).values.mean(dim=1) if k else top)
            if bias is not None or keep < 1:
                scores = block + (0.0 if bias is None else bias)
                if keep < 1:
                    scores.masked_fill_(dropped(scores, keep, generator), 0.0)
                row = scores.max(dim=1).indices
            chosen.append(row)
        nothing = [chosen[0].new_empty(0)]
        return Sweep(torch.cat(chosen), torch.cat(best or nothing), torch.cat(means or nothing))


def dropped(block: Tensor, keep: float, generator: torch.Generator) -> Tensor:
    """Boolean mask of the shape of `block`, true with probability 1 - keep (to 16 bits)."""
    longs = torch.empty(-(-block.numel() // 4), dtype=torch.int64, device=block.device)
    longs.random_(-(2**63), None, generator=generator)
    shorts = longs.view(torch.int16)[: block.numel()].view_as(block)  # uniform over -2^15 .. 2^15 - 1
    return shorts >= round(keep * 2**16) - 2**15


def induce_pairs(
    x: Tensor, z: Tensor, options: SelfLearningOptions, keep: float, generator: torch.Generator, memory: int
) -> tuple[Tensor, float]:
    """Return dictionary rows (k, 2) of mapped words x (n, d), z (m, d), and the objective: the mean best similarity.

    Scores are x.z - r(candidate)/2 with r the mean of the candidate's k nearest (CSLS; the other half does not change
    the best candidate). The objective is taken before CSLS and before dropout.
    """
    scores, k, union = Similarities(x, z, memory), options.neighbours, options.direction == "union"
    forward = scores.sweep(Direction.FORWARD, k, None, 1.0, generator)
    pairs, objective, bias = [], forward.best.mean(), None
    if union or k:
        backward = scores.sweep(Direction.BACKWARD, k, forward.means / -2 if k else None, keep, generator)
        bias = backward.means / -2 if k else None
    if union:
        objective = (objective + backward.best.mean()) / 2
        pairs = [torch.stack([backward.chosen, torch.arange(len(z), device=z.device)], dim=1)]
    if bias is not None or keep < 1:
        forward = scores.sweep(Direction.FORWARD, 0, bias, keep, generator)
    pairs.append(torch.stack([torch.arange(len(x), device=x.device), forward.chosen], dim=1))
    return torch.cat(pairs), float(objective)


def self_learn(x: Tensor, z: Tensor, pairs: Tensor, options: SelfLearningOptions, run: Run) -> Tensor:
    """Grow a dictionary (k, 2) of the normalised vocabularies x (n, d_s), z (m, d_t) and return the last one."""
    generator = run.generator()
    iteration, best, words = 0, -torch.inf, 0
    with run.progress.task("self-learning", None) as task:
        for stage in stages(options, max(len(x), len(z))):
            best = best if stage.words == words else -torch.inf
            words = stage.words
            waited = -1 if iteration and options.schedule == "original" else 0  # VecMap counts from a stage's second
            for _ in range(min(stage.longest, options.max_iterations - iteration)):
                w = rotate_pairs(x, z, pairs)
                pairs, objective = induce_pairs(x[:words] @ w, z[:words], options, stage.keep, generator, run.memory)
                iteration += 1
                run.record(iteration=iteration, words=words, keep=stage.keep, objective=objective)
                task.advance()
                improved = objective - best >= options.threshold
                best, waited = (objective, 0) if improved else (best, waited + 1)
                if waited >= stage.patience:
                    break
    if iteration >= options.max_iterations:
        run.progress.note(f"self-learning stopped at its limit of {iteration} iterations (option max_iterations)")
    return pairs


def similarity_signatures(x: Tensor) -> Tensor:
    """Return the sorted rows (n, n) of the square root of the similarity matrix of x (n, d), normalised.

    The square root of x x^T is U S U^T with U S V^T = SVD(x), that is (x V S^-1/2)(x V S^-1/2)^T.
    """
    rows = x.double()
    squares, v = torch.linalg.eigh(rows.T @ rows)
    kept = squares > squares[-1] * 1e-12
    half = (rows @ v[:, kept] / squares[kept] ** 0.25).to(x.dtype)  # (n, rank)
    return Normalizer(RENORM).fit((half @ half.T).sort(dim=1).values)


def initial_pairs(x: Tensor, z: Tensor, words: int, options: SelfLearningOptions, run: Run) -> Tensor:
    """Pair words whose similarities are distributed alike: a dictionary (2n, 2) from the shapes of the two spaces."""
    n = min(len(x), len(z), words)
    if n < LEAST_WORDS:
        problem = f"alignment without a seed needs {LEAST_WORDS} words in each language, got {n}"
        raise InputError(problem, advice="raise {limit}")
    if n < words:
        run.progress.note(f"the first dictionary is read off {n} words instead of {words}: the vocabulary has no more")
    sides = similarity_signatures(x[:n]), similarity_signatures(z[:n])
    return induce_pairs(*sides, replace(options, direction="union"), 1.0, run.generator(), run.memory)[0]
