"""Kills: SIGKILL at random moments of every command that writes; then check the output, run again, and check again."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.helpers import contents
from tests.soak.aim import Aim, Shot
from tests.soak.figures import Budget, Figures
from tests.soak.lab import Lab, leftovers, model_bits
from tests.soak.launcher import Ended
from tests.soak.processes import await_end, group_members

from lnmap.methods import METHODS


class Command:
    """A command whose output is whole or not there, however it ends."""

    kills_group = True  # the kill hits the whole group of processes, not the command alone

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    def prepare(self, out: Path) -> None:
        """Put an older output in place."""

    def argv(self, out: Path) -> Sequence[object]:
        raise NotImplementedError

    def content(self, out: Path) -> Any:
        """Identify the output, None if there is none; raise if it is broken."""
        raise NotImplementedError

    def progress(self, out: Path) -> Any:
        """Return what has been finished so far and must not be done again; nothing if false."""
        return None

    def repeated(self, before: Any, out: Path, ended: Ended) -> str | None:
        """Return what the second run did again, although `progress` had it."""
        return None


def killed(command: Command, budget: Budget) -> Figures:
    """Kill a command at random moments: the output is the old or the new one, and a second run makes the new one."""
    figures, lab, new = Figures(), command.lab, list[Any]()

    def run(whole: bool) -> Ended:
        out = lab.fresh()
        command.prepare(out)
        ended = lab.launcher.run(command.argv(out), whole=whole)
        if ended.code:
            raise RuntimeError(f"the command fails without any kill: {ended.err}")
        new.append(command.content(out))
        return ended

    aim = Aim(budget.rng, run)
    while budget.more(figures):
        shot, out = aim.next(figures), lab.fresh()
        with figures.attempt():
            command.prepare(out)
            try:
                _kill_once(command, out, new[-1], aim, shot, figures)
            except AssertionError as error:
                raise AssertionError(f"{shot}: {error}") from error
    return figures


def _kill_once(command: Command, out: Path, new: Any, aim: Aim, shot: Shot, figures: Figures) -> None:
    old, launcher = command.content(out), command.lab.launcher
    child = launcher.start(command.argv(out), whole=shot.whole)
    time.sleep(shot.moment)
    child.kill(command.kills_group)
    first = launcher.finish(child)
    await_end(lambda: group_members(child.pid))
    aim.count(shot, first, figures)
    figures.count("left over", leftovers(out.parent))
    if command.content(out) not in (old, new):
        raise AssertionError("neither the old output nor the new")
    before = command.progress(out)
    second = launcher.run(command.argv(out))
    figures.worst_mb = max(figures.worst_mb, second.grown_mb)
    if not second.clean:
        raise AssertionError(f"the second run fails: {second.err[-300:]}")
    if command.content(out) != new:
        raise AssertionError("the second run gives another result")
    if still := leftovers(out.parent):
        raise AssertionError(f"the second run leaves {still} temporary files")
    if before:
        figures.count("continued")
        if again := command.repeated(before, out, second):
            raise AssertionError(again)
    elif second.code == 0:
        aim.learn(second)


class Align(Command):
    """`lnmap align` over an older model, with a method that saves checkpoints."""

    def __init__(self, lab: Lab, method: str, **options: object) -> None:
        super().__init__(lab)
        self.method, self.options = method, {**METHODS[method].quick, **options}

    def prepare(self, out: Path) -> None:
        shutil.copytree(self.lab.model, out)

    def argv(self, out: Path) -> Sequence[object]:
        settings = [word for name, value in self.options.items() for word in ("--set", f"{name}={value}")]
        return self.lab.align_argv(self.method, *settings, "--seed", 3, "--out", out)

    def content(self, out: Path) -> Any:
        return model_bits(out)

    def progress(self, out: Path) -> Any:
        return (out / "checkpoint.safetensors").exists()

    def repeated(self, before: Any, out: Path, ended: Ended) -> str | None:
        return None if "continuing the unfinished run" in ended.err else "its checkpoint was not used"


class AlignMany(Command):
    """`lnmap align-many` into a new folder: what is there is whole, and finished models are not trained again."""

    def argv(self, out: Path) -> Sequence[object]:
        data = self.lab.data
        languages = [f"en={data / 'en'}", f"fr={data / 'fr'}", f"xx={data / 'fr'}"]
        pairs = [word for name in ("fr", "xx") for word in ("--pairs", f"{name}={data / 'fr-en.train.txt'}")]
        return ["align-many", *languages, *pairs, "--device", "cpu", "--format", "store", "--out", out]

    def content(self, out: Path) -> Any:
        """Return the bits of everything once all is there."""
        models = [model_bits(out / name) for name in ("fr-en", "xx-en")]
        return (models, contents(out / "vectors")) if (out / "vectors").exists() else None

    def progress(self, out: Path) -> Mapping[str, int]:
        return {str(path): path.stat().st_mtime_ns for path in out.glob("*/model.json")}

    def repeated(self, before: Mapping[str, int], out: Path, ended: Ended) -> str | None:
        after = self.progress(out)
        again = [name for name in before if after.get(name) != before[name]]
        return f"{again[0]} was written again" if again else None


class Vectors(Command):
    """`lnmap vectors` into a new folder; its three files appear one after the other."""

    def argv(self, out: Path) -> Sequence[object]:
        text = self.lab.folder / "text.txt"
        if not text.exists():
            rng = random.Random(0)
            lines = (" ".join(f"w{int(rng.paretovariate(0.5)) % 80}" for _ in range(12)) for _ in range(150))
            text.write_text("\n".join(lines) + "\n")
        small = ["--dim", 4, "--windows", 2, "--epochs", 1, "--min-count", 1, "--max-n", 3]
        return ["vectors", text, "--out", out / "xx.vec", *small]

    def content(self, out: Path) -> Any:
        found = contents(out) if out.exists() else {}
        return found if {"xx.vec", "xx.bin", "xx.counts.tsv"} <= found.keys() else None


class Induce(Command):
    """`lnmap induce` over an older dictionary."""

    def prepare(self, out: Path) -> None:
        out.write_text("old\tdictionary\n")

    def argv(self, out: Path) -> Sequence[object]:
        return ["induce", self.lab.model, "--out", out]

    def content(self, out: Path) -> Any:
        return out.read_bytes()


class Export(Command):
    """`lnmap export` into a new folder."""

    def __init__(self, lab: Lab, format: str) -> None:
        super().__init__(lab)
        self.format = format

    def argv(self, out: Path) -> Sequence[object]:
        return ["export", self.lab.model, "--out", out, "--format", self.format]

    def content(self, out: Path) -> Any:
        return contents(out) if out.exists() else None


class Reproduce(Command):
    """`lnmap reproduce` on this machine: the command alone is killed, and its workers have to end by themselves."""

    kills_group = False
    runs = 4

    def argv(self, out: Path) -> Sequence[object]:
        systems = ["--systems", "procrustes,muse,vecmap-sup", "--take", "100-unique", "--pairs", "en-fr", "--one-way"]
        where = ["--data", self.lab.data, "--device", "cpu", "--jobs", 1, "--out", out]
        return ["reproduce", "own", *systems, *where, "--json"]

    def content(self, out: Path) -> Any:
        """Return the scores once all are there; each file must be whole."""
        found = {path.name: json.loads(path.read_text()) for path in sorted(out.glob("results/*.json"))}
        if list(out.glob("results/*.bad")):
            raise AssertionError("a broken result was left")
        measured = {name: result.get("scores") or result.get("isometry") or {} for name, result in found.items()}
        scores = {name: {k: v for k, v in one.items() if "seconds" not in k} for name, one in measured.items()}
        return scores if len(scores) == self.runs else None

    def progress(self, out: Path) -> Mapping[str, int]:
        return {path.name: path.stat().st_mtime_ns for path in out.glob("results/*.json")}

    def repeated(self, before: Mapping[str, int], out: Path, ended: Ended) -> str | None:
        after = self.progress(out)
        again = [name for name in before if after.get(name) != before[name]]
        return f"{again[0]} was run again" if again else None


def align_lnmap(lab: Lab, budget: Budget) -> Figures:
    return killed(Align(lab, "lnmap", epochs=2, batch=64, code=40, iterations=3), budget)


def align_auto(lab: Lab, budget: Budget) -> Figures:
    return killed(Align(lab, "auto"), budget)


def align_many(lab: Lab, budget: Budget) -> Figures:
    return killed(AlignMany(lab), budget)


def vectors(lab: Lab, budget: Budget) -> Figures:
    return killed(Vectors(lab), budget)


def induce(lab: Lab, budget: Budget) -> Figures:
    return killed(Induce(lab), budget)


def export_text(lab: Lab, budget: Budget) -> Figures:
    return killed(Export(lab, "vec"), budget)


def export_store(lab: Lab, budget: Budget) -> Figures:
    return killed(Export(lab, "store"), budget)


def reproduce(lab: Lab, budget: Budget) -> Figures:
    return killed(Reproduce(lab), budget)
