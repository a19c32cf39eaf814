"""Normalise: what is done to each language's vectors before they are mapped.

A recipe is a comma-separated list of steps, applied from left to right and fitted on the vocabulary, so that vectors
seen later go through the same means and matrices.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from lnmap.errors import OptionError

RENORM = "unit,center,unit"
STEPS = ("unit", "center", "whiten")
_ALIASES = {"renorm": "unit", "none": "", "iterative": ",".join(["unit", "center"] * 5 + ["unit"])}
_TINY = 1e-12
_BLOCK = 8192  # rows at a time


def unit(x: Tensor) -> Tensor:
    """Scale each row to length one; a zero row stays zero."""
    return x / lengths(x)


def lengths(x: Tensor) -> Tensor:
    """Return the length of each row, (n, 1), never zero."""
    return x.norm(dim=1, keepdim=True).clamp_min(_TINY)


def parse_recipe(recipe: str) -> list[str]:
    """Turn 'renorm,center,renorm' into step names, resolving aliases."""
    names = ",".join(_ALIASES.get(name.strip(), name.strip()) for name in recipe.lower().split(","))
    steps = [name for name in names.split(",") if name]
    unknown = [name for name in steps if name not in STEPS]
    if unknown:
        known = ", ".join([*STEPS, *_ALIASES])
        raise OptionError(f"unknown normalisation step {unknown[0]!r}; the steps are {known}")
    return steps


class Normalizer:
    """A recipe, and after `fit` what its steps learnt: a mean, or a whitening matrix, by the step's place."""

    def __init__(self, recipe: str = RENORM) -> None:
        self.recipe, self.steps = recipe, parse_recipe(recipe)
        self._learnt: dict[str, Tensor] = {}

    def fit(self, x: Tensor) -> Tensor:
        """Fit every step on the vocabulary (n, d) and return it normalised."""
        return self.learn(x).apply(x)

    def learn(self, x: Tensor) -> Normalizer:
        """Fit every step on the vocabulary (n, d), in blocks: no copy of it is made."""
        for place, step in enumerate(self.steps):
            blocks = (self._steps(block, place) for block in x.split(_BLOCK))
            if step == "center":
                self._learnt[f"{place}.mean"] = _mean(blocks, x)
            elif step == "whiten":
                self._learnt[f"{place}.matrix"] = _whitening(blocks, x)
        return self

    def apply(self, x: Tensor) -> Tensor:
        """Normalise rows with what was learnt."""
        return self._steps(x, len(self.steps))

    def _steps(self, x: Tensor, count: int) -> Tensor:
        """Take the first steps."""
        for place in range(count):
            x = self._step(place, x)
        return x

    def _step(self, place: int, x: Tensor) -> Tensor:
        if self.steps[place] == "unit":
            return unit(x)
        if self.steps[place] == "center":
            return x - self._learnt[f"{place}.mean"]
        return x @ self._learnt[f"{place}.matrix"]

    def tensors(self) -> dict[str, Tensor]:
        """Return everything learnt, by name."""
        return dict(self._learnt)

    @classmethod
    def from_tensors(cls, recipe: str, tensors: dict[str, Tensor]) -> Normalizer:
        """Rebuild a fitted normaliser."""
        normalizer = cls(recipe)
        normalizer._learnt = dict(tensors)
        return normalizer

    def to(self, device: torch.device | str) -> Normalizer:
        """Move to a device."""
        self._learnt = {name: tensor.to(device) for name, tensor in self._learnt.items()}
        return self


Norms = tuple[Normalizer, Normalizer]


def fit_both(recipe: str, source: Tensor, target: Tensor) -> tuple[Norms, Tensor, Tensor]:
    """Fit a recipe on each of two vocabularies (n, d_s), (m, d_t) and return them normalised."""
    norms = Normalizer(recipe), Normalizer(recipe)
    return norms, norms[0].fit(source), norms[1].fit(target)


def learn_both(recipe: str, source: Tensor, target: Tensor) -> Norms:
    """Fit a recipe on each of two vocabularies (n, d_s), (m, d_t), where only some of their rows are used."""
    return Normalizer(recipe).learn(source), Normalizer(recipe).learn(target)


def _mean(blocks: Iterable[Tensor], x: Tensor) -> Tensor:
    """Return the mean (d,) of the rows of blocks, which are those of x."""
    sums = (block.sum(dim=0).cpu().double() for block in blocks)
    return (sum(sums, torch.zeros(x.shape[1], dtype=torch.double)) / len(x)).to(x)


def _whitening(blocks: Iterable[Tensor], x: Tensor) -> Tensor:
    """Return the matrix (d, d) that makes the second moment of blocks, which are those of x, the identity (ZCA).

    Directions without variance are left alone.
    """
    # In double precision: float32 sums would leave noise in the empty directions, to be blown up by 1 / sqrt.
    exact = (block.cpu().double() for block in blocks)
    moment = sum((block.T @ block for block in exact), torch.zeros(x.shape[1], x.shape[1], dtype=torch.double))
    values, vectors = torch.linalg.eigh(moment / len(x))
    scale = torch.where(values > values.max() * 1e-10, values, torch.ones_like(values)).sqrt()
    return (vectors / scale @ vectors.T).to(x)
