"""What the tests of the server share: two models, a client of the API, a browser."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.serve.serving import ODD, small_model

import lnmap
from lnmap.embeddings import Embeddings
from lnmap.lexicon import Lexicon
from lnmap.model import marks
from lnmap.serve.app import create_app
from lnmap.serve.models import Models


@pytest.fixture(scope="session")
def model_folder(pair, tmp_path_factory) -> Path:
    return small_model(pair, tmp_path_factory.mktemp("models") / "en-fr", calibrate=True)


@pytest.fixture(scope="session")
def odd_folder(tmp_path_factory) -> Path:
    """A tiny model whose words are all that a page must not stumble over; it knows no confidence."""
    rng = np.random.default_rng(0)
    words = [*ODD, *(f"w{i}" for i in range(60))]
    x = rng.normal(size=(len(words), 8))
    sides = [Embeddings.from_arrays(words, x + 0.01 * rng.normal(size=x.shape)) for _ in range(2)]
    folder = tmp_path_factory.mktemp("models") / "odd ones"
    lnmap.align(*sides, Lexicon([(word, word) for word in words]), method="procrustes", out=folder)
    return folder


@pytest.fixture(scope="module")
def models(model_folder, odd_folder, pair, tmp_path_factory):
    models = Models.load([model_folder, odd_folder], pair.test)
    models.start()
    yield models
    models.stop()


@pytest.fixture
def client(models, tmp_path):
    """A client; every test has a journal of its own."""
    for number, served in enumerate(models.values()):
        served.marks = marks.Marks(_made(tmp_path / str(number)))
    with TestClient(create_app(models), base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as made:
        yield made


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.fixture(scope="module")
def browser():
    from tests.serve.chromium import launched  # playwright is optional

    with launched() as made:
        yield made
