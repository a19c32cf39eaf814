"""The default loop of LNMap once more, as plain as it can be written: what `lnmap.methods.lnmap` must compute.

One direction, float32, on the CPU; torch, and the package's CSLS search and choice of held-out pairs. No options but
the sizes, no checkpoints.
"""

from itertools import count, islice

import torch
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss, normalize

from lnmap.confidence import hold_out
from lnmap.induce import induce
from lnmap.retrieve import top_k


def train(x, y, seed, *, iterations=5, run_seed=0, **sizes):
    """Return codes of all words, M(E_x(x)) (n, c) and E_y(y) (m, c), and the dictionary induced in each iteration."""
    x, y = (normalize(normalize(v) - normalize(v).mean(dim=0)) for v in (x, y))
    held = hold_out(seed, run_seed)
    rest = torch.stack([pair for pair in seed if not (pair == held).any()])
    ranks = {}
    for ridge in (4.0, 1.5):
        for iteration, (codes, _) in enumerate(islice(iterate(x, y, rest, ridge, run_seed, **sizes), 3), 1):
            ranks[ridge, iteration] = reciprocal_ranks(*codes, held)
    ridge = max(ranks, key=lambda key: ranks[key].mean())[0]
    for iteration, (codes, _) in enumerate(islice(iterate(x, y, rest, ridge, run_seed, **sizes), iterations), 1):
        ranks[ridge, iteration] = reciprocal_ranks(*codes, held)
    ridge, best = max(ranks, key=lambda key: ranks[key].mean())
    losses = {later: ranks[ridge, best] - ranks[ridge, later] for later in range(best, iterations + 1)}
    last = max(later for later, loss in losses.items() if loss.mean() <= loss.std() / len(loss) ** 0.5)
    found = list(islice(iterate(x, y, seed, ridge, run_seed, **sizes), last))
    return found[-1][0], [dictionary for _, dictionary in found]


def iterate(x, y, seed, ridge, run_seed, *, code=350, hidden=400, steps=10):
    """Yield the codes after each iteration, and the dictionary that is induced from them."""
    torch.manual_seed(run_seed * 1009 + 1)
    e_x, d_x = nn.Linear(x.shape[1], code), nn.Linear(code, x.shape[1])
    e_y, d_y = nn.Linear(y.shape[1], code), nn.Linear(code, y.shape[1])
    m, n = (nn.Sequential(nn.Linear(code, hidden), nn.Tanh(), nn.Linear(hidden, code)) for _ in range(2))
    start = [nn.init.orthogonal_(e.weight).detach().clone() for e in (e_x, e_y)]  # step 1: D = E^T is exact
    pairs = seed
    for iteration in count(1):
        torch.manual_seed((run_seed * 1009 + iteration + 1) * 1009 + 1)
        with torch.no_grad():
            for encoder, decoder, weight in ((e_x, d_x, start[0]), (e_y, d_y, start[1])):
                encoder.weight.copy_(weight), decoder.weight.copy_(weight.T)
                encoder.bias.zero_(), decoder.bias.zero_()
            p, q = scoring_form(e_x(x[pairs[:, 0]]), e_y(y[pairs[:, 1]]), ridge)
            e_y.weight.copy_(q @ e_y.weight)
            back = near_rotation(e_y(y[pairs[:, 1]]), e_x(x[pairs[:, 0]]))
            for mapper, matrix in ((m, p), (n, back)):
                nn.init.eye_(mapper[0].weight)[:code] = matrix.T
                nn.init.eye_(mapper[2].weight), mapper[0].bias.zero_(), mapper[2].bias.zero_()
        if iteration > 3:
            with torch.no_grad():
                all_x, all_y = normalize(m(e_x(x))), normalize(e_y(y))
                wrong_y = top_k(all_x[pairs[:, 0]], all_y, 50)[1]
                wrong_x = top_k(all_y[pairs[:, 1]], all_x, 50)[1]
            parameters = [p for net in (e_x, d_x, e_y, m, n) for p in net.parameters()]
            adam = torch.optim.Adam(parameters, lr=1e-3)
            for _ in range(steps):
                rows = torch.randint(len(pairs), (min(1024, len(pairs)),))
                i, j = pairs[rows].T
                z_x, z_y = e_x(x[i]), e_y(y[j])
                there, back = m(z_x), n(m(z_x))
                total = squared(there, z_y) + squared(back, z_x) + squared(d_x(back), x[i])
                all_x, all_y = normalize(m(e_x(x))), normalize(e_y(y))
                right = (all_x[i] * all_y[j]).sum(dim=1, keepdim=True)
                near_x = torch.einsum("bc,bnc->bn", all_x[i], all_y[wrong_y[rows]])
                near_y = torch.einsum("bc,bnc->bn", all_y[j], all_x[wrong_x[rows]])
                near_x = near_x.masked_fill(wrong_y[rows] == j[:, None], -torch.inf)
                near_y = near_y.masked_fill(wrong_x[rows] == i[:, None], -torch.inf)
                scores = torch.cat([right, near_x, near_y], dim=1) / 0.1
                adam.zero_grad()
                (total + cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long))).backward()
                adam.step()
        with torch.no_grad():
            codes = m(e_x(x)), e_y(y)
        found = induce(*codes).above(0.1).head(2000 * iteration).rows
        yield codes, found
        known = {tuple(pair) for pair in seed.tolist()}
        pairs = torch.cat([seed, torch.tensor([pair for pair in found.tolist() if tuple(pair) not in known])])


def reciprocal_ranks(all_x, all_y, held):
    cosines = normalize(all_x) @ normalize(all_y).T
    csls = (
        2 * cosines - cosines.topk(10, dim=1).values.mean(dim=1, keepdim=True) - cosines.topk(10, dim=0).values.mean(0)
    )
    each = []
    for i, j in held.tolist():
        each += [1 / (1 + (csls[i] > csls[i, j] + 2e-6).sum()), 1 / (1 + (csls[:, j] > csls[i, j] + 2e-6).sum())]
    return torch.stack(each)


def squared(found, wanted):
    return mse_loss(found, wanted) * found.shape[1]


def scoring_form(a, b, ridge):
    """Solve (a^T a) W (b^T b) + r W = a^T b, r the ridge times both mean variances; share W out."""
    aa, bb, ab = ((u.T @ v).double() for u, v in ((a, a), (b, b), (a, b)))
    r = ridge * aa.diagonal().mean() * bb.diagonal().mean()
    (s, u), (t, v) = torch.linalg.eigh(aa), torch.linalg.eigh(bb)
    w = u @ ((u.T @ ab @ v) / (torch.outer(s, t) + r)) @ v.T
    left, values, right = torch.linalg.svd(w)
    p, q = left @ values.sqrt().diag() @ right, right.T @ values.sqrt().diag() @ right
    size = (b.double() @ q).norm(dim=1).mean()
    return (p / size).float(), (q / size).float()


def near_rotation(a, b):
    """Solve min ||a W - b||^2 + v ||W - R||^2, R the best rotation, v the mean variance of a."""
    u, _, vt = torch.linalg.svd((a.T @ b).double())
    a, b = a.double(), b.double()
    v = (a.T @ a).diagonal().mean()
    return torch.linalg.solve(a.T @ a + v * torch.eye(len(u)), a.T @ b + v * (u @ vt)).float()
