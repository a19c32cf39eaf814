"""Step 3.i of Algorithm 1: train mappers and autoencoder on a dictionary (Eq. 8-11)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from lnmap.methods.base import Run
from lnmap.methods.lnmap.graph import Repeated, join
from lnmap.methods.lnmap.losses import Losses, backward_total, mapping_losses, run_chain
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
        batches = _Batches(x, in_blocks(self.nets.encode_target, y), options.epochs)
        size = min(options.batch, len(x))
        full, rest = divmod(len(x), size)
        state = [*self.adam.params, *self.optimizer.params, batches.cursor, *self._tensors().values()]
        whole = Repeated([self._step(batches, size)], state, x.device)
        last = Repeated([self._step(batches, rest)], state, x.device) if rest else None
        with run.progress.task("mapping", options.epochs) as task:
            for epoch in range(options.epochs):
                self._decay(epoch, scale)
                if epoch and self.noisy_targets:
                    batches.z_y.copy_(in_blocks(self.nets.encode_target, y))
                for _ in range(full):
                    whole.run()
                if last is not None:
                    last.run()
                task.advance()

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

    def _zero(self) -> None:
        self.adam.zero()
        self.optimizer.zero()

    def _decay(self, epoch: int, scale: float) -> None:
        every = self.options.decay_epochs
        if every and epoch % every == 0:
            self.optimizer.set_rate(self.options.mapper_rate * scale * 0.1 ** (epoch // every))

    def _step(self, batches: _Batches, size: int) -> Callable[[], None]:
        """One joint step on the total loss, or three successive ones as Algorithm 1 prints them."""
        options, nets = self.options, self.nets
        window = torch.arange(size, device=batches.x.device)

        def joint() -> None:
            x, z_y = batches.next(window)
            self._zero()
            backward_total(run_chain(nets, x), x, z_y, options)
            join(x.device)
            self.adam.step()
            self.optimizer.step()

        def update(loss: Callable[[Losses], Tensor], optimizers: tuple[Optimizer, ...], x: Tensor, z_y: Tensor) -> None:
            self._zero()
            loss(mapping_losses(nets, x, z_y, options.reduction)).backward()
            join(x.device)
            for optimizer in optimizers:
                optimizer.step()

        def successive() -> None:
            x, z_y = batches.next(window)
            update(lambda losses: losses.mapping, (self.adam, self.optimizer), x, z_y)
            if options.back_translation:
                weight = options.back_translation
                update(lambda losses: weight * losses.back_translation, (self.optimizer,), x, z_y)
            if options.reconstruction:
                weight = options.reconstruction
                update(lambda losses: weight * losses.reconstruction, (self.adam, self.optimizer), x, z_y)

        return joint if options.updates == "joint" else successive


class _Batches:
    """Pairs in a new random order each epoch; all epochs are drawn at once, so that no step waits for the host."""

    def __init__(self, x: Tensor, z_y: Tensor, epochs: int) -> None:
        self.x, self.z_y = x, z_y
        self.order = torch.rand(epochs, len(x), device=x.device).argsort(dim=1).flatten()
        self.cursor = torch.zeros((), dtype=torch.long, device=x.device)

    def next(self, window: Tensor) -> tuple[Tensor, Tensor]:
        """Give the next pairs: (b, d) and (b, c)."""
        rows = self.order.index_select(0, window + self.cursor)
        self.cursor += len(window)
        return self.x.index_select(0, rows), self.z_y.index_select(0, rows)
