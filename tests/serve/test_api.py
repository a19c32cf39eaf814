"""The API of the server: what it answers, and that it keeps to its own description."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter
from starlette.testclient import TestClient
from tests.serve.serving import WORDS, bad, good, subword_model, wait_for

from lnmap.cli import main
from lnmap.direction import Direction
from lnmap.serve import schemas
from lnmap.serve.app import create_app
from lnmap.serve.background import JobState
from lnmap.serve.models import Models, make_ids


def test_models_are_listed_by_names_that_fit_an_address(client):
    found = client.get("/api/models").json()
    for one in found:
        TypeAdapter(schemas.ModelSummary).validate_python(one)
    assert [one["id"] for one in found] == ["en-fr", "odd-ones"]
    assert found[0]["source"] == {"words": WORDS, "language": "en"}
    assert [one["calibrated"] for one in found] == [True, False]
    assert make_ids([Path("a/x"), Path("b/x"), Path("日本"), Path("c/x")]) == ["x", "x-2", "model", "x-3"]


@pytest.mark.parametrize("direction", Direction)
def test_translation_is_what_the_model_says(client, models, direction):
    model = models["en-fr"].loaded.model
    word = "house" if direction is Direction.FORWARD else "maison"
    found = good(
        client.get("/api/models/en-fr/translate", params={"word": word, "k": 7, "direction": direction.value}),
        schemas.Translation,
    )
    expected = model.translate(word, 7, direction)[0].candidates
    assert [one["word"] for one in found["candidates"]] == [one.word for one in expected]
    for got, want in zip(found["candidates"], expected, strict=True):
        assert got["csls"] == pytest.approx(want.score, abs=1e-4)
        assert got["cosine"] == pytest.approx(want.cosine, abs=1e-4)
        assert got["confidence"] == (None if want.given else pytest.approx(want.confidence, abs=1e-3))
        assert (got["given"], got["rank"]) == (want.given, want.rank)
        back = model.translate(got["word"], 1, direction.opposite)[0].words[0]
        assert got["back"] == back
        assert got["returns"] == (back == word)
    assert found["rank"] == model.side(direction.asked).index[word] + 1


def test_what_candidates_are_translated_to_is_left_out_on_request(client, models, monkeypatch):
    address = "/api/models/en-fr/translate?word=house&k=7"
    whole = good(client.get(address), schemas.Translation)
    monkeypatch.setattr(models["en-fr"].loaded, "best", None)  # nothing is looked up
    quick = good(client.get(address + "&back=false"), schemas.Translation)
    assert all(one["back"] is None and one["returns"] is None for one in quick["candidates"])
    without = [{**one, "back": None, "returns": None} for one in whole["candidates"]]
    assert quick == {**whole, "candidates": without}


@pytest.fixture(scope="module")
def subword_folder(tmp_path_factory) -> Path:
    return subword_model(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("name", ["en-fr", "spelt"])
def test_the_page_and_the_command_line_answer_alike(name, direction, request, capsys):
    """Both are asked for the same words, known and unknown, and give the same words, scores and confidence."""
    folder = request.getfixturevalue({"en-fr": "model_folder", "spelt": "subword_folder"}[name])
    words = {
        ("en-fr", Direction.FORWARD): ["house", "water", "qqqqqqq"],
        ("en-fr", Direction.BACKWARD): ["maison", "état", "qqqqqqq"],
    }.get((name, direction), ["kalemed", "misunderstandings", "kalemings", "благодарности"])
    reverse = ["--reverse"] if direction is Direction.BACKWARD else []
    capsys.readouterr()
    assert main(["translate", str(folder), *words, "-k", "4", "--json", *reverse]) == 0
    by_command = json.loads(capsys.readouterr().out)
    client = TestClient(create_app(Models.load([folder])), base_url="http://127.0.0.1")
    body = {"words": words, "k": 4, "direction": direction.value}
    path = f"/api/models/{name}/translate"
    by_page = good(client.post(path, json=body), schemas.Translations)["translations"]
    for word, one, other in zip(words, by_command, by_page, strict=True):
        params = {"word": word, "k": 4, "direction": direction.value}
        single = client.get(path, params=params)
        assert single.status_code == (200 if one["known"] else 404)
        assert (one["word"], one["known"], one.get("subwords", False)) == (word, other["known"], other["subwords"])
        assert [found["word"] for found in one["candidates"]] == [found["word"] for found in other["candidates"]]
        for answer in [other, *([single.json()] if one["known"] else [])]:
            for want, got in zip(one["candidates"], answer["candidates"], strict=True):
                assert got["csls"] == pytest.approx(want["csls"], abs=2e-6)
                assert got["cosine"] == pytest.approx(want["cosine"], abs=2e-6)
                assert got["confidence"] == pytest.approx(want.get("confidence"), abs=1e-4)
                assert (got["given"], got["rank"]) == (want["given"], want["rank"])
    spelt = [one["word"] for one in by_page if one["subwords"]]
    assert spelt == (words[1:] if name == "spelt" else [])
    assert [one["rank"] for one in by_page if one["subwords"]] == [None] * len(spelt)
    for word in spelt:
        params = {"word": word, "direction": direction.value}
        near = good(client.get(f"/api/models/{name}/neighbours", params=params), schemas.Neighbours)
        assert near["own"][0]["cosine"] > 0.5
        drawn = good(client.get(f"/api/models/{name}/map", params=params), schemas.WordMap)
        assert (drawn["points"][0]["word"], drawn["points"][0]["role"]) == (word, "word")


def test_what_is_not_calibrated_gets_no_number(client):
    found = good(client.get("/api/models/odd-ones/translate", params={"word": "w1"}), schemas.Translation)
    assert {one["confidence"] for one in found["candidates"]} == {None}


def test_batch_keeps_its_order_and_marks_unknown_words(client):
    words = ["house", "hosue", "water", "house"]
    body = {"words": words, "k": 2}
    found = good(client.post("/api/models/en-fr/translate", json=body), schemas.Translations)["translations"]
    assert [one["known"] for one in found] == [True, False, True, True]
    assert found[0] == found[3]
    assert "house" in found[1]["spellings"]
    single = client.get("/api/models/en-fr/translate", params={"word": "water", "k": 2}).json()
    assert found[2]["candidates"][0]["word"] == single["candidates"][0]["word"]


def test_unknown_word_gets_spellings(client):
    found = bad(client.get("/api/models/en-fr/translate", params={"word": "goverment"}), 404, "unknown_word")
    assert found["spellings"][0] == "government"


@pytest.mark.parametrize("word", ["House", " house ", "ho\u0075se"])
def test_words_are_found_as_people_type_them(client, word):
    assert client.get("/api/models/en-fr/translate", params={"word": word}).json()["word"] == "house"


def test_decomposed_letters_are_found(client):
    params = {"word": "e\u0301tat", "direction": "backward"}
    assert client.get("/api/models/en-fr/translate", params=params).json()["word"] == "état"


def test_completion(client):
    found = good(client.get("/api/models/en-fr/complete", params={"prefix": "hou"}), schemas.Completions)["words"]
    assert found[:2] == ["house", "hours"]
    params = {"prefix": "ETA", "side": "target"}
    assert "état" in client.get("/api/models/en-fr/complete", params=params).json()["words"]
    assert client.get("/api/models/en-fr/complete", params={"prefix": "zzzz"}).json() == {"words": []}


def test_neighbours_and_map(client, models):
    model = models["en-fr"].loaded.model
    near = good(client.get("/api/models/en-fr/neighbours", params={"word": "house", "k": 5}), schemas.Neighbours)
    vectors = model.source.vectors / np.linalg.norm(model.source.vectors, axis=1, keepdims=True)
    order = np.argsort(-(vectors @ vectors[model.source.index["house"]]))[1:6]
    assert [one["word"] for one in near["own"]] == [model.source.words[row] for row in order]
    cosine = model.translate("house", 5, criterion="cosine")[0]
    assert [one["word"] for one in near["other"]] == cosine.words
    drawn = good(client.get("/api/models/en-fr/map", params={"word": "house"}), schemas.WordMap)
    places = np.array([[*point["before"], *point["after"]] for point in drawn["points"]])
    assert np.abs(places).max() <= 1.0 + 1e-6
    assert drawn["points"][0]["role"] == "word"
    assert {point["side"] for point in drawn["points"]} == {"source", "target"}
    sides = np.array([point["side"] == "source" for point in drawn["points"]])
    apart = [np.linalg.norm(part[sides].mean(0) - part[~sides].mean(0)) for part in (places[:, :2], places[:, 2:])]
    assert apart[0] > 2 * apart[1]  # what was apart before the alignment lies together after it


def test_lexicon_pages_sorts_and_filters(client, models):
    served = models["en-fr"]
    wait_for(lambda: client.get("/api/models/en-fr/state").json()["backward"]["known"] == WORDS)
    get = lambda **params: good(client.get("/api/models/en-fr/lexicon", params=params), schemas.LexiconPage)  # noqa: E731
    first = get(limit=5)
    assert [entry["rank"] for entry in first["entries"]] == [1, 2, 3, 4, 5]
    assert get(limit=5, offset=5)["entries"][0]["rank"] == 6
    assert first["total"] == first["known"] == first["words"] == WORDS
    sure = [entry["confidence"] for entry in get(sort="surest", limit=50, given=False)["entries"]]
    assert sure == sorted(sure, reverse=True)
    assert get(sort="unsurest", limit=1)["entries"][0]["confidence"] <= min(sure)
    mutual = get(mutual=True, limit=200, given=False)
    assert all(entry["returns"] for entry in mutual["entries"])
    assert mutual["total"] == len(served.loaded.model.induce("mutual", given=False))
    found = get(text="HOUS", limit=50)["entries"]
    assert found
    assert all("hous" in entry["source"] or "hous" in entry["target"] for entry in found)
    backward = get(direction="backward", limit=1)["entries"][0]
    assert backward["target"] == served.loaded.model.target.words[0]
    assert get(offset=10_000)["entries"] == []


def test_card_tells_everything(client, models):
    wait_for(lambda: client.get("/api/models/en-fr/state").json()["scores"]["state"] == "done")
    found = good(client.get("/api/models/en-fr"), schemas.About)
    assert found["method"]["title"] == "Orthogonal Procrustes"
    assert found["calibrated_on"] > 0
    model = models["en-fr"].loaded.model
    assert found["seed_pairs"]["count"] == len(model.pairs)
    forward = found["scores"]["forward"]
    bands = forward["bands"]
    assert [band["from"] for band in bands] == [1, 1001]
    assert sum(band["words"] for band in bands) == forward["n"]
    mean = sum(band["p@1"] * band["words"] for band in bands) / forward["n"]
    assert mean == pytest.approx(forward["p@1"], abs=0.01)
    assert str(Path(models["en-fr"].folder).parent) not in json.dumps(found)  # no path of this machine
    assert found["isometry"] is None


def test_isometry_is_measured_on_demand(client):
    assert client.get("/api/models/odd-ones").json()["isometry"] is None
    good(client.post("/api/models/odd-ones/isometry", json={}), JobState, 202)
    wait_for(lambda: client.get("/api/models/odd-ones/state").json()["isometry"]["state"] == "done")
    assert client.get("/api/models/odd-ones").json()["isometry"]["gh"] >= 0


def test_description_names_every_endpoint_and_its_errors(client):
    described = client.get("/api/openapi.json").json()
    paths = described["paths"]
    assert len(paths) == 19
    for path, operations in paths.items():
        for operation in operations.values():
            assert operation["description"], path
            assert {"400", "403", "404", "422"} <= set(operation["responses"]), path
            error = operation["responses"]["422"]["content"]["application/json"]["schema"]["$ref"]
            assert error.endswith("/Error")
