"""Disk: full, read-only, over the quota, or taken away under a running process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.soak.figures import Budget, Figures
from tests.soak.launcher import Ended
from tests.soak.room import Room, contents, leftovers, model_bits

_MOUNT_KB = 400


class UnmountableError(Exception):
    """A small disk cannot be had here."""


@contextmanager
def small_disk(place: Path, kilobytes: int = _MOUNT_KB) -> Iterator[Path]:
    """Mount a disk of some kilobytes, where that is allowed."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("mount") is None:
        raise UnmountableError("only root on Linux may mount a small disk")
    place.mkdir(parents=True)
    options = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)]
    done = subprocess.run(options, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnmountableError(f"cannot mount a small disk here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def refused(ended: Ended, *said: str) -> None:
    """See that a command ended with one clear line about its output, and nothing worse."""
    if ended.code != 3 or "Traceback" in ended.err:
        raise AssertionError(f"exit code {ended.code}, signal {ended.signal}: {ended.err[-300:]}")
    last = ended.err.strip().splitlines()[-1]
    if not last.startswith("error: ") or not any(words in last for words in said):
        raise AssertionError(f"unclear message: {last}")


def _writers(room: Room) -> dict[str, Callable[[Path], list[object]]]:
    data = room.data
    align = ["align", data / "en", data / "fr", "--pairs", data / "en-fr.train.txt", "--method", "procrustes"]
    return {
        "align": lambda place: [*align, "--device", "cpu", "--seed", 9, "--out", place / "model"],
        "export": lambda place: ["export", room.model, "--out", place / "vectors"],
        "export bin": lambda place: ["export", room.model, "--out", place / "vectors", "--format", "bin"],
        "export npz": lambda place: ["export", room.model, "--out", place / "vectors", "--format", "npz"],
        "export store": lambda place: ["export", room.model, "--out", place / "vectors", "--format", "store"],
        "induce": lambda place: ["induce", room.model, "--mode", "union", "--out", place / "dictionary.tsv"],
    }


def full(room: Room, budget: Budget) -> Figures:
    """A disk with room for a part of the output only."""
    figures, writers = Figures(), _writers(room)
    names = list(writers)
    old = room.align("older", seed=1) if not (room.folder / "older").exists() else room.folder / "older"
    while budget.more(figures):
        name = names[figures.attempts % len(names)]
        with figures.attempt():
            try:
                _fill(room, writers[name], old, budget.rng.random(), figures)
            except UnmountableError as reason:
                return Figures(skipped=str(reason))
    return figures


def _fill(room: Room, command: Callable[[Path], list[object]], old: Path, share: float, figures: Figures) -> None:
    with small_disk(room.fresh(), 4096) as place:
        shutil.copytree(old, place / "model")
        (place / "dictionary.tsv").write_text("old\n")
        before = contents(place)
        free = shutil.disk_usage(place).free
        (place / "ballast").write_bytes(bytes(free - int(share * 150_000)))
        ended = room.launcher.run(command(place))
        if ended.code == 0:
            figures.count("had room")
            return
        refused(ended, "No space left on device")
        after = contents(place)
        if {name: after.get(name) for name in before} != before:
            raise AssertionError("what was there has changed")
        if leftovers(place):
            raise AssertionError("a half file was left")
        if model_bits(place / "model") != model_bits(old):
            raise AssertionError("the old model is another one")


def read_only(room: Room, budget: Budget) -> Figures:
    """A disk that may only be read."""
    figures, writers = Figures(), _writers(room)
    names = list(writers)
    while budget.more(figures):
        name = names[figures.attempts % len(names)]
        with figures.attempt():
            try:
                with small_disk(room.fresh(), 4096) as place:
                    shutil.copytree(room.model, place / "model")
                    before = contents(place)
                    subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
                    refused(room.launcher.run(writers[name](place)), "Read-only file system")
                    if contents(place) != before:
                        raise AssertionError("what was there has changed")
            except UnmountableError as reason:
                return Figures(skipped=str(reason))
    return figures


def quota(room: Room, budget: Budget) -> Figures:
    """No file may grow beyond some kilobytes (RLIMIT_FSIZE), in the middle of what is written."""
    figures, writers = Figures(), _writers(room)
    names = list(writers)
    while budget.more(figures):
        name = names[figures.attempts % len(names)]
        with figures.attempt():
            out = room.fresh()
            out.mkdir()
            (out / "dictionary.tsv").write_text("old\n")
            before = contents(out)
            ended = room.launcher.run(writers[name](out), fsize=budget.rng.randrange(1000, 9000))
            refused(ended, "File too large")
            if contents(out) != before or leftovers(out):
                raise AssertionError("something was left or has changed")
    return figures


def removed(room: Room, budget: Budget) -> Figures:
    """The output folder is removed again and again while a run writes into it."""
    figures, data = Figures(), room.data
    align = ["align", data / "en", data / "fr", "--pairs", data / "en-fr.train.txt", "--method", "procrustes"]
    whole = room.launcher.run([*align, "--device", "cpu", "--out", room.fresh()])
    while budget.more(figures):
        with figures.attempt():
            out = room.fresh()
            child = room.launcher.start([*align, "--device", "cpu", "--out", out])
            time.sleep(budget.rng.uniform(0, whole.seconds))
            remover = threading.Thread(target=shutil.rmtree, args=(out, True))
            remover.start()
            ended = room.launcher.finish(child)
            remover.join()
            if ended.code:
                refused(ended, "cannot write", "removed")
            bits = model_bits(out)  # raises where half a model is taken for a whole one
            figures.count("refused" if ended.code else "whole" if bits else "finished before")
    return figures
