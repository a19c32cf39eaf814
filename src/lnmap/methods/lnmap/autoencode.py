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


def train_autoencoders(
    nets: Networks, adams: tuple[Adam, Adam], x: Tensor, y: Tensor, options: LNMapOptions, run: Run
) -> None:
    """Train both autoencoders side by side; an epoch is as long as the larger vocabulary needs."""
    vectors = x[: options.ae_words], y[: options.ae_words]
    draws = options.ae_draws or max(len(v) for v in vectors)
    batches = [_Batches(v, draws, options) for v in vectors]
    steps, state = [], []
    nets.train()
    for (encoder, decoder), adam, batch in zip(nets.autoencoders(), adams, batches, strict=True):
        steps.append(_step(encoder, decoder, adam, batch, options))
        state += [*adam.params, *adam.tensors().values(), batch.cursor]
    epochs = max(options.ae_epochs, -(-options.ae_least // batches[0].steps))
    if epochs:
        repeated = Repeated(steps, state, x.device)
        with run.progress.task("autoencoders", epochs) as task:
            for _ in range(epochs):
                for batch in batches:
                    batch.shuffle()
                for _ in range(batches[0].steps):
                    repeated.run()
                task.advance()
    nets.eval()
    errors = [_error(*pair, v) for pair, v in zip(nets.autoencoders(), vectors, strict=True)]
    run.record(stage="autoencoders", source_loss=errors[0], target_loss=errors[1])


class _Batches:
    """Rows in random order, taken a batch at a time by a cursor on the device."""

    def __init__(self, vectors: Tensor, draws: int, options: LNMapOptions) -> None:
        self.vectors, self.replace = vectors, bool(options.ae_draws)
        self.size = min(options.ae_batch, draws)
        self.steps = -(-draws // self.size)
        self.cursor = torch.zeros((), dtype=torch.long, device=vectors.device)
        self.window = torch.arange(self.size, device=vectors.device)
        self.order = torch.zeros(self.steps * self.size, dtype=torch.long, device=vectors.device)

    def shuffle(self) -> None:
        """Draw the order of an epoch: with replacement, or every word once and more draws to fill it up."""
        n, device = len(self.vectors), self.vectors.device
        order = torch.randint(n, self.order.shape, device=device)
        if not self.replace:
            order[:n] = torch.randperm(n, device=device)[: len(order)]
        self.order.copy_(order)
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
    """Mean squared error of the most frequent words."""
    head = vectors[:8192]
    return float(squared_error(decoder(encoder(head)), head, "mean"))
