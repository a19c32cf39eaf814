"""Files and folders appear whole or not at all; two writers do not disturb each other."""

from __future__ import annotations

import errno
import os

import pytest
from tests.helpers import start, wait_for

from lnmap.errors import OutputError
from lnmap.io import atomic
from lnmap.io.atomic import TEMPORARY, append_line, atomic_file, atomic_folder, locked, make_folder, put, write_json

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and locks")
pytestmark = pytest.mark.usefixtures("no_deadlock")


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


@posix
def test_a_run_that_fails_before_it_writes_leaves_no_folder(tmp_path):
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "a" / "b"):
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())
    (tmp_path / "killed").mkdir()
    (tmp_path / "killed" / ".lock").touch()
    (tmp_path / "own").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for name in ("killed", "own", "full"):
        with pytest.raises(ZeroDivisionError), locked(tmp_path / name):
            raise ZeroDivisionError
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "own"]
    assert not list((tmp_path / "own").iterdir())
    assert (tmp_path / "full" / "file").exists()


@posix
def test_a_lock_whose_file_was_removed_meanwhile_is_not_held(tmp_path, monkeypatch):
    """A run that failed may remove the folder between the opening of its lock and the locking by another run."""
    real, removed = atomic._lock, []

    def lock(handle, wait=False):
        if not removed:
            removed.append(True)
            (tmp_path / "a" / ".lock").unlink()
            (tmp_path / "a").rmdir()
        return real(handle, wait)

    monkeypatch.setattr(atomic, "_lock", lock)
    with locked(tmp_path / "a"):
        with pytest.raises(OutputError, match="is being written by another run"), locked(tmp_path / "a"):
            pass
        assert (tmp_path / "a" / ".lock").exists()


@pytest.fixture
def disk(monkeypatch):
    """Record in which order files are written to the disk and renamed; `fail` lets the writing of folders fail."""

    class Disk:
        done: list[str] = []
        fail: int | None = None

    def fsync(handle):
        path = os.readlink(f"/proc/self/fd/{handle}")
        if os.path.isdir(path) and Disk.fail:
            raise OSError(Disk.fail, os.strerror(Disk.fail))
        Disk.done.append("folder" if os.path.isdir(path) else "file")

    def renaming(real):
        def rename(*names):
            Disk.done.append("rename")
            return real(*names)

        return rename

    Disk.done = []
    monkeypatch.setattr(os, "fsync", fsync)
    for name in ("replace", "rename"):
        monkeypatch.setattr(os, name, renaming(getattr(os, name)))
    return Disk


linux = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")


@linux
def test_data_are_on_the_disk_before_the_name_and_the_name_when_it_returns(tmp_path, disk):
    write_json(tmp_path / "x.json", {})
    assert disk.done == ["file", "rename", "folder"]
    disk.done.clear()
    with atomic_folder(tmp_path / "folder") as work:
        (work / "deep").mkdir()
        (work / "deep" / "file").touch()
    assert disk.done == ["file", "folder", "folder", "rename", "folder"]
    disk.done.clear()
    (tmp_path / "work").touch()
    put(tmp_path / "work", tmp_path / "there")
    assert disk.done == ["file", "rename", "folder"]
    disk.done.clear()
    make_folder(tmp_path / "a" / "b")
    assert disk.done == ["folder", "folder"]
    make_folder(tmp_path / "a" / "b")
    assert len(disk.done) == 2


@linux
def test_the_name_of_a_journal_is_on_the_disk_before_its_first_line(tmp_path, disk):
    (tmp_path / "journal").touch()  # whoever made it was killed at once
    append_line(tmp_path / "journal", b"one")
    append_line(tmp_path / "journal", b"two")
    assert disk.done == ["folder", "file", "file"]


@linux
def test_a_folder_that_cannot_be_written_to_the_disk_is_an_error_where_it_should_work(tmp_path, disk):
    disk.fail = errno.EIO
    with pytest.raises(OutputError, match="through to the disk: Input/output error") as caught:
        write_json(tmp_path / "x.json", {})
    assert "nothing that was there has been changed" not in str(caught.value)
    with pytest.raises(OutputError, match="through to the disk"):
        append_line(tmp_path / "journal", b"one")
    assert not (tmp_path / "journal").read_bytes()
    disk.fail = errno.EINVAL  # some file systems do not know it
    write_json(tmp_path / "x.json", {})


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


def test_writing_where_nothing_can_be_locked(tmp_path, monkeypatch):
    """Windows has neither fcntl nor O_NOFOLLOW."""
    monkeypatch.setattr(atomic, "fcntl", None)
    monkeypatch.delattr(os, "O_NOFOLLOW", raising=False)
    with atomic_folder(tmp_path / "folder") as work:
        write_json(work / "x.json", {})
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["x.json"]


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
def test_remove_folder(tmp_path, monkeypatch):
    """Whoever is ended while removing a folder leaves it under a temporary name, which the next writer removes."""
    folder = tmp_path / "f"
    folder.mkdir()
    (folder / "file").touch()
    with monkeypatch.context() as patch:
        patch.setattr(atomic.shutil, "rmtree", lambda *_, **__: None)
        atomic.remove_folder(folder)
    assert not folder.exists()
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(atomic.TEMPORARY)
    with atomic.atomic_folder(folder):
        pass
    assert list(tmp_path.iterdir()) == [folder]
    atomic.remove_folder(folder)
    assert not list(tmp_path.iterdir())
    with pytest.raises(OutputError, match="cannot write the folder"):
        atomic.remove_folder(folder)


@posix
def test_what_cannot_be_removed_is_left_under_a_temporary_name(tmp_path, monkeypatch):
    folder = tmp_path / "f"
    folder.mkdir()

    def refuse(*_, **__):
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(os, "rmdir", refuse)
        atomic.remove_folder(folder)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(atomic.TEMPORARY)


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
