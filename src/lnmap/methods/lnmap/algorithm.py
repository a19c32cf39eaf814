"""Algorithm 1 of LNMap (Mohiuddin, Bari and Joty 2020), as the profile `default` runs it.

Names follow the paper: encoder E, decoder D, code z = E(x), mapper M to the target's codes, mapper N back.
Shapes: n and m words, d dimensions, codes of size c, a dictionary of k pairs of rows, batches of b pairs.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from lnmap.direction import Direction
from lnmap.induce import Induced, induce
from lnmap.methods.base import Run
from lnmap.methods.lnmap.bookkeeping import Book, Losses, Training, counted, without
from lnmap.methods.lnmap.closed_form import set_closed_form
from lnmap.methods.lnmap.held_out import rehearse
from lnmap.methods.lnmap.networks import Decoder, Encoder, Networks, in_blocks
from lnmap.methods.lnmap.optim import Adam, minimise
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.methods.lnmap.ranking import REFRESH, hard_negatives, ranking_loss


def squared_error(found: Tensor, wanted: Tensor, options: LNMapOptions) -> Tensor:
    """Return the mean of ||wanted - found||^2 over a batch; `release` divides it by the dimension."""
    return mse_loss(found, wanted) * (found.shape[1] if options.reduction == "sum" else 1)


def autoencoder_loss(encoder: Encoder, decoder: Decoder, x: Tensor, options: LNMapOptions) -> Tensor:
    """Return the reconstruction error of vectors x (b, d); Eq. 1-6 are in `networks.py`."""
    return squared_error(decoder(encoder(x)), x, options)  # Eq. 7


def mapping_losses(nets: Networks, x: Tensor, z_y: Tensor, options: LNMapOptions) -> Losses:
    """Return the losses of vectors x (b, d) whose translations have the codes z_y (b, c)."""
    z_x = nets.encoder_x(x)  # (b, c)
    there = nets.mapper_m(z_x)  # (b, c), in the target's latent space
    back = nets.mapper_n(there)  # (b, c), in the source's again
    l_map = squared_error(there, z_y, options)  # Eq. 8
    l_bt = squared_error(back, z_x, options)  # Eq. 9
    l_rec = squared_error(nets.decoder_x(back), x, options)  # Eq. 10
    lambda_1, lambda_2 = options.back_translation, options.reconstruction
    total = l_map + (lambda_1 * l_bt if lambda_1 else 0) + (lambda_2 * l_rec if lambda_2 else 0)  # Eq. 11
    return Losses(l_map, l_bt, l_rec, total)


class Algorithm1:
    """One fit, on normalised vectors x (n, d_x) and y (m, d_y) and seed pairs of rows (k, 2)."""

    def __init__(self, x: Tensor, y: Tensor, seed: Tensor, options: LNMapOptions, run: Run) -> None:
        self.x, self.y, self.seed, self.options, self.run = x, y, seed, options, run
        self.book = Book(x, y, options, run)  # networks drawn from the run's seed, checkpoints, log
        self.nets = self.book.nets

    def train(self) -> dict[Direction, Networks]:
        """Return the networks of each direction; only the forward ones if the run is one-way."""
        forward = Training(Direction.FORWARD, self.nets, self.x, self.y, self.seed)
        back = self.seed.flip(1) if self.run.back is None else self.run.back  # rows of y first, (k, 2)
        backward = Training(Direction.BACKWARD, self.nets.swapped(), self.y, self.x, back)
        if not self.book.resume():
            self.latent_spaces()
            self.book.start(forward)
        ways = [forward] if self.run.one_way else [forward, backward]
        return {way.direction: self.train_direction(way) for way in ways}

    def latent_spaces(self) -> None:
        """Step 1, without training: linear E with orthonormal columns and D = E^T make Eq. 7 zero."""
        self.nets.make_exact()

    def train_direction(self, way: Training) -> Networks:
        """Steps 2 and 3, from x to y: D_orig is `way.seed`, D is `way.pairs`."""
        self.book.enter(way)
        if way.last is None:  # how strong a ridge and how many iterations help, as held-out seed words show
            way.ridge, way.last = rehearse(way, self.options, self.run, self.train_on_dictionary, self.grow)
        while way.iteration < way.last and not way.converged:
            self.book.begin(way)  # iter = iter + 1
            losses = self.train_on_dictionary(way)  # 3.i
            self.book.record(way, losses, self.grow(way))  # 3.ii, 3.iii
            self.book.save(way)
        return self.book.finish(way)

    def train_on_dictionary(self, way: Training) -> dict[str, float]:
        """Step 3.i: set M and N in closed form, then take a few steps on Eq. 11 and a ranking loss."""
        nets, x, y, pairs, options = way.nets.eval(), way.x, way.y, way.pairs, self.options
        self.book.restart()  # from the autoencoders: only the dictionary carries over
        with torch.no_grad():
            z_x, z_y = nets.encoder_x(x[pairs[:, 0]]), nets.encoder_y(y[pairs[:, 1]])  # (k, c)
            z_y = set_closed_form(nets, z_x, z_y, way.ridge, options)
            if options.mapper == "procrustes" or way.iteration <= options.closed_iterations:
                return {"mapping": float(squared_error(nets.mapper_m(z_x), z_y, options))}
        coders = Adam((nets.encoder_x, nets.decoder_x, nets.encoder_y), options.encoder_rate)
        mappers = Adam((nets.mapper_m, nets.mapper_n), options.mapper_rate)
        for step in counted(self.run, "ranking", options.steps):
            if step % REFRESH == 0:
                wrong = hard_negatives(nets.eval(), x, y, pairs, way.pool or options.pool, self.run.memory)
            rows = torch.randint(len(pairs), (min(options.batch, len(pairs)),), device=x.device)  # (b,)
            batch = pairs[rows]  # (b, 2)
            losses = mapping_losses(nets.train(), x[batch[:, 0]], nets.encoder_y(y[batch[:, 1]]), options)
            rank = ranking_loss(nets, x, y, batch, wrong.at(rows))
            minimise(losses.total + options.ranking * rank, coders, mappers)
        return losses.log() | {"ranking": float(rank.detach())}

    def grow(self, way: Training) -> int:
        """Steps 3.ii and 3.iii, converged? Return how many pairs there were to choose from."""
        found = self.induce(way)  # 3.ii
        new = found.above(self.options.least).head(way.iteration * self.options.increment)  # iter x C pairs
        similarity = float(new.csls.mean()) if len(new) else 0.0
        settled = abs(similarity - way.similarity) < self.options.tolerance
        way.converged = settled and way.iteration > self.options.closed_iterations
        way.similarity, way.pairs = similarity, self.merge(way.seed, new.rows)  # 3.iii
        return len(found)

    def induce(self, way: Training) -> Induced:
        """Step 3.ii: pair the words that choose each other by CSLS, among the K most frequent of each language."""
        options, run, nets = self.options, self.run, way.nets.train(self.options.noisy_induction)
        pool = way.pool or options.pool
        z_x = in_blocks(nets.translate, way.x[:pool])  # M(E_x(x)), (K, c)
        z_y = in_blocks(nets.encode_target, way.y[:pool])  # E_y(y), (K, c)
        return induce(
            z_x, z_y, max_rank=options.queries, rank_by=options.rank_by, memory=run.memory, progress=run.progress
        )

    def merge(self, seed: Tensor, new: Tensor) -> Tensor:
        """Step 3.iii: D = D_orig + D_new, without repeating pairs."""
        return torch.cat([seed, new if self.options.keep_duplicates else without(new, seed)])  # (k', 2)
