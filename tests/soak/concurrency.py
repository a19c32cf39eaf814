"""Concurrency: two runs into one folder, two runs that fill one cache, two servers on one model."""

from __future__ import annotations

import json
import random
import time

from tests.soak.figures import Budget, Figures, repeated
from tests.soak.lab import Lab, model_bits
from tests.soak.network import Markers, server

_ROWS = 60_000  # enough for the file to be kept in the cache


def two_aligns(lab: Lab, budget: Budget) -> Figures:
    """Two `align` runs into one folder: each wins or is refused, and the model is never a mixture."""
    figures, alone = Figures(), []
    runs = [lab.align_argv(method) for method in ("procrustes", "artetxe2018aaai")]
    for argv in runs:
        out = lab.fresh()
        lab.launcher.run([*argv, "--out", out])
        alone.append(model_bits(out))
    while budget.more(figures):
        with figures.attempt():
            out = lab.fresh()
            children = []
            for argv in runs:
                children.append(lab.launcher.start([*argv, "--out", out]))
                time.sleep(budget.rng.uniform(0, 0.03))
            ended = [lab.launcher.finish(child) for child in children]
            bad = [end for end in ended if end.code and "is being written by another run" not in end.err]
            if bad or all(end.code for end in ended):
                raise AssertionError(f"{(bad or ended)[0].err[-300:]}")
            figures.count("refused", sum(end.code == 3 for end in ended))
            if model_bits(out) not in alone:
                raise AssertionError("the model is neither of the two")
    return figures


def read_words(path: str, cache: bool = True) -> list[object]:
    """Read a file; called in a process of its own."""
    from lnmap.io import read

    found = read(path, cache=cache)
    return [len(found), found.fingerprint]


@repeated
def one_cache(lab: Lab, rng: random.Random, figures: Figures) -> None:
    """Two runs fill the same cache: both succeed, and it holds one entry."""
    path = lab.folder / "large.vec"
    if not path.exists():
        path.write_text(f"{_ROWS} 3\n" + "".join(f"w{row} {row} {row / 7:.4f} 3\n" for row in range(_ROWS)))
    cache = lab.fresh()
    env = {"LNMAP_CACHE": str(cache), "POLARS_MAX_THREADS": "1"}
    children = [lab.launcher.start_call("tests.soak.concurrency:read_words", path, env=env) for _ in "ab"]
    expected = read_words(str(path), cache=False)
    for ended in [lab.launcher.finish(child) for child in children]:
        if ended.code or json.loads(ended.out) != expected:
            raise AssertionError(f"read {ended.out}, expected {expected}: {ended.err[-200:]}")
    if len(list(cache.glob("**/entries/*"))) != 1:
        raise AssertionError("the cache does not hold the file once")


@repeated
def two_servers(lab: Lab, rng: random.Random, figures: Figures) -> None:
    """Two servers and four clients on one model; one server is killed: no acknowledged mark is lost."""
    folder, clients = lab.copy_of_model("shared"), Markers(most=40)
    with server(lab, folder) as one, server(lab, folder) as two:
        for number in range(4):
            clients.start((one, two)[number % 2].address, f"c{number}")
        clients.kill(one.child, rng, 0.05, 0.3)
    if not {"c1-39", "c3-39"} <= clients.check(folder):
        raise AssertionError("the other server did not take all marks")
    figures.count("marks acknowledged", len(clients.acknowledged))
