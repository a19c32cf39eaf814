"""A ranking loss on the codes: the right translation must come before the wrong ones nearest to it.

Not in the paper. The three losses of Eq. 8-10 pull a pair together and never look at what else is near; retrieval does
nothing but that. Negatives are the nearest wrong words of each side, sought anew every few steps.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import embedding

from lnmap.methods.base import Run
from lnmap.methods.lnmap.losses import mapping_losses, ranking_loss
from lnmap.methods.lnmap.networks import Networks, in_blocks
from lnmap.methods.lnmap.optim import Adam
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.methods.negatives import Negatives, nearest_words
from lnmap.normalize import unit


def refine(
    nets: Networks, x: Tensor, y: Tensor, pairs: Tensor, options: LNMapOptions, run: Run, scale: float = 1.0
) -> dict[str, float]:
    """Train encoders, decoder and mappers on Eq. 11 plus the ranking loss; give the last losses.

    :param x: vectors (n, d_x) of which the first `pool` may be negatives; `y` likewise; `pairs` rows (k, 2).
    """
    coders = Adam((nets.encoder_x, nets.decoder_x, nets.encoder_y), options.encoder_rate * scale)
    mappers = Adam((nets.mapper_m, nets.mapper_n), options.mapper_rate * scale)
    size = min(options.batch, len(pairs))
    with run.progress.task("ranking", options.steps) as task:
        for step in range(options.steps):
            if step % options.refresh == 0:
                negatives = hard_negatives(nets.eval(), x, y, pairs, options, run)
                nets.train()
            rows = torch.randint(len(pairs), (size,), device=x.device)
            batch, wrong = pairs[rows], Negatives(negatives.targets[rows], negatives.sources[rows])
            terms = mapping_losses(nets, x[batch[:, 0]], nets.encoder_y(y[batch[:, 1]]), options.reduction)
            rank = _ranking(nets, x, y, batch, wrong, options.temperature)
            coders.zero()
            mappers.zero()
            (terms.total(options) + options.ranking * rank).backward()
            coders.step()
            mappers.step()
            task.advance()
    return {name: float(value.detach()) for name, value in (*terms._asdict().items(), ("ranking", rank))}


def _ranking(nets: Networks, x: Tensor, y: Tensor, batch: Tensor, wrong: Negatives, temperature: float) -> Tensor:
    """Ranking loss of a batch of pairs (b, 2) against its negatives; each word is encoded once."""
    words_x, place_x = torch.cat([batch[:, :1], wrong.sources], dim=1).unique(return_inverse=True)
    words_y, place_y = torch.cat([batch[:, 1:], wrong.targets], dim=1).unique(return_inverse=True)
    codes_x = unit(nets.mapper_m(nets.encoder_x(x[words_x])))  # (u, c)
    codes_y = unit(nets.encoder_y(y[words_y]))  # (v, c)
    # Not codes_x[...]: on several threads the gradient of indexing adds in whatever order they arrive.
    query, wanted = embedding(place_x[:, 0], codes_x), embedding(place_y[:, 0], codes_y)  # (b, c)
    near_x = _scores(query, codes_y, place_y)  # (b, n)
    near_y = _scores(wanted, codes_x, place_x)
    return ranking_loss(query, wanted, torch.cat([near_x, near_y], dim=1), temperature)


def _scores(query: Tensor, codes: Tensor, places: Tensor) -> Tensor:
    """Cosines of each query (b, c) with its negatives places[:, 1:]; -inf where one is the right word, places[:, 0]."""
    wrong = places[:, 1:]
    scores = torch.bmm(embedding(wrong, codes), query[:, :, None])[:, :, 0]  # embedding: a gather with a fast gradient
    return scores.masked_fill(wrong == places[:, :1], -torch.inf)


@torch.no_grad()
def hard_negatives(nets: Networks, x: Tensor, y: Tensor, pairs: Tensor, options: LNMapOptions, run: Run) -> Negatives:
    """Seek the nearest words of each pair among the pool; the right one is masked later."""
    all_x = unit(in_blocks(nets.translate, x[: options.pool]))
    all_y = unit(in_blocks(nets.encode_target, y[: options.pool]))
    from_x = unit(in_blocks(nets.translate, x[pairs[:, 0]]))
    from_y = unit(in_blocks(nets.encode_target, y[pairs[:, 1]]))
    return nearest_words(from_x, from_y, all_x, all_y, options.negatives, run.memory)
