"""Steps 1 and 3.i of Algorithm 1 as published: thousands of mini-batches, each iteration going on from the last.

The profiles `paper` and `release` run this, and `default` borrows step 1 if its autoencoders are not linear. The other
steps are those of `algorithm.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from lnmap.direction import Direction, Side
from lnmap.errors import TrainingError
from lnmap.methods.base import Run
from lnmap.methods.graph import Repeated
from lnmap.methods.lnmap.algorithm import Algorithm1, mapping_losses
from lnmap.methods.lnmap.bookkeeping import Training, counted, reseed, restore, snapshot
from lnmap.methods.lnmap.cuda import STEPS  # the only line that needs the folder
from lnmap.methods.lnmap.networks import in_blocks
from lnmap.methods.lnmap.optim import SGD, Adam
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.methods.lnmap.steps import Batches, Step, autoencoder_step, joint_step, successive_step

_WORDS = 200_000  # most frequent words that autoencoders are trained on
_DECAY = 30  # epochs after which the mappers' learning rate is divided by ten
_RETRIES = 3  # of a diverged iteration, each with a tenth of the learning rates


class TrainedAutoencoders(Algorithm1):
    """Algorithm 1 with autoencoders that are trained."""

    def __init__(self, x: Tensor, y: Tensor, seed: Tensor, options: LNMapOptions, run: Run) -> None:
        super().__init__(x, y, seed, options, run)
        make = Adam if options.coder_optimizer == "adam" else SGD
        self.coders: dict[Side, tuple[SGD, SGD]] = {}  # optimisers of E and of D: Algorithm 1 moves E alone at times
        for side, (encoder, decoder) in zip(Side, self.nets.autoencoders(), strict=True):
            self.coders[side] = make((encoder,), options.ae_rate), make((decoder,), options.ae_rate)
            for part, optimizer in zip("ed", self.coders[side], strict=True):
                self.book.moments |= {f"{side}.{part}.{name}": t for name, t in optimizer.tensors().items()}

    def latent_spaces(self) -> None:
        """Step 1: minimise Eq. 7 for both languages, side by side."""
        options, device = self.options, self.x.device
        vectors = self.x[:_WORDS], self.y[:_WORDS]
        draws = options.ae_draws or max(len(v) for v in vectors)
        size = min(options.ae_batch, draws)
        steps = -(-draws // size)  # per epoch; the last batch is filled up
        epochs = max(options.ae_epochs, -(-options.ae_least // steps))
        batches = [Batches(steps * size, size, device) for _ in vectors]
        parts = zip(self.nets.train().autoencoders(), self.coders.values(), vectors, batches, strict=True)
        step = fastest(autoencoder_step, device)
        both = [step(*pair, coders, v, batch, options) for pair, coders, v, batch in parts]
        repeated = Repeated([one.run for one in both], [t for one in both for t in one.state()], device)
        for _ in counted(self.run, "autoencoders", epochs):
            for v, batch in zip(vectors, batches, strict=True):
                batch.begin(_order(len(v), steps * size, bool(options.ae_draws), device))
            for _ in range(steps):
                repeated.run()
        for one in both:
            one.finish()
        self._record(vectors)

    @torch.no_grad()
    def _record(self, vectors: tuple[Tensor, Tensor]) -> None:
        """Log the mean squared error of the most frequent words."""
        parts = zip(Side, self.nets.eval().autoencoders(), (v[:8192] for v in vectors), strict=True)
        errors = {side: (float(mse_loss(d(e(v)), v)), float(v.square().mean())) for side, (e, d), v in parts}
        self.run.record(stage="autoencoders", **{f"{side}_loss": error for side, (error, _) in errors.items()})
        for side, (error, of_zeros) in errors.items():
            if not error < of_zeros:
                self.run.progress.note(
                    f"the {side} autoencoder learnt nothing: its error is {error:.1e}, that of zeros {of_zeros:.1e}; "
                    "lower ae_rate if training diverged, raise ae_epochs or ae_rate if it was too short"
                )


class Published(TrainedAutoencoders):
    """Algorithm 1 as the profiles `paper` and `release` run it; the autoencoders' optimisers go on from step 1."""

    def train_on_dictionary(self, way: Training) -> dict[str, float]:
        """Step 3.i; repeated with smaller learning rates as long as it diverges."""
        if self.options.mapper == "procrustes":
            return super().train_on_dictionary(way)
        coders, (rows_x, rows_y) = self.coders[way.direction.asked], way.pairs.T
        x, y = way.x[rows_x], way.y[rows_y]  # (k, d_x), (k, d_y)
        state = way.nets.state_dict() | self.book.moments
        before = snapshot(state)
        for _ in range(_RETRIES):
            reseed(self.run, way.iteration, way.direction is Direction.BACKWARD)
            self._go_over(x, y, coders, way)
            with torch.no_grad():
                losses = mapping_losses(way.nets.eval(), x, way.nets.encoder_y(y), self.options).log()
            if all(math.isfinite(loss) for loss in losses.values()):
                return losses
            way.scale *= 0.1
            restore(state, before)
            self.run.progress.note(f"{way.direction}, iteration {way.iteration}: diverged; trying learning rates / 10")
        raise TrainingError(
            f"LNMap diverged {_RETRIES} times in iteration {way.iteration}; lower encoder_rate and mapper_rate"
        )

    def _go_over(self, x: Tensor, y: Tensor, coders: tuple[SGD, SGD], way: Training) -> None:
        """Go `epochs` times over the pairs (x, y), shapes (k, d_x) and (k, d_y), in random order."""
        options, nets, device = self.options, way.nets.train(), x.device
        for optimizer in coders:
            optimizer.rate.fill_(options.encoder_rate * way.scale)
        mappers = SGD((nets.mapper_m, nets.mapper_n), options.mapper_rate * way.scale)
        batches = Batches(len(x), min(options.batch, len(x)), device)
        make: Any = successive_step if options.updates == "successive" else joint_step
        make = make if options.mapper == "residual" else fastest(make, device)
        step = make(nets, (*coders, mappers), x, in_blocks(nets.encode_target, y), batches, options)
        whole = Repeated([step.run], step.state(), device)
        rest = Repeated([lambda: step.run(whole=False)], step.state(), device) if batches.left else None
        dropout = options.dropout if options.autoencoder == "nonlinear" else 0.0
        for epoch in counted(self.run, "mapping", options.epochs):
            mappers.rate.fill_(options.mapper_rate * way.scale * 0.1 ** (epoch // _DECAY))
            batches.begin(torch.randperm(len(x), device=device))
            if epoch and dropout:  # E_y rests, but its dropout is drawn anew
                step.set_codes(in_blocks(nets.encode_target, y))
            for _ in range(batches.full):
                whole.run()
            if rest is not None:
                rest.run()
        step.finish()


def fastest(make: Callable[..., Step], device: torch.device) -> Any:
    """Return the hand-written step that does the same as the one that `make` makes, if this device can run it."""
    written_out: Any = STEPS.get(make.__name__)
    return written_out if written_out is not None and written_out.available(device) else make


def _order(words: int, length: int, replace: bool, device: torch.device) -> Tensor:
    """Draw the order of an epoch: with replacement, or every word once and more draws to fill it up."""
    order = torch.randint(words, (length,), device=device)
    if not replace:
        order[:words] = torch.randperm(words, device=device)[:length]
    return order
