"""One training step of an autoencoder (Eq. 7) and of a direction (Eq. 8-11), by automatic differentiation.

Steps read their batch from tensors that stay in place and look at no value on the host, so that a CUDA graph can replay
them (`methods/graph.py`).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from lnmap.methods.lnmap.algorithm import autoencoder_loss, mapping_losses
from lnmap.methods.lnmap.networks import Decoder, Encoder, Networks
from lnmap.methods.lnmap.optim import SGD, minimise
from lnmap.methods.lnmap.options import LNMapOptions

Trained = tuple[SGD, SGD, SGD]  # the optimisers of E_x, of D_x, and of M and N together


class Batches:
    """An order of `length` rows, drawn anew for each epoch, and the place of the next batch of `size` rows in it."""

    def __init__(self, length: int, size: int, device: torch.device) -> None:
        self.full, self.left = divmod(length, size)
        self.size = size
        self.order = torch.zeros(length, dtype=torch.long, device=device)
        self.place = torch.arange(size, device=device)
        self.rest = torch.arange(length - self.left, length, device=device)

    def begin(self, order: Tensor) -> None:
        """Begin an epoch."""
        self.order.copy_(order)
        torch.arange(self.size, out=self.place)

    def advance(self) -> None:
        """Go on to the next batch."""
        self.place += self.size


class Step:
    """Trains on the next batch of some rows.

    :param update: trains on the given rows of each of `data`, tensors (n, ...).
    """

    def __init__(
        self, update: Callable[..., None], data: tuple[Tensor, ...], batches: Batches, optimizers: tuple[SGD, ...]
    ) -> None:
        self.update, self.data, self.batches, self.optimizers = update, data, batches, optimizers

    def run(self, whole: bool = True) -> None:
        """Train on the next batch, or on what is left over at the end of an epoch."""
        rows = self.batches.order.index_select(0, self.batches.place if whole else self.batches.rest)  # (b,)
        self.update(*(tensor.index_select(0, rows) for tensor in self.data))
        self.batches.advance()

    def set_codes(self, codes: Tensor) -> None:
        """Change the codes (k, c) of the translations."""
        self.data[1].copy_(codes)

    def state(self) -> list[Tensor]:
        """Return all tensors that a step changes."""
        tensors = [t for optimizer in self.optimizers for t in (*optimizer.params, *optimizer.tensors().values())]
        return [*tensors, self.batches.place]

    def finish(self) -> None:
        """Leave the parameters in the networks; here they have never been elsewhere."""


def autoencoder_step(
    encoder: Encoder,
    decoder: Decoder,
    optimizers: tuple[SGD, SGD],
    vectors: Tensor,
    batches: Batches,
    options: LNMapOptions,
) -> Step:
    """Return a step on Eq. 7 for one language's vectors (n, d)."""

    def update(x: Tensor) -> None:
        minimise(autoencoder_loss(encoder, decoder, x, options), *optimizers)

    return Step(update, (vectors,), batches, optimizers)


def joint_step(
    nets: Networks, optimizers: Trained, x: Tensor, codes: Tensor, batches: Batches, options: LNMapOptions
) -> Step:
    """Return a step on Eq. 11 for vectors x (k, d) and their translations' codes (k, c), as the released code does."""

    def update(x: Tensor, z_y: Tensor) -> None:
        minimise(mapping_losses(nets, x, z_y, options).total, *optimizers)

    return Step(update, (x, codes), batches, optimizers)


def successive_step(
    nets: Networks, optimizers: Trained, x: Tensor, codes: Tensor, batches: Batches, options: LNMapOptions
) -> Step:
    """Return the three updates of Algorithm 1, one after the other, for vectors x (k, d) and codes (k, c)."""
    encoder, decoder, mappers = optimizers
    lambda_1, lambda_2 = options.back_translation, options.reconstruction

    def update(x: Tensor, z_y: Tensor) -> None:
        minimise(mapping_losses(nets, x, z_y, options).mapping, encoder, mappers)  # N has no gradient
        if lambda_1:
            minimise(lambda_1 * mapping_losses(nets, x, z_y, options).back_translation, mappers)
        if lambda_2:
            minimise(lambda_2 * mapping_losses(nets, x, z_y, options).reconstruction, encoder, decoder, mappers)

    return Step(update, (x, codes), batches, optimizers)
