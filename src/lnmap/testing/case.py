"""A method under test: short fits of planted rotations, and what they did to their surroundings."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from lnmap.errors import LnmapError
from lnmap.methods.base import Alignment, Method, Run
from lnmap.model.model import Model
from lnmap.testing.problem import Planted, plant


class BrokenRuleError(Exception):
    """A rule is broken; the message says what was found instead."""


def require(kept: bool, found: str) -> None:
    """Raise unless a rule is kept."""
    if not kept:
        raise BrokenRuleError(found)


@dataclass
class Fit:
    """One fit and what it did to its surroundings."""

    alignment: Alignment
    inputs_kept: bool
    generators_changed: list[str]


class Case:
    """One method's class, built with the options of a short run (`Method.quick`)."""

    def __init__(self, cls: type[Method]) -> None:
        self.cls, self.name = cls, cls.name

    def build(self) -> Method:
        """Return the method with the options of a short run."""
        return self.cls(self.cls.Options().with_values(self.cls.quick))

    @cached_property
    def problem(self) -> Planted:
        """The problem that most rules look at."""
        return plant(n=600, d=40, noise=0.01)

    @cached_property
    def fitted(self) -> Fit:
        """A fit of it, made once."""
        return self.fit(self.problem)

    @property
    def model(self) -> Model:
        """A model of that fit."""
        return self.model_of(self.problem, self.fitted.alignment)

    def model_of(self, problem: Planted, alignment: Alignment) -> Model:
        """Return a model of a problem, without its pairs, so that all answers are the method's own."""
        return Model(problem.source, problem.target, alignment, info={"method": self.name})

    def fit(self, problem: Planted, elsewhere: int = 0, **settings: Any) -> Fit:
        """Fit the method on all pairs of a problem.

        :param elsewhere: the seed of the global random generators, which the method must not touch.
        """
        inputs = problem.tensors()
        before = [tensor.clone() for tensor in inputs]
        with _generators(elsewhere):
            states = _states()
            alignment = self.build().fit(*inputs, Run(**settings))
            changed = [name for name, state in _states().items() if state != states[name]]
        kept = all(torch.equal(a, b) for a, b in zip(before, inputs, strict=True))
        return Fit(alignment, kept, changed)

    def fit_or_refuse(self, problem: Planted, **settings: Any) -> Alignment | None:
        """Fit, with a finite result, or be refused by one line of lnmap's own errors."""
        try:
            alignment = self.fit(problem, **settings).alignment
        except LnmapError as error:
            require(bool(str(error).strip()) and "\n" not in str(error), f"its error is not one line: {error}")
            return None
        except Exception as error:
            raise BrokenRuleError(f"it raises {type(error).__name__} ({error}) instead of an LnmapError") from error
        require_finite_state(alignment)
        return alignment


def require_finite_state(alignment: Alignment) -> None:
    """Require that an alignment's state has tensors, all of them finite."""
    tensors = alignment.state()[1]
    wrong = [name for name, tensor in tensors.items() if not torch.isfinite(tensor).all()]
    require(bool(tensors), "its state has no tensors")
    require(not wrong, f"its state has values that are not finite: {', '.join(wrong)}")


def require_same_state(one: Alignment, other: Alignment) -> None:
    """Require that two alignments have the same state, bit for bit."""
    (values, tensors), (other_values, other_tensors) = one.state(), other.state()
    require(values == other_values and tensors.keys() == other_tensors.keys(), "the two states hold other things")
    different = [name for name in tensors if not torch.equal(tensors[name], other_tensors[name])]
    require(not different, f"the two states differ in {', '.join(different)}")


def _states() -> dict[str, Any]:
    numpy_state: Any = np.random.get_state()  # noqa: NPY002
    return {"torch": torch.get_rng_state().tolist(), "numpy": numpy_state[1].tolist(), "random": random.getstate()}


@contextmanager
def _generators(seed: int) -> Iterator[None]:
    """Seed the global generators, and put them back afterwards."""
    before = torch.get_rng_state(), np.random.get_state(), random.getstate()  # noqa: NPY002
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
    try:
        yield
    finally:
        torch.set_rng_state(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
        random.setstate(before[2])
