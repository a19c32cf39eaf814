"""What the server refuses: bad questions, large bodies, other sites."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.serve.serving import BODY, JSON, bad

import lnmap
from lnmap.serve import limits
from lnmap.serve.app import create_app


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


def test_a_bug_is_said_in_the_same_form(client, models, monkeypatch):
    monkeypatch.setattr(models["en-fr"].marks, "latest", lambda: 1 / 0)
    response = client.get("/api/models/en-fr/marks")
    bad(response, 500, "bug")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert client.get("/api/health").status_code == 200


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
