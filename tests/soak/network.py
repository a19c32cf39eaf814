"""Kills of what talks to the network: `data get` from a real server, and marks in `lnmap serve`."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from tests.datasets.server import Site, serving
from tests.soak.figures import Budget, Figures
from tests.soak.launcher import Child
from tests.soak.room import Room, contents

from lnmap.serve.marks import Marks

_HOST = "/dl.fbaipublicfiles.com"
_BIG = f"{_HOST}/fasttext/vectors-wiki/wiki.fi.vec"


def _put_benchmark(site: Site) -> None:
    numbers = np.random.default_rng(0).normal(size=(1500, 10))
    lines = [f"w{row} " + " ".join(f"{value:.4f}" for value in line) for row, line in enumerate(numbers)]
    vectors = ("1500 10\n" + "\n".join(lines) + "\n").encode()
    for part, pairs in (("0-5000", b"w0 w0\nw1 w1\n"), ("5000-6500", b"w2 w2\n")):
        site.put(f"{_HOST}/arrival/dictionaries/en-fi.{part}.txt", pairs)
    site.put(f"{_HOST}/fasttext/vectors-wiki/wiki.en.vec", vectors[: len(vectors) // 2].rpartition(b"\n")[0] + b"\n")
    site.put(_BIG, vectors, slow_s=0.01)


def data_get(room: Room, budget: Budget) -> Figures:
    """`data get`, continued where it was."""
    figures = Figures()
    with serving() as site:
        _put_benchmark(site)
        argv = ["data", "get", "muse", "--pairs", "en-fi"]
        whole = room.launcher.run(argv, env={"LNMAP_DATA": str(room.fresh()), "LNMAP_DATA_MIRROR": site.address})
        while budget.more(figures):
            with figures.attempt():
                moment = budget.rng.uniform(0, 1.02 * whole.seconds)
                _kill_download(room, site, argv, moment, figures)
    return figures


def _kill_download(room: Room, site: Site, argv: list[str], moment: float, figures: Figures) -> None:
    out = room.fresh()
    env = {"LNMAP_DATA": str(out), "LNMAP_DATA_MIRROR": site.address}
    first = room.launcher.run(argv, kill_after=moment, env=env)
    figures.count("killed", first.signal is not None)
    whole = {path.name: path.stat().st_mtime_ns for path in out.rglob("*.vec")}
    part = out / "muse/vectors/wiki.fi.vec.part"
    kept = part.stat().st_size if part.exists() else 0
    site.log.clear()
    second = room.launcher.run(argv, env=env)
    if second.code:
        raise AssertionError(f"killed after {moment:.3f} s, then: {second.err[-300:]}")
    for language in ("en", "fi"):
        path = f"{_HOST}/fasttext/vectors-wiki/wiki.{language}.vec"
        if (out / f"muse/vectors/wiki.{language}.vec").read_bytes() != site.pages[path].data:
            raise AssertionError(f"killed after {moment:.3f} s: wiki.{language}.vec is not what the server has")
        if f"wiki.{language}.vec" in whole and site.gets(path):
            raise AssertionError(f"killed after {moment:.3f} s: wiki.{language}.vec was whole and was fetched again")
    if 0 < kept < len(site.pages[_BIG].data):
        figures.count("continued")
        if site.gets(_BIG) != [f"bytes={kept}-"]:
            raise AssertionError(f"{kept} bytes were there, but asked for was {site.gets(_BIG)}")


@contextmanager
def server(room: Room, model: Path) -> Iterator[tuple[Child, str, int]]:
    """Run `lnmap serve` on a free port of this machine: the process, its host and its port."""
    child = room.launcher.start(["serve", model, "--port", 0, "--json"])
    try:
        yield (child, *_address(child))
    finally:
        child.kill()
        room.launcher.finish(child)


def _address(child: Child) -> tuple[str, int]:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            parts = urlsplit(json.loads(child.output())["url"])
            return parts.hostname or "", parts.port or 0
        except ValueError:
            time.sleep(0.01)
    raise AssertionError(f"the server does not start: {child.output('err')}")


def post(connection: HTTPConnection, path: str, body: Any) -> int:
    """Send JSON and give the status."""
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    with connection.getresponse() as answer:
        answer.read()
        return answer.status


def marking(address: tuple[str, int], name: str, most: int, acknowledged: list[str]) -> None:
    """Mark pairs until the server is gone; note down what it acknowledged."""
    connection = HTTPConnection(*address, timeout=20)
    try:
        for number in range(most):
            body = {"source": f"{name}-{number}", "target": "x", "mark": "added"}
            if post(connection, "/api/models/model/marks", body) == 201:
                acknowledged.append(body["source"])
    except (OSError, HTTPException):
        return
    finally:
        connection.close()


def marks(room: Room, budget: Budget) -> Figures:
    """A server that people mark words in; no acknowledged mark is lost."""
    figures = Figures()
    folder = room.folder / "marked" / "model"
    shutil.copytree(room.model, folder)
    model = contents(folder)
    everything: list[str] = []
    while budget.more(figures):
        with figures.attempt():
            name, acknowledged = f"m{figures.attempts}", everything
            with server(room, folder) as (child, *address):
                where = (str(address[0]), int(address[1]))
                threads = [
                    threading.Thread(target=marking, args=(where, name + who, 10**6, acknowledged)) for who in "ab"
                ]
                for thread in threads:
                    thread.start()
                time.sleep(budget.rng.uniform(0.02, 0.4))
                child.kill()
                figures.count("killed")
                for thread in threads:
                    thread.join()
            found = {source for source, _ in Marks(folder).latest()[0]}
            if lost := set(acknowledged) - found:
                raise AssertionError(f"{len(lost)} acknowledged marks are lost, such as {min(lost)}")
            after = contents(folder)
            if {key: after[key] for key in model} != model:
                raise AssertionError("the model changed")
    figures.also["marks acknowledged"] = len(everything)
    shutil.rmtree(folder.parent)
    return figures
