"""Stores: exact round trips, and every damage refused."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file

from lnmap.embeddings import Embeddings
from lnmap.errors import OptionError, OutputError, VectorFileError
from lnmap.io import load_store, read, save_store
from lnmap.io.formats.store import DESCRIPTION, VECTORS, VOCABULARY

WORDS = ["a", "B b", "\n", "é", "\udce9", "", "\u2028"]
VECTORS_IN = np.random.default_rng(1).standard_normal((7, 5)).astype(np.float32)


@pytest.fixture
def store(tmp_path):
    save_store(Embeddings(WORDS, VECTORS_IN, {"path": "x", "skipped_samples": [[1, "y"]]}), tmp_path / "store")
    return tmp_path / "store"


def test_round_trip_is_exact_and_mapped(store):
    found = load_store(store)
    assert list(found.words) == WORDS
    assert np.array_equal(found.vectors, VECTORS_IN)
    assert found.origin == {"path": "x", "skipped_samples": [[1, "y"]]}
    assert isinstance(found.vectors.base, np.memmap)
    assert not found.vectors.flags.writeable


def test_other_programs_can_open_it(store):
    assert np.array_equal(load_file(store / VECTORS)["vectors"], VECTORS_IN)
    assert json.loads((store / VOCABULARY).read_text("ascii")) == WORDS


def test_half_precision(tmp_path):
    save_store(Embeddings(WORDS, VECTORS_IN), tmp_path / "half", dtype="float16")
    found = load_store(tmp_path / "half")
    assert found.vectors.dtype == np.float32
    assert np.array_equal(found.vectors, VECTORS_IN.astype(np.float16).astype(np.float32))
    with pytest.raises(OutputError, match="too large for float16"):
        save_store(Embeddings(["a"], np.array([[1e6]], np.float32)), tmp_path / "big", dtype="float16")
    assert not (tmp_path / "big").exists()
    with pytest.raises(OptionError, match="float32 or float16"):
        save_store(Embeddings(["a"], np.ones((1, 1), np.float32)), tmp_path / "big", dtype="int8")


def test_read_applies_limit_and_policy(store):
    assert list(read(store, limit=2).words) == ["a", "b b"]
    found = read(store, policy="vecmap")
    assert list(found.words) == WORDS
    assert found.origin["format"] == "store"


def test_an_existing_folder_is_left_alone(store):
    before = (store / VECTORS).read_bytes()
    with pytest.raises(OutputError, match="exists already"):
        save_store(Embeddings(["a"], np.ones((1, 1), np.float32)), store)
    assert (store / VECTORS).read_bytes() == before
    assert [path.name for path in store.parent.iterdir()] == ["store"]


@pytest.mark.parametrize("name", [VECTORS, VOCABULARY, DESCRIPTION])
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "longer", "garbage"])
def test_damage_is_refused(store, name, damage):
    path = store / name
    data = path.read_bytes()
    changed = {"empty": b"", "cut": data[:-3], "longer": data + b"xxxx", "garbage": b"\xff" * len(data)}
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(changed[damage])
    with pytest.raises(VectorFileError) as caught:
        load_store(store)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", 2),
        ("format", "other"),
        ("shape", [7, 6]),
        ("shape", [10**12, 5]),
        ("shape", [-7, -5]),
        ("shape", "x"),
        ("shape", None),
        ("dtype", "float16"),
        ("dtype", "object"),
        ("origin", 3),
        ("vectors_bytes", 1),
        ("vocabulary_sha256", None),
    ],
)
def test_lies_in_the_description_are_refused(store, field, value):
    path = store / DESCRIPTION
    description = json.loads(path.read_text())
    path.write_text(json.dumps({**description, field: value}))
    with pytest.raises(VectorFileError):
        load_store(store)
    del description[field]
    path.write_text(json.dumps(description))
    with pytest.raises(VectorFileError):
        load_store(store)


def test_not_a_store(tmp_path):
    with pytest.raises(VectorFileError, match=r"no embeddings\.json"):
        load_store(tmp_path)
    with pytest.raises(VectorFileError, match="no such folder"):
        load_store(tmp_path / "none")
