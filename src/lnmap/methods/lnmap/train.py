"""Algorithm 1: latent spaces first, then mapping and dictionary growth in turn, for each direction."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lnmap.errors import TrainingError
from lnmap.induce import Induced, induce
from lnmap.methods.base import Run
from lnmap.methods.lnmap.autoencode import train_autoencoders
from lnmap.methods.lnmap.mapping import Mapping
from lnmap.methods.lnmap.networks import Networks
from lnmap.methods.lnmap.optim import Adam
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.methods.procrustes import rotation

_RETRIES = 3  # a diverged iteration is repeated that often, each time with a tenth of the learning rates


@dataclass
class Direction:
    """One direction under way, seen from the language translated from (x).

    :param x: normalised vectors (n, d_x); `y` (m, d_y); `seed` pairs of rows (k, 2).
    :param pairs: the dictionary of the next iteration, (k', 2).
    """

    name: str
    nets: Networks
    adam: Adam
    x: Tensor
    y: Tensor
    seed: Tensor
    pairs: Tensor
    iteration: int = 0
    similarity: float = math.nan
    scale: float = 1.0


class Trainer:
    """What one fit works on.

    :param x: normalised source vectors (n, d_s); `y` the target's (m, d_t); `pairs` the seed (k, 2).
    """

    def __init__(self, x: Tensor, y: Tensor, pairs: Tensor, options: LNMapOptions, run: Run) -> None:
        self.x, self.y, self.seed, self.options, self.run = x, y, pairs, options, run
        self.nets = Networks((x.shape[1], y.shape[1]), options)
        self.start: dict[str, Tensor] = {}
        self.forward: Networks | None = None

    def train(self) -> tuple[Networks, Networks | None]:
        """Give the networks of the forward direction and, unless the run is one-way, of the backward one."""
        with isolated_rng(self.run):
            self._reseed(0)
            self.nets = Networks((self.x.shape[1], self.y.shape[1]), self.options).to(self.x.device)
            self.adams = train_autoencoders(self.nets, self.x, self.y, self.options, self.run)
            self.start = snapshot(self.nets)
            for name in ("forward",) if self.run.one_way else ("forward", "backward"):
                self._train_direction(self._direction(name))
                if name == "forward":
                    self.forward = copy.deepcopy(self.nets)
            assert self.forward is not None
            return self.forward, None if self.run.one_way else copy.deepcopy(self.nets).swapped()

    def _direction(self, name: str) -> Direction:
        """Set a direction up; the second one starts from the autoencoders, or from what the first left behind."""
        if name == "forward":
            return Direction(name, self.nets, self.adams[0], self.x, self.y, self.seed, self.seed)
        if not self.options.warm_start:
            restore(self.nets, self.start)
        seed = self.seed.flip(1)
        return Direction(name, self.nets.swapped(), self.adams[1], self.y, self.x, seed, seed)

    def _train_direction(self, way: Direction) -> None:
        """Step 3 of Algorithm 1: do ... while not converged."""
        mapping = None if self.options.mapper == "procrustes" else Mapping(way.nets, way.adam, self.options)
        while way.iteration < self.options.iterations:
            before = way.similarity
            self._iterate(way, mapping)
            if abs(way.similarity - before) < self.options.tolerance:
                self.run.progress.note(f"{way.name}: converged after {way.iteration} iterations")
                break

    def _iterate(self, way: Direction, mapping: Mapping | None) -> None:
        """Train on the current dictionary, induce a new one, and merge its best pairs with the seed."""
        started = time.perf_counter()
        way.iteration += 1
        before = snapshot(way.nets)
        losses = self._solve(way) if mapping is None else self._map(way, mapping)
        found = self._induce(way)
        kept = found.head(way.iteration * self.options.increment)
        way.similarity = float(kept.csls.mean()) if len(kept) else 0.0
        self.run.record(
            stage=way.name,
            iteration=way.iteration,
            pairs=len(way.pairs),
            induced=len(found),
            similarity=way.similarity,
            **losses,
            **{f"moved_{name}": value for name, value in moved(way.nets, before).items()},
            seconds=time.perf_counter() - started,
        )
        way.pairs = self._merge(way.seed, kept.rows)

    def _map(self, way: Direction, mapping: Mapping) -> dict[str, float]:
        """Train until the losses are finite, more carefully each time."""
        way.nets.eval()
        x, z_y = way.x[way.pairs[:, 0]], way.nets.encode_target(way.y[way.pairs[:, 1]])
        saved, moments = snapshot(way.nets), {k: t.clone() for k, t in mapping.tensors().items()}
        for _ in range(_RETRIES):
            self._reseed(way.iteration, way.name == "backward")
            mapping.train(x, z_y, self.run, way.scale)
            losses = mapping.losses(x, z_y)
            if all(math.isfinite(loss) for loss in losses.values()):
                return losses
            way.scale *= 0.1
            restore(way.nets, saved)
            for name, tensor in mapping.tensors().items():
                tensor.copy_(moments[name])
            self.run.progress.note(f"{way.name}, iteration {way.iteration}: diverged; trying learning rates / 10")
        raise TrainingError(
            f"LNMap diverged {_RETRIES} times in iteration {way.iteration}; lower encoder_rate and mapper_rate"
        )

    @torch.no_grad()
    def _solve(self, way: Direction) -> dict[str, float]:
        """The ablation's Procrustes mapper: M = argmin ||M z_x - z_y|| over rotations, N = M^T; nothing else moves."""
        way.nets.eval()
        z_x = way.nets.encoder_x(way.x[way.pairs[:, 0]])
        z_y = way.nets.encode_target(way.y[way.pairs[:, 1]])
        w = rotation(z_x, z_y)  # z_x @ w ~ z_y
        way.nets.mapper_m.set_matrix(w.T)
        way.nets.mapper_n.set_matrix(w)
        return {"mapping": float((z_x @ w - z_y).square().mean())}

    def _induce(self, way: Direction) -> Induced:
        """Step 3.ii: mutual CSLS neighbours among the K most frequent words of the two languages."""
        options, nets = self.options, way.nets.eval()
        source = in_blocks(nets.translate, way.x[: options.pool])
        target = in_blocks(nets.encode_target, way.y[: options.pool])
        return induce(
            source,
            target,
            max_rank=options.queries,
            rank_by=options.rank_by,
            memory=self.run.memory,
            progress=self.run.progress,
        )

    def _merge(self, seed: Tensor, new: Tensor) -> Tensor:
        """Step 3.iii: D = D_orig + D_new."""
        if self.options.keep_duplicates or not len(new):
            return torch.cat([seed, new])
        return torch.cat([seed, new[_not_in(new, seed)]])

    def _reseed(self, *parts: int) -> None:
        """Make what follows depend on nothing but the run's seed and where it stands, so that it can be resumed."""
        number = self.run.seed
        for part in parts:
            number = number * 1009 + int(part) + 1
        torch.manual_seed(number)


def in_blocks(function: Any, rows: Tensor, size: int = 8192) -> Tensor:
    """Apply a network a block of rows at a time, so that no whole-vocabulary activations exist."""
    return torch.cat([function(rows[start : start + size]) for start in range(0, len(rows), size)])


def snapshot(nets: Networks) -> dict[str, Tensor]:
    """Copy all parameters."""
    return {name: tensor.detach().clone() for name, tensor in nets.state_dict().items()}


@torch.no_grad()
def restore(nets: Networks, saved: dict[str, Tensor]) -> None:
    """Put parameters back in place."""
    for name, tensor in nets.state_dict().items():
        tensor.copy_(saved[name])


def moved(nets: Networks, before: dict[str, Tensor]) -> dict[str, float]:
    """How far each network moved: ||now - before|| / ||before||."""
    now = nets.state_dict()
    result = {}
    for part in ("encoder_x", "decoder_x", "mapper_m", "mapper_n"):
        names = [name for name in now if name.startswith(part)]
        change = math.sqrt(sum(float((now[name] - before[name]).square().sum()) for name in names))
        size = math.sqrt(sum(float(before[name].square().sum()) for name in names))
        result[part] = change / max(size, 1e-12)
    return result


@contextmanager
def isolated_rng(run: Run) -> Iterator[None]:
    """Let the networks use torch's own generators, and leave those as they were found."""
    devices = [run.device] if run.device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        yield


def _not_in(rows: Tensor, others: Tensor) -> Tensor:
    """Which of the pairs `rows` are not among `others`, shape (len(rows),)."""
    width = int(max(rows.max(), others.max())) + 1
    return ~torch.isin(rows[:, 0] * width + rows[:, 1], others[:, 0] * width + others[:, 1])
