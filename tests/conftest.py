from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import settings

from lnmap.datasets import BundledPair, bundled_pair
from lnmap.embeddings import Embeddings
from lnmap.lexicon import Lexicon


@dataclass(frozen=True)
class Planted:
    """A problem whose answer is known: target = source @ rotation + noise, in another order of words."""

    source: Embeddings
    target: Embeddings
    lexicon: Lexicon  # (w0, w0), (w1, w1), ...: source row i, but not target row i
    rotation: np.ndarray


# The same examples in every run, so that a failure belongs to the change under test; LNMAP_FUZZ=1 draws new ones.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", derandomize=False, deadline=None)
settings.load_profile("new" if os.environ.get("LNMAP_FUZZ") else "same")


def pytest_configure() -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:  # the workers share the cores already
        torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory):
    """Keep all tests, and the programs that they start, out of the user's cache."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LNMAP_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def pair() -> BundledPair:
    """The real English-French pair that comes with the package."""
    return bundled_pair()


@pytest.fixture(scope="session")
def plant() -> Callable[..., Planted]:
    """Make planted rotations of any size."""

    def make(n: int = 500, d: int = 20, noise: float = 0.01, seed: int = 0) -> Planted:
        rng = np.random.default_rng(seed)
        rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
        source = rng.normal(size=(n, d))
        target = source @ rotation + noise * rng.normal(size=(n, d))
        words = [f"w{i}" for i in range(n)]
        order = rng.permutation(n)
        return Planted(
            Embeddings.from_arrays(words, source),
            Embeddings.from_arrays([words[i] for i in order], target[order]),
            Lexicon.from_pairs((word, word) for word in words),
            rotation.astype(np.float32),
        )

    return make


@pytest.fixture(scope="session")
def planted(plant: Callable[..., Planted]) -> Planted:
    """500 words in 20 dimensions, with a little noise."""
    return plant()
