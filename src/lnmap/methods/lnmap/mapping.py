"""Step 3.i of Algorithm 1: train mappers and autoencoder on a dictionary (Eq. 8-11)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from lnmap.methods.base import Run
from lnmap.methods.graph import Repeated
from lnmap.methods.lnmap.batches import Batches
from lnmap.methods.lnmap.cuda.kernels import available
from lnmap.methods.lnmap.cuda.steps import JointStep
from lnmap.methods.lnmap.losses import Losses, mapping_losses
from lnmap.methods.lnmap.networks import Networks, in_blocks
from lnmap.methods.lnmap.optim import OPTIMIZERS, Adam, Optimizer
from lnmap.methods.lnmap.options import LNMapOptions


class Mapping:
    """Trains one direction: M and N, and the encoder and decoder of the language translated from.

    :param adam: the optimiser of E_x and D_x, its moments carried on from the autoencoder stage.
    """

    def __init__(self, nets: Networks, adam: Adam, options: LNMapOptions) -> None:
        self.nets, self.adam, self.options = nets, adam, options
        mappers: list[nn.Module] = [nets.mapper_m, nets.mapper_n]
        self.optimizer: Optimizer = OPTIMIZERS[options.mapper_optimizer](mappers, options.mapper_rate)

    def train(self, x: Tensor, y: Tensor, run: Run, scale: float = 1.0) -> None:
        """Go `epochs` times over the pairs (x_i, y_i), shapes (k, d_x) and (k, d_y), in random order.

        :param scale: multiplies the learning rates; below one after a divergence.
        """
        options = self.options
        self.nets.train()
        self.adam.set_rate(options.encoder_rate * scale)
        self.optimizer.set_rate(options.mapper_rate * scale)
        batches = Batches(len(x), min(options.batch, len(x)), x.device)
        codes = in_blocks(self.nets.encode_target, y)
        step = self._step()(self.nets, (self.adam, self.optimizer), x, codes, batches, options)
        whole = Repeated([step.run], step.state(), x.device)
        rest = Repeated([lambda: step.run(whole=False)], step.state(), x.device) if batches.left else None
        with run.progress.task("mapping", options.epochs) as task:
            for epoch in range(options.epochs):
                self._decay(epoch, scale)
                batches.begin(torch.randperm(len(x), device=x.device))
                if epoch and self.noisy_targets:
                    step.set_codes(in_blocks(self.nets.encode_target, y))
                for _ in range(batches.full):
                    whole.run()
                if rest is not None:
                    rest.run()
                task.advance()
        step.finish()

    def _step(self) -> type[_Joint | _Successive | JointStep]:
        """Choose how a step is made."""
        if self.options.updates == "successive":
            return _Successive
        return JointStep if available(self.adam.params[0].device) else _Joint

    @property
    def noisy_targets(self) -> bool:
        """Whether dropout makes the target codes differ each time; else they are computed once."""
        return self.options.autoencoder == "nonlinear" and self.options.dropout > 0

    @torch.no_grad()
    def losses(self, x: Tensor, y: Tensor) -> dict[str, float]:
        """Give each loss on all pairs, without dropout."""
        self.nets.eval()
        found = mapping_losses(self.nets, x, self.nets.encode_target(y), self.options.reduction)
        return {name: float(value) for name, value in found._asdict().items()}

    def moments(self) -> dict[str, Tensor]:
        """Copy the optimisers' state."""
        return {name: tensor.clone() for name, tensor in self._tensors().items()}

    def restore(self, moments: dict[str, Tensor]) -> None:
        """Put back some of what `moments` gave."""
        mine = self._tensors()
        for name, tensor in moments.items():
            mine[name].copy_(tensor)

    def _tensors(self) -> dict[str, Tensor]:
        named = {f"adam.{name}": t for name, t in self.adam.tensors().items()}
        return named | {f"mapper.{name}": t for name, t in self.optimizer.tensors().items()}

    def _decay(self, epoch: int, scale: float) -> None:
        every = self.options.decay_epochs
        if every and epoch % every == 0:
            self.optimizer.set_rate(self.options.mapper_rate * scale * 0.1 ** (epoch // every))


class _Joint:
    """One step on the total loss (Eq. 11), by automatic differentiation."""

    def __init__(
        self,
        nets: Networks,
        optimizers: tuple[Adam, Optimizer],
        x: Tensor,
        codes: Tensor,
        batches: Batches,
        options: LNMapOptions,
    ) -> None:
        self.nets, self.optimizers, self.x, self.codes = nets, optimizers, x, codes
        self.batches, self.options = batches, options

    def set_codes(self, codes: Tensor) -> None:
        """Change the targets' codes (k, c)."""
        self.codes.copy_(codes)

    def run(self, whole: bool = True) -> None:
        """Train on the next batch, or on what is left over."""
        rows = self.batches.rows() if whole else self.batches.rest_rows()
        self._train(self.x.index_select(0, rows), self.codes.index_select(0, rows))
        self.batches.advance()

    def _train(self, x: Tensor, z_y: Tensor) -> None:
        self._update(lambda losses: losses.total(self.options), self.optimizers, x, z_y)

    def _update(self, loss: Callable[[Losses], Tensor], which: tuple[Optimizer, ...], x: Tensor, z_y: Tensor) -> None:
        for optimizer in self.optimizers:
            optimizer.zero()
        loss(mapping_losses(self.nets, x, z_y, self.options.reduction)).backward()
        for optimizer in which:
            optimizer.step()

    def state(self) -> list[Tensor]:
        """All that a step changes."""
        tensors = [t for optimizer in self.optimizers for t in (*optimizer.params, *optimizer.tensors().values())]
        return [*tensors, self.batches.place]

    def finish(self) -> None:
        """Nothing is left to do."""


class _Successive(_Joint):
    """Three successive steps, one a loss, as Algorithm 1 prints them."""

    def _train(self, x: Tensor, z_y: Tensor) -> None:
        back, reconstruct = self.options.back_translation, self.options.reconstruction
        self._update(lambda losses: losses.mapping, self.optimizers, x, z_y)
        if back:
            self._update(lambda losses: back * losses.back_translation, self.optimizers[1:], x, z_y)
        if reconstruct:
            self._update(lambda losses: reconstruct * losses.reconstruction, self.optimizers, x, z_y)
