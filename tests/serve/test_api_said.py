"""What people say counts on the page at once: in translations, in the lexicon, in its order."""

from __future__ import annotations

import shlex

import pytest
from starlette.testclient import TestClient
from tests.serve.serving import WORDS, good, wait_for

from lnmap.direction import Direction
from lnmap.model.marks import ordered
from lnmap.serve import schemas
from lnmap.serve.app import create_app

MODEL = "/api/models/en-fr"


@pytest.fixture
def page(client):
    wait_for(lambda: client.get(f"{MODEL}/state").json()["backward"]["known"] == WORDS)

    def get(**params):
        return good(client.get(f"{MODEL}/lexicon", params=params), schemas.LexiconPage)["entries"]

    return get


def mark(client, direction, word, answer, mark):
    source, target = ordered((word, answer), direction)
    client.post(f"{MODEL}/marks", json={"source": source, "target": target, "mark": mark})


@pytest.mark.parametrize("direction", Direction)
def test_the_lexicon_follows_the_marks(client, models, page, direction):
    way = direction.value
    model = models["en-fr"].loaded.model
    own = [one for one in page(direction=way, limit=200) if not one["given"]][:3]
    words = [ordered((one["source"], one["target"]), direction) for one in own]
    (dropped, wrong), (corrected, _), (confirmed, right) = words
    other = model.translate(corrected, 3, direction, given=False)[0].words[2]
    mark(client, direction, dropped, wrong, "wrong")
    mark(client, direction, corrected, "nulle part", "added")
    mark(client, direction, corrected, other, "right")
    mark(client, direction, confirmed, right, "right")
    found = {ordered((e["source"], e["target"]), direction)[0]: e for e in page(direction=way, limit=200)}
    answer = lambda word: ordered((found[word]["source"], found[word]["target"]), direction)[1]  # noqa: E731
    assert answer(dropped) == model.translate(dropped, 2, direction, given=False)[0].words[1]
    assert found[dropped]["confidence"] is not None
    assert answer(corrected) == other
    assert (found[corrected]["given"], found[corrected]["mark"]) == (True, "right")
    assert (answer(confirmed), found[confirmed]["given"]) == (right, True)
    mark(client, direction, corrected, other, "none")
    (entry,) = [
        e for e in page(direction=way, limit=200)
        if ordered((e["source"], e["target"]), direction) == (corrected, "nulle part")
    ]  # fmt: skip
    assert (entry["csls"], entry["given"], entry["returns"], entry["mark"]) == (None, True, True, "added")
    assert any(e == entry for e in page(direction=way, text="nulle"))
    assert page(direction=way, mutual=True, text="nulle") == [entry]
    for one in page(direction=way, limit=200, given=False):
        assert not one["given"]
    word = lambda e: ordered((e["source"], e["target"]), direction)[0]  # noqa: E731
    for sort in ("surest", "unsurest", "doubtful"):
        assert {word(e) for e in page(direction=way, sort=sort, limit=200)}


@pytest.mark.parametrize("direction", Direction)
def test_translations_follow_the_marks(client, direction):
    word = "house" if direction is Direction.FORWARD else "maison"
    ask = lambda **p: good(  # noqa: E731
        client.get(f"{MODEL}/translate", params={"word": word, "direction": direction.value, "k": 3, **p}),
        schemas.Translation,
    )
    before = ask(given=False)["candidates"]
    mark(client, direction, word, before[0]["word"], "wrong")
    mark(client, direction, word, "zyx", "added")
    found = ask()
    assert (found["candidates"][0]["word"], found["candidates"][0]["mark"]) == ("zyx", "added")
    assert before[0]["word"] not in [one["word"] for one in found["candidates"]]
    assert [one["word"] for one in found["dropped"]] == [before[0]["word"]]
    back = client.get(f"{MODEL}/translate", params={"word": "zyx", "direction": direction.opposite.value})
    assert back.json()["candidates"][0]["word"] == word
    assert [one["word"] for one in ask(given=False)["candidates"]] == [one["word"] for one in before]


def test_frequent_and_unsure_words_come_first(page):
    entries = page(sort="doubtful", limit=200)
    worth = [(1 - one["confidence"]) / one["rank"] for one in entries if not one["given"]]
    assert worth == sorted(worth, reverse=True)
    assert len(worth) > 100
    first = [one["given"] for one in entries]
    assert first == sorted(first)


def test_the_command_to_train_again(client, models):
    served = models["en-fr"]
    (command,) = [one["retrain"] for one in client.get("/api/models").json() if one["id"] == "en-fr"]
    words = shlex.split(command)
    assert words[:2] == ["lnmap", "align"]
    assert words[words.index("--marks") + 1] == words[words.index("--out") + 1] == str(served.folder.resolve())
    assert words[words.index("--method") + 1] == "procrustes"
    assert "--calibrate" in words
    other = TestClient(create_app(models, any_address=True), base_url="http://127.0.0.1")
    assert str(served.folder.parent) not in other.get("/api/models").text
