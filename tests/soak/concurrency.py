"""Concurrency: two runs into one folder, two runs that fill one cache, two servers on one model."""

from __future__ import annotations

import shutil
import threading
import time

from tests.soak.figures import Budget, Figures
from tests.soak.network import marking, server
from tests.soak.room import Room, model_bits

from lnmap.serve.marks import Marks

_ROWS = 60_000  # enough for the file to be kept in the cache


def two_aligns(room: Room, budget: Budget) -> Figures:
    """Two `align` runs into one folder: one wins or is refused, never a mixture."""
    figures, data = Figures(), room.data
    files = ["align", data / "en", data / "fr", "--pairs", data / "en-fr.train.txt", "--device", "cpu"]
    runs = [[*files, "--method", method] for method in ("procrustes", "artetxe2018aaai")]
    alone = []
    for argv in runs:
        out = room.fresh()
        room.launcher.run([*argv, "--out", out])
        alone.append(model_bits(out))
    while budget.more(figures):
        with figures.attempt():
            out = room.fresh()
            children = []
            for argv in runs:
                children.append(room.launcher.start([*argv, "--out", out]))
                time.sleep(budget.rng.uniform(0, 0.03))
            ended = [room.launcher.finish(child) for child in children]
            bad = [end for end in ended if end.code and "is being written by another run" not in end.err]
            if bad or all(end.code for end in ended):
                raise AssertionError(f"{(bad or ended)[0].err[-300:]}")
            figures.count("refused", sum(end.code == 3 for end in ended))
            if model_bits(out) not in alone:
                raise AssertionError("the model is neither of the two")
    return figures


def read_words(path: str) -> list[object]:
    """Read a file through the cache."""
    from lnmap.io import read

    found = read(path)
    return [len(found), found.fingerprint]


def one_cache(room: Room, budget: Budget) -> Figures:
    """Two runs that fill the same cache: both succeed, one entry is left."""
    figures = Figures()
    path = room.folder / "large.vec"
    path.write_text(f"{_ROWS} 3\n" + "".join(f"w{row} {row} {row / 7:.4f} 3\n" for row in range(_ROWS)))
    expected = None
    while budget.more(figures):
        with figures.attempt():
            cache = room.fresh()
            env = {"LNMAP_CACHE": str(cache), "POLARS_MAX_THREADS": "1"}
            read = "tests.soak.concurrency:read_words"
            ended = [room.launcher.finish(c) for c in [room.launcher.start_call(read, path, env=env) for _ in "ab"]]
            said = {end.out for end in ended}
            expected = expected or min(said)
            if said != {expected} or not expected:
                raise AssertionError(f"they read {said}: {ended[0].err[-200:]}")
            if len(list(cache.glob("**/entries/*"))) != 1:
                raise AssertionError("the cache does not hold the file once")
    path.unlink()
    return figures


def two_servers(room: Room, budget: Budget) -> Figures:
    """Two servers and four clients on one model; one server is killed: no acknowledged mark is lost."""
    figures = Figures()
    while budget.more(figures):
        with figures.attempt():
            folder = room.fresh().parent / "model"
            shutil.copytree(room.model, folder)
            acknowledged: list[str] = []
            with server(room, folder) as one, server(room, folder) as two:
                where = [(str(one[1]), one[2]), (str(two[1]), two[2])]
                threads = [
                    threading.Thread(target=marking, args=(where[n % 2], f"c{n}", 40, acknowledged)) for n in range(4)
                ]
                for thread in threads:
                    thread.start()
                time.sleep(budget.rng.uniform(0.05, 0.3))
                one[0].kill()
                for thread in threads:
                    thread.join()
            found = {source for source, _ in Marks(folder).latest()[0]}
            if lost := set(acknowledged) - found:
                raise AssertionError(f"{len(lost)} acknowledged marks are lost")
            if not {"c1-39", "c3-39"} <= found:
                raise AssertionError("the server that went on did not take all marks")
            figures.count("marks acknowledged", len(acknowledged))
    return figures
