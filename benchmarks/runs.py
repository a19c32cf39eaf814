"""Runs of methods on real vectors, several at a time, each kept as one JSON line: what methods.py and comparison.py do.

The data folder holds vectors/{en,fr,fi}.vec.gz and dictionaries/muse/PAIR.{0-5000,5000-6500}.txt. Each direction is
trained and scored on its own files.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

import lnmap
from lnmap.errors import LnmapError
from lnmap.methods import METHODS, make_method


@dataclass(frozen=True)
class Job:
    """One run; `dev` scores it on pairs of the training file whose source words are not in the seed."""

    name: str
    method: str
    pair: str
    take: str
    profile: str | None = None
    values: dict[str, str] = field(default_factory=dict)
    seed: int = 0
    dev: bool = False
    finnish: int | None = None
    one_way: bool = True

    @property
    def key(self) -> str:
        """All that determines the result, as text; the name of the row does not."""
        return json.dumps({k: v for k, v in asdict(self).items() if k != "name"}, sort_keys=True)


@dataclass(frozen=True)
class Place:
    """Where the data lies, and what the runs are made on."""

    data: Path
    device: str = "auto"
    threads: int | None = None


def seeds_of(method: str, profile: str | None, values: dict[str, str], seeds: int) -> range:
    """Give several seeds to methods that draw random numbers, one to the others."""
    return range(seeds if make_method(method, profile, values).stochastic else 1)


def execute(
    jobs: Sequence[Job], place: Place, out: Path | None, workers: int = 1, limit_s: float = float("inf")
) -> list[tuple[Job, dict[str, Any]]]:
    """Run what is not in `out` yet, in as many processes as asked for; nothing is begun after `limit_s` seconds."""
    done = read_done(out)
    began = time.monotonic()

    def due() -> Iterator[tuple[Job, Place]]:
        for job in jobs:
            if job.key not in done and time.monotonic() - began < limit_s:
                yield job, place

    if workers == 1:
        for item in due():
            keep(item[0], run(item), done, out)
    else:
        context = multiprocessing.get_context("spawn")
        handed = context.Semaphore(workers)  # a pool reads far ahead, past the limit: hand out what can be begun
        with context.Pool(workers) as pool:
            waiting = (item for item in due() if handed.acquire())
            for job, result in pool.imap_unordered(run_with_job, waiting):
                handed.release()
                keep(job, result, done, out)
    return [(job, done[job.key]) for job in jobs if job.key in done]


def run_with_job(item: tuple[Job, Place]) -> tuple[Job, dict[str, Any]]:
    """Say whose result it is; a run that breaks is no result, and ends no other."""
    try:
        return item[0], run(item)
    except Exception as error:
        return item[0], {"broken": f"{type(error).__name__}: {error}"}


def run(item: tuple[Job, Place]) -> dict[str, Any]:
    """Train and score once; a system that fails says so."""
    job, place = item
    if place.threads:
        torch.set_num_threads(place.threads)
    source, target = (load(place.data, name, job.finnish) for name in job.pair.split("-"))
    train = lnmap.read_lexicon(place.data / f"dictionaries/muse/{job.pair}.0-5000.txt")
    test = lnmap.read_lexicon(place.data / f"dictionaries/muse/{job.pair}.5000-6500.txt")
    supervised = METHODS[job.method].supervision != "none"
    if job.dev:
        seen = {s for s, _ in train.take(job.take, source, target)}
        test = lnmap.Lexicon([(s, t) for s, t in train if s not in seen])
    wall, cpu = time.perf_counter(), time.process_time()
    spent = lambda: {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}  # noqa: E731
    try:
        model = lnmap.align(
            source,
            target,
            train if supervised else None,
            method=job.method,
            profile=job.profile,
            options=job.values,
            take=job.take if supervised else None,
            seed=job.seed,
            device=place.device,
            one_way=job.one_way,
        )
    except LnmapError as error:
        return {"failed": str(error), **spent()}
    times = spent()
    return {**model.evaluate(test).to_dict(), **times, "device": model.info["device"]}


_READ: dict[tuple[Path, str, int | None], lnmap.Embeddings] = {}  # of this process


def load(data: Path, name: str, finnish: int | None) -> lnmap.Embeddings:
    """Read vectors once a process."""
    limit = finnish if name == "fi" else None
    if (data, name, limit) not in _READ:
        _READ[data, name, limit] = lnmap.read(data / f"vectors/{name}.vec.gz", policy="muse", limit=limit)
    return _READ[data, name, limit]


def read_done(path: Path | None) -> dict[str, dict[str, Any]]:
    """Give the results of a file by the keys of their jobs."""
    if path is None or not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {line["key"]: line["result"] for line in lines}


def keep(job: Job, result: dict[str, Any], done: dict[str, dict[str, Any]], path: Path | None) -> None:
    """Add a result to what is done, and to the file."""
    if "broken" in result:
        print(
            f"{job.name} {job.pair} {job.take} seed {job.seed} broke: {result['broken']}", file=sys.stderr, flush=True
        )
        return
    done[job.key] = result
    if path is not None:
        with path.open("a") as file:
            file.write(json.dumps({"key": job.key, "result": result}) + "\n")
            file.flush()
            os.fsync(file.fileno())
    shown = f"P@1 {result['p@1']:.1f}" if "p@1" in result else result["failed"][:100]
    print(
        f"{job.name} {job.pair} {job.take} seed {job.seed}: {shown}, {result['seconds']:.1f} s",
        file=sys.stderr,
        flush=True,
    )
