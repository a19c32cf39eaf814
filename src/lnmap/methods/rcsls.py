"""RCSLS: minimise the retrieval criterion CSLS itself over the seed pairs (Joulin et al. 2018, equation 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from lnmap.methods.base import Cost, LinearAlignment, Method, Run, require_finite, require_pairs
from lnmap.methods.options import Options, option
from lnmap.methods.procrustes import rotate_pairs
from lnmap.normalize import RENORM, fit_both, unit
from lnmap.retrieve import NEIGHBOURS, top_k

_NOTHING = 0.01  # share of the gain so far that counts as no further gain
_LEAST_PAIRS = 50  # below this no part of the seed is worth holding out


@dataclass(frozen=True)
class RcslsOptions(Options):
    """Options of `rcsls`."""

    normalize: str = option(RENORM, "normalisation recipe of both languages; the original's own is 'unit'")
    step: float = option(0.0, "step of the original's rule (its grid: 1, 10, 25, 50); 0: held-out pairs choose", low=0)
    iterations: int = option(10, "iterations at a fixed step; the original makes one gradient step more", low=0)
    least_step: float = option(1e-4, "stop when the step has been halved to less than this", low=0)
    neighbours: int = option(NEIGHBOURS, "k of CSLS", low=1)
    spectral: bool = option(False, "project the singular values of the map to at most 1 after each step")
    lengths: str = option(
        "unit", "automatic: lengths of mapped vectors in the loss; 'free' as in the paper", ("unit", "free")
    )
    first_step: float = option(10.0, "automatic: step size tried first, halved whenever the loss would rise", low=0)
    max_steps: int = option(60, "automatic: most steps taken", low=1)
    held_out: float = option(0.2, "automatic: share of the seed pairs that chooses the number of steps", low=0)
    gain: float = option(0.95, "automatic: share of the best held-out gain that is enough", low=0)
    patience: int = option(
        2, "automatic: steps that gain next to nothing on held-out pairs before the search ends", low=1
    )


class Rcsls(Method):
    """A linear map without constraint, started from Procrustes, full-batch gradient steps on the CSLS loss."""

    name = "rcsls"
    title = "Relaxed CSLS (RCSLS)"
    citation = "Joulin et al. 2018, EMNLP"
    keeps_target = True
    Options = RcslsOptions
    profiles = {"original": {"normalize": "unit", "step": 25.0}}
    revisions = {"original": 2}
    departures = {
        None: "held-out pairs choose the number of steps, no step raises the loss, mapped words have length one in it, "
        "and vectors are centred; the original takes 11 steps of one size, halved after a rise",
        "original": "none known but float32; the step is that of the authors' example script, their default is 1",
    }
    costs = {None: Cost(one=33), "original": Cost(one=7)}
    quick = {"max_steps": 5, "iterations": 2}

    @property
    def stochastic(self) -> bool:
        """Only the choice of held-out pairs is random."""
        return bool(self.options.step == 0)

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Minimise the loss over the seed pairs."""
        require_pairs(self, pairs)
        norms, x, y = fit_both(self.options.normalize, source, target)
        fixed = self.options.step > 0
        loss = RcslsLoss(x, y, self.options.neighbours, run.memory, free=fixed or self.options.lengths == "free")
        w = self._fixed(loss, pairs, run) if fixed else self._automatic(loss, pairs, run)
        require_finite(self.name, map=w)
        return LinearAlignment.onto_target(norms, w)

    def _fixed(self, loss: RcslsLoss, pairs: Tensor, run: Run) -> Tensor:
        """Follow the original's rule: halve the step while the loss is above its least, but never take a step back."""
        w, step, least = rotate_pairs(loss.x, loss.y, pairs), self.options.step, torch.inf
        with run.progress.task("rcsls", self.options.iterations + 1) as task:
            for iteration in range(self.options.iterations + 1):
                if step < self.options.least_step:
                    break
                value, gradient = loss(w, pairs)
                w = self._project(w - step * gradient)
                run.record(iteration=iteration, loss=value, step=step)
                step, least = step / 2 if value > least else step, min(value, least)
                task.advance()
        return w

    def _automatic(self, loss: RcslsLoss, pairs: Tensor, run: Run) -> Tensor:
        """Choose the number of steps on held-out seed pairs, then take as many with all pairs."""
        w = rotate_pairs(loss.x, loss.y, pairs)
        count = round(len(pairs) * min(self.options.held_out, 0.5))
        if len(pairs) < _LEAST_PAIRS or not count:
            run.progress.note(f"rcsls: {len(pairs)} seed pairs are too few to hold some out; Procrustes is kept")
            return w
        order = torch.randperm(len(pairs), generator=run.generator(), device=run.device)
        steps = self._choose_steps(loss, pairs[order[count:]], pairs[order[:count]], run)
        with run.progress.task("rcsls", steps) as task:
            for trial, value, step in self._descend(loss, pairs, steps):
                w = trial
                run.record(phase="fit", loss=value, step=step)
                task.advance()
        return w

    def _choose_steps(self, loss: RcslsLoss, rest: Tensor, held: Tensor, run: Run) -> int:
        """Return the fewest steps on `rest` that give nearly all that can be gained on `held`."""
        scores = [loss.held_out(rotate_pairs(loss.x, loss.y, rest), held)]
        with run.progress.task("rcsls: choosing the number of steps", None) as task:
            for w, value, step in self._descend(loss, rest, self.options.max_steps):
                scores.append(loss.held_out(w, held))
                run.record(phase="choose", iteration=len(scores) - 1, loss=value, step=step, held_out=scores[-1])
                task.advance()
                before = scores[: -self.options.patience]
                if before and max(scores) - max(before) < _NOTHING * (max(scores) - scores[0]):
                    break
        enough = scores[0] + min(self.options.gain, 1.0) * (max(scores) - scores[0])
        return next(steps for steps, score in enumerate(scores) if score >= enough)

    def _descend(self, loss: RcslsLoss, pairs: Tensor, steps: int) -> Iterator[tuple[Tensor, float, float]]:
        """Yield (W, loss, step) of gradient steps that never raise the loss: one that would is undone and halved."""
        w, step = rotate_pairs(loss.x, loss.y, pairs), self.options.first_step
        value, gradient = loss(w, pairs)
        for _ in range(steps):
            while True:
                trial = self._project(w - step * gradient)
                new_value, new_gradient = loss(trial, pairs)
                if new_value <= value:
                    break
                step /= 2
                if step < self.options.least_step:
                    return
            w, value, gradient = trial, new_value, new_gradient
            yield w, value, step

    def _project(self, w: Tensor) -> Tensor:
        """Clip the singular values at 1 where `spectral` asks for it."""
        if not self.options.spectral:
            return w
        u, s, vt = torch.linalg.svd(w, full_matrices=False)
        return u * s.clamp_max(1) @ vt


class RcslsLoss:
    """The loss and its gradient, with the two vocabularies (n, d_s) and (m, d_t) as neighbour candidates.

    :param free: leave the lengths of mapped vectors as they come, as the paper's relaxation does; otherwise they are
        scaled to one in the loss too, as they are in retrieval.
    """

    def __init__(self, x: Tensor, y: Tensor, neighbours: int, memory: int, free: bool = True) -> None:
        self.x, self.y, self.k, self.memory, self.free = x, y, neighbours, memory, free

    def __call__(self, w: Tensor, pairs: Tensor) -> tuple[float, Tensor]:
        """Return the loss (equation 3) and its gradient at W, the neighbours held fixed.

        f(W) = 1/n sum_i [ -2 x_i W y_i + 1/k sum_{z in N_y(x_i W)} x_i W z + 1/k sum_{u in N_x(y_i)} u W y_i ]
        """
        mapped = self.x @ w  # (n, d_t)
        lengths = mapped.norm(dim=1, keepdim=True).clamp_min(1e-12)
        if not self.free:
            mapped = mapped / lengths
        value, rows_y, rows_x = self._score(mapped, self.y, pairs)
        y = self.y[pairs[:, 1]]
        pull = torch.zeros_like(mapped)  # gradient by each mapped vector, times the number of pairs
        pull.index_add_(0, pairs[:, 0], mean_rows(self.y, rows_y) - 2 * y)
        for column in rows_x.T:
            pull.index_add_(0, column, y / rows_x.shape[1])
        if not self.free:  # only what turns a vector counts
            pull = (pull - (pull * mapped).sum(dim=1, keepdim=True) * mapped) / lengths
        return value, self.x.T @ pull / len(pairs)

    def held_out(self, w: Tensor, pairs: Tensor) -> float:
        """Return the mean CSLS of pairs not trained on, with unit lengths, so that growing W gains nothing."""
        return -self._score(unit(self.x @ w), unit(self.y), pairs)[0]

    def _score(self, mapped: Tensor, target: Tensor, pairs: Tensor) -> tuple[float, Tensor, Tensor]:
        """Return minus the mean CSLS of pairs, and their neighbours' rows among targets and among sources, (n, k)."""
        x, y = mapped[pairs[:, 0]], target[pairs[:, 1]]
        near_y, rows_y = top_k(x, target, self.k, memory=self.memory)
        near_x, rows_x = top_k(y, mapped, self.k, memory=self.memory)
        return float(near_y.mean() + near_x.mean() - 2 * (x * y).sum(dim=1).mean()), rows_y, rows_x


def mean_rows(vectors: Tensor, rows: Tensor) -> Tensor:
    """Return the mean of k vectors for each row of `rows` (n, k), shape (n, d), without an (n, k, d) tensor."""
    total = vectors[rows[:, 0]]
    for column in rows.T[1:]:
        total = total + vectors[column]
    return total / rows.shape[1]
