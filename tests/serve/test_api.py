"""The API of the server: what it answers, what it refuses, and that it keeps to its own description."""

from __future__ import annotations

import csv
import io
import json
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter
from starlette.testclient import TestClient
from tests.serve.serving import WORDS, small_model, subword_model

import lnmap
from lnmap.cli import main
from lnmap.direction import Direction
from lnmap.embeddings import Embeddings
from lnmap.errors import OutputError
from lnmap.io import read_lexicon
from lnmap.lexicon import Lexicon
from lnmap.methods.base import LinearAlignment
from lnmap.normalize import Normalizer
from lnmap.serve import limits, marks, schemas
from lnmap.serve.app import create_app
from lnmap.serve.background import JobState
from lnmap.serve.models import Models, make_ids

JSON = {"content-type": "application/json"}
ODD = ["=1+1", "@sum", "-2", "+3", "|x", "＝1", '"=2', "<b>bold</b>", "سلام", "שלום", "がっこう", "a b", "\udcff", "é"]


@pytest.fixture(scope="module")
def model_folder(pair, tmp_path_factory) -> Path:
    return small_model(pair, tmp_path_factory.mktemp("models") / "en-fr", calibrate=True)


@pytest.fixture(scope="module")
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


def wait_for(condition, patience=60.0):
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.05)


def good(response, schema, status=200):
    """Check an answer against the API's own description of it."""
    assert response.status_code == status, response.text
    TypeAdapter(schema).validate_python(response.json())
    return response.json()


def bad(response, status, code):
    assert response.status_code == status, response.text
    found = TypeAdapter(schemas.Error).validate_python(response.json())
    assert found["code"] == code
    assert found["message"]
    return found


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
        assert got["confidence"] == pytest.approx(want.confidence, abs=1e-3)
        back = model.translate(got["word"], 1, direction.opposite)[0].words[0]
        assert got["back"] == back
        assert got["returns"] == (back == word)
    assert found["rank"] == model.side(direction.asked).index[word] + 1


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
        assert [found["word"] for found in one["translations"]] == [found["word"] for found in other["candidates"]]
        for answer in [other, *([single.json()] if one["known"] else [])]:
            for want, got in zip(one["translations"], answer["candidates"], strict=True):
                assert got["csls"] == pytest.approx(want["score"], abs=2e-6)
                assert got["cosine"] == pytest.approx(want["cosine"], abs=2e-6)
                assert got["confidence"] == pytest.approx(want["confidence"], abs=1e-4)
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
    sure = [entry["confidence"] for entry in get(sort="surest", limit=50)["entries"]]
    assert sure == sorted(sure, reverse=True)
    assert get(sort="unsurest", limit=1)["entries"][0]["confidence"] <= min(sure)
    mutual = get(mutual=True, limit=200)
    assert all(entry["returns"] for entry in mutual["entries"])
    assert mutual["total"] == len(served.loaded.model.induce("mutual"))
    found = get(text="HOUS", limit=50)["entries"]
    assert found
    assert all("hous" in entry["source"] or "hous" in entry["target"] for entry in found)
    backward = get(direction="backward", limit=1)["entries"][0]
    assert backward["target"] == served.loaded.model.target.words[0]
    assert get(offset=10_000)["entries"] == []


def test_marks_count_until_they_are_taken_back(client):
    mark = lambda source, target, what: good(  # noqa: E731
        client.post("/api/models/en-fr/marks", json={"source": source, "target": target, "mark": what}),
        schemas.Marked,
        201,
    )
    assert mark("House", "maison", "right") | {"time": ""} == {
        "source": "house", "target": "maison", "mark": "right", "time": "", "known": True, "version": 1
    }  # fmt: skip
    mark("water", "eau", "wrong")
    assert not mark("zyx", "eau", "added")["known"]
    mark("house", "maison", "wrong")
    state = good(client.get("/api/models/en-fr/state"), schemas.ModelState)
    assert state["marks"] == {"right": 0, "wrong": 2, "added": 1}
    assert client.get("/api/models/en-fr/translate?word=house").json()["candidates"][0]["mark"] == "wrong"
    shown = client.get("/api/models/en-fr/lexicon?show=wrong").json()["entries"]
    assert {entry["source"] for entry in shown} == {"house", "water"}
    assert client.get("/api/models/en-fr/lexicon?show=added").json()["entries"][0]["csls"] is None
    unmarked = client.get("/api/models/en-fr/lexicon?show=unmarked&text=house").json()["entries"]
    assert "house" not in {entry["source"] for entry in unmarked}
    mark("house", "maison", "none")
    found = good(client.get("/api/models/en-fr/marks"), schemas.MarkList)
    assert [one["source"] for one in found["marks"]] == ["water", "zyx"]


def test_export_is_a_dictionary_that_align_takes(client, models, tmp_path):
    model = models["en-fr"].loaded.model
    seed = model.pairs.pairs[0]
    for source, target, mark in (("house", "maison", "right"), (*seed, "wrong"), ("a b", "c d", "added")):
        client.post("/api/models/en-fr/marks", json={"source": source, "target": target, "mark": mark})
    for name, params in (("all", {}), ("mine", {"seed": "without"})):
        response = client.get("/api/models/en-fr/marks/export", params=params)
        assert response.headers["content-disposition"] == 'attachment; filename="en-fr-pairs.tsv"'
        (tmp_path / name).write_bytes(response.content)
    everything, mine = (read_lexicon(tmp_path / name).pairs for name in ("all", "mine"))
    assert set(mine) == {("house", "maison"), ("a b", "c d")}
    assert set(everything) == ({*model.pairs.pairs} - {seed}) | set(mine)


def test_no_export_holds_a_formula(client, tmp_path):
    words = [word for word in ODD if word != "\udcff"]
    for word in words:
        json_body = {"source": word, "target": word, "mark": "right"}
        assert client.post("/api/models/odd-ones/marks", json=json_body).status_code == 201
    rows = {}
    for kind in ("tsv", "csv"):
        data = client.get("/api/models/odd-ones/marks/export", params={"format": kind, "seed": "without"}).content
        (tmp_path / kind).write_bytes(data)
        delimiter = "\t" if kind == "tsv" else ","
        rows[kind] = list(csv.reader(io.StringIO(data.decode("utf-8-sig")), delimiter=delimiter))
        assert len(rows[kind]) == len(words) + 1
        for row in rows[kind]:
            assert not any(cell.startswith(("=", "+", "-", "@", "|", "＝")) for cell in row), row
    assert [pair[0] for pair in read_lexicon(tmp_path / "tsv").pairs] == words
    assert [row[0].removeprefix("'") for row in rows["csv"][1:]] == words


def test_words_that_are_no_text_do_no_harm(client):
    """A vocabulary may hold bytes that were no UTF-8; they are shown, and cannot be asked for."""
    response = client.get("/api/models/odd-ones/lexicon?limit=50")
    assert response.status_code == 200
    assert "\udcff" in {entry["source"] for entry in json.loads(response.content)["entries"]}
    bad(client.get("/api/models/odd-ones/translate?word=%ff"), 400, "invalid_utf8")
    body = b'{"source": "\\udcff", "target": "w1", "mark": "right"}'
    bad(client.post("/api/models/odd-ones/marks", content=body, headers=JSON), 422, "invalid")
    assert client.get("/api/models/odd-ones/marks/export").content.count(b"\xff") == 2  # a seed pair keeps its bytes


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


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/models/none/translate?word=a", 404, "unknown_model"),
        ("/api/models/..%2f..%2fetc/state", 404, "not_found"),
        ("/api/models/%2e%2e/state", 404, "unknown_model"),
        ("/api/nothing", 404, "not_found"),
        ("/static/..%2fapp.py", 404, "not_found"),
        ("/static/app.py", 404, "not_found"),
        ("/api/models/en-fr/translate", 422, "invalid"),
        ("/api/models/en-fr/translate?word=", 422, "invalid"),
        ("/api/models/en-fr/translate?word=" + "x" * (limits.WORD + 1), 422, "invalid"),
        ("/api/models/en-fr/translate?word=house&k=0", 422, "invalid"),
        ("/api/models/en-fr/translate?word=house&k=51", 422, "invalid"),
        ("/api/models/en-fr/translate?word=house&direction=up", 422, "invalid"),
        ("/api/models/en-fr/lexicon?direction=up", 422, "invalid"),
        ("/api/models/en-fr/complete?prefix=a&side=up", 422, "invalid"),
        ("/api/models/en-fr/translate?word=%c3%28", 400, "invalid_utf8"),
        ("/api/models/en-fr/map?word=qqqqqqq", 404, "unknown_word"),
        ("/api/models/en-fr/neighbours?word=%20", 404, "unknown_word"),
        ("/api/models/en-fr/lexicon?limit=201", 422, "invalid"),
        ("/api/models/en-fr/lexicon?offset=-1", 422, "invalid"),
        ("/api/models/en-fr/marks/export?format=xls", 422, "invalid"),
    ],
)
def test_bad_questions(client, path, status, code):
    assert "up" not in bad(client.get(path), status, code)["message"]  # what was sent is not repeated


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "bad_request"),
        (b'{"source": "\xff"}', 400, "bad_request"),
        (b"[1]", 422, "invalid"),
        (b"null", 422, "invalid"),
        (b'{"source": "a", "target": "b", "mark": "perhaps"}', 422, "invalid"),
        (b'{"source": "", "target": "b", "mark": "right"}', 422, "invalid"),
        (b'{"source": " ", "target": "b", "mark": "right"}', 422, "invalid"),
        (b'{"source": "a\\tb", "target": "b", "mark": "right"}', 422, "invalid"),
        (b'{"source": "a\\nb", "target": "b", "mark": "right"}', 422, "invalid"),
        (b'{"source": 1, "target": "b", "mark": "right"}', 422, "invalid"),
        (b'{"source": "a", "target": "b", "mark": "right", "path": "/etc"}', 422, "invalid"),
        (b'{"source": "' + b"a" * 201 + b'", "target": "b", "mark": "right"}', 422, "invalid"),
        (b"[" * 100_000, 400, "bad_request"),
        (b" " * (limits.BODY + 1), 413, "too_large"),
    ],
)
def test_bad_marks_leave_no_trace(client, models, body, status, code):
    bad(client.post("/api/models/en-fr/marks", content=body, headers=JSON), status, code)
    assert not models["en-fr"].marks.path.exists()


def test_the_wrong_method_is_answered_with_the_right_ones(client):
    for path, allowed in (("/api/models/en-fr/marks", "GET, POST"), ("/api/models", "GET"), ("/", "GET, HEAD")):
        response = client.delete(path)
        bad(response, 405, "wrong_method")
        assert response.headers["allow"] == allowed


def test_a_body_without_a_length_is_limited_too(client):
    chunks = (b" " * 65_536 for _ in range(limits.BODY // 65_536 + 2))
    bad(client.post("/api/models/en-fr/marks", content=chunks, headers=JSON), 413, "too_large")


def test_batches_are_limited(client):
    bad(client.post("/api/models/en-fr/translate", json={"words": ["a"] * (limits.BATCH + 1)}), 422, "invalid")
    bad(client.post("/api/models/en-fr/translate", json={"words": []}), 422, "invalid")
    body = {"words": ["house"] * limits.BATCH, "k": 1}
    assert len(client.post("/api/models/en-fr/translate", json=body).json()["translations"]) == limits.BATCH


def test_a_mark_that_cannot_be_written_is_not_acknowledged(client, models, monkeypatch):
    def full(*_: object) -> None:
        raise OutputError("cannot write a line: No space left on device")

    monkeypatch.setattr(marks, "append_line", full)
    body = {"source": "house", "target": "maison", "mark": "right"}
    bad(client.post("/api/models/en-fr/marks", json=body), 503, "cannot_write")


def test_a_bug_is_said_in_the_same_form(client, models, monkeypatch):
    monkeypatch.setattr(models["en-fr"].marks, "latest", lambda: 1 / 0)
    response = client.get("/api/models/en-fr/marks")
    bad(response, 500, "bug")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert client.get("/api/health").status_code == 200


BODY = {"source": "house", "target": "maison", "mark": "right"}


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"origin": "http://evil.example"}, 403, "cross_site"),
        ({"origin": "null"}, 403, "cross_site"),
        ({"origin": "http://127.0.0.1:9999"}, 403, "cross_site"),
        ({"sec-fetch-site": "cross-site"}, 403, "cross_site"),
        ({"sec-fetch-site": "same-site"}, 403, "cross_site"),
        ({"host": "evil.example:8000"}, 400, "unknown_host"),
        ({"host": "127.0.0.1.evil.example"}, 400, "unknown_host"),
        ({"host": ""}, 400, "unknown_host"),
        ({"host": "["}, 400, "unknown_host"),
        ({"content-type": "text/plain"}, 415, "not_json"),
        ({"content-type": "application/x-www-form-urlencoded"}, 415, "not_json"),
        ({"content-type": "multipart/form-data; boundary=application/json"}, 415, "not_json"),
        ({"content-type": ""}, 415, "not_json"),
    ],
)
def test_other_sites_change_nothing(client, models, headers, status, code):
    content = json.dumps(BODY).encode()
    bad(client.post("/api/models/en-fr/marks", content=content, headers={**JSON, **headers}), status, code)
    assert not models["en-fr"].marks.path.exists()


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"},
        {"host": "localhost:1"},
        {"host": "[::1]:8"},
    ],
)
def test_our_own_page_and_programs_may_mark(client, headers):
    content = json.dumps(BODY).encode()
    response = client.post("/api/models/en-fr/marks", content=content, headers={**JSON, **headers})
    assert response.status_code == 201


def test_other_sites_read_nothing(client):
    bad(client.get("/api/models", headers={"sec-fetch-site": "cross-site"}), 403, "cross_site")
    assert "access-control-allow-origin" not in client.get("/api/models").headers
    assert client.options("/api/models", headers={"origin": "http://127.0.0.1:8000"}).status_code == 405


def test_a_server_for_the_network_takes_addresses_but_no_strange_names(models):
    app = create_app(models, ("localhost", "words.example"), any_address=True)
    client = TestClient(app, base_url="http://192.0.2.7:8000")
    assert client.get("/api/health").status_code == 200
    assert client.get("/api/health", headers={"host": "words.example"}).status_code == 200
    assert client.get("/api/health", headers={"host": "evil.example"}).status_code == 400


def test_every_answer_carries_the_safety_headers(client):
    for path in ("/", "/static/main.js", "/api/models", "/api/none", "/api/models/en-fr/marks/export"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


def test_page_needs_nothing_from_elsewhere(client):
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    again = client.get("/", headers={"if-none-match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    static = Path(lnmap.__file__).parent / "serve" / "static"
    for file in static.iterdir():
        text = file.read_text(encoding="utf-8")
        addresses = text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in addresses, file.name
        assert "https://" not in addresses, file.name
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "onclick=", " style="):
            assert word not in text, f"{file.name}: {word}"
        assert client.get(f"/static/{file.name}").content == file.read_bytes()


def test_description_names_every_endpoint_and_its_errors(client):
    described = client.get("/api/openapi.json").json()
    paths = described["paths"]
    assert len(paths) == 12
    for path, operations in paths.items():
        for operation in operations.values():
            assert operation["description"], path
            assert {"400", "403", "404", "422"} <= set(operation["responses"]), path
            error = operation["responses"]["422"]["content"]["application/json"]["schema"]["$ref"]
            assert error.endswith("/Error")


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
