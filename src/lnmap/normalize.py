"""Normalise: what is done to each language's vectors before they are mapped.

A recipe is a comma-separated list of steps, applied from left to right and fitted on the vocabulary, so that vectors
seen later go through the same means and matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor

from lnmap.errors import InputError, OptionError

RENORM = "unit,center,unit"
_ALIASES = {"renorm": "unit", "none": "", "iterative": ",".join(["unit", "center"] * 5 + ["unit"])}
_TINY = 1e-12
_BLOCK = 8192  # rows taken to double precision at a time


def unit(x: Tensor) -> Tensor:
    """Scale each row to length one; a zero row stays zero."""
    return x / x.norm(dim=1, keepdim=True).clamp_min(_TINY)


class Step:
    """One fitted step; `tensors` is all it has learnt."""

    name: ClassVar[str]
    invertible: ClassVar[bool] = True

    def __init__(self, tensors: dict[str, Tensor] | None = None) -> None:
        self.tensors = tensors or {}

    def fit(self, x: Tensor) -> None:
        """Learn from the vocabulary's vectors, shape (n, d)."""

    def apply(self, x: Tensor) -> Tensor:
        """Transform rows."""
        raise NotImplementedError

    def invert(self, x: Tensor) -> Tensor:
        """Undo `apply`."""
        raise NotImplementedError


class Unit(Step):
    """Length one. Not invertible: the lengths are gone."""

    name = "unit"
    invertible = False

    def apply(self, x: Tensor) -> Tensor:
        """Scale rows to length one."""
        return unit(x)


class Center(Step):
    """Subtract the mean of the vocabulary."""

    name = "center"

    def fit(self, x: Tensor) -> None:
        """Keep the mean."""
        self.tensors = {"mean": x.mean(dim=0)}

    def apply(self, x: Tensor) -> Tensor:
        """Subtract the mean."""
        return x - self.tensors["mean"]

    def invert(self, x: Tensor) -> Tensor:
        """Add the mean back."""
        return x + self.tensors["mean"]


class Whiten(Step):
    """Make the vocabulary's second moment the identity (ZCA); directions without variance are left alone."""

    name = "whiten"

    def fit(self, x: Tensor) -> None:
        """Keep the whitening matrix and its inverse, both of shape (d, d)."""
        # In double precision: float32 sums would leave noise in the empty directions, to be blown up by 1 / sqrt.
        blocks = (block.cpu().double() for block in x.split(_BLOCK))
        moment = sum((block.T @ block for block in blocks), torch.zeros(x.shape[1], x.shape[1], dtype=torch.double))
        values, vectors = torch.linalg.eigh(moment / len(x))
        floor = values.max() * 1e-10
        scale = torch.where(values > floor, values, torch.ones_like(values)).sqrt()
        self.tensors = {
            "matrix": (vectors / scale @ vectors.T).to(x),
            "inverse": (vectors * scale @ vectors.T).to(x),
        }

    def apply(self, x: Tensor) -> Tensor:
        """Multiply by the whitening matrix."""
        return x @ self.tensors["matrix"]

    def invert(self, x: Tensor) -> Tensor:
        """Multiply by its inverse."""
        return x @ self.tensors["inverse"]


STEPS: dict[str, type[Step]] = {step.name: step for step in (Unit, Center, Whiten)}


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
    """A recipe, and after `fit` what its steps learnt."""

    def __init__(self, recipe: str = RENORM, steps: Sequence[Step] | None = None) -> None:
        self.recipe = recipe
        self.steps = list(steps) if steps is not None else [STEPS[name]() for name in parse_recipe(recipe)]

    def fit(self, x: Tensor) -> Tensor:
        """Fit every step on the vocabulary (n, d) and return it normalised."""
        for step in self.steps:
            step.fit(x)
            x = step.apply(x)
        return x

    def apply(self, x: Tensor) -> Tensor:
        """Normalise rows with what was learnt."""
        for step in self.steps:
            x = step.apply(x)
        return x

    @property
    def invertible(self) -> bool:
        """Whether `invert` gives back what `apply` was given."""
        return all(step.invertible for step in self.steps)

    def invert(self, x: Tensor) -> Tensor:
        """Undo `apply`, or say which step forbids it."""
        for step in self.steps:
            if not step.invertible:
                raise InputError(f"the recipe {self.recipe!r} cannot be undone: step {step.name!r} forgets the lengths")
        for step in reversed(self.steps):
            x = step.invert(x)
        return x

    def tensors(self) -> dict[str, Tensor]:
        """Everything learnt, by name."""
        return {f"{i}.{name}": t for i, step in enumerate(self.steps) for name, t in step.tensors.items()}

    @classmethod
    def from_tensors(cls, recipe: str, tensors: dict[str, Tensor]) -> Normalizer:
        """Rebuild a fitted normaliser."""
        normalizer = cls(recipe)
        for key, tensor in tensors.items():
            position, name = key.split(".")
            normalizer.steps[int(position)].tensors[name] = tensor
        return normalizer

    def to(self, device: torch.device | str) -> Normalizer:
        """Move to a device."""
        for step in self.steps:
            step.tensors = {name: t.to(device) for name, t in step.tensors.items()}
        return self
