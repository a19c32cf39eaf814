"""Files and folders appear whole or not at all; two writers do not disturb each other."""

from __future__ import annotations

import os

import pytest
from tests.helpers import start, wait_for

from lnmap.errors import OutputError
from lnmap.io.atomic import TEMPORARY, atomic_file, atomic_folder, locked, write_json

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and locks")


@posix
def test_locks(tmp_path):
    with locked(tmp_path / "a"):
        with pytest.raises(OutputError, match="is being written by another run"), locked(tmp_path / "a"):
            pass
        with locked(tmp_path / "b"):
            pass
    with locked(tmp_path / "a"):
        pass
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "a"):
        raise ZeroDivisionError
    with locked(tmp_path / "a"):
        pass


def test_atomic_file(tmp_path):
    path = tmp_path / "deep" / "file.txt"
    with atomic_file(path, "w") as file:
        file.write("old")
    assert path.read_text() == "old"
    with pytest.raises(ZeroDivisionError), atomic_file(path, "w") as file:
        file.write("half of the n" * (1 // 0))
    assert path.read_text() == "old"
    assert [p.name for p in path.parent.iterdir()] == ["file.txt"]


@posix
def test_files_get_the_usual_permissions(tmp_path):
    mask = os.umask(0o027)
    try:
        write_json(tmp_path / "x.json", {"a": 1})
        with atomic_folder(tmp_path / "folder"):
            pass
    finally:
        os.umask(mask)
    assert (tmp_path / "x.json").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o750


def test_atomic_folder(tmp_path):
    with pytest.raises(ZeroDivisionError), atomic_folder(tmp_path / "folder") as work:
        (work / "half").write_text("x" * (1 // 0))
    assert not list(tmp_path.iterdir())
    with atomic_folder(tmp_path / "folder") as work:
        (work / "whole").write_text("x")
    assert [p.name for p in (tmp_path / "folder").iterdir()] == ["whole"]
    with pytest.raises(OutputError), atomic_folder(tmp_path / "folder"):
        pass
    assert [p.name for p in (tmp_path / "folder").iterdir()] == ["whole"]


WRITER = """
import sys, time
from pathlib import Path
from lnmap.io.atomic import atomic_file, atomic_folder

def write(out, ready):
    with atomic_file(out / "file.tsv", "w") as file, atomic_folder(out / "folder") as work:
        file.write("half")
        file.flush()
        (work / "half").write_text("half")
        ready()
        time.sleep(600)
"""


@posix
def test_what_a_killed_writer_left_is_swept_and_what_a_living_one_writes_is_not(tmp_path):
    tell = "write(Path(sys.argv[1]), lambda: print('ready', flush=True))"
    killed, living = (start(WRITER + tell, tmp_path) for _ in "ab")
    try:
        for one in (killed, living):
            wait_for(one, "ready")
        assert len(list(tmp_path.glob(TEMPORARY + "*"))) == 4
        killed.kill()
        killed.wait()
        write_json(tmp_path / "other.json", {})
        left = list(tmp_path.glob(TEMPORARY + "*"))
        assert sorted(path.is_dir() for path in left) == [False, True]
        living.kill()
        living.wait()
        with atomic_folder(tmp_path / "another"):
            assert not set(left) & set(tmp_path.iterdir())
    finally:
        for one in (killed, living):
            one.kill()
            one.communicate()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["another", "other.json"]


@posix
def test_writers_that_sweep_do_not_disturb_each_other(tmp_path):
    """Two processes write side by side; neither may take the other's files for leftovers."""
    code = """
import sys
from contextlib import ExitStack
from pathlib import Path
from lnmap.io.atomic import atomic_file, atomic_folder
out, name = Path(sys.argv[1]), sys.argv[2]
for number in range(300):
    with atomic_file(out / name) as file:
        file.write(b"x")
    with atomic_folder(out / f"{name}-{number}") as work:
        (work / "x").write_text("x")
"""
    writers = [start(code, tmp_path, name) for name in "ab"]
    assert [one.communicate()[1] for one in writers] == ["", ""]
    assert [one.returncode for one in writers] == [0, 0]
    assert len(list(tmp_path.glob("*-*/x"))) == 600
    assert not list(tmp_path.glob(TEMPORARY + "*"))
