"""Step 1 of Algorithm 1: one autoencoder a language, trained on nothing but that language's vectors (Eq. 7)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from lnmap.methods.base import Run
from lnmap.methods.lnmap.graph import Repeated, join
from lnmap.methods.lnmap.losses import squared_error
from lnmap.methods.lnmap.networks import Decoder, Encoder, Networks
from lnmap.methods.lnmap.optim import Adam
from lnmap.methods.lnmap.options import LNMapOptions


def train_autoencoders(nets: Networks, x: Tensor, y: Tensor, options: LNMapOptions, run: Run) -> tuple[Adam, Adam]:
    """Train both autoencoders and give back their optimisers, whose moments the mapping stage goes on with."""
    sides = (nets.encoder_x, nets.decoder_x, x), (nets.encoder_y, nets.decoder_y, y)
    optimizers = []
    nets.train()
    with run.progress.task("autoencoders", 2 * options.ae_epochs) as task:
        for encoder, decoder, vectors in sides:
            adam = Adam((encoder, decoder), options.ae_rate)
            optimizers.append(adam)
            batch = _Batches(vectors[: options.ae_words], options)
            state = [*adam.params, *adam.tensors().values(), batch.cursor]
            step = Repeated(_step(encoder, decoder, adam, batch, options), state, x.device)
            for _ in range(options.ae_epochs):
                batch.shuffle()
                for _ in range(batch.steps):
                    step.run()
                task.advance()
            run.record(stage="autoencoder", side="xy"[len(optimizers) - 1], loss=_error(encoder, decoder, vectors))
    return optimizers[0], optimizers[1]


class _Batches:
    """Rows in random order, taken a batch at a time by a cursor on the device."""

    def __init__(self, vectors: Tensor, options: LNMapOptions) -> None:
        self.vectors, self.replace = vectors, bool(options.ae_draws)
        self.draws = options.ae_draws or len(vectors)
        self.size = min(options.ae_batch, self.draws)
        self.steps = -(-self.draws // self.size)
        self.order = torch.empty(self.steps * self.size, dtype=torch.long, device=vectors.device)
        self.cursor = torch.zeros((), dtype=torch.long, device=vectors.device)
        self.window = torch.arange(self.size, device=vectors.device)
        self.shuffle()

    def shuffle(self) -> None:
        """Draw the order of an epoch; a last batch that is not full is filled up with more draws."""
        n, device = len(self.vectors), self.vectors.device
        if self.replace:
            self.order.copy_(torch.randint(n, self.order.shape, device=device))
        else:
            extra = torch.randint(n, (len(self.order) - n,), device=device)
            self.order.copy_(torch.cat([torch.randperm(n, device=device), extra]))
        self.cursor.zero_()

    def next(self) -> Tensor:
        """Give the next batch (b, d)."""
        rows = self.order.index_select(0, self.window + self.cursor)
        self.cursor += self.size
        return self.vectors.index_select(0, rows)


def _step(encoder: Encoder, decoder: Decoder, adam: Adam, batch: _Batches, options: LNMapOptions) -> Callable[[], None]:
    def step() -> None:
        x = batch.next()
        adam.zero()
        squared_error(decoder(encoder(x)), x, options.reduction).backward()
        join(x.device)
        adam.step()

    return step


@torch.no_grad()
def _error(encoder: Encoder, decoder: Decoder, vectors: Tensor) -> float:
    """Mean squared error of the first words, without dropout."""
    encoder.eval(), decoder.eval()
    head = vectors[:10_000]
    error = float(squared_error(decoder(encoder(head)), head, "mean"))
    encoder.train(), decoder.train()
    return error
