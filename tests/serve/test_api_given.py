"""What was given as a seed pair comes first on the page, and is marked."""

from __future__ import annotations

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.serve.serving import WORDS, good, wait_for

import lnmap
from lnmap.direction import Direction
from lnmap.embeddings import Embeddings
from lnmap.lexicon import Lexicon
from lnmap.model.marks import ordered
from lnmap.serve import schemas
from lnmap.serve.app import create_app
from lnmap.serve.models import Models


@pytest.mark.parametrize("direction", Direction)
def test_every_seed_word_is_answered_as_it_was_given(client, models, direction):
    seed = list(models["en-fr"].loaded.model.seed(direction))
    body = {"words": [word for word, _ in seed][:500], "direction": direction.value, "k": 2}
    path = "/api/models/en-fr/translate"
    for one in good(client.post(path, json=body), schemas.Translations)["translations"]:
        first = one["candidates"][0]
        assert (one["word"], first["word"]) in seed
        assert (first["given"], first["confidence"]) == (True, None)
        assert first["rank"] >= 1
    own = good(client.post(path, json=body | {"given": False}), schemas.Translations)["translations"]
    assert not any(candidate["given"] for one in own for candidate in one["candidates"])
    assert any((one["word"], one["candidates"][0]["word"]) not in seed for one in own)
    params = {"word": seed[0][0], "direction": direction.value}
    assert client.get(path, params=params).json()["candidates"][0]["given"]
    assert not client.get(path, params=params | {"given": "false"}).json()["candidates"][0]["given"]


@pytest.mark.parametrize("direction", Direction)
def test_the_lexicon_shows_given_pairs(client, models, direction):
    wait_for(lambda: client.get("/api/models/en-fr/state").json()["backward"]["known"] == WORDS)
    model, way = models["en-fr"].loaded.model, direction.value

    def get(**params):
        return good(client.get("/api/models/en-fr/lexicon", params={"direction": way, **params}), schemas.LexiconPage)

    for sort in ("surest", "frequency"):
        entries = get(sort=sort, limit=100)["entries"]
        for entry in entries:
            word, answer = ordered((entry["source"], entry["target"]), direction)
            first = model.translate(word, 1, direction)[0].candidates[0]
            assert (answer, entry["given"]) == (first.word, first.given)
            assert entry["csls"] == pytest.approx(first.score, abs=1e-5)
            assert (entry["confidence"] is None) == entry["given"]
        assert all(entry["given"] for entry in entries) == (sort == "surest")
    assert not get(sort="unsurest", limit=1)["entries"][0]["given"]
    assert not any(entry["given"] for entry in get(limit=200, given=False)["entries"])
    mutual = get(limit=200, mutual=True)["entries"]
    assert all(entry["given"] or entry["returns"] for entry in mutual)
    assert any(entry["given"] for entry in mutual)
    assert client.get("/api/models").json()[0]["given"] == len(model.pairs)


def test_a_pair_marked_right_is_given(client, models):
    source, target = next(iter(models["en-fr"].loaded.model.pairs))
    for one in (target, "qqq"):
        client.post("/api/models/en-fr/marks", json={"source": source, "target": one, "mark": "right"})
    found = client.get("/api/models/en-fr/lexicon", params={"show": "right"}).json()["entries"]
    assert {entry["target"]: entry["given"] for entry in found} == {target: True, "qqq": True}


def test_a_given_word_without_a_vector(tmp_path):
    rng = np.random.default_rng(0)
    words, x = [f"w{i}" for i in range(60)], rng.normal(size=(60, 8))
    sides = [Embeddings.from_arrays(words, x) for _ in range(2)]
    model = lnmap.align(*sides, Lexicon([(word, word) for word in words]), method="procrustes")
    model.pairs = Lexicon([("nowhere", "w5"), ("w1", "nulle part")])
    model.save(tmp_path / "m")
    client = TestClient(create_app(Models.load([tmp_path / "m"])), base_url="http://127.0.0.1")
    found = good(client.get("/api/models/m/translate", params={"word": "Nowhere"}), schemas.Translation)
    assert (found["known"], found["subwords"], found["rank"]) == (True, False, None)
    assert [(c["word"], c["csls"], c["given"]) for c in found["candidates"]] == [("w5", None, True)]
    (first, *_) = client.get("/api/models/m/translate", params={"word": "w1"}).json()["candidates"]
    assert (first["word"], first["back"], first["returns"]) == ("nulle part", "w1", True)
    assert client.get("/api/models/m/translate", params={"word": "nowhere", "given": False}).status_code == 404


def test_the_lexicon_has_only_words(tmp_path):
    tokens = ["</s>", ",", "2004", "$", *(f"w{i}" for i in range(60))]
    x = np.random.default_rng(0).normal(size=(64, 8))
    sides = [Embeddings.from_arrays(tokens, x) for _ in range(2)]
    seed = Lexicon([(token, token) for token in ("$", *tokens[20:])])
    lnmap.align(*sides, seed, method="procrustes", out=tmp_path / "m")
    models = Models.load([tmp_path / "m"])
    models.start()
    client = TestClient(create_app(models), base_url="http://127.0.0.1")
    wait_for(lambda: client.get("/api/models/m/state").json()["backward"]["known"] == 64)
    for params, count in (({}, 61), ({"given": False}, 60), ({"tokens": True}, 64)):
        page = good(client.get("/api/models/m/lexicon", params=params), schemas.LexiconPage)
        assert (page["total"], page["words"]) == (count, 64)
        assert (page["entries"][0]["source"] == "</s>") == ("tokens" in params)
    models.stop()
