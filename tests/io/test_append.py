"""Journals: several writers append whole lines, and what fails leaves no trace."""

from __future__ import annotations

import errno
import os
import time

import pytest

from lnmap.errors import OutputError
from lnmap.io import atomic
from lnmap.io.atomic import append_line

fcntl = pytest.importorskip("fcntl")
pytestmark = pytest.mark.usefixtures("no_deadlock")


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "journal"


def hold(path):
    """Lock a file as another writer would."""
    handle = os.open(path, os.O_CREAT | os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def test_lines_follow_each_other(journal):
    for line in (b"one", b"", b"three"):
        append_line(journal, line)
    assert journal.read_bytes() == b"one\n\nthree\n"


def test_without_locks(journal, monkeypatch):
    monkeypatch.setattr(atomic, "fcntl", None)
    append_line(journal, b"one", patience=0.0)
    assert journal.read_bytes() == b"one\n"


def test_a_new_journal_is_nobodys_program(journal):
    mask = os.umask(0)
    try:
        append_line(journal, b"one")
    finally:
        os.umask(mask)
    assert journal.stat().st_mode & 0o777 == 0o666


@pytest.mark.parametrize("torn", [b"x", b"one\ntw", b"\n\nx"])
def test_a_torn_line_is_closed_off(journal, torn):
    journal.write_bytes(torn)
    append_line(journal, b"next")
    assert journal.read_bytes() == torn + b"\nnext\n"


def test_a_single_line_end_is_not_torn(journal):
    journal.write_bytes(b"\n")
    append_line(journal, b"next")
    assert journal.read_bytes() == b"\nnext\n"


def test_a_disk_that_takes_a_byte_at_a_time(journal, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:1]))
    append_line(journal, b"slow")
    assert journal.read_bytes() == b"slow\n"


@pytest.mark.parametrize("step", ["write", "fsync"])
def test_a_line_that_cannot_be_written_leaves_the_file_as_it_was(journal, monkeypatch, step):
    append_line(journal, b"old")
    write = os.write

    def full(handle, data=b""):
        if step == "write":
            write(handle, data[:3])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, full)
        with pytest.raises(OutputError) as caught:
            append_line(journal, b"new and long")
    says = f"cannot write a line to {journal}: No space left on device; nothing that was there has been changed"
    assert str(caught.value) == says
    assert journal.read_bytes() == b"old\n"


def test_another_writer_is_waited_for(journal, monkeypatch):
    other, naps = hold(journal), []

    def sleep(seconds):
        naps.append(seconds)
        if len(naps) == 3:
            os.close(other)

    monkeypatch.setattr(time, "sleep", sleep)
    append_line(journal, b"mine", patience=5)
    assert journal.read_bytes() == b"mine\n"
    assert len(naps) == 3
    assert max(naps) < 0.1


def test_a_writer_that_never_ends_is_not_waited_for(journal):
    other = hold(journal)
    with pytest.raises(OutputError, match="locked by another program for 0 s; try again"):
        append_line(journal, b"mine", patience=0.03)
    os.close(other)
    assert journal.read_bytes() == b""


def test_a_folder_cannot_be_appended_to(tmp_path):
    with pytest.raises(OutputError, match="cannot write a line to"):
        append_line(tmp_path, b"x")


def test_the_lock_is_free_again_after_a_failure(journal, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(atomic, "_last_byte", lambda *_: 1 / 0)
        journal.write_bytes(b"old\n")
        with pytest.raises(ZeroDivisionError):
            append_line(journal, b"x")
    append_line(journal, b"new", patience=0.0)
    assert journal.read_bytes() == b"old\nnew\n"
