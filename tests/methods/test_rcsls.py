from __future__ import annotations

import pytest
import torch

from lnmap.errors import LexiconError, OptionError
from lnmap.methods.base import Run
from lnmap.methods.procrustes import Procrustes
from lnmap.methods.rcsls import Rcsls, RcslsLoss
from lnmap.normalize import unit
from lnmap.progress import Silent
from lnmap.retrieve import BilingualSpace


def tensors(problem):
    x, y = torch.from_numpy(problem.source.vectors), torch.from_numpy(problem.target.vectors)
    return x, y, torch.from_numpy(problem.lexicon.rows(problem.source, problem.target))


def precision(alignment, x, y, pairs):
    space = BilingualSpace(alignment.map_source(x), alignment.map_target(y))
    return float((space.ranks(pairs[:, 0], pairs[:, 1:]) == 0).float().mean())


def loss_by_hand(w, x, y, pairs, k, free):
    """Equation 3, term by term, in float64; differentiable with the neighbours fixed."""
    mapped = x @ w if free else unit(x @ w)
    total = 0
    for s, t in pairs.tolist():
        to_target, to_source = mapped[s] @ y.T, mapped @ y[t]
        total = total - 2 * mapped[s] @ y[t] + to_target.topk(k).values.mean() + to_source.topk(k).values.mean()
    return total / len(pairs)


@pytest.mark.parametrize("free", [True, False])
def test_loss_and_gradient_equal_the_definition(plant, free):
    x, y, pairs = tensors(plant(n=80, d=6, noise=0.3))
    x, y, pairs = unit(x.double()), unit(y.double()), pairs[:15]
    w = torch.randn(6, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_(True)
    value = loss_by_hand(w, x, y, pairs, 3, free)
    (gradient,) = torch.autograd.grad(value, w)
    found, found_gradient = RcslsLoss(x, y, 3, 1 << 20, free)(w.detach(), pairs)
    assert found == pytest.approx(value.item(), abs=1e-12)
    torch.testing.assert_close(found_gradient, gradient, rtol=0, atol=1e-12)


@pytest.mark.parametrize("step", [1.0, 100.0])  # 100 makes the loss rise
def test_fixed_step_follows_the_original_rule(plant, step):
    x, y, pairs = tensors(plant(n=80, d=6, noise=0.3))
    pairs, run = pairs[:30], Run()
    alignment = Rcsls(Rcsls.Options(step=step, normalize="unit", iterations=4)).fit(x, y, pairs, run)
    source, target = unit(x.double()), unit(y.double())
    u, _, vt = torch.linalg.svd(source[pairs[:, 0]].T @ target[pairs[:, 1]])
    w, rate, least, rates = u @ vt, step, torch.inf, []
    for _ in range(5):  # niter inclusive
        w.requires_grad_(True)
        value = loss_by_hand(w, source, target, pairs, 10, True)
        (gradient,) = torch.autograd.grad(value, w)
        w, value = w.detach() - rate * gradient, value.item()  # kept even when the loss rose
        rates.append(rate)
        rate, least = (rate / 2 if value > least else rate), min(value, least)
    assert [row["step"] for row in run.log] == rates
    torch.testing.assert_close(alignment.source.double(), w, rtol=1e-3, atol=1e-4)


def test_fixed_step_goes_on_halving_until_the_loss_is_below_its_least(plant):
    x, y, pairs = tensors(plant(n=50, d=6))
    values = iter([1.0, 3.0, 2.0, 2.5, 0.5, 0.7])

    class Scripted(RcslsLoss):
        def __call__(self, w, pairs):
            return next(values), torch.zeros_like(w)

    run = Run()
    Rcsls(Rcsls.Options(step=8.0, iterations=5))._fixed(Scripted(x, y, 3, 1 << 20), pairs, run)
    assert [row["step"] for row in run.log] == [8, 8, 4, 2, 1, 1]


def test_automatic_loss_never_rises_and_rotation_is_recovered(plant):
    x, y, pairs = tensors(plant(n=600, d=20, noise=0.3))
    run = Run()
    alignment = Rcsls(Rcsls.Options(first_step=100.0)).fit(x, y, pairs[:150], run)
    for phase in ("choose", "fit"):
        losses = [row["loss"] for row in run.log if row.get("phase") == phase]
        assert losses or phase == "fit"  # where Procrustes is the answer, no step is best
        assert losses == sorted(losses, reverse=True)
    assert min(row["step"] for row in run.log) < 100
    assert precision(alignment, x, y, pairs[150:]) > 0.95


def test_same_seed_same_map_and_unequal_dimensions(plant):
    x, y, pairs = tensors(plant(n=300, d=12, noise=0.2))
    x = x[:, :10]
    one, two = (Rcsls().fit(x, y, pairs[:100], Run(seed=3)) for _ in range(2))
    assert torch.equal(one.source, two.source)
    assert one.source.shape == (10, 12)


def test_small_memory_gives_the_same_map(plant):
    x, y, pairs = tensors(plant(n=300, d=12, noise=0.2))
    one, two = (Rcsls().fit(x, y, pairs[:100], Run(memory=memory)) for memory in (1 << 30, 1 << 14))
    torch.testing.assert_close(one.source, two.source, rtol=0, atol=1e-4)


def test_spectral_keeps_singular_values_below_one(plant):
    x, y, pairs = tensors(plant(n=200, d=10))
    alignment = Rcsls(Rcsls.Options(step=5.0, spectral=True)).fit(x, y, pairs[:50], Run())
    assert torch.linalg.svdvals(alignment.source).max() <= 1 + 1e-5


def test_too_few_pairs(plant):
    x, y, pairs = tensors(plant(n=200, d=10))
    with pytest.raises(LexiconError, match="at least 1 seed pairs"):
        Rcsls().fit(x, y, pairs[:0], Run())
    progress = Silent()
    Rcsls().fit(x, y, pairs[:20], Run(progress=progress))
    assert "20 seed pairs are too few to hold some out" in progress.notes[0]
    with pytest.raises(OptionError):
        Rcsls.Options(step=-1.0)


def test_quality_on_real_words(pair):
    """On 4 000 words a side: no worse than Procrustes, its start, and more pairs do not hurt."""
    source, target = pair.source.head(4000), pair.target.head(4000)
    x, y = torch.from_numpy(source.vectors), torch.from_numpy(target.vectors)
    gold = torch.from_numpy(pair.test.rows(source, target))
    found = {}
    for rule in ("500-unique", "unique"):
        seed = torch.from_numpy(pair.train.take(rule, source, target).rows(source, target))
        found[rule] = precision(Rcsls(Rcsls.Options(max_steps=12)).fit(x, y, seed, Run()), x, y, gold)
        assert found[rule] >= precision(Procrustes().fit(x, y, seed, Run()), x, y, gold)
    assert found["unique"] > found["500-unique"] > 0.5
