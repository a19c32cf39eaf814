"""Archives of two arrays: what is in them is read, and what is wrong with them is said."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from lnmap.errors import VectorFileError
from lnmap.io import read
from lnmap.io.collect import Collector, Rows
from lnmap.io.formats.npz import NpzReader
from lnmap.io.policy import ReadOptions
from lnmap.io.source import ByteSource

WORDS, VECTORS = np.array(["a", "b", "c"]), np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "words.npz"


def test_both_arrays_are_read(path):
    np.savez(path, words=WORDS, vectors=VECTORS, more=np.zeros(3))
    found = read(path)
    assert list(found.words) == ["a", "b", "c"]
    assert np.array_equal(found.vectors, VECTORS)
    assert (found.origin["format"], found.origin["lines"]) == ("npz", 3)


def test_other_files_are_left_to_other_readers(path):
    path.write_bytes(b"a 1 2\n")
    with ByteSource(path) as source:
        assert NpzReader.recognise(source) is None


@pytest.mark.parametrize("given", [{"words": WORDS}, {"vectors": VECTORS}, {"y": WORDS, "x": VECTORS}])
def test_missing_arrays_are_named_in_order(path, given):
    np.savez(path, **given)
    with pytest.raises(VectorFileError) as caught:
        read(path)
    assert str(caught.value) == f"{path} holds the arrays {sorted(given)}; expected 'words' and 'vectors'"


def test_arrays_of_objects_are_never_unpickled(path):
    np.savez(path, words=np.array([{"a": 1}, None, 3], dtype=object), vectors=VECTORS)
    with pytest.raises(VectorFileError, match=r"as a numpy archive \(Object arrays cannot be loaded.*savez"):
        read(path)


def test_a_broken_archive(path):
    np.savez(path, words=WORDS, vectors=VECTORS)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data[:-3])
    with pytest.raises(VectorFileError, match=r"cannot read .*words.npz as a numpy archive \(.+\); save it again"):
        read(path)


@pytest.mark.parametrize(("error", "reason"), [(KeyError(), "KeyError"), (ValueError("one\ntwo"), "one")])
def test_the_reason_is_one_line(path, monkeypatch, error, reason):
    np.savez(path, words=WORDS, vectors=VECTORS)

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(np, "load", fail)
    with pytest.raises(VectorFileError) as caught:
        read(path)
    assert str(caught.value) == f"cannot read {path} as a numpy archive ({reason}); save it again with numpy.savez"
    assert caught.value.__cause__ is error


def test_arrays_that_do_not_fit_name_the_file(path):
    np.savez(path, words=WORDS[:2], vectors=VECTORS)
    with ByteSource(path) as source, pytest.raises(VectorFileError, match=r"words\.npz: .*2 words"):
        NpzReader.recognise(source).read(Collector(ReadOptions(), Rows().add))
