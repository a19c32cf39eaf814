from __future__ import annotations

import os
from collections.abc import Callable

import pytest
import torch
from hypothesis import settings

from lnmap.datasets import BundledPair, bundled_pair
from lnmap.testing import Planted, plant

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


@pytest.fixture(scope="session", name="plant")
def plant_fixture() -> Callable[..., Planted]:
    """Make planted rotations of any size."""
    return plant


@pytest.fixture(scope="session")
def planted(plant: Callable[..., Planted]) -> Planted:
    """500 words in 20 dimensions, with a little noise."""
    return plant()
