"""The closed forms that `default` starts its mappers from."""

from __future__ import annotations

import torch
from torch import Tensor

from lnmap.methods.lnmap.networks import Networks
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.methods.procrustes import rotation

RIDGES = (4.0, 1.5)  # of `scoring`: held-out words choose, or else it is the first


def set_closed_form(nets: Networks, z_x: Tensor, z_y: Tensor, ridge: float, options: LNMapOptions) -> Tensor:
    """Set M and N, and stretch E_y, for a dictionary's codes (k, c); return the codes of y as E_y now makes them."""
    if options.mapper == "procrustes":
        to_y, to_x = rotation(z_x, z_y), rotation(z_y, z_x)  # min ||z_x W - z_y||^2 and back
    else:
        to_y, stretch = scoring(z_x, z_y, ridge)
        nets.encoder_y.stretch(stretch)
        z_y = z_y @ stretch
        to_x = near_rotation(z_y, z_x)
    nets.mapper_m.set_matrix(to_y.T)  # (c, c)
    nets.mapper_n.set_matrix(to_x.T)
    return z_y


def near_rotation(a: Tensor, b: Tensor, ridge: float = 1.0) -> Tensor:
    """Solve min ||a W - b||^2 + ridge v ||W - R||^2, R the best rotation, v the mean variance of a: W (c, c).

    Without a ridge it is least squares, which overfits a small dictionary; the larger it is, the nearer is W to R.
    """
    a64, b64, w64 = (tensor.cpu().double() for tensor in (a, b, rotation(a, b)))
    moment = a64.T @ a64
    pull = ridge * moment.diagonal().mean().clamp_min(1e-12)
    return torch.linalg.solve(moment + pull * torch.eye(len(moment)).double(), a64.T @ b64 + pull * w64).to(a)


def scoring(a: Tensor, b: Tensor, ridge: float) -> tuple[Tensor, Tensor]:
    """Solve min ||a W b^T - I||^2 + ridge v ||W||^2, v the mean variances of a and b multiplied: W = P Q, both (c, c).

    The form scores pairs 1 and all others 0 (GeoMM). It is shared out between a P and b Q, whose cosines count; Q is
    symmetric, so that b Q are the codes b, stretched. They have a mean length of one.
    """
    a64, b64 = a.cpu().double(), b.cpu().double()
    (s, p), (t, q) = torch.linalg.eigh(a64.T @ a64), torch.linalg.eigh(b64.T @ b64)
    floor = (ridge * s.mean() * t.mean()).clamp_min(1e-12)
    u, d, vt = torch.linalg.svd(p @ (p.T @ (a64.T @ b64) @ q / (s[:, None] * t + floor)) @ q.T)
    left, right = (u * d.sqrt()) @ vt, (vt.T * d.sqrt()) @ vt
    size = (b64 @ right).norm(dim=1).mean().clamp_min(1e-12)
    return (left / size).to(a), (right / size).to(a)
