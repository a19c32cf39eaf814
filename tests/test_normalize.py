from __future__ import annotations

import pytest
import torch

from lnmap.errors import OptionError
from lnmap.normalize import Normalizer, fit_both, learn_both, parse_recipe, unit

RECIPES = [
    "none",
    "unit",
    "center",
    "whiten",
    "unit,center,unit",
    "renorm,center,renorm",
    "iterative",
    "unit,center,whiten",
    "center,whiten,unit",
]


@pytest.fixture
def x():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(400, 12, generator=generator) * torch.linspace(0.1, 3, 12) + torch.linspace(-1, 2, 12)


@pytest.fixture
def new():
    return torch.randn(5, 12, generator=torch.Generator().manual_seed(1)) + 3


def test_unit(x):
    assert torch.allclose(Normalizer("unit").fit(x).norm(dim=1), torch.ones(400))
    assert torch.allclose(Normalizer("unit").fit(x) * x.norm(dim=1, keepdim=True), x, atol=1e-5)


def test_the_recipe_unless_told(x):
    assert torch.equal(Normalizer().fit(x), Normalizer("unit,center,unit").fit(x))


def test_center(x):
    assert Normalizer("center").fit(x).mean(dim=0).abs().max() < 1e-5


def test_whiten(x):
    for recipe in ("whiten", "center,whiten"):
        y = Normalizer(recipe).fit(x)
        assert torch.allclose(y.T @ y / len(y), torch.eye(12), atol=1e-3)


def test_whitening_is_symmetric(x):
    matrix = _fitted("whiten", x).tensors()["0.matrix"]
    assert torch.allclose(matrix, matrix.T, atol=1e-6)


def test_whitening_leaves_directions_without_variance_alone():
    generator = torch.Generator().manual_seed(0)
    basis = torch.linalg.qr(torch.randn(40, 40, generator=generator))[0]
    x = torch.randn(200, 15, generator=generator) @ basis[:15]  # 25 directions hold nothing but rounding
    norm = _fitted("whiten", x)
    across = basis[15:]
    assert torch.allclose(norm.apply(across), across, atol=1e-2)
    assert norm.tensors()["0.matrix"].abs().max() < 100
    y = norm.apply(x) @ basis[:15].T
    assert torch.allclose(y.T @ y / len(y), torch.eye(15), atol=1e-3)


def test_whitening_few_words():
    x = torch.randn(10, 40, generator=torch.Generator().manual_seed(0))
    norm = _fitted("center,whiten", x)
    assert norm.apply(torch.ones(1, 40)).abs().max() < 100


def test_iterative_converges(x):
    once, five = Normalizer("unit,center,unit").fit(x), Normalizer("iterative").fit(x)
    assert torch.allclose(five.norm(dim=1), torch.ones(400))
    off = [y.mean(dim=0).norm() for y in (unit(x), once, five)]
    assert off[2] < 1e-4 < off[1] < off[0]


def _fitted(recipe, x):
    norm = Normalizer(recipe)
    norm.fit(x)
    return norm


@pytest.mark.parametrize("recipe", RECIPES)
def test_apply_repeats_fit(recipe, x):
    norm = Normalizer(recipe)
    assert torch.equal(norm.fit(x), norm.apply(x))


@pytest.mark.parametrize("recipe", RECIPES)
def test_new_vectors_use_what_was_fitted(recipe, x, new):
    """A vector's image depends on the vocabulary and on nothing it comes in company with."""
    norm = _fitted(recipe, x)
    together = norm.apply(new)
    for i in range(len(new)):
        assert torch.allclose(norm.apply(new[i : i + 1])[0], together[i], atol=1e-5)
    assert torch.allclose(norm.apply(torch.cat([x, new]))[len(x) :], together, atol=1e-5)


def test_center_uses_the_vocabulary_mean(x, new):
    assert torch.allclose(_fitted("center", x).apply(new), new - x.mean(dim=0))


@pytest.mark.parametrize("recipe", RECIPES)
def test_tensors_round_trip(recipe, x, new):
    norm = _fitted(recipe, x)
    again = Normalizer.from_tensors(recipe, norm.tensors())
    assert torch.equal(again.apply(new), norm.apply(new))


@pytest.mark.parametrize("recipe", RECIPES)
def test_zero_vectors_stay_finite(recipe, x):
    for rows in (torch.cat([x, torch.zeros(3, 12)]), torch.zeros(4, 12), x[:1], torch.ones(3, 12)):
        norm = Normalizer(recipe)
        assert torch.isfinite(norm.fit(rows)).all()
        assert torch.isfinite(norm.apply(torch.zeros(2, 12))).all()


def test_a_zero_row_stays_zero():
    assert unit(torch.zeros(2, 3)).tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("recipe", RECIPES)
def test_input_is_left_alone(recipe, x):
    before = x.clone()
    norm = _fitted(recipe, x)
    norm.apply(x)
    assert torch.equal(x, before)


@pytest.mark.parametrize(
    ("recipe", "steps"),
    [
        ("none", []),
        ("", []),
        ("Renorm, Center , RENORM", ["unit", "center", "unit"]),
        ("iterative", ["unit", "center"] * 5 + ["unit"]),
        ("none,whiten", ["whiten"]),
    ],
)
def test_recipes(recipe, steps):
    assert parse_recipe(recipe) == steps


@pytest.mark.parametrize("recipe", ["units", "unit;center", "unit,,centre"])
def test_unknown_step(recipe):
    with pytest.raises(OptionError, match=r"unknown normalisation step .*the steps are unit, center, whiten"):
        Normalizer(recipe)


def test_two_languages_are_fitted_apart(x, new):
    norms, source, target = fit_both("unit,center", x, new)
    assert torch.equal(source, Normalizer("unit,center").fit(x))
    assert torch.equal(target, norms[1].apply(new))
    assert not torch.equal(norms[0].apply(new), target)
    first, second = learn_both("unit,center", x, new)
    assert torch.equal(first.apply(x), source)
    assert torch.equal(second.apply(new), target)


def test_what_was_learnt_moves_to_a_device(x):
    norm = Normalizer("center,whiten").learn(x)
    assert norm.to("meta") is norm
    assert [tensor.device.type for tensor in norm.tensors().values()] == ["meta", "meta"]


@pytest.mark.parametrize("recipe", ["center", "unit,center,unit", "whiten", "iterative", "center,whiten,unit"])
def test_a_vocabulary_of_several_blocks_is_learnt_as_a_whole(recipe):
    x = torch.randn(20_000, 6, generator=torch.Generator().manual_seed(1)) * torch.arange(1.0, 7) + 3
    norm, whole = Normalizer(recipe), x.double()
    for step in norm.steps:
        if step == "unit":
            whole = whole / whole.norm(dim=1, keepdim=True)
        elif step == "center":
            whole = whole - whole.mean(dim=0)
        else:
            values, vectors = torch.linalg.eigh(whole.T @ whole / len(whole))
            whole = whole @ (vectors / values.sqrt() @ vectors.T)
    assert torch.allclose(norm.learn(x).apply(x).double(), whole, atol=1e-5)
    assert torch.equal(Normalizer(recipe).fit(x), norm.apply(x))
