"""Models of any kind are served, and replaced while they are."""

from __future__ import annotations

import shutil
import time

import numpy as np
import pytest
import torch
from starlette.testclient import TestClient
from tests.serve.serving import BODY, WORDS, good, wait_for

import lnmap
from lnmap import retrieve
from lnmap.direction import Direction
from lnmap.embeddings import Embeddings
from lnmap.methods.base import LinearAlignment
from lnmap.model import model as of_models
from lnmap.normalize import Normalizer
from lnmap.progress import Silent
from lnmap.serve import schemas
from lnmap.serve.app import create_app
from lnmap.serve.browse import browse
from lnmap.serve.loaded import LoadedModel
from lnmap.serve.lookup import translate
from lnmap.serve.models import Models


def test_a_newer_model_in_the_folder_takes_the_place_of_the_old(pair, model_folder, tmp_path):
    folder = tmp_path / "en-fr"
    shutil.copytree(model_folder, folder)
    models = Models.load([folder])
    models.start()
    client = TestClient(create_app(models), base_url="http://127.0.0.1")
    try:
        client.post("/api/models/en-fr/marks", json=BODY)
        before = client.get("/api/models/en-fr").json()
        lnmap.align(pair.source.head(700), pair.target.head(700), pair.train, method="procrustes", out=folder)
        wait_for(lambda: client.get("/api/models/en-fr/state").json()["revision"] == 2)
        after = client.get("/api/models/en-fr").json()
        assert (before["sides"]["source"]["words"], after["sides"]["source"]["words"]) == (WORDS, 700)
        assert after["marks"]["right"] == 1
        (folder / "model.json").write_text("broken")
        time.sleep(1.1)
        client.get("/api/models/en-fr/state")
        time.sleep(0.5)
        assert client.get("/api/models/en-fr/translate?word=house").status_code == 200
    finally:
        models.stop()


@pytest.fixture
def without_means(pair, tmp_path, monkeypatch):
    """A model whose vocabularies count as too large to compute their neighbourhood means before anybody asks."""
    monkeypatch.setenv("LNMAP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(of_models, "MOST", 1000)
    words, folder = (pair.source.head(2500), pair.target.head(2500)), tmp_path / "en-fr"
    assert not lnmap.align(*words, pair.train, method="procrustes", out=folder).means
    return folder


def test_a_word_is_translated_before_the_means_of_all_words_are_known(without_means):
    loaded = LoadedModel(without_means, None, Silent())
    assert not loaded.has_means
    (found,) = translate(loaded, ["house"], 1, Direction.FORWARD, loaded.said({}))
    page = browse(loaded, loaded.said({}), schemas.Selection())
    assert (page["known"], page["total"], page["words"]) == (0, 0, 2500)
    assert not loaded.has_means
    loaded.start()
    loaded._lexicon.wait()
    assert loaded.has_means
    assert translate(loaded, ["house"], 1, Direction.FORWARD, loaded.said({})) == [found]
    assert browse(loaded, loaded.said({}), schemas.Selection())["known"] == 2500


def test_means_that_a_model_lacks_are_computed_once(without_means, monkeypatch):
    first = LoadedModel(without_means, None, Silent())
    first.start()
    first._lexicon.wait()
    monkeypatch.setattr(retrieve, "means_of_both", None)  # nothing is left to compute
    second = LoadedModel(without_means, None, Silent())
    sides = zip(first.model.space().known_means, second.model.space().known_means, strict=True)
    assert all(torch.equal(one, other) for one, other in sides)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_smallest_models_are_served(tmp_path, size):
    rng = np.random.default_rng(size)
    words = ["a", "b", "c"][:size]
    sides = [Embeddings.from_arrays(words, rng.normal(size=(size, dim))) for dim in (2, 2)]
    norms = Normalizer("unit"), Normalizer("unit")
    model = lnmap.Model(*sides, LinearAlignment(norms, torch.eye(2), torch.eye(2)), info={"method": "procrustes"})
    models = Models.load([lnmap.save(model, tmp_path / "tiny")])
    client = TestClient(create_app(models), base_url="http://127.0.0.1")
    for view in ("translate", "neighbours", "map"):
        assert client.get(f"/api/models/tiny/{view}?word=a").status_code == 200
    for view in ("lexicon?sort=surest", "state", "complete?prefix=a", "marks/export"):
        assert client.get(f"/api/models/tiny/{view}").status_code == 200
    assert client.get("/api/models/tiny/translate?word=zz").status_code == 404


def test_sides_of_different_dimensions_share_a_map(tmp_path):
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(20)]
    sides = [Embeddings.from_arrays(words, rng.normal(size=(20, dim))) for dim in (3, 5)]
    alignment = LinearAlignment((Normalizer("unit"), Normalizer("unit")), torch.eye(3), torch.eye(5)[:, :3])
    model = lnmap.Model(*sides, alignment, info={"method": "procrustes"})
    client = TestClient(create_app(Models.load([lnmap.save(model, tmp_path / "m")])), base_url="http://127.0.0.1")
    good(client.get("/api/models/m/map?word=w1&direction=backward"), schemas.WordMap)


def test_a_model_with_a_space_for_each_direction(pair, tmp_path):
    """LNMap: the way back is another space, the confidence is of its own."""
    options = {"iterations": 3, "steps": 5, "epochs": 1}
    cut = pair.source.head(400), pair.target.head(400)
    model = lnmap.align(*cut, pair.train, method="lnmap", calibrate=True, options=options)
    client = TestClient(create_app(Models.load([model.save(tmp_path / "m")])), base_url="http://127.0.0.1")
    for direction, word in zip(Direction, ("house", "maison"), strict=True):
        params = {"word": word, "direction": direction.value, "k": 3}
        found = client.get("/api/models/m/translate", params=params).json()
        for got, want in zip(found["candidates"], model.translate(word, 3, direction)[0].candidates, strict=True):
            back = model.translate(want.word, 1, direction.opposite)[0].words[0]
            assert (got["word"], got["back"]) == (want.word, back)
            assert got["confidence"] == pytest.approx(want.confidence, abs=1e-3)
