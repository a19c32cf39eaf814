"""Kills of what talks to the network: `data get` from a real server, and `serve` while words are marked."""

from __future__ import annotations

import json
import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from tests.datasets.server import Site, serving
from tests.soak.aim import Aim, is_whole
from tests.soak.figures import Budget, Figures
from tests.soak.lab import Lab, contents
from tests.soak.launcher import Child, Ended

from lnmap.model.marks import Marks

_HOST = "/dl.fbaipublicfiles.com"
_BIG = f"{_HOST}/fasttext/vectors-wiki/wiki.fi.vec"
Address = tuple[str, int]


def _put_benchmark(site: Site) -> None:
    numbers = np.random.default_rng(0).normal(size=(1500, 10))
    lines = [f"w{row} " + " ".join(f"{value:.4f}" for value in line) for row, line in enumerate(numbers)]
    vectors = ("1500 10\n" + "\n".join(lines) + "\n").encode()
    for part, pairs in (("0-5000", b"w0 w0\nw1 w1\n"), ("5000-6500", b"w2 w2\n")):
        site.put(f"{_HOST}/arrival/dictionaries/en-fi.{part}.txt", pairs)
    site.put(f"{_HOST}/fasttext/vectors-wiki/wiki.en.vec", vectors[: len(vectors) // 2].rpartition(b"\n")[0] + b"\n")
    site.put(_BIG, vectors, slow_s=0.01)


def data_get(lab: Lab, budget: Budget) -> Figures:
    """`data get` is killed and run again: it continues at the next byte."""
    figures = Figures()
    with serving() as site:
        _put_benchmark(site)

        def get(out: Path, **more: Any) -> Ended:
            env = {"LNMAP_DATA": str(out), "LNMAP_DATA_MIRROR": site.address}
            return lab.launcher.run(["data", "get", "muse", "--pairs", "en-fi"], env=env, **more)

        aim = Aim(budget.rng, lambda whole: get(lab.fresh(), whole=whole))
        while budget.more(figures):
            shot, out = aim.next(figures), lab.fresh()
            with figures.attempt():
                aim.count(shot, get(out, kill_after=shot.moment, whole=shot.whole), figures)
                try:
                    _check_download(site, out, lambda out=out: get(out), figures)
                except AssertionError as error:
                    raise AssertionError(f"{shot}: {error}") from error
    return figures


def _check_download(site: Site, out: Path, get: Callable[[], Ended], figures: Figures) -> None:
    """Get what a killed process did not, and check that it is the rest."""
    whole = {path.name for path in out.rglob("*.vec")}
    part = out / "muse/vectors/wiki.fi.vec.part"
    kept = part.stat().st_size if part.exists() else 0
    site.log.clear()
    second = get()
    if second.code:
        raise AssertionError(f"the second run fails: {second.err[-300:]}")
    for name in ("wiki.en.vec", "wiki.fi.vec"):
        path = f"{_HOST}/fasttext/vectors-wiki/{name}"
        if (out / "muse/vectors" / name).read_bytes() != site.pages[path].data:
            raise AssertionError(f"{name} is not what the server has")
        if name in whole and site.gets(path):
            raise AssertionError(f"{name} was whole and was fetched again")
    if 0 < kept < len(site.pages[_BIG].data):
        figures.count("continued")
        if site.gets(_BIG) != [f"bytes={kept}-"]:
            raise AssertionError(f"{kept} bytes were there, but {site.gets(_BIG)} was requested")


class Served(NamedTuple):
    """A running server."""

    child: Child
    address: Address


@contextmanager
def server(lab: Lab, model: Path, **more: Any) -> Iterator[Served]:
    """Run `lnmap serve` on a free port of this machine."""
    child = lab.launcher.start(["serve", model, "--port", 0, "--json"], **more)
    try:
        yield Served(child, _address(child))
    finally:
        child.kill()
        lab.launcher.finish(child)


def _address(child: Child) -> Address:
    end = time.monotonic() + 60
    while time.monotonic() < end and "error: " not in child.output("err"):
        try:
            parts = urlsplit(json.loads(child.output())["url"])
            return parts.hostname or "", parts.port or 0
        except ValueError:
            time.sleep(0.01)
    raise AssertionError(f"the server does not start: {child.output('err')}")


def post(connection: HTTPConnection, path: str, body: Any) -> int:
    """Send JSON and return the status."""
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    with connection.getresponse() as answer:
        answer.read()
        return answer.status


class Markers:
    """Clients that mark words, each in a thread, until their server is gone."""

    def __init__(self, most: int = 10**6) -> None:
        self.most, self.acknowledged, self._threads = most, list[str](), list[threading.Thread]()

    def start(self, address: Address, name: str) -> None:
        self._threads.append(threading.Thread(target=self._mark, args=(address, name)))
        self._threads[-1].start()

    def _mark(self, address: Address, name: str) -> None:
        connection = HTTPConnection(*address, timeout=20)
        try:
            for number in range(self.most):
                body = {"source": f"{name}-{number}", "target": "x", "mark": "added"}
                if post(connection, "/api/models/model/marks", body) == 201:
                    self.acknowledged.append(body["source"])
        except (OSError, HTTPException):
            return
        finally:
            connection.close()

    def kill(self, child: Child, rng: random.Random, least_s: float, most_s: float) -> None:
        """Kill a server after some time, and wait for the clients."""
        time.sleep(rng.uniform(least_s, most_s))
        child.kill()
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    def check(self, model: Path) -> set[str]:
        """Return the marked words; fail if an acknowledged one is missing."""
        found = {source for source, _ in Marks(model).latest()[0]}
        if lost := set(self.acknowledged) - found:
            raise AssertionError(f"{len(lost)} acknowledged marks are lost, such as {min(lost)}")
        return found


def marks(lab: Lab, budget: Budget) -> Figures:
    """A server is killed while words are marked: no acknowledged mark is lost."""
    figures, folder, clients = Figures(), lab.copy_of_model("marked"), Markers()
    model = contents(folder)
    while budget.more(figures):
        whole = is_whole(figures)
        with figures.attempt():
            with server(lab, folder, whole=whole) as served:
                for who in "ab":
                    clients.start(served.address, f"m{figures.attempts}{who}")
                clients.kill(served.child, budget.rng, 0.02, 0.4)
                figures.count("killed")
                figures.count("of these whole programs", whole)
            clients.check(folder)
            after = contents(folder)
            if {key: after[key] for key in model} != model:
                raise AssertionError("the model changed")
    figures.also["marks acknowledged"] = len(clients.acknowledged)
    shutil.rmtree(folder.parent)
    return figures
