"""The multi-step linear map of Artetxe et al. 2018 (AAAI): whiten, rotate, re-weight, de-whiten."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnmap.methods.base import Run
from lnmap.methods.options import Options, option
from lnmap.normalize import RENORM

_SINGULAR = 1e-5  # smallest over largest singular value below which float32 rows count as rank deficient


@dataclass(frozen=True)
class MultiStepOptions(Options):
    """Options of the multi-step map."""

    normalize: str = option(RENORM, "normalisation recipe of both languages")
    whiten: bool = option(True, "step 1: make the dictionary's rows of each language uncorrelated")
    reweight_source: float = option(0.5, "step 3: power of the singular values the source is multiplied by", low=0)
    reweight_target: float = option(0.5, "step 3: power of the singular values the target is multiplied by", low=0)
    dewhiten: bool = option(True, "step 4: undo step 1 in the common space")
    ridge: float = option(0.0, "added to the squared singular values in whitening, as a share of their mean", low=0)
    singular_ridge: float = option(0.1, "the ridge used instead when there are too few pairs to whiten with", low=1e-9)


@dataclass(frozen=True)
class Whitening:
    """A symmetric whitening matrix (d, d) and its inverse."""

    matrix: Tensor
    inverse: Tensor

    @classmethod
    def fit(cls, rows: Tensor, ridge: float = 0.0) -> Whitening:
        """W = V diag(1/s) V^T with U diag(s) V^T = SVD(rows), so that (rows W)^T (rows W) = I.

        With a ridge, s is replaced by sqrt(s^2 + ridge * mean(s^2)), which is positive for any number of rows.
        """
        squares, vectors = _spectrum(rows)
        s = (squares + ridge * squares.mean()).sqrt()
        return cls((vectors / s) @ vectors.T, (vectors * s) @ vectors.T)


def _spectrum(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return squared singular values (d,), ascending, and right singular vectors (d, d) of rows (k, d), in float64."""
    rows = rows.double()
    squares, vectors = torch.linalg.eigh(rows.T @ rows)
    return squares.clamp_min(0), vectors


def singular(rows: Tensor) -> bool:
    """Return whether rows (k, d) leave some direction without any spread, so that plain whitening does not exist."""
    if len(rows) < rows.shape[1]:
        return True
    squares = _spectrum(rows)[0]
    return bool(squares[0] <= _SINGULAR**2 * squares[-1])


def choose_ridge(x: Tensor, z: Tensor, options: MultiStepOptions, run: Run) -> float:
    """Return the ridge to whiten dictionary rows x (k, d_s), z (k, d_t) with; note one that was not asked for."""
    if not options.whiten or options.ridge > 0:
        return options.ridge
    pairs, dimensions = len(x), max(x.shape[1], z.shape[1])
    if singular(x) or singular(z):
        run.progress.note(
            f"{pairs} dictionary pairs do not span the {dimensions} dimensions, so whitening is singular: it is "
            f"regularised with a ridge of {options.singular_ridge:g} (option singular_ridge)"
        )
        return options.singular_ridge
    if pairs < 2 * dimensions:
        run.progress.note(
            f"whitening on {pairs} dictionary pairs in {dimensions} dimensions is poorly conditioned; "
            "the option ridge=0.1 is likely to do better"
        )
    return 0.0


def multi_step(x: Tensor, z: Tensor, options: MultiStepOptions, ridge: float = 0.0) -> tuple[Tensor, Tensor]:
    """Return the maps (d_s, c), (d_t, c) into the common space of dictionary rows x (k, d_s), z (k, d_t).

    c = min(d_s, d_t).
    Whitening W_x, W_z; U S V^T = SVD(W_x x^T z W_z); source map W_x U S^a U^T W_x^-1 U, target map
    W_z V S^b V^T W_z^-1 V.
    """
    x, z, dtype = x.double(), z.double(), x.dtype
    sides = [Whitening.fit(rows, ridge) if options.whiten else None for rows in (x, z)]
    cross = x.T @ z  # (d_s, d_t)
    cross = cross if sides[0] is None else sides[0].matrix @ cross
    cross = cross if sides[1] is None else cross @ sides[1].matrix
    u, s, vt = torch.linalg.svd(cross, full_matrices=False)
    maps = []
    powers = options.reweight_source, options.reweight_target
    for whitening, basis, power in zip(sides, (u, vt.T), powers, strict=True):
        out = basis * s**power  # (d, c)
        if whitening is not None:
            out = whitening.matrix @ out
            if options.dewhiten:
                out = out @ (basis.T @ whitening.inverse @ basis)
        maps.append(out.to(dtype))
    return maps[0], maps[1]
