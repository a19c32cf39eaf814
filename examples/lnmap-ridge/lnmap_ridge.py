"""Ridge regression from the source's vectors to the target's, as a method for lnmap."""

import torch

from lnmap.methods.base import LinearAlignment, Method, require_pairs
from lnmap.normalize import RENORM, fit_both


class Ridge(Method):
    """W = (X'X + I)^-1 X'Y on the seed's vectors X and Y."""

    name = "ridge"
    title = "Ridge regression"
    citation = "Dinu et al. 2015, ICLR workshop"
    keeps_target = True
    stochastic = False

    def fit(self, source, target, pairs, run):
        """Solve the normal equations."""
        require_pairs(self, pairs)
        norms, x, y = fit_both(RENORM, source, target)  # (n, d_s), (m, d_t)
        x, y = x[pairs[:, 0]], y[pairs[:, 1]]  # (k, d_s), (k, d_t)
        identity = torch.eye(x.shape[1], dtype=x.dtype, device=x.device)
        return LinearAlignment.onto_target(norms, torch.linalg.solve(x.T @ x + identity, x.T @ y))
