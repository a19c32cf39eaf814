"""Determinism: the same seed gives the same bytes; count how often the number of threads changes them."""

from __future__ import annotations

import hashlib

import torch
from tests.soak.figures import Budget, Figures
from tests.soak.lab import Lab
from tests.soak.numbers import Case

from lnmap.methods import METHODS


def bits(method: str, threads: int, seed: int) -> str:
    """Fit a method and hash every tensor that it has learnt; called in a process of its own."""
    torch.set_num_threads(threads)
    model = Case.planted(600, 40).align(method, seed=seed)
    digest = hashlib.sha256()
    for name, tensor in sorted(model.alignment.state()[1].items()):
        digest.update(name.encode() + tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()


def _fit_twice(lab: Lab, method: str, threads: int, seed: int) -> str:
    first, second = (
        lab.launcher.call("tests.soak.determinism:bits", method, threads, seed).result(method) for _ in "ab"
    )
    if first != second:
        raise AssertionError(f"{method}: two runs with seed {seed} and {threads} threads differ")
    return first


def same_bytes(lab: Lab, budget: Budget) -> Figures:
    """Fit every method twice with one thread, and twice with two."""
    figures = Figures()
    for number, method in enumerate(list(METHODS) * 100):
        if not budget.more(figures, len(METHODS)):
            break
        seed = number // len(METHODS)
        with figures.attempt():
            one, two = (_fit_twice(lab, method, threads, seed) for threads in (1, 2))
            figures.count("other bytes with two threads than with one", one != two)
    return figures
