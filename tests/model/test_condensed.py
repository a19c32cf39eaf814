"""A model with a judge keeps its words in few columns: it answers the same, and loads without mapping all words."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

import lnmap
from lnmap.direction import Direction, Side
from lnmap.errors import ModelError
from lnmap.model import spaces


@pytest.fixture(scope="module", autouse=True)
def all_are_large():
    """Condense small vocabularies too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spaces, "SMALL", 0)
        yield


@pytest.fixture(scope="module")
def model(plant):
    problem = plant(n=700, d=12)
    pairs = list(problem.lexicon)[:300]
    return lnmap.align(problem.source, problem.target, pairs, options={"rounds": 0}, device="cpu")


@pytest.fixture
def saved(model, tmp_path):
    return model.save(tmp_path / "model")


def answers(model):
    """Return words, scores and confidence; words mapped in another company differ in the last bit."""
    words = model.source.words[::20]
    found = [model.translate(words, 3, direction, given=False) for direction in Direction]
    return [
        [[(c.word, round(c.score, 4), round(c.confidence, 4)) for c in one.candidates] for one in way] for way in found
    ]


def test_a_loaded_model_answers_the_same_and_maps_few_words(model, saved, monkeypatch):
    loaded, mapped, take = lnmap.load(saved), [], lnmap.Model.map

    def counted(self, vectors, *args):
        mapped.append(len(vectors))
        return take(self, vectors, *args)

    monkeypatch.setattr(lnmap.Model, "map", counted)
    loaded.translate(model.source.words[0])
    assert 0 < sum(mapped) < 700
    assert answers(loaded) == answers(model)


def test_it_answers_what_all_columns_say(model, saved, monkeypatch):
    monkeypatch.setattr(spaces, "SMALL", 1000)
    whole = lnmap.load(saved)
    for one, other in zip(answers(whole), answers(model), strict=True):
        assert sum(a[0][0] == b[0][0] for a, b in zip(one, other, strict=True)) >= 0.97 * len(one)


def test_an_older_folder_without_them_is_read(model, saved):
    manifest = json.loads((saved / "model.json").read_text())
    del manifest["files"]["condensed"]
    (saved / "model.json").write_text(json.dumps(manifest))
    older = lnmap.load(saved)
    assert older.condensed == {}
    assert answers(older) == answers(model)


def test_an_older_folder_that_keeps_rows_instead_of_columns_is_read(model, saved):
    (file,) = saved.glob("condensed-*")
    tensors = {name: tensor for name, tensor in load_file(file).items() if ".columns." not in name}
    for side in Side:
        tensors[f"forward.coarse.{side}"] = model.condensed[Direction.FORWARD].coarse[side].contiguous()
    save_file(tensors, file)
    manifest = json.loads((saved / "model.json").read_text())
    manifest["files"]["condensed"]["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    (saved / "model.json").write_text(json.dumps(manifest))
    assert answers(lnmap.load(saved)) == answers(model)


@pytest.mark.parametrize("direction", list(Direction))
def test_fewer_columns_are_the_same_for_both_languages_and_kept_ones_are_used(model, saved, direction):
    sides = [model.aligned(side, direction, 30) for side in Side]
    assert [side.dim for side in sides] == [30, 30]
    again = [lnmap.load(saved).aligned(side, direction, 30).vectors for side in Side]
    for one, other in zip(sides, again, strict=True):
        np.testing.assert_allclose(one.vectors, other, atol=1e-5)
    full = [model.aligned(side, direction).vectors for side in Side]
    cosines = [(a / np.linalg.norm(a, axis=1, keepdims=True)) for a in full]
    few = sides[0].vectors @ sides[1].vectors.T
    assert np.abs(few - cosines[0] @ cosines[1].T).mean() < 0.05


def test_damage_is_noticed(saved):
    (file,) = saved.glob("condensed-*")
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(ModelError, match="changed after it was saved"):
        lnmap.load(saved)


def test_those_of_other_words_are_refused(saved, model, plant, tmp_path):
    problem = plant(n=500, d=12)
    other = lnmap.align(
        problem.source, problem.target, list(problem.lexicon)[:200], options={"rounds": 0}, device="cpu"
    )
    there = other.save(tmp_path / "other")
    manifests = [json.loads((folder / "model.json").read_text()) for folder in (saved, there)]
    manifests[0]["files"]["condensed"] = manifests[1]["files"]["condensed"]
    (saved / "model.json").write_text(json.dumps(manifests[0]))
    (file,) = there.glob("condensed-*")
    (saved / file.name).write_bytes(file.read_bytes())
    with pytest.raises(ModelError, match="few columns"):
        lnmap.load(saved)
