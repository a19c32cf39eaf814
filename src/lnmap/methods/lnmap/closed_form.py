"""The closed form that `default` starts its mappers from."""

from __future__ import annotations

import torch
from torch import Tensor

from lnmap.methods.procrustes import rotation


def near_rotation(a: Tensor, b: Tensor, ridge: float = 1.0) -> Tensor:
    """Solve min ||a W - b||^2 + ridge v ||W - R||^2, R the best rotation, v the mean variance of a: W (c, c).

    Without a ridge it is least squares, which overfits a small dictionary; the larger it is, the nearer is W to R.
    """
    a64, b64, w64 = (tensor.cpu().double() for tensor in (a, b, rotation(a, b)))
    moment = a64.T @ a64
    pull = ridge * moment.diagonal().mean().clamp_min(1e-12)
    return torch.linalg.solve(moment + pull * torch.eye(len(moment)).double(), a64.T @ b64 + pull * w64).to(a)
