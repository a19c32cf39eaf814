"""The ranking loss of `default`: the right translation must come before the wrong words nearest to it.

Not in the paper. Eq. 8-10 pull pairs together and never look at what else is near; retrieval does nothing else.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import embedding

from lnmap.methods.lnmap.networks import Networks, in_blocks
from lnmap.methods.negatives import Negatives, info_nce, nearest_words
from lnmap.normalize import unit

REFRESH = 25  # steps after which the negatives are searched again
_NEGATIVES = 50  # per pair and side
_TEMPERATURE = 0.1


def hard_negatives(nets: Networks, x: Tensor, y: Tensor, pairs: Tensor, pool: int, memory: int) -> Negatives:
    """Return the words nearest to each pair (k, 2) among the `pool` most frequent; the right one may be among them."""
    all_x, all_y = unit(in_blocks(nets.translate, x[:pool])), unit(in_blocks(nets.encode_target, y[:pool]))  # (K, c)
    from_x = unit(in_blocks(nets.translate, x[pairs[:, 0]]))  # (k, c)
    from_y = unit(in_blocks(nets.encode_target, y[pairs[:, 1]]))  # (k, c)
    return nearest_words(from_x, from_y, all_x, all_y, _NEGATIVES, memory)


def ranking_loss(nets: Networks, x: Tensor, y: Tensor, batch: Tensor, wrong: Negatives) -> Tensor:
    """Return the cross-entropy of each pair's cosine against its negatives', for a batch of pairs (b, 2)."""
    words_x, place_x = torch.cat([batch[:, :1], wrong.sources], dim=1).unique(return_inverse=True)
    words_y, place_y = torch.cat([batch[:, 1:], wrong.targets], dim=1).unique(return_inverse=True)
    codes_x = unit(nets.mapper_m(nets.encoder_x(x[words_x])))  # (u, c): each word is encoded once
    codes_y = unit(nets.encoder_y(y[words_y]))  # (v, c)
    # Not codes_x[...]: on several threads the gradient of indexing adds in whatever order they arrive.
    query, wanted = embedding(place_x[:, 0], codes_x), embedding(place_y[:, 0], codes_y)  # (b, c)
    right = (query * wanted).sum(dim=1, keepdim=True)  # (b, 1)
    near_x, near_y = _scores(query, codes_y, place_y), _scores(wanted, codes_x, place_x)  # (b, 50)
    return info_nce(torch.cat([right, near_x, near_y], dim=1), _TEMPERATURE)


def _scores(query: Tensor, codes: Tensor, places: Tensor) -> Tensor:
    """Return the cosines of queries (b, c) with the words at places[:, 1:]; -inf for the right one, places[:, 0]."""
    wrong = places[:, 1:]
    scores = torch.bmm(embedding(wrong, codes), query[:, :, None])[:, :, 0]  # (b, 50)
    return scores.masked_fill(wrong == places[:, :1], -torch.inf)
