"""Stores: exact round trips, and every damage refused."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from lnmap.embeddings import Embeddings
from lnmap.errors import OptionError, OutputError, VectorFileError
from lnmap.io import load_store, read, save_store
from lnmap.io.formats.store import DESCRIPTION, VECTORS, VOCABULARY, StoreWriter, write_store

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
    assert np.array_equal(load_file(tmp_path / "half" / VECTORS)["vectors"], VECTORS_IN.astype(np.float16))
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


def describe(store, **changes):
    """Change fields of the description."""
    path = store / DESCRIPTION
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def put_words(store, value):
    """Replace the vocabulary by another one that the description vouches for."""
    raw = json.dumps(value).encode()
    (store / VOCABULARY).write_bytes(raw)
    describe(store, vocabulary_sha256=hashlib.sha256(raw).hexdigest())


def refused(store, match):
    with pytest.raises(VectorFileError, match=match) as caught:
        load_store(store)
    assert str(store) in str(caught.value)


def test_the_description_as_documented(store):
    text = (store / DESCRIPTION).read_text()
    assert json.loads(text) == {
        "format": "lnmap-embeddings",
        "version": 1,
        "shape": [7, 5],
        "dtype": "float32",
        "vectors_bytes": 256 + 7 * 5 * 4,
        "vocabulary_sha256": hashlib.sha256((store / VOCABULARY).read_bytes()).hexdigest(),
        "origin": {"path": "x", "skipped_samples": [[1, "y"]]},
    }
    assert text.startswith('{\n "format"')  # a field per line, for people
    assert int.from_bytes((store / VECTORS).read_bytes()[:8], "little") == 248  # vectors begin at a round place


def test_odd_origins_are_written_as_text(tmp_path):
    save_store(Embeddings(["a"], np.ones((1, 1), np.float32), {"é": Path("x")}), tmp_path / "store")
    assert (tmp_path / "store" / DESCRIPTION).read_bytes().isascii()
    assert load_store(tmp_path / "store").origin == {"é": "x"}
    assert load_store(tmp_path / "store", {"é": 3, "b": 4}).origin == {"é": 3, "b": 4}


def test_blocks_become_one_store(tmp_path):
    blocks = [(WORDS[:3], VECTORS_IN[:3]), (WORDS[3:], VECTORS_IN[3:].astype(np.float64))]
    write_store(tmp_path / "store", blocks)
    found = load_store(tmp_path / "store")
    assert list(found.words) == WORDS
    assert np.array_equal(found.vectors, VECTORS_IN)
    assert found.origin == {}


def test_an_empty_folder_is_filled_and_a_file_is_not(tmp_path):
    (tmp_path / "empty").mkdir()
    write_store(tmp_path / "empty", [(WORDS, VECTORS_IN)])
    assert len(load_store(tmp_path / "empty")) == 7
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match="exists already; choose another name or remove it first"):
        write_store(tmp_path / "file", [(WORDS, VECTORS_IN)])
    assert (tmp_path / "file").read_text() == "mine"


def test_all_of_it_is_on_the_disk_when_it_is_finished(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle)))
    with StoreWriter(tmp_path) as writer:
        writer.add(VECTORS_IN)
        writer.finish(WORDS, {})
    written = [(tmp_path / name).stat() for name in (VECTORS, VOCABULARY, DESCRIPTION)]
    assert [(one.st_ino, one.st_size) for one in synced] == [(one.st_ino, one.st_size) for one in written]
    with pytest.raises(ValueError, match="closed"):
        writer.add(VECTORS_IN)


def test_what_was_checked_before_is_not_read_again(store, tmp_path):
    """The fingerprint that is given is believed, unless values were rounded or words are missing."""
    assert load_store(store, fingerprint="given").fingerprint == "given"
    assert load_store(store).fingerprint == Embeddings(WORDS, VECTORS_IN).fingerprint
    save_store(Embeddings(WORDS, VECTORS_IN), tmp_path / "half", dtype="float16")
    half = load_store(tmp_path / "half", fingerprint="given")
    assert half.fingerprint == Embeddings(WORDS, half.vectors).fingerprint
    put_words(store, WORDS[:-1])
    for fingerprint in ("given", None):
        with pytest.raises(VectorFileError, match="is broken"):
            load_store(store, fingerprint=fingerprint)


@pytest.mark.parametrize("value", [{"a": 1}, "words", [*WORDS[1:], 3], None, 7])
def test_a_vocabulary_of_something_else(store, value):
    put_words(store, value)
    refused(store, r"vocabulary\.json is not a list of words")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format": "other"}, "does not describe a store of word vectors; write it again"),
        ({"version": 2}, "has version 2, this program reads 1"),
        ({"origin": [1]}, r"embeddings\.json has unknown fields"),
        ({"dtype": "float64"}, r"embeddings\.json has unknown fields"),
        ({"vocabulary_sha256": "0"}, r"vocabulary\.json is not the file that was written"),
        ({"vectors_bytes": 1}, r"vectors\.safetensors has 396 bytes instead of 1"),
        ({"shape": [5, 7]}, "does not hold the 5 x 7 float32 values described"),
        ({"dtype": "float16"}, "does not hold the 7 x 5 float16 values described"),
    ],
)
def test_what_is_said_about_each_lie(store, changes, says):
    describe(store, **changes)
    refused(store, says)


def test_a_description_of_something_else(store):
    (store / DESCRIPTION).write_text("[]")
    refused(store, "does not describe a store")


def put_vectors(store, header, length=None, data=None):
    """Replace the vectors by a file with another header, whose size the description vouches for."""
    data = VECTORS_IN.tobytes() if data is None else data
    content = (len(header) if length is None else length).to_bytes(8, "little") + header + data
    (store / VECTORS).write_bytes(content)
    describe(store, vectors_bytes=len(content))


HEADER = {"dtype": "F32", "shape": [7, 5], "data_offsets": [0, 140]}


def test_other_programs_headers(store):
    put_vectors(store, json.dumps({"vectors": HEADER, "__metadata__": {}}).encode())
    assert np.array_equal(load_store(store).vectors, VECTORS_IN)
    largest = json.dumps({"vectors": HEADER}).encode().ljust(1 << 20)
    put_vectors(store, largest)
    assert np.array_equal(load_store(store).vectors, VECTORS_IN)
    put_vectors(store, largest + b" ")
    refused(store, "has no header")


@pytest.mark.parametrize(
    "changes", [{"dtype": "F16"}, {"shape": [5, 7]}, {"data_offsets": [1, 141]}, {"data_offsets": [0, 139]}]
)
def test_headers_that_contradict_the_description(store, changes):
    put_vectors(store, json.dumps({"vectors": HEADER | changes}).encode())
    refused(store, "does not hold the 7 x 5 float32 values described")


def test_vectors_of_another_length(store):
    header = json.dumps({"vectors": HEADER}).encode()
    for data in (VECTORS_IN.tobytes()[:-1], VECTORS_IN.tobytes() + b"x"):
        put_vectors(store, header, data=data)
        refused(store, "does not hold the 7 x 5")
    put_vectors(store, header, length=len(header) + 141)
    refused(store, "has no header")
    put_vectors(store, header, length=len(header) + 140)
    with pytest.raises(VectorFileError, match="is broken") as caught:
        load_store(store)
    assert "has no header" not in str(caught.value)
