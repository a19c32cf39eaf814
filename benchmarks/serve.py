"""What `lnmap serve` costs: a real server process, asked over HTTP by a client on the same machine.

    python benchmarks/serve.py [--words 20000] [--seconds 30] [--rate 100]

First each kind of request one at a time: wall time at the client, CPU time of the server. Then a mix of all kinds at a
steady rate, whatever the server does; latency counts from when a request was due. The vectors are synthetic (hubs and
falling variances, as real ones have) and the CSLS means are estimated from a sample: they change no time.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import torch

import lnmap
from lnmap.direction import Direction, Side
from lnmap.embeddings import Embeddings
from lnmap.methods.base import LinearAlignment
from lnmap.model.model import Model
from lnmap.normalize import Normalizer, unit
from lnmap.retrieve import neighbourhood_means

DIM, SAMPLE, CLIENTS = 300, 2000, 16
TICK = os.sysconf("SC_CLK_TCK")
PROGRAM = [sys.executable, "-c", "import sys; from lnmap.cli import main; sys.exit(main())", "serve"]


def make_model(words: int, folder: Path) -> None:
    """Save a model of random words: the target language is the source language, turned and disturbed."""
    rng = np.random.default_rng(0)
    scale = np.linspace(1.5, 0.5, DIM)
    x = (rng.normal(size=(words, DIM)) * scale + 0.3 * scale).astype(np.float32)
    turn = np.linalg.qr(rng.normal(size=(DIM, DIM)))[0].astype(np.float32)
    y = x @ turn + 0.8 * rng.normal(size=x.shape).astype(np.float32)
    names = ["".join(random.Random(i).choices("aeioubcdfgklmnprst", k=7)) + str(i) for i in range(words)]
    source, target = Embeddings.from_arrays(names, x), Embeddings.from_arrays([n[::-1] for n in names], y)
    norms = Normalizer("unit"), Normalizer("unit")
    alignment = LinearAlignment(norms, torch.from_numpy(turn), torch.eye(DIM))
    model = Model(source, target, alignment, info={"method": "procrustes"})
    a, b = unit(torch.from_numpy(x @ turn)), unit(torch.from_numpy(y))
    means = {Side.SOURCE: neighbourhood_means(a, b[:SAMPLE]), Side.TARGET: neighbourhood_means(b, a[:SAMPLE])}
    model.means = {Direction.FORWARD: means}
    lnmap.save(model, folder)


class Server:
    """The server's process, and what it uses."""

    def __init__(self, folder: Path) -> None:
        began = time.perf_counter()
        self.process = subprocess.Popen([*PROGRAM, folder, "--port", "0", "--json"], stdout=subprocess.PIPE, text=True)
        text = ""
        for line in self.process.stdout:
            text += line
            if line.startswith("}"):
                break
        self.port = int(json.loads(text)["url"].rstrip("/").rpartition(":")[2])
        self.started = time.perf_counter() - began

    def cpu(self) -> float:
        """CPU seconds so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def memory(self) -> float:
        """Megabytes of its own memory that are in use now, files that are mapped left out."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


class Client:
    """One connection that is kept open."""

    def __init__(self, port: int, folder: str) -> None:
        self.connection, self.base = http.client.HTTPConnection("127.0.0.1", port, timeout=60), f"/api/models/{folder}/"

    def ask(self, request: tuple[str, str, object]) -> int:
        """Send a request, read the answer, give its status."""
        method, path, body = request
        data = json.dumps(body) if body is not None else None
        headers = {"Content-Type": "application/json"} if data else {}
        self.connection.request(method, self.base + path, data, headers)
        response = self.connection.getresponse()
        response.read()
        return response.status


def requests(words: list[str], rng: random.Random) -> dict[str, tuple[str, str, object]]:
    """One request of each kind."""
    word = rng.choice(words)
    return {
        "translate": ("GET", f"translate?word={word}", None),
        "complete": ("GET", f"complete?prefix={word[:2]}", None),
        "unknown word": ("GET", f"translate?word={word[:3]}x{word[3:]}", None),
        "neighbours": ("GET", f"neighbours?word={word}", None),
        "map": ("GET", f"map?word={word}", None),
        "lexicon": ("GET", f"lexicon?sort=surest&offset={rng.randrange(1000)}", None),
        "state": ("GET", "state", None),
        "mark": ("POST", "marks", {"source": word, "target": word[::-1], "mark": rng.choice(["right", "wrong"])}),
        "batch of 20": ("POST", "translate", {"words": rng.choices(words, k=20), "k": 5}),
    }


def show(name: str, values: list[float], cpu: float | None = None) -> None:
    parts = [f"{1000 * float(np.quantile(values, q)):8.1f}" for q in (0.5, 0.95, 0.99)]
    used = "" if cpu is None else f"{1000 * cpu / len(values):10.1f}"
    print(f"{name:24}{''.join(parts)}{used}")


def one_at_a_time(server: Server, client: Client, words: list[str], count: int) -> None:
    print(f"{'one at a time, ms':24}{'median':>8}{'p95':>8}{'p99':>8}{'CPU':>10}")
    rng = random.Random(1)
    for kind in requests(words, rng):
        times = []
        began = server.cpu()
        for _ in range(count):
            request = requests(words, rng)[kind]
            start = time.perf_counter()
            client.ask(request)
            times.append(time.perf_counter() - start)
        show(kind, times, server.cpu() - began)


def steady(server: Server, folder: str, words: list[str], rate: int, seconds: int) -> None:
    """Ask at a steady rate through several connections; a late answer makes no later request wait."""
    rng = random.Random(2)
    plan = [rng.choice(list(requests(words, rng).values())) for _ in range(rate * seconds)]
    times, bad, lock, turn = [], [], threading.Lock(), iter(range(len(plan)))
    memory, cpu, began = [server.memory()], server.cpu(), time.perf_counter() + 0.2

    def work() -> None:
        client = Client(server.port, folder)
        while True:
            with lock:
                number = next(turn, None)
            if number is None:
                return
            if number % (len(plan) // 4) == 0 and number:
                memory.append(server.memory())
            due = began + number / rate
            time.sleep(max(0.0, due - time.perf_counter()))
            status = client.ask(plan[number])
            times.append(time.perf_counter() - due)
            if status >= 500 or (status >= 400 and status != 404):
                bad.append(status)

    threads = [threading.Thread(target=work) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall = time.perf_counter() - began
    print(f"{'mixed, ms':24}{'median':>8}{'p95':>8}{'p99':>8}")
    show(f"{rate} requests a second", times)
    cores = (server.cpu() - cpu) / wall
    print(f"{len(times) / wall:.0f} a second for {wall:.0f} s, {len(bad)} errors, {cores:.2f} cores of the server, "
          f"memory {' '.join(f'{value:.0f}' for value in memory)} MB")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--count", type=int, default=100, help="requests of each kind, one at a time")
    parser.add_argument("--wait", action="store_true", help="wait until the lexicon is complete")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "model"
        os.environ["LNMAP_CACHE"] = str(Path(root) / "cache")
        make_model(options.words, folder)
        words = list(lnmap.load(folder).source.words)
        server = Server(folder)
        try:
            client = Client(server.port, "model")
            machine = f"{os.cpu_count()} cores, {platform.machine()}, python {platform.python_version()}"
            ready = f"ready after {server.started:.1f} s, {server.memory():.0f} MB"
            print(f"{options.words:,} words a side x {DIM}; {ready}; {machine}")
            began = time.perf_counter()
            while options.wait and not finished(client):
                time.sleep(0.5)
            if options.wait:
                print(f"lexicon complete after another {time.perf_counter() - began:.0f} s")
            one_at_a_time(server, client, words, options.count)
            if options.seconds:
                steady(server, "model", words, options.rate, options.seconds)
        finally:
            server.process.terminate()
            server.process.wait()


def finished(client: Client) -> bool:
    client.connection.request("GET", client.base + "state")
    state = json.loads(client.connection.getresponse().read())
    return all(state[way]["known"] == state[way]["words"] for way in ("forward", "backward"))


if __name__ == "__main__":
    main()
