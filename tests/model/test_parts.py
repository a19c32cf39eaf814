"""The folder keeps every part of a model, made here by hand, and refuses each that was damaged."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as dump_tensors

from lnmap.compact import Condensed
from lnmap.confidence import FEATURES, Confidence
from lnmap.direction import Direction, Side
from lnmap.embeddings import Embeddings
from lnmap.errors import LnmapError, ModelError, OutputError
from lnmap.io import unchanged
from lnmap.io.atomic import TEMPORARY
from lnmap.judge import Judge, Judges, Panel, WordFacts
from lnmap.judge.panel import Columns
from lnmap.lexicon import Lexicon
from lnmap.methods.aae import TwoWayAlignment
from lnmap.methods.base import LinearAlignment
from lnmap.model import folder as module
from lnmap.model.folder import explained, read_folder, require_folder, write_folder
from lnmap.model.parts import ModelParts
from lnmap.normalize import RENORM, fit_both

SIZES = {Side.SOURCE: 6, Side.TARGET: 5}
KEPT = {"alignment", "source", "target", "pairs", "outside", "back", "log", "confidence", "judges", "condensed"}


def numbers(*shape):
    return torch.arange(1.0, 1 + np.prod(shape)).reshape(shape) / 64


def judge(panel, direction):
    names = panel.names(direction)
    values = {"features": names, "weights": [0.5] * len(names), "none": -1.0, "calibration": {}, "outcomes": 3}
    return Judge.from_state(values)


@pytest.fixture(scope="module")
def parts():
    sides = [
        Embeddings.from_arrays([f"{side} {row}" for row in range(n)], np.random.default_rng(n).normal(size=(n, 3)))
        for side, n in SIZES.items()
    ]
    norms = fit_both(RENORM, *(torch.from_numpy(np.array(one.vectors)) for one in sides))[0]
    forward, backward = (LinearAlignment(norms, numbers(3, 4) + way, numbers(3, 4) - way) for way in range(2))
    words = dict(zip(Side, (one.words for one in sides), strict=True))
    panel = Panel((Columns("own", None, 0, 4, 1.0),), WordFacts(words, None, None), {Side.TARGET: numbers(5)})
    return ModelParts(
        *sides,
        TwoWayAlignment(forward, backward),
        Lexicon([("a", "b"), ("ü", "\udce9")], {"file": "seed.txt"}),
        {"method": "by hand"},
        [{"epoch": 1}, {"epoch": 2}],
        {way: {side: numbers(n) + 0.1 for side, n in SIZES.items()} for way in Direction},
        {way: Confidence((0.25,) * len(FEATURES), float(way is Direction.FORWARD), 7) for way in Direction},
        Judges(panel, {way: judge(panel, way) for way in Direction}),
        Lexicon([("out", "side")]),
        {
            way: Condensed(numbers(4, 2), *({s: numbers(n, r) for s, n in SIZES.items()} for r in (2, 3)))
            for way in Direction
        },
        Lexicon([("b", "a")], {"file": "back.txt"}),
    )


@pytest.fixture(scope="module")
def written(parts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    write_folder(parts, folder)
    return folder


@pytest.fixture
def saved(written, tmp_path):
    return shutil.copytree(written, tmp_path / "model")


def edit(folder, change):
    """Change the manifest."""
    value = json.loads((folder / "model.json").read_text())
    change(value)
    (folder / "model.json").write_text(json.dumps(value))


def put(folder, role, data):
    """Replace a file by another one that the manifest vouches for."""
    name = f"{role}-other"
    (folder / name).write_bytes(data)
    entry = {"name": name, "sha256": hashlib.sha256(data).hexdigest()}
    edit(folder, lambda manifest: manifest["files"].update({role: entry}))


def refused(folder, match):
    with pytest.raises(ModelError, match=match) as caught:
        read_folder(folder)
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


def test_every_part_comes_back(parts, tmp_path):
    write_folder(parts, tmp_path)
    found = read_folder(tmp_path)
    for side in Side:
        assert list(found.side(side).words) == list(parts.side(side).words)
        assert np.array_equal(found.side(side).vectors, parts.side(side).vectors)
    tensors, wanted = (one.alignment.state()[1] for one in (found, parts))
    assert tensors.keys() == wanted.keys()
    assert all(torch.equal(tensors[name], one) for name, one in wanted.items())
    assert found.alignment.kind == "two-way"
    assert list(found.pairs) == list(parts.pairs)
    assert dict(found.pairs.origin) == {"file": "seed.txt"}
    assert list(found.back) == [("b", "a")]
    assert dict(found.back.origin) == {"file": "back.txt"}
    assert list(found.outside) == [("out", "side")]
    assert dict(found.outside.origin) == {}
    assert (found.info, found.log, found.confidence) == (parts.info, parts.log, parts.confidence)
    assert found.judges.by == parts.judges.by
    assert found.judges.panel.columns == parts.judges.panel.columns
    assert torch.equal(found.judges.panel.kinds[Side.TARGET], numbers(5))
    assert found.means.keys() == found.condensed.keys() == set(Direction)
    for way in Direction:
        for side in Side:
            assert torch.equal(found.means[way][side], parts.means[way][side])
            assert torch.equal(found.condensed[way].coarse[side], parts.condensed[way].coarse[side])
            assert torch.equal(found.condensed[way].fine[side], parts.condensed[way].fine[side])
        assert torch.equal(found.condensed[way].basis, numbers(4, 2))


def test_what_a_model_lacks_has_no_file(parts, tmp_path):
    few = replace(parts, outside=Lexicon([]), back=None, confidence=None, judges=None, condensed={})
    write_folder(few, tmp_path)
    roles = {path.name.partition("-")[0] for path in tmp_path.iterdir()}
    assert roles == KEPT - {"outside", "back", "confidence", "judges", "condensed"} | {"model.json"}
    found = read_folder(tmp_path)
    assert (list(found.outside), found.back, found.confidence, found.judges) == ([], None, None, None)
    assert found.condensed == {}
    assert "back" not in json.loads((tmp_path / "model.json").read_text())


def test_the_manifest_as_documented(parts, tmp_path):
    """Other programs read these names, and older versions of lnmap do."""
    saved = tmp_path
    write_folder(parts, saved)
    manifest = json.loads((saved / "model.json").read_text())
    assert {key: manifest[key] for key in ("format", "version", "method", "pairs", "back")} == {
        "format": "lnmap-model",
        "version": 2,
        "method": "by hand",
        "pairs": {"file": "seed.txt"},
        "back": {"file": "back.txt"},
    }
    assert manifest["alignment"]["kind"] == "two-way"
    files = manifest["files"]
    assert files.keys() == KEPT
    for role, entry in files.items():
        path = saved / entry["name"]
        suffix = {"alignment": ".safetensors", "condensed": ".safetensors", "judges": ".json", "confidence": ".json"}
        if role in SIZES:
            assert entry == {"name": f"{role}-{parts.side(role).fingerprint}", "words": SIZES[Side(role)], "dim": 3}
        else:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            assert entry == {"name": f"{role}-{digest[:12]}{suffix.get(role, '.jsonl')}", "sha256": digest}
    for role, version in (("confidence", 1), ("judges", 2)):
        text = (saved / files[role]["name"]).read_text()
        assert json.loads(text)["version"] == version
        assert text.startswith(f'{{\n "version": {version},\n "')  # a field per line, for people
    tensors = load_tensors((saved / files["alignment"]["name"]).read_bytes())
    assert {f"means.{way}.{side}" for way in Direction for side in Side} | {"judges.kind.target"} <= set(tensors)
    columns = ("basis", *(f"{part}.{side}" for part in ("columns", "fine") for side in Side))
    named = load_tensors((saved / files["condensed"]["name"]).read_bytes())
    assert set(named) == {f"{way}.{part}" for way in Direction for part in columns}


def test_older_files_are_swept_and_others_stay(parts, saved):
    before = {path.name for path in saved.iterdir()}
    for role in KEPT:
        (saved / f"{role}-older").touch()
    (saved / f"{TEMPORARY}x").mkdir()
    others = {"notes", "sourced-x", "checkpoint.safetensors", "XX-1"}
    for name in others:
        (saved / name).touch()
    write_folder(parts, saved)
    assert {path.name for path in saved.iterdir()} == before | others


@pytest.mark.parametrize("role", sorted(KEPT - {"source", "target"}))
@pytest.mark.parametrize("damage", ["changed", "lost"])
def test_damage_names_the_file(saved, role, damage):
    (path,) = saved.glob(f"{role}-*")
    path.unlink() if damage == "lost" else path.write_bytes(path.read_bytes()[:-1] + b"?")
    says = {"lost": r"cannot be read \(No such file or directory\)", "changed": r"was changed after it was saved"}
    refused(saved, f"is broken: {path.name} {says[damage]}")


@pytest.mark.parametrize(("role", "version"), [("confidence", 0), ("confidence", 2), ("judges", 0), ("judges", 3)])
def test_another_version_of_a_part_leaves_the_model_usable(saved, role, version):
    (path,) = saved.glob(f"{role}-*")
    put(saved, role, json.dumps({**json.loads(path.read_text()), "version": version}).encode())
    assert getattr(read_folder(saved), role) is None


def test_judges_of_before_have_no_products(saved):
    (path,) = saved.glob("judges-*")
    found = json.loads(path.read_text())
    for judge in found["judges"].values():
        del judge["products"]
    put(saved, "judges", json.dumps({**found, "version": 1}).encode())
    judges = read_folder(saved).judges
    assert judges is not None
    assert all(judge.weights.products == () for judge in judges.by.values())


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("source", torch.nan, "source holds numbers that are not finite"),
        ("means.forward.target", torch.inf, "means of forward target holds numbers that are not finite"),
        ("means.backward.source", 2.01, "means of backward source holds values that no mean of cosines has"),
        ("means.backward.source", -2.01, "means of backward source holds values"),
        ("means.forward.target", 2.0, None),
        ("source", 1e30, None),
    ],
)
def test_numbers(saved, name, value, says):
    (path,) = saved.glob("alignment-*")
    tensors = load_tensors(path.read_bytes())
    tensors[name].view(-1)[-1] = value
    put(saved, "alignment", dump_tensors(tensors))
    if says:
        refused(saved, says)
    else:
        read_folder(saved)


def test_whole_numbers_are_not_asked_whether_they_are_finite(saved):
    (path,) = saved.glob("alignment-*")
    put(saved, "alignment", dump_tensors(load_tensors(path.read_bytes()) | {"more": torch.tensor([1 << 60])}))
    read_folder(saved)


def test_a_model_whose_means_are_not_known(parts, saved):
    (path,) = saved.glob("alignment-*")
    tensors = {name: one for name, one in load_tensors(path.read_bytes()).items() if "means.backward" not in name}
    put(saved, "alignment", dump_tensors(tensors))
    assert read_folder(saved).means.keys() == {Direction.FORWARD}


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "/x", "x/"])
def test_names_outside_the_folder(saved, name):
    edit(saved, lambda manifest: manifest["files"]["log"].update(name=name))
    refused(saved, f"file name {name!r} leaves the folder")


def test_a_vocabulary_that_is_whole_is_not_written_again(parts, saved, monkeypatch):
    monkeypatch.setattr(module, "save_store", lambda *_: 1 / 0)
    write_folder(parts, saved)
    (path,) = saved.glob("source-*")
    (path / "vocabulary.json").write_text("[]")
    with pytest.raises(ZeroDivisionError):
        write_folder(parts, saved)


def test_a_broken_vocabulary_is_replaced(parts, saved):
    (path,) = saved.glob("target-*")
    (path / "vocabulary.json").write_text("[]")
    refused(saved, "is broken")
    write_folder(parts, saved)
    assert list(read_folder(saved).target.words) == list(parts.target.words)


def test_a_vocabulary_that_cannot_be_written(parts, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "save_store", full)
    with pytest.raises(OutputError, match=r"cannot write the vocabulary to .*No space left"):
        write_folder(parts, tmp_path)


def test_a_vocabulary_that_was_compared_before_is_not_compared_again(parts, saved, monkeypatch):
    monkeypatch.setattr(unchanged, "SETTLED_NS", -(10**15))  # trust files that have just been written
    read_folder(saved)
    monkeypatch.setattr(Embeddings, "fingerprint", property(lambda _: 1 / 0))
    found = read_folder(saved)
    assert list(found.source.words) == list(parts.source.words)


def test_a_vocabulary_under_the_name_of_another(parts, saved):
    (path,) = saved.glob("source-*")
    path.rename(saved / "source-0123")
    edit(saved, lambda manifest: manifest["files"]["source"].update(name="source-0123"))
    refused(saved, "source-0123 holds other words or vectors than were saved")


def test_files_removed_while_the_model_is_written(parts, tmp_path, monkeypatch):
    """A manifest without its files would be a broken model where there was none."""
    real = module.write_json

    def removing(path, value):
        real(path, value)
        (tmp_path / value["files"]["log"]["name"]).unlink()

    monkeypatch.setattr(module, "write_json", removing)
    with pytest.raises(OutputError, match="files were removed there meanwhile"):
        write_folder(parts, tmp_path)
    assert not (tmp_path / "model.json").exists()

    def removing_all(path, value):
        shutil.rmtree(tmp_path)

    monkeypatch.setattr(module, "write_json", removing_all)
    with pytest.raises(OutputError, match="files were removed there meanwhile"):
        write_folder(parts, tmp_path)


def test_what_is_no_model_folder(saved, tmp_path):
    refused(tmp_path / "none", "there is no model folder .*align two languages")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", r"holds no finished model \(model.json is missing\); align again")
    (tmp_path / "empty" / "checkpoint.safetensors").touch()
    refused(tmp_path / "empty", "it holds an unfinished run, repeat the align command to finish it")
    (tmp_path / "empty" / "model.json").write_text("{")
    refused(tmp_path / "empty", "model.json cannot be read")
    for text in ("[]", '{"format": "other", "version": 2}'):
        (tmp_path / "empty" / "model.json").write_text(text)
        refused(tmp_path / "empty", "is not the manifest of an lnmap model")


@pytest.mark.parametrize("version", [0, 3, None, "2"])
def test_versions(saved, version):
    edit(saved, lambda manifest: manifest.update(version=version))
    refused(saved, f"has model format version {version!r}, this lnmap reads versions 1 to 2")


@pytest.mark.parametrize("kind", ["linear", "latent", "ensemble", "two-way"])
def test_version_1_is_read(tmp_path, kind):
    with zipfile.ZipFile(Path(__file__).with_name("data") / "models-v1.zip") as archive:
        archive.extractall(tmp_path)
    found = read_folder(tmp_path / kind)
    assert found.alignment.kind == json.loads((tmp_path / "answers.json").read_text())[kind]["kind"]
    assert not {"format", "version", "alignment", "files", "pairs"} & found.info.keys()


def test_where_a_model_may_go(tmp_path):
    require_folder(tmp_path)
    require_folder(tmp_path / "new")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="is a file"):
        require_folder(tmp_path / "file")


def test_errors_of_all_kinds_become_one_line(tmp_path):
    with pytest.raises(ModelError, match=r"is broken \(RuntimeError: two lines\); align again"), explained(tmp_path):
        raise RuntimeError("two\n   lines")
    with pytest.raises(ModelError, match="is broken: odd"), explained(tmp_path):
        raise LnmapError("odd")
