"""Fuzz: read changed copies of valid files with every reader, by the thousand."""

from __future__ import annotations

import json
import random
import shutil
import signal
import struct
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.soak.figures import Budget, Figures, Scenario
from tests.soak.lab import Lab
from tests.soak.memory import keep_memory, memory_disk
from tests.soak.targets import TARGETS, Target, check_model, small_model

from lnmap.errors import LnmapError

HANG_S = 10  # of processor time: on a busy core a reader may have to wait
STUCK_S = 300  # of the clock: for a reader that waits forever
MEMORY_MB = 200.0
_SLICE = 10_000  # inputs a process
_NUMBERS = (0, 1, -1, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, -(2**31), 2**32 - 1, 10**12, 2**63 - 1)
_TOKENS = b'nan|inf|-|1e999|\0|\n|\r\n| |\t|\xff\xfe|{|[[|"|..|/'.split(b"|")


def change(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Change a file in one to six places."""
    made = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        rng.choice(_CHANGES)(made, rng.randrange(len(made) + 1), others, rng)
    return bytes(made)


def _flip(data: bytearray, at: int, others: list[bytes], rng: random.Random) -> None:
    data[at : at + 1] = bytes(byte ^ (1 << rng.randrange(8)) for byte in data[at : at + 1])


def _byte(data: bytearray, at: int, others: list[bytes], rng: random.Random) -> None:
    data[at : at + 1] = bytes(rng.randrange(256) for _ in data[at : at + 1])


def _cut(data: bytearray, at: int, others: list[bytes], rng: random.Random) -> None:
    del data[at:]


def _drop(data: bytearray, at: int, others: list[bytes], rng: random.Random) -> None:
    del data[at : at + rng.randint(1, 40)]


def _repeat(data: bytearray, at: int, others: list[bytes], rng: random.Random) -> None:
    data[at:at] = data[at : at + rng.randint(1, 60)] * rng.randint(1, 8)


def _splice(data: bytearray, at: int, others: list[bytes], rng: random.Random) -> None:
    other = rng.choice(others)
    data[at:] = other[rng.randrange(len(other) + 1) :]


def _number(data: bytearray, at: int, others: list[bytes], rng: random.Random) -> None:
    value = rng.choice(_NUMBERS)
    made = rng.choice([str(value).encode(), struct.pack("<i", value % 2**31), struct.pack("<Q", value % 2**64)])
    data[at : at + (len(made) if rng.random() < 0.7 else 0)] = made


def _token(data: bytearray, at: int, others: list[bytes], rng: random.Random) -> None:
    data[at:at] = rng.choice(_TOKENS)


_CHANGES = (_flip, _byte, _cut, _drop, _repeat, _splice, _number, _token)


class Hang(BaseException):
    """A reader takes too long. Not an Exception, so that no reader can mistake it for a broken file."""


def _alarm(*_: object) -> None:
    raise Hang


def try_bytes(target: Target, data: bytes, path: Path) -> str:
    """Read bytes with a target; return 'read', 'refused', or what is wrong."""
    path.write_bytes(data)
    signal.setitimer(signal.ITIMER_PROF, HANG_S)
    signal.alarm(STUCK_S)
    try:
        target.check(path)
    except LnmapError as error:
        return "refused" if len(str(error).splitlines()) == 1 else f"a refusal of several lines: {error}"
    except (Exception, Hang) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "read"


def fuzz_slice(name: str, seed: int, most: int, seconds: float) -> dict[str, Any]:
    """Try changed files for a while; called in a process of its own."""
    target, rng, found = TARGETS[name], random.Random(f"{name} {seed}"), _nothing_found()
    end = time.monotonic() + seconds
    with _workshop() as folder:
        corpus, path = target.corpus(), folder / "file"
        while found["attempts"] < most and time.monotonic() < end:
            data = target.pack(change(rng.choice(corpus), corpus, rng))
            _note(found, target, data, path, f"{name}: {data[:300].hex()}")
    return found


def _nothing_found() -> dict[str, Any]:
    return {"attempts": 0, "read": 0, "refused": 0, "worst_s": 0.0, "wrong": []}


@contextmanager
def _workshop() -> Iterator[Path]:
    """Open a folder in memory for all that this process writes, and stop readers that hang."""
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, _alarm)
    keep_memory()
    with tempfile.TemporaryDirectory(dir=memory_disk()) as folder:
        tempfile.tempdir = folder
        yield Path(folder)


def _note(found: dict[str, Any], target: Target, data: bytes, path: Path, about: str) -> None:
    """Try an input and count how it went."""
    began = time.process_time()
    said = try_bytes(target, data, path)
    found["worst_s"] = max(found["worst_s"], time.process_time() - began)
    found["attempts"] += 1
    if said in ("read", "refused"):
        found[said] += 1
    elif len(found["wrong"]) < 5:
        found["wrong"].append(f"{said}: {about}")


def fuzz(name: str) -> Scenario:
    """Make the scenario of one reader."""

    def scenario(lab: Lab, budget: Budget) -> Figures:
        return _in_slices("tests.soak.fuzz:fuzz_slice", (name,), lab, budget)

    return scenario


def _in_slices(function: str, first: tuple[str, ...], lab: Lab, budget: Budget) -> Figures:
    """Call a function with a seed, a number of inputs and a time, each in a new process, until the budget is used."""
    figures, turn = Figures(), 0
    while budget.more(figures):
        turn += 1
        most, seconds = min(_SLICE, budget.attempts - figures.attempts), min(60.0, budget.left_s() + 1)
        ended = lab.launcher.call(function, *first, budget.seed * 1000 + turn, most, seconds)
        figures.worst_mb = max(figures.worst_mb, ended.grown_mb)
        if ended.code != 0 or ended.grown_mb > MEMORY_MB:
            figures.attempts += 1
            figures.fail(f"{first}: {ended.grown_mb:.0f} MB, signal {ended.signal}: {ended.err[-300:]}")
            continue
        found = json.loads(ended.out)
        figures.attempts += found["attempts"]
        figures.worst_s = max(figures.worst_s, found["worst_s"])
        for said in ("read", "refused"):
            figures.count(said, found[said])
        for wrong in found["wrong"]:
            figures.fail(wrong)
    return figures


def swap_files(seed: int, most: int, seconds: float) -> dict[str, Any]:
    """Damage model folders: files swapped, missing, changed or of another version, and paths out of the folder."""
    rng, found, end = random.Random(seed), _nothing_found(), time.monotonic() + seconds
    with _workshop() as folder:
        place = folder / "model"
        target = Target(lambda: [], lambda _: check_model(place))
        shutil.copytree(small_model(), place)
        files = {path: path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}
        files = {path: data for path, data in files.items() if path.name != ".lock"}
        while found["attempts"] < most and time.monotonic() < end:
            told = _damage(place, files, rng)
            _note(found, target, b"", folder / "file", told)
            for path, data in files.items():
                path.write_bytes(data)
    return found


def _damage(folder: Path, files: Mapping[Path, bytes], rng: random.Random) -> str:
    """Damage a folder in one of five ways; return a description."""
    one, two = rng.sample(list(files), 2)
    kind = rng.randrange(5)
    if kind == 0:
        one.write_bytes(files[two])
        two.write_bytes(files[one])
    elif kind == 1:
        one.unlink()
    elif kind == 2:
        one.write_bytes(change(files[one], [files[two]], rng))
    else:
        manifest = json.loads((folder / "model.json").read_text())
        if kind == 3:
            manifest["version"] = rng.choice([0, 1, 99, "1", None, 10**30, [1]])
        else:
            role = rng.choice(list(manifest["files"]))
            manifest["files"][role]["name"] = rng.choice(["../model", "/etc/passwd", "..", "", "a/b", "x\0y", two.name])
        (folder / "model.json").write_text(json.dumps(manifest))
    return f"damage {kind} of {one.name} and {two.name}"


def model_folder(lab: Lab, budget: Budget) -> Figures:
    return _in_slices("tests.soak.fuzz:swap_files", (), lab, budget)
