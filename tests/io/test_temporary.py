"""Temporary files: held while they are written, swept when nobody holds them, and never mistaken for another's."""

from __future__ import annotations

import json
import os
import threading
import uuid
from pathlib import Path

import pytest

from lnmap.errors import OutputError
from lnmap.io import atomic
from lnmap.io.atomic import TEMPORARY, atomic_file, atomic_folder, in_turn, locked, partial_folder, put, write_json

fcntl = pytest.importorskip("fcntl")
pytestmark = pytest.mark.usefixtures("no_deadlock")


def partial(folder):
    return sorted(folder.glob(f"{TEMPORARY}*"))


def hold(path):
    """Lock a file or folder as another process would."""
    handle = os.open(path, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def fail_after(step):
    step()
    raise ZeroDivisionError


@pytest.fixture
def left(tmp_path):
    """Make a file and a folder that a killed writer left."""
    file, folder = tmp_path / f"{TEMPORARY}file.vec", tmp_path / f"{TEMPORARY}folder"
    file.write_text("half")
    folder.mkdir()
    (folder / "half").write_text("half")
    return file, folder


def test_what_nobody_holds_is_swept(tmp_path, left):
    write_json(tmp_path / "x.json", {})
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_what_somebody_holds_stays(tmp_path, left):
    handles = [hold(path) for path in left]
    write_json(tmp_path / "x.json", {})
    assert partial(tmp_path) == sorted(left)
    for handle in handles:
        os.close(handle)
    write_json(tmp_path / "x.json", {})
    assert not partial(tmp_path)


def test_without_locks_nothing_is_swept(tmp_path, left, monkeypatch):
    monkeypatch.setattr(atomic, "fcntl", None)
    write_json(tmp_path / "x.json", {})
    assert partial(tmp_path) == sorted(left)


def test_links_are_not_followed(tmp_path):
    """Whoever may write to a shared folder cannot have the files of others removed through it."""
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("mine")
    (tmp_path / "shared").mkdir()
    for number, target in enumerate([tmp_path / "precious", tmp_path / "precious" / "file"]):
        (tmp_path / "shared" / f"{TEMPORARY}{number}").symlink_to(target)
    write_json(tmp_path / "shared" / "x.json", {})
    assert (tmp_path / "precious" / "file").read_text() == "mine"
    assert len(partial(tmp_path / "shared")) == 2


@pytest.mark.parametrize("write", [atomic_file, atomic_folder])
def test_what_is_being_written_is_held(tmp_path, write):
    with write(tmp_path / "slow"):
        (own,) = partial(tmp_path)
        write_json(tmp_path / "quick.json", {})
        assert partial(tmp_path) == [own]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["quick.json", "slow"]


@pytest.mark.parametrize("write", [atomic_file, atomic_folder])
def test_a_file_swept_before_it_was_locked_is_made_again(tmp_path, monkeypatch, write):
    real, swept = atomic._lock, []

    def lock(handle, wait=False):
        if wait and not swept:
            swept.extend(partial(tmp_path))
            for path in swept:
                path.rmdir() if path.is_dir() else path.unlink()
        return real(handle, wait)

    monkeypatch.setattr(atomic, "_lock", lock)
    with write(tmp_path / "out"):
        pass
    assert len(swept) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_file_that_is_being_swept_is_made_again(tmp_path, monkeypatch):
    real, sweepers = atomic._open_existing, []

    def open_existing(path):
        if path.name.startswith(TEMPORARY) and not sweepers:
            handle = hold(path)
            sweepers.append(threading.Timer(0.05, lambda: (path.unlink(), os.close(handle))))
            sweepers[0].start()
        return real(path)

    monkeypatch.setattr(atomic, "_open_existing", open_existing)
    with atomic_file(tmp_path / "out") as file:
        sweepers[0].join()
        file.write(b"whole")
    assert (tmp_path / "out").read_bytes() == b"whole"


def test_a_name_that_is_taken_is_not_written_over(tmp_path, monkeypatch):
    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=7))
    taken = tmp_path / f"{TEMPORARY}{uuid.UUID(int=7).hex}.vec"
    taken.write_text("of another")
    handle = hold(taken)
    with pytest.raises(OutputError, match=r"cannot write the file to .*: File exists"), atomic_file(tmp_path / "a.vec"):
        pass
    os.close(handle)
    assert taken.read_text() == "of another"


def test_the_end_of_the_name_is_kept(tmp_path):
    """Libraries that look at it write what the final name promises."""
    with atomic_file(tmp_path / "x.tar.gz") as file:
        assert Path(file.name).suffix == ".gz"
        assert Path(file.name).parent == tmp_path


def test_everything_is_handed_to_the_disk_before_it_is_synced(tmp_path, monkeypatch):
    sizes = []
    monkeypatch.setattr(os, "fsync", lambda handle: sizes.append(os.fstat(handle).st_size))
    with atomic_file(tmp_path / "x") as file:
        file.write(b"12345")
    assert sizes[0] == 5


def test_an_error_is_the_callers_own_even_if_the_file_is_gone(tmp_path):
    with pytest.raises(ZeroDivisionError), atomic_file(tmp_path / "x") as file:
        fail_after(Path(file.name).unlink)
    with pytest.raises(OutputError, match=r"cannot write the file to .*x: No such file"), atomic_file(tmp_path / "x"):
        partial(tmp_path)[0].unlink()


def test_reasons_without_a_number(tmp_path):
    with pytest.raises(OutputError, match="x: it is odd; nothing that was there"), atomic_file(tmp_path / "x"):
        raise OSError("it is odd")


def test_folders(tmp_path):
    with atomic_folder(tmp_path / "deep" / "down" / "out") as work:
        assert work.parent == tmp_path / "deep" / "down"
        (work / "file").touch()
    with (
        pytest.raises(OutputError, match=r"cannot write the folder to .*out: Directory not empty"),
        atomic_folder(tmp_path / "deep" / "down" / "out"),
    ):
        pass
    assert [path.name for path in (tmp_path / "deep" / "down").iterdir()] == ["out"]


def test_partial_folders_are_private_and_go_away(tmp_path):
    with partial_folder(tmp_path) as work:
        (work / "file").touch()
        assert work.stat().st_mode & 0o777 == 0o700
    assert not list(tmp_path.iterdir())
    with pytest.raises(ZeroDivisionError), partial_folder(tmp_path) as work:
        fail_after((work / "file").touch)
    assert not list(tmp_path.iterdir())
    with partial_folder(tmp_path) as work:
        work.rename(tmp_path / "kept")
    assert (tmp_path / "kept").is_dir()


def test_put_takes_the_place_of_what_is_there(tmp_path):
    (tmp_path / "new").write_text("new")
    (tmp_path / "old").write_text("old")
    put(tmp_path / "new", tmp_path / "old")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["new"]


def test_json_files(tmp_path):
    """The bytes stay as they are from version to version: models and results are compared by them."""
    write_json(tmp_path / "x.json", {"é": 1, "at": Path("x"), "list": [1]})
    text = (tmp_path / "x.json").read_bytes()
    assert text == b'{\n "\\u00e9": 1,\n "at": "x",\n "list": [\n  1\n ]\n}\n'
    assert json.loads(text) == {"é": 1, "at": "x", "list": [1]}


def test_one_after_the_other(tmp_path):
    lock, order = tmp_path / "deep" / "down" / "lock", []

    def work():
        with in_turn(lock):
            order.append("second")

    with in_turn(lock):
        other = threading.Thread(target=work)
        other.start()
        other.join(0.1)
        order.append("first")
    other.join(10)
    assert order == ["first", "second"]


def test_work_is_done_where_no_lock_can_be_made(tmp_path):
    (tmp_path / "file").touch()
    with in_turn(tmp_path / "file" / "lock"):
        pass
    with pytest.raises(ZeroDivisionError), in_turn(tmp_path / "lock"):
        raise ZeroDivisionError


def test_a_folder_in_use_says_what_to_do(tmp_path):
    with (
        locked(tmp_path / "a"),
        pytest.raises(OutputError, match="written by another run; wait for it or choose another"),
        locked(tmp_path / "a"),
    ):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"cannot write the output to .*file"), locked(tmp_path / "file"):
        pass


def test_a_folder_that_was_there_stays(tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "mine" / "a"):
        fail_after((tmp_path / "mine" / "a" / "result").touch)
    assert {path.name for path in (tmp_path / "mine" / "a").iterdir()} == {".lock", "result"}
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "mine" / "b"):
        raise ZeroDivisionError
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["a"]
