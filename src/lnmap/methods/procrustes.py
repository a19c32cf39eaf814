"""Orthogonal Procrustes: the rotation that takes the seed's source vectors nearest to their translations."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnmap.errors import InputError
from lnmap.methods.base import LinearAlignment, Method, Run, require_pairs
from lnmap.methods.options import Options, option
from lnmap.normalize import RENORM, Normalizer


def rotation(x: Tensor, y: Tensor) -> Tensor:
    """Solve min ||x W - y|| over orthogonal W: W = U V^T with U S V^T = SVD(x^T y).

    For unequal dimensions W has orthonormal rows or columns, shape (d_s, d_t).
    """
    # On the CPU in double precision: d x d is small, and not every device has a float64 SVD.
    u, _, vt = torch.linalg.svd((x.T @ y).cpu().double(), full_matrices=False)
    return (u @ vt).to(x)


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

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Rotate the source onto the target."""
        require_pairs(self, pairs, 1)
        norms = Normalizer(self.options.normalize), Normalizer(self.options.normalize)
        x, y = norms[0].fit(source), norms[1].fit(target)
        w = rotation(x[pairs[:, 0]], y[pairs[:, 1]])
        return rotated(norms, w)


def rotated(norms: tuple[Normalizer, Normalizer], w: Tensor) -> LinearAlignment:
    """Alignment that maps the source by `w` (d_s, d_t) and leaves the target as it is."""
    return LinearAlignment(norms, w, torch.eye(w.shape[1], dtype=w.dtype, device=w.device))


def require_equal_dimensions(method: Method, source: Tensor, target: Tensor) -> None:
    """Refuse vectors of different lengths where the method compares them coordinate by coordinate."""
    if source.shape[1] != target.shape[1]:
        raise InputError(
            f"{method.name} needs vectors of one length, got {source.shape[1]} and {target.shape[1]}; "
            "use a method that maps between dimensions, such as procrustes or lnmap"
        )
