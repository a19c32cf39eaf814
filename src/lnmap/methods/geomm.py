"""GeoMM: a bilinear map that scores the seed's pairs 1 and all other pairs of seed words 0 (Jawanpuria et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnmap.methods.base import Cost, LinearAlignment, Method, Run, require_finite, require_pairs
from lnmap.methods.options import Options, option
from lnmap.normalize import learn_both


@dataclass(frozen=True)
class GeommOptions(Options):
    """Options of `geomm`."""

    normalize: str = option("unit,center", "normalisation recipe of both languages")
    regularization: float = option(1e2, "lambda; the authors choose 1e2 or 1e3 for each pair of languages", low=1e-9)
    solver: str = option(
        "closed", "closed: the exact optimum; cg: conjugate gradients from a random start", ("closed", "cg")
    )
    iterations: int = option(150, "most steps of the solver cg, the authors' budget", low=1)


@dataclass(frozen=True)
class Problem:
    """min ||X W Z^T - A||^2 + lambda/2 ||W||^2, where W = U_1 B U_2^T ranges over all (d_s, d_t) matrices.

    U_1, U_2 orthogonal and B positive definite make any W (its SVD), with ||W|| = ||B||: so the problem of the paper's
    equation (1) is a convex quadratic. X (n, d_s) and Z (m, d_t) are the distinct seed words, A (n, m) is 1 for pairs.
    """

    xx: Tensor  # X^T X, (d_s, d_s)
    zz: Tensor  # Z^T Z, (d_t, d_t)
    xaz: Tensor  # X^T A Z, (d_s, d_t)
    regularization: float

    @classmethod
    def of(cls, x: Tensor, z: Tensor, pairs: Tensor, regularization: float) -> Problem:
        """Build from vocabularies (n, d_s), (m, d_t) and pairs of rows (k, 2), in float64."""
        pairs = pairs.unique(dim=0)
        left, right = x[pairs[:, 0].unique()].double(), z[pairs[:, 1].unique()].double()
        xaz = x[pairs[:, 0]].double().T @ z[pairs[:, 1]].double()
        return cls(left.T @ left, right.T @ right, xaz, regularization)

    def half_hessian(self, w: Tensor) -> Tensor:
        """Return X^T X W Z^T Z + lambda/2 W: half of the gradient's part that is linear in W."""
        return self.xx @ w @ self.zz + self.regularization / 2 * w

    def closed(self) -> Tensor:
        """Solve exactly in the eigenbases of X^T X = P diag(a) P^T and Z^T Z = Q diag(b) Q^T."""
        a, p = torch.linalg.eigh(self.xx)
        b, q = torch.linalg.eigh(self.zz)
        return p @ (p.T @ self.xaz @ q / (a[:, None] * b + self.regularization / 2)) @ q.T

    def conjugate_gradients(self, iterations: int, run: Run) -> Tensor:
        """Minimise from a random U_1 B U_2^T by at most `iterations` steps."""
        w = random_start(self.xaz, run.generator())
        residual = self.xaz - self.half_hessian(w)  # minus half of the gradient
        direction, square = residual, residual.square().sum()
        tolerance = 1e-24 * self.xaz.square().sum()
        with run.progress.task("conjugate gradients", iterations) as task:
            for iteration in range(1, iterations + 1):
                curved = self.half_hessian(direction)
                step = square / (direction * curved).sum()
                w = w + step * direction
                residual = residual - step * curved
                previous, square = square, residual.square().sum()
                run.record(iteration=iteration, gradient=float(2 * square.sqrt()))
                task.advance()
                if square <= tolerance:
                    break
                direction = residual + square / previous * direction
        return w


def random_start(like: Tensor, generator: torch.Generator) -> Tensor:
    """Return a random U_1 B U_2^T of a shape, with orthonormal U_1, U_2 and eigenvalues of B between 1 and 2."""
    rank = min(like.shape)

    def orthonormal(n: int) -> Tensor:
        noise = torch.randn(n, rank, generator=generator, dtype=like.dtype, device=like.device)
        return torch.linalg.qr(noise).Q

    values = 1 + torch.rand(rank, generator=generator, dtype=like.dtype, device=like.device)
    return (orthonormal(like.shape[0]) * values) @ orthonormal(like.shape[1]).T


class Geomm(Method):
    """x -> x U S^1/2, z -> z V S^1/2 with U S V^T = SVD(W): the authors' x U_1 B^1/2, z U_2 B^1/2 up to a rotation."""

    name = "geomm"
    title = "Geometry-aware multilingual mapping (GeoMM)"
    citation = "Jawanpuria et al. 2019, TACL"
    Options = GeommOptions
    departures = {
        None: "the exact optimum, not at most 150 steps towards it; lambda is 100, the authors' is 100 or 1000 by pair"
    }
    costs = {None: Cost(one=0.5)}

    @property
    def stochastic(self) -> bool:
        """Only conjugate gradients start at random."""
        return bool(self.options.solver != "closed")

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Solve for W and split it between the two languages."""
        require_pairs(self, pairs)
        norms = learn_both(self.options.normalize, source, target)
        (left, rows), (right, columns) = (part.unique(return_inverse=True) for part in pairs.T)
        x, z = norms[0].apply(source[left]), norms[1].apply(target[right])
        problem = Problem.of(x, z, torch.stack([rows, columns], dim=1), self.options.regularization)
        closed = self.options.solver == "closed"
        w = problem.closed() if closed else problem.conjugate_gradients(self.options.iterations, run)
        require_finite(self.name, map=w)
        u, s, vt = torch.linalg.svd(w, full_matrices=False)
        return LinearAlignment(norms, (u * s.sqrt()).to(x.dtype), (vt.T * s.sqrt()).to(x.dtype))
