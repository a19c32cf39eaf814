"""The API asks a speaker: the next words, her answers as marks, undo."""

from __future__ import annotations

import re
import shutil

import pytest
from starlette.testclient import TestClient
from tests.serve.serving import bad, beginner, good

from lnmap.ask import Skipped
from lnmap.model.marks import Marks
from lnmap.serve import schemas
from lnmap.serve.app import create_app
from lnmap.serve.models import Models

URL = "/api/models/en-fr"


@pytest.fixture(scope="module")
def made(pair, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "en-fr"
    beginner(pair, folder)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    shutil.copytree(made, tmp_path / "en-fr")
    return tmp_path / "en-fr"


@pytest.fixture
def client(folder):
    models = Models.load([folder])
    with TestClient(create_app(models), base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        yield client
    models.stop()


def ask(client, **params):
    return good(client.get(f"{URL}/questions", params=params), schemas.Questions)["questions"]


def answer(client, question, text, **others):
    body = {"word": question["word"], "candidates": [one["word"] for one in question["candidates"]], "answer": text}
    return good(client.post(f"{URL}/answers", json={**body, **others}), schemas.Answered, 201)


def marks(folder):
    return {pair: mark.mark for pair, mark in Marks(folder).latest()[0].items()}


def test_answers_are_marks_at_once_and_can_be_undone(client, folder):
    one, two, three, *_ = ask(client, count=5)
    first = one["candidates"][0]["word"]
    chosen = answer(client, one, "1")
    assert marks(folder) == {(one["word"], first): "right"}
    assert (chosen["answers"], chosen["skipped"]) == ([first], False)
    assert one["word"] not in [other["word"] for other in ask(client)]
    assert client.get(f"{URL}/translate", params={"word": one["word"]}).json()["candidates"][0]["mark"] == "right"
    typed = answer(client, two, "Maison, nulle part")  # spelt as the vocabulary spells it, where it has the word
    assert typed["answers"] == ["maison", "nulle part"]
    assert (chosen["without_vector"], typed["without_vector"]) == ([], ["nulle part"])  # kept, but not to learn from
    none = answer(client, three, "0")
    assert (none["answers"], none["without_vector"], none["skipped"]) == ([], [], True)
    assert marks(folder)[three["word"], three["candidates"][2]["word"]] == "wrong"
    assert three["word"] in Skipped(folder).words("source")
    for done in (none, typed, chosen):
        body = {name: done[name] for name in ("word", "direction", "before", "skipped")}
        good(client.post(f"{URL}/answers/undo", json=body), schemas.Marking)
    assert marks(folder) == {}
    assert Skipped(folder).words("source") == []
    assert ask(client)[0]["word"] == one["word"]


def test_a_word_that_she_does_not_know_is_not_asked_again(client, folder):
    (question,) = ask(client, count=1, direction="backward")
    skipped = answer(client, question, None, direction="backward")
    assert (skipped["skipped"], skipped["before"], marks(folder)) == (True, [], {})
    assert question["word"] not in [one["word"] for one in ask(client, direction="backward", count=20)]
    (other,) = ask(client, count=1, direction="backward")
    done = answer(client, other, "2", direction="backward")
    assert marks(folder) == {(done["answers"][0], other["word"]): "right"}


def test_bad_answers_are_refused_and_nothing_is_kept(client, folder):
    (question,) = ask(client, count=1)
    body = {"word": question["word"], "candidates": ["a", "b"]}
    for text in (" , ", "\u3000\uff1b", ",", "a\nb", "x" * 300):
        bad(client.post(f"{URL}/answers", json={**body, "answer": text}), 422, "invalid")
    for text in ("3", "a, 3", "1, 0"):
        bad(client.post(f"{URL}/answers", json={**body, "answer": text}), 404, "unknown_candidate")
    bad(client.get(f"{URL}/questions", params={"count": 1000}), 422, "invalid")
    undone = {"word": "house", "before": [{"source": "a", "target": "b", "mark": "so so"}], "skipped": False}
    bad(client.post(f"{URL}/answers/undo", json=undone), 422, "invalid")
    assert marks(folder) == {}


@pytest.mark.parametrize("text", ["00", "000", " 0000 ", "\u0660"])
def test_none_of_them_however_zero_is_written(client, folder, text):
    one, two, *_ = ask(client, count=2)
    assert answer(client, {"word": one["word"], "candidates": []}, text)["skipped"]
    assert marks(folder) == {}
    assert answer(client, two, text)["answers"] == []
    assert set(marks(folder).values()) == {"wrong"}


def test_the_description_refuses_what_names_nothing(client):
    """What the description calls valid is taken, or names a candidate that is not there."""
    described = client.get("/api/openapi.json").json()["components"]["schemas"]["NewAnswer"]["properties"]["answer"]
    pattern = re.compile(next(one["pattern"] for one in described["anyOf"] if "pattern" in one))
    for text in (",", " ; ", "\u060c\u061b \u3001\uff0c\uff1b", " ", "a\nb", ""):
        assert not pattern.search(text)
    for text in ("0", "1,2", ", a", "nulle part", "\u5bb6\u3001"):
        assert pattern.search(text)


def test_nothing_is_left_to_ask(client, folder):
    every = ask(client, count=50)
    while every:
        for one in every:
            Skipped(folder).add(one["word"], "source")
        every = ask(client, count=50)
    assert client.get(f"{URL}/questions").json() == {"questions": []}
