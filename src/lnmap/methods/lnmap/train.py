"""Algorithm 1: latent spaces first, then mapping and dictionary growth in turn, for each direction."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor

from lnmap.errors import TrainingError
from lnmap.induce import Induced, induce
from lnmap.methods.base import Run
from lnmap.methods.lnmap.autoencode import train_autoencoders
from lnmap.methods.lnmap.losses import squared_error
from lnmap.methods.lnmap.mapping import Mapping
from lnmap.methods.lnmap.networks import Networks, in_blocks
from lnmap.methods.lnmap.optim import Adam
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.methods.lnmap.ranking import refine
from lnmap.methods.procrustes import rotation
from lnmap.normalize import unit

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
    converged: bool = False
    moments: dict[str, Tensor] = field(default_factory=dict)


class Trainer:
    """What one fit works on.

    :param x: normalised source vectors (n, d_s); `y` the target's (m, d_t); `pairs` the seed (k, 2).
    """

    def __init__(self, x: Tensor, y: Tensor, pairs: Tensor, options: LNMapOptions, run: Run) -> None:
        self.x, self.y, self.seed, self.options, self.run = x, y, pairs, options, run
        self.dims = x.shape[1], y.shape[1]
        self.finished: dict[str, Networks] = {}  # networks of each direction that is done

    def train(self) -> tuple[Networks, Networks | None]:
        """Give the networks of the forward direction and, unless the run is one-way, of the backward one."""
        with isolated_rng(self.run):
            self._reseed(0)
            self.nets = Networks(self.dims, self.options).to(self.x.device)
            source, target = self.nets.autoencoders()
            self.adams = Adam(source, self.options.ae_rate), Adam(target, self.options.ae_rate)
            way = self._resume() or self._begin()
            self._train_direction(way)
            if way.name == "forward":
                self.finished["forward"] = copy.deepcopy(self.nets)
                if not self.run.one_way:
                    way = self._direction("backward")
                    self._train_direction(way)
            if way.name == "backward":
                self.finished["backward"] = copy.deepcopy(self.nets).swapped()
        return self.finished["forward"], self.finished.get("backward")

    def _begin(self) -> Direction:
        """Step 1 of Algorithm 1, and the start of step 3."""
        if self.options.autoencoder == "linear" and self.options.ae_start == "exact":
            self.nets.make_exact()
        else:
            train_autoencoders(self.nets, self.adams, self.x, self.y, self.options, self.run)
        self.start = snapshot(self.nets)
        way = self._direction("forward")
        self._save(way)
        return way

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
        mapping = None
        if self.options.mapper != "procrustes" and not self.options.ranking:
            mapping = Mapping(way.nets, way.adam, self.options)
        if mapping is not None and way.moments:
            mapping.restore(way.moments)
        while way.iteration < self.options.iterations and not way.converged:
            before = way.similarity
            self._iterate(way, mapping)
            settled = abs(way.similarity - before) < self.options.tolerance
            way.converged = settled and way.iteration > self.options.closed_iterations
            self._save(way, mapping)
        if way.converged:
            self.run.progress.note(f"{way.name}: converged after {way.iteration} iterations")

    def _save(self, way: Direction, mapping: Mapping | None = None) -> None:
        """Leave everything the next iteration needs in the checkpoint."""
        tensors = {f"nets.{name}": t for name, t in self.nets.state_dict().items()}
        tensors |= {f"start.{name}": t for name, t in self.start.items()}
        for name, nets in self.finished.items():
            tensors |= {f"finished.{name}.{key}": t for key, t in nets.state_dict().items()}
        for i, adam in enumerate(self.adams):
            tensors |= {f"adam.{i}.{name}": t for name, t in adam.tensors().items()}
        if mapping is not None:
            tensors |= {f"moments.{name}": t for name, t in mapping.moments().items()}
        values = {
            "direction": way.name,
            "iteration": way.iteration,
            "similarity": None if math.isnan(way.similarity) else way.similarity,
            "scale": way.scale,
            "converged": way.converged,
            "log": self.run.log,
        }
        self.run.checkpoint.save(values, tensors | {"pairs": way.pairs})

    def _resume(self) -> Direction | None:
        """Go on where a killed run stopped, if it left a checkpoint."""
        state = self.run.checkpoint.load()
        if state is None:
            return None
        values, tensors = state
        tensors = {name: t.to(self.x.device) for name, t in tensors.items()}
        self.run.log[:] = values["log"]
        self.start = section(tensors, "start.")
        if forward := section(tensors, "finished.forward."):
            self.finished["forward"] = copy.deepcopy(self.nets)
            restore(self.finished["forward"], forward)
        way = self._direction(values["direction"])
        restore(self.nets, section(tensors, "nets."))
        for i, adam in enumerate(self.adams):
            for name, tensor in section(tensors, f"adam.{i}.").items():
                adam.tensors()[name].copy_(tensor)
        way.pairs, way.moments = tensors["pairs"], section(tensors, "moments.")
        way.iteration, way.scale, way.converged = values["iteration"], values["scale"], values["converged"]
        way.similarity = math.nan if values["similarity"] is None else values["similarity"]
        return way

    def _iterate(self, way: Direction, mapping: Mapping | None) -> None:
        """Train on the current dictionary, induce a new one, and merge its best pairs with the seed."""
        started = time.perf_counter()
        way.iteration += 1
        before = snapshot(way.nets)
        losses = self._train(way, mapping)
        found = self._induce(way)
        kept = found.above(self.options.least).head(way.iteration * self.options.increment)
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

    def _train(self, way: Direction, mapping: Mapping | None) -> dict[str, float]:
        """Step 3.i, by the means the options ask for."""
        if self.options.mapper == "procrustes":
            return self._solve(way, math.inf)
        if self.options.start == "closed":
            restore(self.nets, self.start)
            losses = self._solve(way, self.options.start_ridge)
            if way.iteration <= self.options.closed_iterations:
                return losses
        return self._rank(way) if mapping is None else self._map(way, mapping)

    def _rank(self, way: Direction) -> dict[str, float]:
        """Train on the total loss and the ranking loss."""
        self._reseed(way.iteration, way.name == "backward")
        return refine(way.nets, way.x, way.y, way.pairs, self.options, self.run, way.scale)

    def _map(self, way: Direction, mapping: Mapping) -> dict[str, float]:
        """Train until the losses are finite, more carefully each time."""
        x, y = way.x[way.pairs[:, 0]], way.y[way.pairs[:, 1]]
        saved, moments = snapshot(way.nets), mapping.moments()
        for _ in range(_RETRIES):
            self._reseed(way.iteration, way.name == "backward")
            mapping.train(x, y, self.run, way.scale)
            losses = mapping.losses(x, y)
            if all(math.isfinite(loss) for loss in losses.values()):
                return losses
            way.scale *= 0.1
            restore(way.nets, saved)
            mapping.restore(moments)
            self.run.progress.note(f"{way.name}, iteration {way.iteration}: diverged; trying learning rates / 10")
        raise TrainingError(
            f"LNMap diverged {_RETRIES} times in iteration {way.iteration}; lower encoder_rate and mapper_rate"
        )

    @torch.no_grad()
    def _solve(self, way: Direction, ridge: float) -> dict[str, float]:
        """Set M and N in closed form on the codes; nothing else moves."""
        nets = way.nets.eval()
        z_x, z_y = nets.encoder_x(way.x[way.pairs[:, 0]]), nets.encode_target(way.y[way.pairs[:, 1]])
        nets.mapper_m.set_matrix(near_rotation(z_x, z_y, ridge).T)
        nets.mapper_n.set_matrix(near_rotation(z_y, z_x, ridge).T)
        return {"mapping": float(squared_error(nets.mapper_m(z_x), z_y, self.options.reduction))}

    def _induce(self, way: Direction) -> Induced:
        """Step 3.ii: mutual CSLS neighbours among the K most frequent words of the two languages."""
        options, nets = self.options, way.nets.train(self.options.noisy_induction)
        source = in_blocks(nets.translate, way.x[: options.pool])
        target = in_blocks(nets.encode_target, way.y[: options.pool])
        if self.run.hints is not None:
            of_x, of_y = self.run.hints if way.name == "forward" else self.run.hints[::-1]
            source = torch.cat([unit(source), of_x[: options.pool]], dim=1)
            target = torch.cat([unit(target), of_y[: options.pool]], dim=1)
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
        torch.manual_seed(number % 2**63)


def near_rotation(a: Tensor, b: Tensor, ridge: float) -> Tensor:
    """Solve min ||a W - b||^2 + ridge v ||W - R||^2, R the best rotation, v the mean variance of a: W of shape (c, c).

    An infinite ridge gives the rotation itself, none least squares.
    """
    w = rotation(a, b)
    if math.isinf(ridge):
        return w
    a64, b64, w64 = (tensor.cpu().double() for tensor in (a, b, w))
    moment = a64.T @ a64
    pull = ridge * moment.diagonal().mean().clamp_min(1e-12)
    return torch.linalg.solve(moment + pull * torch.eye(len(moment)).double(), a64.T @ b64 + pull * w64).to(a)


def section(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Give the tensors whose names begin with `prefix`, without it."""
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}


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
