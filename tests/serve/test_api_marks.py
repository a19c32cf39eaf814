"""Marks and exports through the API."""

from __future__ import annotations

import csv
import io
import json

import pytest
from tests.serve.serving import JSON, ODD, bad, good

from lnmap.errors import OutputError
from lnmap.io import read_lexicon
from lnmap.model import marks
from lnmap.serve import limits, schemas


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
    house = good(client.get("/api/models/en-fr/translate?word=house"), schemas.Translation)
    assert [(one["word"], one["mark"]) for one in house["dropped"]] == [("maison", "wrong")]
    assert "maison" not in [one["word"] for one in house["candidates"]]
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
        file = {"all": "en-fr-seed.tsv", "mine": "en-fr-marks.tsv"}[name]
        assert response.headers["content-disposition"] == f'attachment; filename="{file}"'
        (tmp_path / name).write_bytes(response.content)
    everything, mine = (read_lexicon(tmp_path / name).pairs for name in ("all", "mine"))
    assert set(mine) == {("house", "maison"), ("a b", "c d")}
    assert set(everything) == ({*model.pairs.pairs, *model.outside} - {seed}) | set(mine)
    assert len(model.outside) > 100  # the file has more words than the vocabularies


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


def test_a_mark_that_cannot_be_written_is_not_acknowledged(client, models, monkeypatch):
    def full(*_: object) -> None:
        raise OutputError("cannot write a line: No space left on device")

    monkeypatch.setattr(marks, "append_line", full)
    body = {"source": "house", "target": "maison", "mark": "right"}
    bad(client.post("/api/models/en-fr/marks", json=body), 503, "cannot_write")
