"""The runs to make: which system, whose program, which pair, seed rule and random seed, and how long it may take."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

CLOSED = ("vecmap-sup", "artetxe2018aaai", "artetxe2017", "rcsls-10", "rcsls-25", "geomm", "muse")
SECONDS = {  # on one H200 that runs fourteen jobs at once: the original, ours; lnmap's original is a guess
    "lnmap": (600, 100),
    "lnmap-linear": (310, 45),
    "aae": (700, 200),
    "muse-unsup": (590, 280),
    "bliss": (390, 250),
    "c1": (720, 26),
    "vecmap-semi": (200, 75),
    "artetxe2018acl": (210, 75),
}


class Job(NamedTuple):
    """One run."""

    system: str
    who: str  # original or ours
    pair: str
    take: str
    seed: int

    @property
    def key(self) -> str:
        return ":".join(map(str, self))

    @property
    def file(self) -> str:
        return ".".join(map(str, self)) + ".json"

    @property
    def seconds(self) -> int:
        """A guess, to start long jobs first."""
        return SECONDS.get(self.system, (60, 30))[self.who == "ours"]


def all_jobs() -> list[Job]:
    """Return every run there is; the page shows those that both programs have results of."""
    both = ("original", "ours")
    jobs = [
        Job(name, who, pair, take, 0)
        for name in CLOSED
        for who in both
        for pair in ("en-fr", "en-fi", "fi-en")
        for take in ("1k-unique", "5k-unique")
    ]
    jobs += [Job("artetxe2017-fp64", who, "en-fr", "5k-unique", 0) for who in both]
    jobs += [Job("geomm-long", who, "en-fr", "1k-unique", 0) for who in both]
    jobs += [Job("c1", who, pair, take, 0) for who in both for pair in ("en-fr", "en-fi") for take in TAKES]
    jobs += [Job("vecmap-semi", who, "en-fr", "1k-unique", seed) for who in both for seed in range(3)]
    jobs += [Job("artetxe2018acl", who, "en-fr", "1k-unique", seed) for who in both for seed in range(3)]
    for name in ("lnmap-linear", "lnmap", "bliss", "muse-unsup", "aae"):
        jobs += [Job(name, who, "en-fr", "1k-unique", seed) for who in both for seed in range(3)]
    jobs += [Job("c1-short", who, "en-fr", "1k-unique", 0) for who in both]
    for name in (
        "vecmap-semi-short",
        "artetxe2018acl-short",
        "lnmap-linear-short",
        "lnmap-linear-longer",
        "bliss-short",
    ):
        jobs += [Job(name, who, "en-fr", "1k-unique", seed) for who in both for seed in range(3)]
    return jobs


TAKES = ("1k-unique", "5k-unique")
JOBS = all_jobs()


def select(patterns: list[str]) -> list[Job]:
    """Return the jobs that fit a pattern, in the order of the patterns."""
    found = {job: None for pattern in patterns for job in JOBS if fnmatch(job.key, pattern)}
    return list(found)


def finished(job: Job, folder: Path) -> bool:
    path = folder / job.file
    return path.exists() and json.loads(path.read_text(encoding="utf-8"))["status"] == "done"
