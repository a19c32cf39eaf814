"""The bundled pair as data of a user's own, a plan over it, and an engine that starts no process."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.experiments.in_process import InProcess

from lnmap.embeddings import Embeddings
from lnmap.experiments import make_plan
from lnmap.experiments.data import OwnData
from lnmap.experiments.worker import Worker
from lnmap.io import save_store

WORDS = 1000


@pytest.fixture(scope="module")
def data(pair, tmp_path_factory) -> Path:
    """The bundled pair, cut, as files of a user's own."""
    folder = tmp_path_factory.mktemp("data")
    for name, side in (("en", pair.source), ("fr", pair.target)):
        save_store(Embeddings.from_arrays(side.words[:WORDS], side.vectors[:WORDS, :60]), folder / name)
    for part, pairs in (("train", pair.train), ("test", pair.test)):
        (folder / f"en-fr.{part}.txt").write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
        (folder / f"fr-en.{part}.txt").write_text("".join(f"{target}\t{source}\n" for source, target in pairs))
    return folder


@pytest.fixture(scope="module")
def plan(data):
    return make_plan("own", systems=["procrustes", "geomm"], takes=["200-unique"], own_pairs=OwnData(data).pairs)


@pytest.fixture
def here(monkeypatch):
    """Work in this process: starting one takes longer than these trials."""
    monkeypatch.setattr("lnmap.experiments.runner.make_engine", lambda *_: InProcess(Worker()))
