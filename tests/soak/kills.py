"""Kills: SIGKILL at random moments of every command that writes, then a look at what is there, then once more."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.methods.test_contract import FAST
from tests.soak.figures import Budget, Figures
from tests.soak.launcher import Ended
from tests.soak.room import Room, contents, digest, leftovers, model_bits

_ORPHANS_S = 20.0


class Command:
    """A command whose output is whole or not there, however it ends.

    `content` tells what is there (None: nothing) and raises where that is broken; `progress` is what must not be done
    again; `repeats` judges the run that came after the kill.
    """

    everyone = True  # the kill hits the whole group of processes

    def __init__(self, room: Room) -> None:
        self.room = room

    def prepare(self, out: Path) -> None:
        """Put the old output into its place."""

    def argv(self, out: Path) -> Sequence[object]:
        """Give the command."""
        raise NotImplementedError

    def content(self, out: Path) -> Any:
        """Tell what is there."""
        raise NotImplementedError

    def progress(self, out: Path) -> Any:
        """Tell what has been done so far; None where that is nothing."""
        return None

    def repeats(self, before: Any, out: Path, ended: Ended) -> str | None:
        """Say what the second run did again although it was done."""
        return None


def killed(command: Command, budget: Budget) -> Figures:
    """Kill a command at random moments; the output must be the old or the new one, and a second run gives the new."""
    figures, launcher = Figures(), command.room.launcher
    out = command.room.fresh()
    command.prepare(out)
    whole = launcher.run(command.argv(out))
    if whole.code:
        raise RuntimeError(f"the command fails without any kill: {whole.err}")
    new = command.content(out)
    while budget.more(figures):
        with figures.attempt():
            out = command.room.fresh()
            command.prepare(out)
            _kill_once(command, out, new, budget.rng.uniform(0, 1.02 * whole.seconds), figures)
    return figures


def _kill_once(command: Command, out: Path, new: Any, moment: float, figures: Figures) -> None:
    """Kill, look, run again and look; the kill may come too late, and is not counted then."""
    old, launcher = command.content(out), command.room.launcher
    child = launcher.start(command.argv(out))
    time.sleep(moment)
    child.kill(command.everyone)
    first = launcher.finish(child)
    _await_orphans(child.pid)
    figures.count("killed", first.signal is not None)
    figures.count("left over", leftovers(out.parent))
    found = command.content(out)
    if found not in (old, new):
        raise AssertionError(f"killed after {moment:.3f} s: neither the old output nor the new")
    before = command.progress(out)
    second = launcher.run(command.argv(out))
    figures.worst_mb = max(figures.worst_mb, second.grown_mb)
    if not second.clean:
        raise AssertionError(f"killed after {moment:.3f} s, then: {second.err[-300:]}")
    if command.content(out) != new:
        raise AssertionError(f"killed after {moment:.3f} s: the second run gives another result")
    if still := leftovers(out.parent):
        raise AssertionError(f"killed after {moment:.3f} s: the second run leaves {still} temporary files lying")
    if before:
        figures.count("continued")
        if again := command.repeats(before, out, second):
            raise AssertionError(f"killed after {moment:.3f} s: {again}")


def _await_orphans(group: int) -> None:
    """See that what a killed process has started ends by itself."""
    end = time.monotonic() + _ORPHANS_S
    while alive := _members(group):
        if time.monotonic() > end:
            raise AssertionError(f"processes {alive} outlive their parent by {_ORPHANS_S:.0f} s")
        time.sleep(0.01)


def _members(group: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir() if os.path.isdir("/proc/self") else ():
        if not entry.name.isdecimal():
            continue
        try:
            state, _, pgrp = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(pgrp) == group and state not in "ZX":
            found.append(int(entry.name))
    return found


class Align(Command):
    """`lnmap align` over an older model, with a method that leaves checkpoints."""

    def __init__(self, room: Room, method: str, **options: object) -> None:
        super().__init__(room)
        self.method, self.options = method, {**FAST[method], **options}

    def prepare(self, out: Path) -> None:
        """Put an older model there."""
        shutil.copytree(self.room.model, out)

    def argv(self, out: Path) -> Sequence[object]:
        """Give the command."""
        data = self.room.data
        settings = [word for name, value in self.options.items() for word in ("--set", f"{name}={value}")]
        files = [data / "en", data / "fr", "--pairs", data / "en-fr.train.txt"]
        return ["align", *files, "--method", self.method, *settings, "--device", "cpu", "--seed", 3, "--out", out]

    def content(self, out: Path) -> Any:
        """Identify the model."""
        return model_bits(out)

    def progress(self, out: Path) -> Any:
        """Tell whether there is a checkpoint."""
        return (out / "checkpoint.safetensors").exists()

    def repeats(self, before: Any, out: Path, ended: Ended) -> str | None:
        """See that the checkpoint was used."""
        return None if "continuing the unfinished run" in ended.err else "its checkpoint was not used"


class Induce(Command):
    """`lnmap induce` over an older dictionary."""

    def prepare(self, out: Path) -> None:
        """Put an older dictionary there."""
        out.write_text("old\tdictionary\n")

    def argv(self, out: Path) -> Sequence[object]:
        """Give the command."""
        return ["induce", self.room.model, "--out", out]

    def content(self, out: Path) -> Any:
        """Identify the file."""
        return digest(out)


class Export(Command):
    """`lnmap export` into a new folder."""

    def __init__(self, room: Room, format: str) -> None:
        super().__init__(room)
        self.format = format

    def argv(self, out: Path) -> Sequence[object]:
        """Give the command."""
        return ["export", self.room.model, "--out", out, "--format", self.format]

    def content(self, out: Path) -> Any:
        """Identify the files."""
        return contents(out) if out.exists() else None


class Reproduce(Command):
    """`lnmap reproduce --engine local`: the command is killed, its workers have to notice."""

    everyone = False

    def argv(self, out: Path) -> Sequence[object]:
        """Give the command."""
        systems = ["--systems", "procrustes,muse,vecmap-sup", "--take", "100-unique", "--pairs", "en-fr", "--one-way"]
        where = ["--data", self.room.data, "--device", "cpu", "--jobs", 1, "--out", out]
        return ["reproduce", "own", *systems, *where, "--json"]

    def content(self, out: Path) -> Any:
        """Give the scores once all are there; each file that is there must be whole."""
        found = {path.name: json.loads(path.read_text()) for path in sorted(out.glob("results/*.json"))}
        if list(out.glob("results/*.bad")):
            raise AssertionError("a broken result was left")
        measured = {name: result.get("scores") or result.get("isometry") or {} for name, result in found.items()}
        scores = {name: {k: v for k, v in one.items() if "seconds" not in k} for name, one in measured.items()}
        return scores if len(scores) == 4 else None

    def progress(self, out: Path) -> Any:
        """Tell which results are finished, and when they were written."""
        return _times(out)

    def repeats(self, before: Mapping[str, int], out: Path, ended: Ended) -> str | None:
        """See that none of them was written again."""
        after = _times(out)
        again = [name for name in before if after.get(name) != before[name]]
        return f"{again[0]} was run again" if again else None


def _times(out: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in out.glob("results/*.json")}


def align_lnmap(room: Room, budget: Budget) -> Figures:
    """`align --method lnmap`."""
    return killed(Align(room, "lnmap", epochs=2, batch=64, code=40, iterations=3), budget)


def align_auto(room: Room, budget: Budget) -> Figures:
    """`align --method auto`."""
    return killed(Align(room, "auto"), budget)


def induce(room: Room, budget: Budget) -> Figures:
    """`induce`."""
    return killed(Induce(room), budget)


def export_text(room: Room, budget: Budget) -> Figures:
    """`export --format vec`."""
    return killed(Export(room, "vec"), budget)


def export_store(room: Room, budget: Budget) -> Figures:
    """`export --format store`."""
    return killed(Export(room, "store"), budget)


def reproduce(room: Room, budget: Budget) -> Figures:
    """`reproduce --engine local`."""
    return killed(Reproduce(room), budget)
