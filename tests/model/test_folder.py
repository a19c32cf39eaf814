from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as dump_tensors

import lnmap
from lnmap.direction import Direction
from lnmap.embeddings import Embeddings
from lnmap.errors import LexiconError, LnmapError, ModelError, OutputError
from lnmap.lexicon import Lexicon
from lnmap.pipeline.checkpoint import FolderCheckpoint

SMALL = {
    "procrustes": {},
    "lnmap": {"code": 16, "hidden": 24, "mapper_hidden": 24, "ae_epochs": 1, "epochs": 1, "iterations": 1},
}


@pytest.fixture(scope="module")
def models(plant):
    problem = plant(n=120, d=12)
    return {
        name: lnmap.align(
            problem.source,
            problem.target,
            problem.lexicon,
            take="60-unique",
            method=name,
            options=options,
            device="cpu",
        )
        for name, options in SMALL.items()
    }


@pytest.fixture
def saved(models, tmp_path):
    return models["procrustes"].save(tmp_path / "model")


def answers(model):
    """Everything a model says, to the last bit."""
    words = list(model.source.words)
    return (
        [model.translate(words, k=3, direction=direction) for direction in Direction],
        model.induce(),
        model.evaluate(Lexicon.from_pairs((w, w) for w in words)).to_dict(),
        list(model.pairs),
        dict(model.pairs.origin),
        model.log,
    )


def manifest(folder, **changes):
    """Edit model.json; a change to None removes the field."""
    path = folder / "model.json"
    value = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: field for key, field in value.items() if field is not None}))


def refused(folder, match=""):
    with pytest.raises(ModelError, match=match) as caught:
        lnmap.load(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", SMALL)
def test_round_trip_is_bit_equal(models, tmp_path, name):
    model = models[name]
    assert model.save(tmp_path / "a") == tmp_path / "a"
    loaded = lnmap.load(tmp_path / "a")
    assert answers(loaded) == answers(model)
    assert loaded.info == model.info
    assert loaded.source.fingerprint == model.source.fingerprint
    again = lnmap.load(loaded.save(tmp_path / "b"))
    assert answers(again) == answers(model)
    assert {p.name for p in (tmp_path / "a").iterdir()} == {p.name for p in (tmp_path / "b").iterdir()}


def test_saving_again_changes_nothing(models, saved):
    before = {p: p.read_bytes() for p in saved.rglob("*") if p.is_file()}
    lnmap.load(saved).save(saved)
    assert {p: p.read_bytes() for p in saved.rglob("*") if p.is_file()} == before


def test_saving_over_another_model(models, saved):
    models["lnmap"].save(saved)
    loaded = lnmap.load(saved)
    assert answers(loaded) == answers(models["lnmap"])
    roles = [path.name.partition("-")[0] for path in saved.iterdir()]
    assert sorted(roles) == sorted([".lock", "alignment", "log", "model.json", "pairs", "source", "target"])


def test_other_peoples_files_stay(models, saved):
    (saved / "notes.txt").write_text("mine")
    (saved / "sources").mkdir()
    models["lnmap"].save(saved)
    assert (saved / "notes.txt").read_text() == "mine"
    assert (saved / "sources").is_dir()


def test_what_killed_runs_left_is_swept(models, saved):
    (saved / ".lnmap-partial-abc").write_bytes(b"half a file")
    (saved / ".lnmap-partial-dir").mkdir()
    (saved / ".lnmap-partial-dir" / "x").write_text("y")
    models["procrustes"].save(saved)
    assert not list(saved.glob(".lnmap-partial-*"))


def test_a_broken_vocabulary_is_written_again(models, saved):
    vectors = next(saved.glob("source-*")) / "vectors.safetensors"
    data = bytearray(vectors.read_bytes())
    data[-3] ^= 1
    vectors.write_bytes(data)
    refused(saved, "source-.* holds other words or vectors")
    models["procrustes"].save(saved)
    assert answers(lnmap.load(saved)) == answers(models["procrustes"])


def test_odd_words_survive(tmp_path):
    words = ["a\nb", "c", "\u2028", "\udc80", "", " ", "日本"]
    side = Embeddings.from_arrays(words, np.eye(7))
    pairs = Lexicon.from_pairs(zip(words, words, strict=True))
    model = lnmap.align(side, side, pairs, method="procrustes", policy="vecmap", device="cpu")
    loaded = lnmap.load(model.save(tmp_path / "m"))
    assert list(loaded.source.words) == words
    assert list(loaded.pairs) == list(model.pairs)


def test_origins_that_json_does_not_know(plant, tmp_path):
    """A run of hours must not fail because someone noted a Path or a NumPy number."""
    problem = plant(n=50, d=5)
    source = Embeddings(problem.source.words, problem.source.vectors, {"at": Path("x"), "n": np.int64(3)})
    pairs = Lexicon(problem.lexicon.pairs, {"file": Path("y")})
    model = lnmap.align(source, problem.target, pairs, method="procrustes", device="cpu", out=tmp_path / "m")
    assert answers(lnmap.load(tmp_path / "m"))[0] == answers(model)[0]


def test_missing(tmp_path):
    assert "align two languages" in refused(tmp_path / "nowhere", "there is no model folder")
    (tmp_path / "file").write_text("x")
    refused(tmp_path / "file", "there is no model folder")


def test_no_manifest(saved):
    (saved / "model.json").unlink()
    refused(saved, "holds no finished model .*align again")
    FolderCheckpoint(saved, "key").save({}, {"x": torch.zeros(1)})
    refused(saved, "unfinished run, repeat the align command")


@pytest.mark.parametrize("text", ["", "{", "[1]", '"x"', "null", "\xff", "[" * 100_000, '{"format": "other"}', "{}"])
def test_manifest_is_something_else(saved, text):
    (saved / "model.json").write_bytes(text.encode("latin-1"))
    refused(saved, "model.json")


@pytest.mark.parametrize("version", [0, 3, "1", None, [1]])
def test_other_version(saved, version):
    manifest(saved, version=version)
    refused(saved, "this lnmap reads versions 1 to 2; use the lnmap that wrote it")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((field, value) for field in ("files", "alignment") for value in (None, 3, [], {}, "x", {"kind": "linear"})),
        *(("pairs", value) for value in (None, 3, "x")),
    ],
)
def test_fields_of_another_shape(saved, field, value):
    manifest(saved, **{field: value})
    refused(saved, "is broken")


@pytest.mark.parametrize("role", ["alignment", "pairs", "log"])
def test_changed_file(saved, role):
    path = next(saved.glob(f"{role}-*"))
    path.write_bytes(path.read_bytes() + b" ")
    refused(saved, f"{role}-.* was changed after it was saved")


@pytest.mark.parametrize("role", ["alignment", "source", "target", "pairs", "log"])
def test_lost_file(saved, role):
    path = next(saved.glob(f"{role}-*"))
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    refused(saved, f"is broken: .*{role}-")


@pytest.mark.parametrize("part", ["vectors.safetensors", "vocabulary.json", "embeddings.json"])
@pytest.mark.parametrize("keep", [0, 10, -1])
def test_truncated_vocabulary(saved, part, keep):
    path = next(saved.glob("target-*")) / part
    path.write_bytes(path.read_bytes()[:keep])
    refused(saved, "is broken")


def test_swapped_vocabularies(saved):
    source, target = next(saved.glob("source-*")), next(saved.glob("target-*"))
    source.rename(saved / "other")
    target.rename(source)
    (saved / "other").rename(target)
    refused(saved, "holds other words or vectors")


def test_swapped_names(saved):
    files = json.loads((saved / "model.json").read_text())["files"]
    manifest(saved, files=files | {"source": files["target"], "target": files["source"]})
    refused(saved, "holds other words or vectors")


def test_files_of_another_model(models, saved, tmp_path):
    """An alignment that is whole, with its right hash, but of another model."""
    other = models["lnmap"].save(tmp_path / "other")
    alien = json.loads((other / "model.json").read_text())["files"]["alignment"]
    shutil.copy(other / alien["name"], saved)
    files = json.loads((saved / "model.json").read_text())["files"]
    manifest(saved, files=files | {"alignment": alien})
    refused(saved, "is broken")


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "..", ".", "", "a/../../b", "source-1/../../x"])
@pytest.mark.parametrize("role", ["alignment", "source", "pairs"])
def test_names_that_leave_the_folder(saved, tmp_path, role, name):
    files = json.loads((saved / "model.json").read_text())["files"]
    inside = saved / files[role]["name"]
    (shutil.copytree if inside.is_dir() else shutil.copy)(inside, tmp_path / "x")
    manifest(saved, files=files | {role: files[role] | {"name": name}})
    refused(saved, "leaves the folder")


def rewrite(folder, change):
    """Replace the alignment by an edited one, hash and all."""
    import hashlib

    files = json.loads((folder / "model.json").read_text())["files"]
    path = folder / files["alignment"]["name"]
    data = change(path.read_bytes())
    path.write_bytes(data)
    manifest(folder, files=files | {"alignment": {"name": path.name, "sha256": hashlib.sha256(data).hexdigest()}})


@pytest.mark.parametrize("keep", [0, 7, 100, -1])
def test_truncated_alignment(saved, keep):
    rewrite(saved, lambda data: data[:keep])
    refused(saved, "is broken")


@pytest.mark.parametrize("name", list(SMALL))
def test_wrong_shapes(models, tmp_path, name):
    """Every tensor in turn has a row too many, is lost, or is not finite; never a traceback, never NaN answers."""
    folder = models[name].save(tmp_path / "model")
    original = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    tensors = load_tensors(next(folder.glob("alignment-*")).read_bytes())
    for key, tensor in tensors.items():
        longer = torch.cat([tensor, tensor[:1]]) if tensor.ndim else tensor[None]
        for changed in ({key: longer}, {}):
            rewrite(folder, lambda _, k=key, c=changed: dump_tensors({n: t for n, t in tensors.items() if n != k} | c))
            refused(folder, "is broken")
            for path, data in original.items():
                path.write_bytes(data)


@pytest.mark.parametrize("recipes", [["unit", "unit"], ["unit,center,unit"], [], "x", ["best", "best"], None, 5])
def test_other_recipes(saved, recipes):
    spec = json.loads((saved / "model.json").read_text())["alignment"]
    manifest(saved, alignment=spec | {"values": {"recipes": recipes}})
    refused(saved, "is broken")


@pytest.mark.parametrize(("value", "match"), [(np.nan, "not finite"), (np.inf, "not finite"), (3e38, "mean")])
def test_numbers_that_no_run_saves(saved, value, match):
    """Whatever the manifest vouches for, no answer of a loaded model has a score that is not a number."""
    entry = json.loads((saved / "model.json").read_text())["files"]
    path = saved / entry["alignment"]["name"]
    tensors = load_tensors(path.read_bytes())
    tensors["means.forward.target"][-1] = value
    path.write_bytes(dump_tensors(tensors))
    entry["alignment"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest(saved, files=entry)
    refused(saved, match)


def test_a_file_is_in_the_way(models, tmp_path):
    (tmp_path / "file").write_text("precious")
    with pytest.raises(OutputError, match="is a file; give a folder"):
        models["procrustes"].save(tmp_path / "file")
    with pytest.raises(OutputError):
        models["procrustes"].save(tmp_path / "file" / "below")
    assert (tmp_path / "file").read_text() == "precious"


def test_checkpoints_know_their_run(tmp_path):
    mine, other = FolderCheckpoint(tmp_path, "mine"), FolderCheckpoint(tmp_path, "other")
    assert mine.owner() is None
    assert mine.load() is None
    mine.save({"iteration": 3}, {"w": torch.arange(3.0)})
    assert mine.owner() == other.owner() == "mine"
    assert other.load() is None
    values, tensors = mine.load()
    assert values == {"iteration": 3}
    assert tensors["w"].tolist() == [0, 1, 2]
    mine.save({"iteration": 4}, {"w": torch.ones(1)})
    assert mine.load()[0] == {"iteration": 4}
    for data in (b"", b"garbage", mine.path.read_bytes()[:-1]):
        mine.path.write_bytes(data)
        assert mine.owner() is None
        assert mine.load() is None
    mine.clear()
    mine.clear()
    assert not mine.path.exists()


def test_errors_are_one_family():
    assert issubclass(ModelError, LnmapError)
    assert ModelError.exit_code == LexiconError.exit_code == 2
    assert OutputError.exit_code == 3
