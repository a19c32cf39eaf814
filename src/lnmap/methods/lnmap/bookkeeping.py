"""What a fit needs beside Algorithm 1: checkpoints, the training log, reproducible random draws."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lnmap.direction import Direction
from lnmap.methods.base import Run, section
from lnmap.methods.lnmap.closed_form import RIDGES
from lnmap.methods.lnmap.networks import Networks
from lnmap.methods.lnmap.options import LNMapOptions

_STANDING = "iteration", "similarity", "scale", "converged", "ridge", "last"  # what a checkpoint says of a direction


class Losses(NamedTuple):
    """Eq. 8-11 on one batch."""

    mapping: Tensor
    back_translation: Tensor
    reconstruction: Tensor
    total: Tensor

    def log(self) -> dict[str, float]:
        """Return the three terms as numbers."""
        return {name: float(value.detach()) for name, value in self._asdict().items() if name != "total"}


@dataclass
class Training:
    """One direction in training, seen from the language that is translated from (x).

    :param x: normalised vectors (n, d_x); `y` (m, d_y); `seed` pairs of rows (k, 2).
    :param pairs: the dictionary of the next iteration, (k', 2).
    :param scale: factor on the learning rates, below one after a divergence.
    :param ridge: of the closed form; `last` iteration. Both are chosen before training begins.
    :param pool: most frequent words that are searched, if not as many as the options say.
    """

    direction: Direction
    nets: Networks
    x: Tensor
    y: Tensor
    seed: Tensor
    pairs: Tensor = field(init=False)
    iteration: int = 0
    similarity: float = math.nan
    scale: float = 1.0
    converged: bool = False
    ridge: float = RIDGES[0]
    last: int | None = None
    pool: int | None = None

    def __post_init__(self) -> None:
        self.pairs = self.seed


class Book:
    """The networks of one fit, their log, and the checkpoint that a killed run resumes from.

    `moments` may name tensors of optimisers that outlive an iteration; they are part of the checkpoint.
    """

    def __init__(self, x: Tensor, y: Tensor, options: LNMapOptions, run: Run) -> None:
        self.run, self.options, self.device = run, options, x.device
        reseed(run, 0)
        self.nets = Networks((x.shape[1], y.shape[1]), options).to(x.device)
        self.moments: dict[str, Tensor] = {}
        self.after_step_1: dict[str, Tensor] = {}
        self.finished: dict[Direction, Networks] = {}
        self.resumed: dict[str, Any] = {}  # where the direction stood that was in training

    def start(self, way: Training) -> None:
        """Remember the networks as step 1 left them."""
        self.after_step_1 = snapshot(self.nets.state_dict())
        self.save(way)

    def restart(self) -> None:
        """Put the networks back to what step 1 left."""
        restore(self.nets.state_dict(), self.after_step_1)

    def enter(self, way: Training) -> None:
        """Begin a direction, or continue the one that a killed run was in."""
        if way.direction == self.resumed.get("direction"):
            for name in ("pairs", *_STANDING):
                setattr(way, name, self.resumed.get(name, getattr(way, name)))
        elif way.direction in self.finished:
            way.last = way.iteration
        elif not self.options.warm_start:
            self.restart()

    def begin(self, way: Training) -> None:
        """Begin an iteration."""
        way.iteration += 1
        reseed(self.run, way.iteration, way.direction is Direction.BACKWARD)
        self.began, self.before, self.pairs = time.perf_counter(), snapshot(way.nets.state_dict()), len(way.pairs)

    def record(self, way: Training, losses: dict[str, float], induced: int) -> None:
        """Log an iteration, and how far each network moved in it."""
        moved = {f"moved_{name}": value for name, value in movement(way.nets, self.before).items()}
        self.run.record(
            stage=str(way.direction),
            iteration=way.iteration,
            pairs=self.pairs,
            induced=induced,
            similarity=way.similarity,
            **losses,
            **moved,
            seconds=time.perf_counter() - self.began,
        )

    def finish(self, way: Training) -> Networks:
        """Return a copy of the direction's networks; training may go on with the originals."""
        if way.converged:
            self.run.progress.note(f"{way.direction}: converged after {way.iteration} iterations")
        return self.finished.setdefault(way.direction, copy.deepcopy(way.nets))

    def save(self, way: Training) -> None:
        """Replace the checkpoint by all that the next iteration needs."""
        groups = {"nets": self.nets.state_dict(), "start": self.after_step_1, "moments": self.moments}
        groups |= {f"finished.{direction}": nets.state_dict() for direction, nets in self.finished.items()}
        tensors = {f"{group}.{name}": t for group, named in groups.items() for name, t in named.items()}
        values = {"direction": str(way.direction), "log": self.run.log}
        values |= {name: getattr(way, name) for name in _STANDING}
        self.run.checkpoint.save(values, tensors | {"pairs": way.pairs})

    def resume(self) -> bool:
        """Load the checkpoint of a killed run, if there is one."""
        state = self.run.checkpoint.load()
        if state is None:
            return False
        values, tensors = state
        tensors = {name: t.to(self.device) for name, t in tensors.items()}
        self.resumed = values | {"pairs": tensors["pairs"]}
        self.run.log[:] = values["log"]
        self.after_step_1 = section(tensors, "start.")
        if forward := section(tensors, f"finished.{Direction.FORWARD}."):
            self.finished[Direction.FORWARD] = copy.deepcopy(self.nets)
            restore(self.finished[Direction.FORWARD].state_dict(), forward)
        restore(self.nets.state_dict(), section(tensors, "nets."))
        restore(self.moments, section(tensors, "moments."))
        return True


def snapshot(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return copies."""
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}


@torch.no_grad()
def restore(tensors: Mapping[str, Tensor], saved: Mapping[str, Tensor]) -> None:
    """Put values back in place, where optimisers and captured graphs expect them."""
    for name, tensor in tensors.items():
        tensor.copy_(saved[name])


def movement(nets: Networks, before: Mapping[str, Tensor]) -> dict[str, float]:
    """Return how far each trained network moved: ||now - before|| / ||before||."""
    now, result = nets.state_dict(), {}
    for part in ("encoder_x", "decoder_x", "mapper_m", "mapper_n"):
        names = [name for name in now if name.startswith(part)]
        change = math.sqrt(sum(float((now[name] - before[name]).square().sum()) for name in names))
        size = math.sqrt(sum(float(before[name].square().sum()) for name in names))
        result[part] = change / max(size, 1e-12)
    return result


def reseed(run: Run, *parts: int) -> None:
    """Make the draws that follow depend on the run's seed and `parts` alone, so that a run can be resumed there."""
    number = run.seed
    for part in parts:
        number = number * 1009 + int(part) + 1
    torch.manual_seed(number % 2**63)


def counted(run: Run, title: str, total: int) -> Iterator[int]:
    """Count to `total` and report the progress."""
    with run.progress.task(title, total) as task:
        for number in range(total):
            yield number
            task.advance()


def without(pairs: Tensor, known: Tensor) -> Tensor:
    """Return the pairs (k, 2) that are not among those known."""
    width = int(torch.cat([pairs, known]).max()) + 1
    return pairs[~torch.isin(pairs[:, 0] * width + pairs[:, 1], known[:, 0] * width + known[:, 1])]
