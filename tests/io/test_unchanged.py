"""Files are compared with a hash once, and again whenever they may have changed."""

from __future__ import annotations

import os
import time

import pytest

from lnmap.io.unchanged import hold, sha256

OLD = 10_000_000_000  # nanoseconds


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("LNMAP_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "file"
    path.write_bytes(b"content")
    monkeypatch.setattr("time.time_ns", lambda now=time.time_ns: now() + OLD)  # as if it had been there for long
    return path


def asked(path, digest="abc", same=True):
    """Return what `hold` says, and how often it had to compare."""
    calls = []
    return hold([path], digest, lambda: calls.append(1) or same), len(calls)


def test_a_file_is_compared_once(file):
    assert asked(file) == (True, 1)
    assert asked(file) == (True, 0)
    assert asked(file, "another") == (True, 1)


def test_what_differs_is_not_remembered(file):
    assert asked(file, same=False) == (False, 1)
    assert asked(file) == (True, 1)


@pytest.mark.parametrize("change", ["written", "replaced", "touched", "truncated"])
def test_a_file_that_may_have_changed_is_compared_again(file, change):
    asked(file)
    if change == "written":
        file.write_bytes(b"CONTENT")
    elif change == "replaced":
        other = file.with_name("other")
        other.write_bytes(b"content")
        os.replace(other, file)
    elif change == "touched":
        os.utime(file, ns=(1, 1))
    else:
        os.truncate(file, 3)
    assert asked(file) == (True, 1)


def test_a_file_just_written_is_not_trusted(file, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("LNMAP_CACHE", str(file.parent / "cache"))
    assert asked(file) == (True, 1)
    assert asked(file) == (True, 1)


def test_a_record_that_cannot_be_read_or_written_costs_only_time(file, monkeypatch):
    asked(file)
    (record,) = (file.parent / "cache" / "unchanged").iterdir()
    for text in ("[", "[]", "null", "{}"):
        record.write_text(text)
        assert asked(file) == (True, 1)
    monkeypatch.setenv("LNMAP_CACHE", str(file / "no folder"))
    assert asked(file) == (True, 1)


def test_sha256_of_a_file(file):
    assert sha256(file) == "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
