"""Marks: no acknowledged one is ever lost, whoever is killed and however many write at once."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from tests.serve.serving import Server, small_model

from lnmap.errors import OutputError
from lnmap.io.atomic import append_line
from lnmap.model.marks import JOURNAL, Marks


def journal(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / JOURNAL).read_text(encoding="utf-8").splitlines()]


def test_the_last_mark_counts(tmp_path):
    marks = Marks(tmp_path)
    for mark in ("right", "wrong"):
        marks.add("chien", "dog", mark)
    marks.add("chat", "cat", "added")
    marks.add("eau", "water", "right")
    marks.add("eau", "water", "none")
    latest, version = Marks(tmp_path).latest()
    assert {pair: mark.mark for pair, mark in latest.items()} == {("chien", "dog"): "wrong", ("chat", "cat"): "added"}
    assert version == 5
    assert len(journal(tmp_path)) == 5


def test_two_readers_see_each_other(tmp_path):
    one, two = Marks(tmp_path), Marks(tmp_path)
    assert two.version() == 0
    one.add("a", "b", "right")
    two.add("c", "d", "wrong")
    assert one.counts() == two.counts() == {"right": 1, "wrong": 1, "added": 0}
    assert one.version() == two.version() == 2


def test_what_changed_since_a_version(tmp_path):
    marks = Marks(tmp_path)
    marks.add("a", "b", "right")
    marks.add("c", "d", "right")
    seen = marks.version()
    marks.add("a", "b", "none")
    marks.add("e", "f", "wrong")
    changed, version = marks.since(seen)
    assert {(mark.source, mark.target): mark.mark for mark in changed} == {("a", "b"): "none", ("e", "f"): "wrong"}
    assert version == 4
    assert marks.since(4) == marks.since(99) == ([], 4)


@pytest.mark.parametrize("torn", [b'{"source": "x", "tar', b"{", '{"source": "é'.encode()[:-1]])
def test_a_torn_last_line_spoils_nothing(tmp_path, torn):
    marks = Marks(tmp_path)
    marks.add("a", "b", "right")
    with (tmp_path / JOURNAL).open("ab") as file:
        file.write(torn)
    assert Marks(tmp_path).counts()["right"] == 1
    marks.add("c", "d", "right")
    assert set(marks.latest()[0]) == set(Marks(tmp_path).latest()[0]) == {("a", "b"), ("c", "d")}


def test_lines_that_are_no_marks_are_passed_over(tmp_path):
    lines = [b"", b"[]", b'"x"', b"null", b'{"source": 1, "target": "b", "mark": "right", "time": ""}', b"\xff\xfe"]
    lines += [b'{"source": "a", "target": "b", "mark": "perhaps", "time": ""}', b'{"mark": "right"}', b"[" * 50_000]
    for line in lines:
        append_line(tmp_path / JOURNAL, line)
    marks = Marks(tmp_path)
    marks.add("a", "b", "right")
    assert set(marks.latest()[0]) == {("a", "b")}


def test_a_journal_that_was_replaced_or_removed_is_read_afresh(tmp_path):
    marks = Marks(tmp_path)
    marks.add("a", "b", "right")
    assert marks.counts()["right"] == 1
    (tmp_path / JOURNAL).unlink()
    assert marks.counts()["right"] == 0
    Marks(tmp_path).add("c", "d", "wrong")
    assert marks.counts() == {"right": 0, "wrong": 1, "added": 0}


def test_a_full_disk_leaves_the_journal_as_it_was(tmp_path, monkeypatch):
    marks = Marks(tmp_path)
    marks.add("a", "b", "right")
    before = (tmp_path / JOURNAL).read_bytes()
    write = os.write

    def full(handle: int, data: bytes) -> int:
        if len(data) <= 10:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data[:10])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OutputError, match="No space left"):
            marks.add("c", "d", "right")
    assert (tmp_path / JOURNAL).read_bytes() == before
    marks.add("c", "d", "right")
    assert marks.counts()["right"] == 2


def test_a_lock_that_is_never_given_back_is_an_error(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    path = tmp_path / JOURNAL
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(OutputError, match="locked by another program"):
            append_line(path, b"x", patience=0.05)
    append_line(path, b"y")
    assert path.read_bytes() == b"y\n"


WRITER = """
import sys
from pathlib import Path
from lnmap.model.marks import Marks

marks = Marks(Path(sys.argv[1]))
for number in range(10**6):
    marks.add(f"{sys.argv[2]}-{number}", "x", "right")
    print(number, flush=True)
"""


def test_killed_writers_lose_nothing_they_acknowledged(tmp_path):
    """Two processes write as fast as they can and are killed; what they said was written is there."""
    acknowledged = {}
    for turn in range(4):
        writers = {
            name: subprocess.Popen(
                [sys.executable, "-c", WRITER, str(tmp_path), name], stdout=subprocess.PIPE, text=True
            )
            for name in (f"a{turn}", f"b{turn}")
        }
        for writer in writers.values():
            writer.stdout.readline()
        time.sleep(0.05 + 0.03 * turn)
        for name, writer in writers.items():
            writer.kill()
            lines = writer.stdout.read().split("\n")
            acknowledged[name] = int(lines[-2]) if len(lines) > 1 else 0
    found = Marks(tmp_path).latest()[0]
    for name, last in acknowledged.items():
        assert all((f"{name}-{number}", "x") in found for number in range(last + 1))
    assert sum(acknowledged.values()) > 20


@pytest.fixture(scope="module")
def model_folder(pair, tmp_path_factory) -> Path:
    return small_model(pair, tmp_path_factory.mktemp("models") / "en-fr")


def test_two_servers_one_of_them_killed_lose_no_mark(model_folder, tmp_path):
    """Clients mark through two servers at once; one server is killed with SIGKILL in the middle."""
    folder = tmp_path / "en-fr"
    shutil.copytree(model_folder, folder)
    acknowledged: list[str] = []

    def mark(url: str, name: str) -> None:
        with httpx.Client(base_url=url, timeout=10) as client:
            for number in range(150):
                body = {"source": f"{name}-{number}", "target": "x", "mark": "added"}
                try:
                    if client.post("api/models/en-fr/marks", json=body).status_code == 201:
                        acknowledged.append(body["source"])
                except httpx.HTTPError:
                    return

    with Server(folder) as one, Server(folder) as two:
        servers = [(one.url, "a"), (one.url, "b"), (two.url, "c"), (two.url, "d")]
        threads = [threading.Thread(target=mark, args=server) for server in servers]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 60
        while len(acknowledged) < 100:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        one.kill()
        for thread in threads:
            thread.join()
        with two.client() as client:
            seen = {mark["source"] for mark in client.get("api/models/en-fr/marks").json()["marks"]}
    assert set(acknowledged) <= seen
    assert {f"{name}-149" for name in "cd"} <= seen
    assert len(acknowledged) < 600  # the killed server's clients did not come to the end
    assert seen == {mark["source"] for mark in journal(folder)}
