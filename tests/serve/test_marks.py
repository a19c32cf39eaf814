"""Marks: no acknowledged one is ever lost, whoever is killed and however many write at once."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from tests.serve.serving import Server, small_model

from lnmap.model.marks import JOURNAL, Marks


def journal(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / JOURNAL).read_text(encoding="utf-8").splitlines()]


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
