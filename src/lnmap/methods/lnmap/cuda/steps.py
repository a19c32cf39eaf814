"""The training steps on CUDA: of an autoencoder (Eq. 7) and of a direction (Eq. 8-11), jointly or one by one."""

from __future__ import annotations

import torch
from torch import Tensor

from lnmap.methods.graph import Beside
from lnmap.methods.lnmap.cuda.flat import Flat
from lnmap.methods.lnmap.cuda.kernels import available, launch
from lnmap.methods.lnmap.cuda.passes import Errors, Random, Stack, padded_rows
from lnmap.methods.lnmap.networks import Decoder, Encoder, Networks
from lnmap.methods.lnmap.optim import SGD
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.methods.lnmap.steps import Batches, Trained


class AutoencoderStep:
    """Trains one language's autoencoder on batches of its vectors (n, d)."""

    available = staticmethod(available)

    def __init__(
        self,
        encoder: Encoder,
        decoder: Decoder,
        optimizers: tuple[SGD, SGD],
        vectors: Tensor,
        batches: Batches,
        options: LNMapOptions,
    ) -> None:
        device, size = vectors.device, batches.size
        self.flat = Flat([((encoder,), optimizers[0]), ((decoder,), optimizers[1])], device)
        self.random, self.beside = Random(device), Beside(device)
        self.encoder = Stack(encoder, self.flat, options.dropout, size, self.random, 0)
        self.decoder = Stack(decoder, self.flat, options.dropout, size, self.random, 1)
        self.error = Errors(1.0, size, vectors.shape[1], options.reduction, device)
        self.error.prepare(size)
        self.squash, self.batches, self.vectors = decoder.squash, batches, padded_rows(vectors)
        self.x = torch.zeros(size, self.vectors.shape[1], device=device, dtype=torch.bfloat16)

    def run(self) -> None:
        """Train on the next batch."""
        beside = self.beside
        _take(self.vectors, self.batches.order, self.batches.place, self.x)
        with beside.start():
            self.flat.steps.add_(1)
        out = self.decoder.forward(self.encoder.forward(self.x))
        grad = self.error.of_tanh(out, self.x) if self.squash else self.error(out, self.x)[0]
        self.encoder.store(self.decoder.backward(grad, beside), beside)
        beside.join()
        with beside.start():
            self.random.drawn[0].add_(1)
            self.batches.advance()
        self.flat.update()
        beside.join()

    def state(self) -> list[Tensor]:
        """Return all tensors that a step changes."""
        return [*self.flat.tensors(), self.random.drawn, self.batches.place]

    def finish(self) -> None:
        """Write the parameters back to the networks."""
        self.flat.store()


class JointStep:
    """Trains one direction on the total loss (Eq. 11) of batches of pairs."""

    available = staticmethod(available)

    def __init__(
        self,
        nets: Networks,
        optimizers: Trained,
        x: Tensor,
        codes: Tensor,
        batches: Batches,
        options: LNMapOptions,
    ) -> None:
        device, size = x.device, batches.size
        coders, mappers = (nets.encoder_x, nets.decoder_x), (nets.mapper_m, nets.mapper_n)
        groups = (nets.encoder_x,), (nets.decoder_x,), mappers
        self.flat = Flat(list(zip(groups, optimizers, strict=True)), device)
        self.random, self.beside, self.batches = Random(device), Beside(device), batches
        rates = (options.dropout, options.dropout, options.mapper_dropout, options.mapper_dropout)
        self.encoder, self.decoder, self.m, self.n = (
            Stack(net, self.flat, rate, size, self.random, i)
            for i, (net, rate) in enumerate(zip((*coders, *mappers), rates, strict=True))
        )
        code, reduction = codes.shape[1], options.reduction
        self.mapping = Errors(1.0, size, code, reduction, device)
        self.back = Errors(options.back_translation, size, code, reduction, device)
        self.rebuilt = Errors(options.reconstruction, size, x.shape[1], reduction, device)
        for rows in {size, batches.left} - {0}:
            for error in (self.mapping, self.back, self.rebuilt):
                error.prepare(rows)
        self.squash, self.decode = nets.decoder_x.squash, bool(options.reconstruction)
        self.returns = self.decode or bool(options.back_translation)
        self.vectors, self.codes = padded_rows(x), padded_rows(codes)
        self.x, self.z_y = torch.zeros_like(self.vectors[:size]), torch.zeros_like(self.codes[:size])

    def set_codes(self, codes: Tensor) -> None:
        """Change the codes (k, c) of the translations."""
        self.codes.copy_(padded_rows(codes))

    def run(self, whole: bool = True) -> None:
        """Train on the next batch, or on what is left over."""
        place = self.batches.place if whole else self.batches.rest
        x, z_y, beside = self.x[: len(place)], self.z_y[: len(place)], self.beside
        _take(self.vectors, self.batches.order, place, x)
        with beside.start():
            _take(self.codes, self.batches.order, place, z_y)
        self.learn(x, z_y)
        with beside.start():
            self.batches.advance()
        beside.join()

    def learn(self, x: Tensor, z_y: Tensor) -> None:
        """Train on vectors (b, d) and their translations' codes (b, c), both padded."""
        beside = self.beside
        with beside.start():
            self.flat.steps.add_(1)
        z = self.encoder.forward(x)
        there = self.m.forward(z)
        with beside.start():
            to_there, _ = self.mapping(there, z_y)
        to_z = self._round_trip(x, z, there, to_there) if self.returns else None
        if to_z is None:
            beside.join()
        self.encoder.store(self.m.backward(to_there, beside, into=to_z), beside)
        beside.join()
        with beside.start():
            self.random.drawn[0].add_(1)
        self.flat.update()

    def _round_trip(self, x: Tensor, z: Tensor, there: Tensor, to_there: Tensor) -> Tensor:
        """Back-translation and reconstruction: add to the gradient by M(z), return the one by z so far."""
        beside = self.beside
        back = self.n.forward(there)
        with beside.start():
            to_back, to_z = self.back(back, z)
        if self.decode:
            out = self.decoder.forward(back)
            grad = self.rebuilt.of_tanh(out, x) if self.squash else self.rebuilt(out, x)[0]
            beside.join()
            self.decoder.backward(grad, beside, into=to_back)
        else:
            beside.join()
        self.n.backward(to_back, beside, into=to_there)
        return to_z

    def state(self) -> list[Tensor]:
        """Return all tensors that a step changes."""
        return [*self.flat.tensors(), self.random.drawn, self.batches.place]

    def finish(self) -> None:
        """Write the parameters back to the networks."""
        self.flat.store()


class SuccessiveStep(JointStep):
    """Trains one direction on Eq. 8, 9 and 10 one after the other, as Algorithm 1 does."""

    def __init__(
        self,
        nets: Networks,
        optimizers: Trained,
        x: Tensor,
        codes: Tensor,
        batches: Batches,
        options: LNMapOptions,
    ) -> None:
        super().__init__(nets, optimizers, x, codes, batches, options)
        trained = {
            "mapping": (nets.encoder_x, nets.mapper_m),
            "back": (nets.mapper_m, nets.mapper_n),
            "rebuilt": (nets.encoder_x, nets.decoder_x, nets.mapper_m, nets.mapper_n),
        }
        self.kinds = {name: self.flat.only(*networks) for name, networks in trained.items()}
        counts = {"mapping": [1, 0, 1], "back": [0, 0, 1], "rebuilt": [1, 1, 1]}  # steps of E, D, mappers
        self.counts = {name: torch.tensor(count, device=x.device) for name, count in counts.items()}
        self.translates_back = bool(options.back_translation)

    def learn(self, x: Tensor, z_y: Tensor) -> None:
        """Train on vectors (b, d) and their translations' codes (b, c), both padded."""
        beside = self.beside
        there = self.m.forward(self.encoder.forward(x))
        beside.join()
        self.encoder.store(self.m.backward(self.mapping(there, z_y)[0], beside), beside)
        self._update("mapping")
        z = self.encoder.forward(x)
        if self.translates_back:
            back = self.n.forward(self.m.forward(z))
            self.m.store(self.n.backward(self.back(back, z)[0], beside), beside)
            self._update("back")
        if self.decode:
            out = self.decoder.forward(self.n.forward(self.m.forward(z)))
            grad = self.rebuilt.of_tanh(out, x) if self.squash else self.rebuilt(out, x)[0]
            to_there = self.n.backward(self.decoder.backward(grad, beside), beside)
            self.encoder.store(self.m.backward(to_there, beside), beside)
            self._update("rebuilt")
        with beside.start():
            self.random.drawn[0].add_(1)

    def _update(self, loss: str) -> None:
        self.flat.steps.add_(self.counts[loss])
        self.beside.join()
        self.flat.update(self.kinds[loss])


def _take(matrix: Tensor, order: Tensor, place: Tensor, out: Tensor) -> None:
    """Fill a batch: rows order[place] of a padded matrix."""
    launch("take", len(place), 64, matrix, order, place, out, matrix.shape[1])
