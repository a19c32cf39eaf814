"""The losses of LNMap for one direction (Eq. 7-11), on a batch of pairs (x, z_y).

||.||^2 is summed over dimensions and averaged over words, as printed; `mean` also averages over dimensions, as
released, which makes every gradient smaller by the number of dimensions.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from lnmap.methods.lnmap.networks import Networks
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.methods.negatives import info_nce


class Losses(NamedTuple):
    """The three terms of the total loss."""

    mapping: Tensor
    back_translation: Tensor
    reconstruction: Tensor

    def total(self, options: LNMapOptions) -> Tensor:
        """Eq. 11: L = L_MAP + lambda_1 L_BT + lambda_2 L_REC; a term without weight is not differentiated."""
        loss = self.mapping
        if options.back_translation:
            loss = loss + options.back_translation * self.back_translation
        if options.reconstruction:
            loss = loss + options.reconstruction * self.reconstruction
        return loss


def squared_error(found: Tensor, wanted: Tensor, reduction: str) -> Tensor:
    """Mean over the batch of ||wanted - found||^2, optionally divided by the dimension."""
    loss = mse_loss(found, wanted)
    return loss if reduction == "mean" else loss * found.shape[1]


def mapping_losses(nets: Networks, x: Tensor, z_y: Tensor, reduction: str) -> Losses:
    """Eq. 8-10 for pairs (x, z_y)."""
    z_x = nets.encoder_x(x)
    there = nets.mapper_m(z_x)
    back = nets.mapper_n(there)
    return Losses(
        squared_error(there, z_y, reduction),
        squared_error(back, z_x, reduction),
        squared_error(nets.decoder_x(back), x, reduction),
    )


def ranking_loss(query: Tensor, wanted: Tensor, negatives: Tensor, temperature: float) -> Tensor:
    """Cross-entropy of the right partner against the negatives of both sides, by cosine (InfoNCE).

    :param query: mapped unit codes of x (b, c); `wanted` the unit codes of their partners y (b, c).
    :param negatives: scores of wrong pairs with one of the two words in them, (b, n); -inf where there is none.
    """
    right = (query * wanted).sum(dim=1, keepdim=True)  # (b, 1)
    return info_nce(torch.cat([right, negatives], dim=1), temperature)
