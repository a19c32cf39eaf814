"""The losses of LNMap for one direction (Eq. 7-11), on a batch of pairs (x, z_y).

||.||^2 is summed over dimensions and averaged over words, as printed; `mean` also averages over dimensions, as
released, which makes every gradient smaller by the number of dimensions.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss

from lnmap.methods.lnmap.networks import Networks
from lnmap.methods.lnmap.options import LNMapOptions


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


class Chain(NamedTuple):
    """What a batch of source vectors becomes: z_x -> M(z_x) -> N(M(z_x)) -> D_x(N(M(z_x)))."""

    z_x: Tensor  # (b, c)
    there: Tensor  # (b, c), to be z_y
    back: Tensor  # (b, c), to be z_x
    x_hat: Tensor  # (b, d), to be x


def run_chain(nets: Networks, x: Tensor) -> Chain:
    """Pass source vectors (b, d) there and back."""
    z_x = nets.encoder_x(x)
    there = nets.mapper_m(z_x)
    back = nets.mapper_n(there)
    return Chain(z_x, there, back, nets.decoder_x(back))


def mapping_losses(nets: Networks, x: Tensor, z_y: Tensor, reduction: str) -> Losses:
    """Eq. 8-10 for pairs (x, z_y)."""
    chain = run_chain(nets, x)
    return Losses(
        squared_error(chain.there, z_y, reduction),
        squared_error(chain.back, chain.z_x, reduction),
        squared_error(chain.x_hat, x, reduction),
    )


def backward_total(chain: Chain, x: Tensor, z_y: Tensor, options: LNMapOptions) -> None:
    """Differentiate the total loss from its gradient at the chain's outputs.

    The same as `total(...).backward()` without computing the loss: a third of the operations around it, which is what
    counts where a step is bound by their number.
    """
    outputs, slopes = [chain.there], [_slope(chain.there, z_y, 1.0, options.reduction)]
    if options.back_translation:
        slope = _slope(chain.back, chain.z_x, options.back_translation, options.reduction)
        outputs += [chain.back, chain.z_x]
        slopes += [slope, -slope]
    if options.reconstruction:
        outputs.append(chain.x_hat)
        slopes.append(_slope(chain.x_hat, x, options.reconstruction, options.reduction))
    torch.autograd.backward(outputs, slopes)


def _slope(found: Tensor, wanted: Tensor, weight: float, reduction: str) -> Tensor:
    """Gradient of a weighted squared error with respect to `found`."""
    count = found.numel() if reduction == "mean" else len(found)
    return (found.detach() - wanted.detach()).mul_(2 * weight / count)


def ranking_loss(query: Tensor, wanted: Tensor, negatives: Tensor, temperature: float) -> Tensor:
    """Cross-entropy of the right partner against the negatives of both sides, by cosine (InfoNCE).

    :param query: mapped unit codes of x (b, c); `wanted` the unit codes of their partners y (b, c).
    :param negatives: scores of wrong pairs with one of the two words in them, (b, n); -inf where there is none.
    """
    right = (query * wanted).sum(dim=1, keepdim=True)  # (b, 1)
    scores = torch.cat([right, negatives], dim=1) / temperature  # (b, 1 + n)
    return cross_entropy(scores, torch.zeros(len(query), dtype=torch.long, device=query.device))
