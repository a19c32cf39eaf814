"""Orthogonal Procrustes: the rotation that takes the seed's source vectors nearest to their translations."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnmap.methods.base import Cost, LinearAlignment, Method, Run, require_pairs
from lnmap.methods.options import Options, option
from lnmap.normalize import RENORM, learn_both


def rotation(x: Tensor, y: Tensor) -> Tensor:
    """Solve min ||x W - y|| over orthogonal W: W = U V^T with U S V^T = SVD(x^T y).

    For unequal dimensions W has orthonormal rows or columns, shape (d_s, d_t).
    """
    return rotate(x.T @ y)


def rotate(cross: Tensor) -> Tensor:
    """Return the rotation U V^T of products U S V^T = x^T y (d_s, d_t)."""
    # On the CPU in double precision: d x d is small, and not every device has a float64 SVD.
    u, _, vt = torch.linalg.svd(cross.cpu().double(), full_matrices=False)
    return (u @ vt).to(cross)


def rotate_pairs(x: Tensor, y: Tensor, pairs: Tensor) -> Tensor:
    """Return the rotation (d_s, d_t) of a dictionary (k, 2) of the vocabularies x (n, d_s), y (m, d_t)."""
    return rotation(x[pairs[:, 0]], y[pairs[:, 1]])


@dataclass(frozen=True)
class ProcrustesOptions(Options):
    """Options of `procrustes`."""

    normalize: str = option(RENORM, "normalisation recipe of both languages")


class Procrustes(Method):
    """One closed-form rotation."""

    name = "procrustes"
    title = "Orthogonal Procrustes"
    citation = "Xing et al. 2015, NAACL; Smith et al. 2017, ICLR"
    orthogonal = True
    keeps_target = True
    stochastic = False
    Options = ProcrustesOptions
    departures = {None: "centres the vectors too; leaves out the reduction of dimensions of Smith et al."}
    costs = {None: Cost(one=0.3)}

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Rotate the source onto the target."""
        require_pairs(self, pairs)
        norms = learn_both(self.options.normalize, source, target)
        x, y = norms[0].apply(source[pairs[:, 0]]), norms[1].apply(target[pairs[:, 1]])
        return LinearAlignment.onto_target(norms, rotation(x, y))
