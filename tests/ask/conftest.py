"""A small model that no test shares with another one's marks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import lnmap


@pytest.fixture(scope="session")
def made(pair, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "en-fr"
    sides = pair.source.head(1500), pair.target.head(1500)
    lnmap.align(*sides, pair.train, method="procrustes", take="100-unique", calibrate=True, out=folder)
    return folder


@pytest.fixture
def folder(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "en-fr"))


@pytest.fixture
def model(folder) -> lnmap.Model:
    return lnmap.load(folder)
