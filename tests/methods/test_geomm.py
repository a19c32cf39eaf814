from __future__ import annotations

import pytest
import torch

from lnmap.errors import LexiconError, OptionError
from lnmap.methods import make_method
from lnmap.methods.base import LinearAlignment, Run
from lnmap.methods.geomm import Geomm, Problem, random_start
from lnmap.retrieve import BilingualSpace


def tensors(planted, count=None):
    rows = planted.lexicon.rows(planted.source, planted.target)[:count]
    return torch.from_numpy(planted.source.vectors), torch.from_numpy(planted.target.vectors), torch.from_numpy(rows)


def precision(alignment, source, target, pairs):
    space = BilingualSpace(alignment.map_source(source), alignment.map_target(target))
    return float((space.ranks(pairs[:, 0], pairs[:, 1:]) == 0).float().mean())


@pytest.fixture
def problem(planted):
    x, z, pairs = tensors(planted, 200)
    return Problem.of(x, z, pairs, 5.0)


@pytest.mark.parametrize("solver", ["closed", "cg"])
def test_planted_rotation_is_recovered(planted, solver):
    x, z, pairs = tensors(planted)
    alignment = make_method("geomm", values={"solver": solver}).fit(x, z, pairs[:100], Run())
    assert isinstance(alignment, LinearAlignment)
    assert precision(alignment, x, z, pairs[100:]) > 0.99


def test_closed_form_is_the_optimum(problem):
    w = problem.closed()
    assert (problem.half_hessian(w) - problem.xaz).abs().max() < 1e-10 * problem.xaz.abs().max()


def test_objective_matches_its_definition(planted, problem):
    """The gradient of the loss as the paper writes it, by automatic differentiation, vanishes at the closed form."""
    x, z, pairs = tensors(planted, 200)
    w = problem.closed().requires_grad_()
    left, right = x[pairs[:, 0]].double(), z[pairs[:, 1]].double()
    loss = (left @ w @ right.T - torch.eye(200, dtype=torch.float64)).square().sum() + 2.5 * w.square().sum()
    loss.backward()
    assert w.grad.abs().max() < 1e-8


def test_repeated_pairs_and_many_to_many(planted):
    """A pair given twice counts once, and a word with two translations is one row of X."""
    x, z, _ = tensors(planted)
    pairs = torch.tensor([[0, 3], [0, 3], [0, 4], [1, 4], [2, 5]])
    problem = Problem.of(x, z, pairs, 1.0)
    a = torch.tensor([[1.0, 1, 0], [0, 1, 0], [0, 0, 1]], dtype=torch.float64)
    left, right = x[:3].double(), z[3:6].double()
    torch.testing.assert_close(problem.xx, left.T @ left)
    torch.testing.assert_close(problem.zz, right.T @ right)
    torch.testing.assert_close(problem.xaz, left.T @ a @ right)


def test_conjugate_gradients_reach_the_closed_form(problem):
    run = Run()
    w = problem.conjugate_gradients(2000, run)
    torch.testing.assert_close(w, problem.closed(), rtol=1e-6, atol=1e-9)
    assert len(run.log) < 2000
    assert run.log[-1]["gradient"] < run.log[0]["gradient"]


def test_short_budget_stops_before_the_optimum(problem):
    solutions = (problem.conjugate_gradients(n, Run()) for n in (3, 60))
    few, many = ((problem.half_hessian(w) - problem.xaz).norm() for w in solutions)
    assert many < few


def test_random_start_has_the_authors_form():
    start = random_start(torch.zeros(6, 4, dtype=torch.float64), Run().generator())
    values = torch.linalg.svdvals(start)
    assert len(values) == 4
    assert 1 <= values.min() <= values.max() <= 2


def test_same_seed_same_tensors(planted):
    x, z, pairs = tensors(planted, 50)
    first, second, other = (
        make_method("geomm", values={"solver": "cg", "iterations": 5}).fit(x, z, pairs, Run(seed=s)) for s in (1, 1, 2)
    )
    assert torch.equal(first.source, second.source)
    assert not torch.equal(first.source, other.source)


def test_unequal_dimensions(planted):
    x, z, pairs = tensors(planted)
    alignment = Geomm().fit(x[:, :16], z, pairs[:200], Run())
    assert alignment.source.shape == (16, 16)
    assert alignment.target.shape == (20, 16)
    assert precision(alignment, x[:, :16], z, pairs[200:]) > 0.6


def test_fewer_pairs_than_dimensions(planted):
    x, z, pairs = tensors(planted)
    alignment = Geomm().fit(x, z, pairs[:5], Run())
    assert torch.isfinite(alignment.source).all()


def test_refusals(planted):
    x, z, pairs = tensors(planted)
    with pytest.raises(LexiconError, match="at least 1 seed pair"):
        Geomm().fit(x, z, pairs[:0], Run())
    with pytest.raises(OptionError, match="closed, cg"):
        make_method("geomm", values={"solver": "newton"})


def test_quality_on_the_bundled_pair(pair):
    x, z = torch.from_numpy(pair.source.vectors), torch.from_numpy(pair.target.vectors)
    seed = torch.from_numpy(pair.train.take("5k-unique", pair.source, pair.target).rows(pair.source, pair.target))
    alignment = Geomm().fit(x, z, seed, Run())
    assert bundled_precision(pair, alignment, x, z) > 0.70


def bundled_precision(pair, alignment, x, z):
    gold: dict[int, list[int]] = {}
    for s, t in pair.test.rows(pair.source, pair.target).tolist():
        gold.setdefault(s, []).append(t)
    width = max(map(len, gold.values()))
    padded = torch.tensor([row + [-1] * (width - len(row)) for row in gold.values()])
    space = BilingualSpace(alignment.map_source(x), alignment.map_target(z))
    return float((space.ranks(torch.tensor(list(gold)), padded) == 0).float().mean())
