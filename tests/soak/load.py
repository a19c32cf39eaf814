"""Load: steady requests to a real server, silent clients, clients that leave, a thousand open connections."""

from __future__ import annotations

import asyncio
import json
import math
import random
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.soak import served
from tests.soak.figures import Budget, Figures
from tests.soak.lab import Lab
from tests.soak.network import Address, server
from tests.soak.processes import memory_mb

from lnmap.model.marks import Marks

_WARM_UP_S = 120.0  # at most; until every kind of request has been made and the caches are filled
_AT_ONCE_S = 20.0  # the requests of so much time come at once in the end: a thread keeps the most memory it ever used
_JUDGED_S = 60.0  # shorter runs are not judged
_MARKED = 2000  # how many pairs the marks go round
_CLIENTS = 8
_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Load:
    """How large a served model is, how often it is asked, and what is promised.

    :param words: per language.
    :param rate: requests per second.
    :param most_ms: 99 of 100 answers come within this time.
    :param most_grown_mb: how much the server may grow after the warm-up.
    :param settle_s: how long to wait at most for the lexicon that the server finds in the background.
    """

    words: int
    rate: float
    most_ms: float
    most_grown_mb: float
    settle_s: float


SMALL = Load(20_000, 100.0, 100.0, 32.0, 120.0)
_KEPT_MB = 2 * served.LARGE * 1156 * 4 / 2**20  # every word of both sides in all columns, kept once it was mapped
LARGE = Load(served.LARGE, 1.0, 5000.0, _KEPT_MB + SMALL.most_grown_mb, 0.0)  # its lexicon takes hours


class Client:
    """A connection that is kept open."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, body: Any = None) -> int:
        """Send a request, read the whole answer and return its status."""
        if self.writer is None or self.reader is None:
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Length: {len(data)}\r\n"
        self.writer.write((head + "Content-Type: application/json\r\n\r\n").encode() + data)
        await self.writer.drain()
        status = int((await self.reader.readline()).split()[1])
        length = 0
        while (line := await self.reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        await self.reader.readexactly(length)
        return status

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


def _request(rng: random.Random, words: list[str], number: int) -> tuple[str, str, Any, int]:
    """Draw a request like those of the page; return method, path, body and the right status."""
    base, word = "/api/models/model", quote(rng.choice(words))
    kind = rng.random()
    if kind < 0.10:
        return "POST", f"{base}/marks", {"source": f"load-{number % _MARKED}", "target": "x", "mark": "added"}, 201
    if kind < 0.20:
        return "POST", f"{base}/translate", {"words": rng.sample(words, 10), "k": 5}, 200
    if kind < 0.25:
        return "GET", f"{base}/translate?word=nosuchword{number}", None, 404
    paths = ["translate?word=", "neighbours?word=", "complete?prefix=", "translate?direction=forward&word="]
    if kind < 0.80:
        return "GET", f"{base}/{rng.choice(paths)}{word}", None, 200
    return (
        "GET",
        base + rng.choice(["/state", "/lexicon?limit=50", f"/marks?since={number // 10 + 1}", f"/map?word={word}"]),
        None,
        200,
    )


async def _steady(
    figures: Figures, address: Address, words: list[str], requests: int, rate: float, seed: int
) -> list[str]:
    """Send requests at a steady rate and return the acknowledged marks; waiting for a free connection counts."""
    rng, queue, times, marked = random.Random(seed), asyncio.Queue[Any](), [], []

    async def work() -> None:
        client = Client(*address)
        while (order := await queue.get()) is not None:
            due, method, path, body, expected = order
            figures.attempts += 1
            try:
                status = await asyncio.wait_for(client.ask(method, path, body), _TIMEOUT_S)
            except (OSError, ValueError, IndexError, asyncio.TimeoutError, asyncio.IncompleteReadError) as error:
                figures.fail(f"{method} {path}: {type(error).__name__} {error}")
                client.close()
                client = Client(*address)
                continue
            times.append(time.monotonic() - due)
            if status != expected:
                figures.fail(f"{method} {path}: {status} instead of {expected}")
            elif expected == 201:
                marked.append(body["source"])
        client.close()

    workers = [asyncio.create_task(work()) for _ in range(_CLIENTS)]
    began = time.monotonic()
    for number in range(requests):
        due = began + number / rate
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        queue.put_nowait((due, *_request(rng, words, number)))
    for _ in workers:
        queue.put_nowait(None)
    await asyncio.gather(*workers)
    times.sort()
    figures.worst_s = times[-1]
    figures.count("requests per second", round(len(times) / (time.monotonic() - began), 1))
    figures.count("most ms of 50 %", round(1000 * times[len(times) // 2], 1))
    figures.count("most ms of 99 %", round(1000 * times[int(len(times) * 0.99)], 1))
    return marked


def steady(lab: Lab, budget: Budget, load: Load = SMALL) -> Figures:
    """Send 100 requests per second: queries, marks and batches; `attempts` is the number of seconds."""
    return _loaded(lab, budget, load, served.small_model(lab, load.words))


def large(lab: Lab, budget: Budget) -> Figures:
    """Send the same requests, fewer of them, to a model of the size that people have."""
    return _loaded(lab, budget, LARGE, served.large_model())


def _loaded(lab: Lab, budget: Budget, load: Load, folder: Path) -> Figures:
    figures, words = Figures(), served.vocabulary(load.words)
    with server(lab, folder) as (child, address):
        _settle(*address, load.settle_s)
        seconds = max(2.0, min(float(budget.attempts), budget.left_s() / 1.1))
        warm_up_s = max(2.0, min(_WARM_UP_S, seconds / 10))
        warm_up = _warm_up(address, words, load.rate, warm_up_s, budget.seed + 1)
        before = memory_mb(child.pid)
        marked = asyncio.run(_steady(figures, address, words, int(seconds * load.rate), load.rate, budget.seed))
        after = memory_mb(child.pid)
    figures.worst_mb = after
    figures.count("MB grown", round(after - before, 1))
    journal = Marks(folder)
    if set(marked) - {source for source, _ in journal.latest()[0]} or journal.version() < len(marked) + len(warm_up):
        figures.fail(f"{len(marked) + len(warm_up)} marks were acknowledged, {journal.version()} are there")
    figures.count("marks kept", len(marked))
    if seconds >= _JUDGED_S:
        judge(figures, load)
    return figures


def _warm_up(address: Address, words: list[str], rate: float, seconds: float, seed: int) -> list[str]:
    """Send requests at the rate, then more of them as fast as they are answered; return the acknowledged marks."""
    at_once = int(min(_AT_ONCE_S, seconds) * rate)
    steadily = asyncio.run(_steady(Figures(), address, words, int(seconds * rate), rate, seed))
    return steadily + asyncio.run(_steady(Figures(), address, words, at_once, math.inf, seed + 1))


def judge(figures: Figures, load: Load) -> None:
    """Fail if the answers were slower, or the server grew more, than is promised."""
    if figures.also["most ms of 99 %"] > load.most_ms:
        figures.fail(f"99 % of the answers took up to {figures.also['most ms of 99 %']} ms")
    if figures.also["MB grown"] > load.most_grown_mb:
        figures.fail(f"the server has grown by {figures.also['MB grown']:.0f} MB")


def _settle(host: str, port: int, most_s: float) -> None:
    """Wait until the server has filled its lexicon."""

    async def ask() -> bool:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(f"GET /api/models/model/state HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        state = json.loads((await reader.read()).partition(b"\r\n\r\n")[2])
        writer.close()
        return all(state[way]["known"] == state[way]["words"] for way in ("forward", "backward"))

    end = time.monotonic() + most_s
    while time.monotonic() < end and not asyncio.run(ask()):
        time.sleep(0.2)


async def _crowd(figures: Figures, address: Address, connections: int) -> None:
    """Open silent, slow and vanishing connections, and send requests beside them."""
    halves = [
        b"",
        b"GET /api/models HTTP/1.1\r\nHost: 127.",
        b"POST /api/models/model/marks HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    ]
    crowd = []
    for number in range(connections):
        _, writer = await asyncio.open_connection(*address)
        writer.write(halves[number % 3])
        crowd.append(writer)
    for _ in range(50):  # clients that leave before the answer
        _, writer = await asyncio.open_connection(*address)
        writer.write(b"GET /api/models/model/lexicon?limit=50 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        writer.close()
    client, worst = Client(*address), 0.0
    for _ in range(50):
        began = time.monotonic()
        figures.attempts += 1
        status = await asyncio.wait_for(client.ask("GET", "/api/models/model/lexicon?limit=20"), _TIMEOUT_S)
        worst = max(worst, time.monotonic() - began)
        if status != 200:
            figures.fail(f"status {status} beside {connections} open connections")
    client.close()
    for writer in crowd:
        writer.close()
    figures.worst_s = max(figures.worst_s, worst)


def crowd(lab: Lab, budget: Budget, connections: int = 1000) -> Figures:
    """1 000 open connections, slow clients and clients that leave: other clients are still answered."""
    figures = Figures()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most[1], 4096), most[1]))
    with server(lab, lab.copy_of_model("crowded")) as (child, address):
        while budget.more(figures):
            asyncio.run(_crowd(figures, address, connections))
        figures.worst_mb = memory_mb(child.pid)
    figures.count("most open connections", connections)
    return figures
