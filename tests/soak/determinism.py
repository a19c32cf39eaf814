"""Determinism: the same seed gives the same bytes; count how often the number of threads changes them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from tests.soak.figures import Budget, Figures
from tests.soak.lab import Lab, model_bits

import lnmap
from lnmap.datasets import bundled_pair
from lnmap.methods import METHODS

_WORDS = 3000  # of two real languages, some of which differ only in their accents


def bits(method: str, threads: int, seed: int) -> str | None:
    """Fit a method and hash all that the model has learnt; called in a process of its own."""
    torch.set_num_threads(threads)
    pair = bundled_pair()
    sides = pair.source.head(_WORDS), pair.target.head(_WORDS)
    model = lnmap.align(*sides, pair.train, method=method, options=METHODS[method].quick, seed=seed, device="cpu")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "model")
        model.save(folder)
        return model_bits(folder)


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
