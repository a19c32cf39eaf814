"""The page trains a model again with its marks, beside the requests, and loses nothing."""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient
from tests.helpers import contents
from tests.serve.serving import JSON, Server, beginner, good, wait_for

import lnmap
from lnmap.io.atomic import locked
from lnmap.model.marks import JOURNAL, Marks, read_marks
from lnmap.serve import schemas
from lnmap.serve.app import create_app
from lnmap.serve.models import Models
from lnmap.serve.trainer import Reports

SEED, MARKED = 60, 50
URL = "/api/models/en-fr"


@pytest.fixture(scope="module")
def made(pair, tmp_path_factory):
    """A model of few pairs, and pairs that it has yet to learn."""
    folder = tmp_path_factory.mktemp("models") / "en-fr"
    return folder, beginner(pair, folder, SEED, MARKED)


@pytest.fixture
def folder(made, tmp_path):
    """A copy with marks of its own."""
    shutil.copytree(made[0], tmp_path / "en-fr")
    marks = Marks(tmp_path / "en-fr")
    for pair in made[1]:
        marks.add(*pair, "right")
    return tmp_path / "en-fr"


@contextmanager
def serving(folder):
    models = Models.load([folder])
    try:
        with TestClient(create_app(models), base_url="http://127.0.0.1") as client:
            yield client
    finally:
        models.stop()


def training(client):
    return good(client.get(f"{URL}/state"), schemas.ModelState)["training"]


def begin(client):
    return good(client.post(f"{URL}/training", json={}), schemas.TrainingState, 202)


def ended(client):
    wait_for(lambda: training(client)["state"] != "running")
    return training(client)


def test_the_new_model_takes_the_place_of_the_old_and_no_mark_is_lost(folder, made):
    with serving(folder) as client:
        assert training(client) == {"state": "waiting", "share": 0.0, "message": "", "left": None, "result": None}
        assert begin(client)["state"] == "running"
        assert begin(client)["state"] == "running"  # the second click starts nothing
        client.post(f"{URL}/marks", json={"source": "house", "target": "meanwhile", "mark": "added"})
        assert client.get(f"{URL}/translate?word=house").json()["candidates"][0]["word"] == "meanwhile"
        found = ended(client)
        assert (found["state"], found["message"]) == ("done", "")
        result = found["result"]
        assert (result["new"], result["held_out"]) == (MARKED, 10)
        assert 0 <= result["before"] <= result["after"] <= 10
        state = client.get(f"{URL}/state").json()
        assert (state["revision"], state["marks"]) == (2, {"right": MARKED, "wrong": 0, "added": 1})
        assert client.get(f"{URL}/translate?word=house").json()["candidates"][0]["word"] == "meanwhile"
    model = lnmap.load(folder)
    assert set(made[1]) <= set(model.pairs)
    assert len(model.pairs) == result["pairs"] == SEED + MARKED
    assert model.info["method"] == "geomm"


def test_a_training_says_how_far_the_whole_is_and_how_long_it_takes(monkeypatch):
    clock, told = [100.0], []
    monkeypatch.setattr("lnmap.serve.trainer.time.monotonic", lambda: clock[0])
    reports = Reports(told.append)
    with reports.task("training with all marks", None), reports.task("training", 40.0) as whole:
        clock[0] += 5
        whole.advance(10)
        with reports.task("searching", 8) as part:
            clock[0] += 5
            part.advance(8)
        whole.advance(30)
    name = "training with all marks"
    assert told == [
        {"part": name, "share": 0.0, "left": None},
        {"part": f"{name}: training", "share": 0.0, "left": None},
        {"part": f"{name}: training", "share": 0.25, "left": 15.0},
        {"part": f"{name}: searching", "share": 0.25, "left": 15.0},
        {"part": f"{name}: searching", "share": 0.25, "left": 30.0},
    ]


def test_a_cancelled_training_leaves_everything_as_it_was(folder):
    before = contents(folder)
    with serving(folder) as client:
        begin(client)
        assert good(client.post(f"{URL}/training/stop", json={}), schemas.TrainingState)["state"] == "waiting"
        assert client.get(f"{URL}/state").json()["revision"] == 1
        assert good(client.post(f"{URL}/training/stop", json={}), schemas.TrainingState)["state"] == "waiting"
    assert contents(folder) == before
    with locked(folder):  # the process is gone
        pass


def test_what_goes_wrong_is_one_line(folder):
    with serving(folder) as client:
        with locked(folder):
            begin(client)
            found = ended(client)
        assert found["state"] == "failed"
        assert found["message"] == "en-fr is being written by another run"
        (folder / JOURNAL).unlink()
        begin(client)
        assert ended(client)["message"] == "nobody has marked anything yet, so there is nothing new to learn from"


@pytest.mark.skipif(sys.platform == "win32", reason="the programs are those of Unix")
@pytest.mark.parametrize(
    ("program", "message"),
    [("/no/such/python", "cannot be started"), ("/bin/false", "exit code 1"), ("kill", "too little memory")],
)
def test_a_process_that_dies_is_explained(folder, tmp_path, monkeypatch, program, message):
    if program == "kill":
        program = str(tmp_path / "kill")
        (tmp_path / "kill").write_text("#!/bin/sh\necho '{\"part\"'\nkill -9 $$\n")
        (tmp_path / "kill").chmod(0o755)
    monkeypatch.setattr("lnmap.serve.training.sys.executable", program)
    with serving(folder) as client:
        begin(client)
        found = ended(client)
        assert (found["state"], found["result"]) == ("failed", None)
        assert message in found["message"]


def test_a_killed_server_leaves_model_and_marks_whole(folder):
    before = contents(folder)
    with Server(folder) as server:
        with server.client() as client:
            client.post(f"{URL}/training", content="{}", headers=JSON)
            wait_for(lambda: client.get(f"{URL}/state").json()["training"]["message"] not in ("", "starting"))
            client.post(f"{URL}/marks", json={"source": "house", "target": "last words", "mark": "added"})
        server.kill()

        def is_free():
            try:
                with locked(folder):
                    return True
            except lnmap.errors.OutputError:
                return False

        wait_for(is_free)  # the training has ended with its server
    after = contents(folder)
    if after["model.json"] == before["model.json"]:  # unless it was faster
        assert {name: after[name] for name in before if name != JOURNAL} == {
            name: before[name] for name in before if name != JOURNAL
        }
    assert lnmap.load(folder).translate("house", 1)[0].words == ["last words"]
    assert len(read_marks(folder)) == MARKED + 1
