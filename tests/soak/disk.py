"""Disk: full, read-only, over its quota, or with the output folder removed during a run."""

from __future__ import annotations

import random
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.helpers import CannotMountError, small_disk
from tests.soak.figures import Figures, Skip, repeated
from tests.soak.lab import Lab, contents, leftovers, model_bits
from tests.soak.launcher import Ended

_DISK_KB = 4096


def _writer(lab: Lab, place: Path, attempt: int) -> list[object]:
    """Return a command that writes to a folder; all of them take turns."""
    several = ["induce", lab.model, "--both", "--mode", "union", "--translations", 20]
    export = ["export", lab.model, "--out", place / "vectors"]
    commands = [
        lab.align_argv("procrustes", "--seed", 9, "--out", place / "model"),
        export,
        *([*export, "--format", kind] for kind in ("bin", "npz", "store")),
        ["induce", lab.model, "--mode", "union", "--out", place / "dictionary.tsv"],
        [*several, "--format", "stardict", "--out", place / "book"],
        [*several, "--out", place / "book.html"],
    ]
    return commands[(attempt - 1) % len(commands)]


@contextmanager
def _disk(lab: Lab, model: Path) -> Iterator[Path]:
    """Mount a small disk with a model on it."""
    try:
        with small_disk(lab.fresh(), _DISK_KB) as place:
            shutil.copytree(model, place / "model")
            yield place
    except CannotMountError as reason:
        raise Skip(str(reason)) from reason


def _require_refusal(ended: Ended, *reasons: str) -> None:
    """Require exit code 3 and one line that gives one of the reasons."""
    if ended.code != 3 or "Traceback" in ended.err:
        raise AssertionError(f"exit code {ended.code}, signal {ended.signal}: {ended.err[-300:]}")
    last = ended.err.strip().splitlines()[-1]
    if not last.startswith("error: ") or not any(reason in last for reason in reasons):
        raise AssertionError(f"unclear message: {last}")


@repeated
def full(lab: Lab, rng: random.Random, figures: Figures) -> None:
    """A disk with room for a part of the output only."""
    with _disk(lab, lab.older) as place:
        (place / "dictionary.tsv").write_text("old\n")
        before = contents(place)
        free = shutil.disk_usage(place).free
        (place / "ballast").write_bytes(bytes(free - int(rng.random() * 150_000)))
        ended = lab.launcher.run(_writer(lab, place, figures.attempts))
        if ended.code == 0:
            figures.count("had room")
            return
        _require_refusal(ended, "No space left on device")
        after = contents(place)
        if {name: after.get(name) for name in before} != before:
            raise AssertionError("existing files have changed")
        if leftovers(place):
            raise AssertionError("a partial file was left")
        if model_bits(place / "model") != model_bits(lab.older):
            raise AssertionError("the old model has changed")


@repeated
def read_only(lab: Lab, rng: random.Random, figures: Figures) -> None:
    """A read-only disk."""
    with _disk(lab, lab.model) as place:
        before = contents(place)
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        _require_refusal(lab.launcher.run(_writer(lab, place, figures.attempts)), "Read-only file system")
        if contents(place) != before:
            raise AssertionError("existing files have changed")


@repeated
def quota(lab: Lab, rng: random.Random, figures: Figures) -> None:
    """No file may grow beyond some kilobytes (RLIMIT_FSIZE); the limit is reached while writing."""
    out = lab.fresh()
    out.mkdir()
    (out / "dictionary.tsv").write_text("old\n")
    before = contents(out)
    ended = lab.launcher.run(_writer(lab, out, figures.attempts), fsize=rng.randrange(1000, 9000))
    _require_refusal(ended, "File too large")
    if contents(out) != before or leftovers(out):
        raise AssertionError("something was left or has changed")


@repeated
def removed(lab: Lab, rng: random.Random, figures: Figures) -> None:
    """The output folder is removed while a run writes to it."""
    moment, out = rng.uniform(0, lab.align_seconds), lab.fresh()
    child = lab.launcher.start(lab.align_argv("procrustes", "--out", out))
    time.sleep(moment)
    remover = threading.Thread(target=shutil.rmtree, args=(out, True))
    remover.start()
    ended = lab.launcher.finish(child)
    remover.join()
    if ended.code:
        _require_refusal(ended, "cannot write", "removed")
    bits = model_bits(out)  # raises if half a model looks like a whole one
    figures.count("refused" if ended.code else "whole" if bits else "finished before")
