"""Step 1 of Algorithm 1: one autoencoder a language, trained on nothing but that language's vectors (Eq. 7)."""

from __future__ import annotations

import torch
from torch import Tensor

from lnmap.methods.base import Run
from lnmap.methods.graph import Repeated
from lnmap.methods.lnmap.batches import Batches
from lnmap.methods.lnmap.cuda.kernels import available
from lnmap.methods.lnmap.cuda.steps import AutoencoderStep
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
    size = min(options.ae_batch, draws)
    steps = -(-draws // size)  # the last batch is filled up
    epochs = max(options.ae_epochs, -(-options.ae_least // steps))
    nets.train()
    if epochs:
        make = AutoencoderStep if available(x.device) else _Step
        batches = [Batches(steps * size, size, x.device) for _ in vectors]
        both = [
            make(*pair, adam, v, batch, options)
            for pair, adam, v, batch in zip(nets.autoencoders(), adams, vectors, batches, strict=True)
        ]
        repeated = Repeated([one.run for one in both], [t for one in both for t in one.state()], x.device)
        with run.progress.task("autoencoders", epochs) as task:
            for _ in range(epochs):
                for v, batch in zip(vectors, batches, strict=True):
                    batch.begin(_order(len(v), steps * size, bool(options.ae_draws), x.device))
                for _ in range(steps):
                    repeated.run()
                task.advance()
        for one in both:
            one.finish()
    nets.eval()
    errors = [_error(*pair, v) for pair, v in zip(nets.autoencoders(), vectors, strict=True)]
    run.record(stage="autoencoders", source_loss=errors[0], target_loss=errors[1])


def _order(words: int, length: int, replace: bool, device: torch.device) -> Tensor:
    """Draw the order of an epoch: with replacement, or every word once and more draws to fill it up."""
    order = torch.randint(words, (length,), device=device)
    if not replace:
        order[:words] = torch.randperm(words, device=device)[:length]
    return order


class _Step:
    """Trains one language's autoencoder on batches of its vectors (n, d), by automatic differentiation."""

    def __init__(
        self, encoder: Encoder, decoder: Decoder, adam: Adam, vectors: Tensor, batches: Batches, options: LNMapOptions
    ) -> None:
        self.encoder, self.decoder, self.adam = encoder, decoder, adam
        self.vectors, self.batches, self.reduction = vectors, batches, options.reduction

    def run(self) -> None:
        """Train on the next batch."""
        x = self.vectors.index_select(0, self.batches.rows())
        self.adam.zero()
        squared_error(self.decoder(self.encoder(x)), x, self.reduction).backward()
        self.adam.step()
        self.batches.advance()

    def state(self) -> list[Tensor]:
        """All that a step changes."""
        return [*self.adam.params, *self.adam.tensors().values(), self.batches.place]

    def finish(self) -> None:
        """Nothing is left to do."""


@torch.no_grad()
def _error(encoder: Encoder, decoder: Decoder, vectors: Tensor) -> float:
    """Mean squared error of the most frequent words."""
    head = vectors[:8192]
    return float(squared_error(decoder(encoder(head)), head, "mean"))
