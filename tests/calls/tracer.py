"""Tracer: strace around a command, to record its calls that write and to kill or fail one of them.

Starting Python and torch takes seconds, a forked child of the soak's launcher milliseconds. A child stops itself before
its command begins; strace is attached, and the child goes on. strace counts calls from there, so the n-th call of one
run is the n-th call of the next. Faults happen in the first thread only: it makes all calls that write, and how often
the others wake each other up differs from run to run.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.soak.figures import Skip
from tests.soak.launcher import Child, Ended, Launcher
from tests.soak.processes import state

OPENING = ("open", "openat", "creat")
WRITING = ("write", "pwrite64", "writev", "pwritev", "pwritev2", "sendfile", "copy_file_range")
SYNCING = ("fsync", "fdatasync", "sync_file_range", "syncfs")
NAMING = ("rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "link", "linkat")
NAMING += ("symlink", "symlinkat")
SIZING = ("truncate", "ftruncate", "fallocate")
CALLS = (*OPENING, *WRITING, *SYNCING, *NAMING, *SIZING)
_HANDLES = ("close", "lseek", "dup", "dup2", "dup3", "fcntl")  # what a simulated disk has to follow as well

_LINE = re.compile(r"(?:(\d+) +)?(\w+)\((.*)\) += (-?\d+|\?)(.*)", re.DOTALL)
_UNFINISHED, _RESUMED = re.compile(r"(\d+) +(.*) <unfinished \.\.\.>"), re.compile(r"(\d+) +<\.\.\. \w+ resumed>(.*)")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"(\.\.\.)?|<((?:[^>\\]|\\.)*)>')
_ESCAPE = re.compile(r"\\x([0-9a-f]{2})")
_RANDOM = re.compile(r"(?<![0-9a-z])[0-9a-f]{12,}")
_ATTACHED_S = 30.0


@dataclass(frozen=True)
class Call:
    """One call.

    :param nth: how many calls of this name its thread had made, this one included.
    :param text: its arguments, as strace writes them.
    :param result: what it returned; None where the process was killed.
    :param faulty: whether strace failed it.
    """

    thread: int
    name: str
    nth: int
    text: str
    result: int | None
    faulty: bool = False

    @functools.cached_property
    def strings(self) -> list[bytes]:
        """Return the names and the data among its arguments."""
        return [_unescaped(quoted or named) for quoted, _, named in _TEXT.findall(self.text)]

    def about(self, folder: Path) -> str:
        """Describe the call in a way that is the same in every run."""
        names = [one.decode(errors="replace") for one in self.strings[: 1 if self.name in WRITING else 4]]
        short = [_RANDOM.sub("*", name.removeprefix(str(folder)).lstrip("/")) or "." for name in names if name]
        return f"{self.name} {' '.join(short)}"

    def touches(self, folder: Path) -> bool:
        """Return whether it may change something below a folder."""
        place = str(folder).encode()
        reads = self.name in ("open", "openat") and not re.search(r"O_CREAT|O_TRUNC", self.text)
        if reads or self.name not in CALLS:
            return False
        names = self.strings[:1] if self.name in WRITING or self.name in SYNCING else self.strings
        return any(name == place or name.startswith(place + b"/") for name in names)


@dataclass(frozen=True)
class Fault:
    """What happens to a call: it is killed before it starts, or fails with an error and does nothing."""

    name: str  # KILL, or the name of an error

    def option(self, call: Call) -> str:
        """Return what strace calls it."""
        what = "signal=KILL" if self.name == "KILL" else f"error={self.name}"
        return f"inject={call.name}:{what}:when={call.nth}"


def strace() -> str:
    """Return the path of strace; skip where it is missing."""
    found = shutil.which("strace") if sys.platform == "linux" else None
    if found is None:
        raise Skip("strace is not installed (Debian: apt-get install strace)")
    return found


def traced(
    launcher: Launcher, start: Callable[[], Child], fault: Fault | None = None, call: Call | None = None, **more: bool
) -> tuple[Ended, list[Call]]:
    """Run a child that holds still at first, under strace; return how it ended and its calls.

    :param start: starts the child with `hold=True`.
    :param fault: what happens to `call`.
    """
    child = start()
    _await(lambda: state(child.pid) == "T", "the child does not stop")
    with tempfile.TemporaryDirectory(prefix="lnmap-strace-") as place:
        log = Path(place, "log")
        options = _options(log, **more) + (["-e", fault.option(call)] if fault and call else ["-f"])
        tracer = subprocess.Popen([strace(), *options, "-p", str(child.pid)], stderr=subprocess.PIPE, text=True)
        try:
            assert tracer.stderr is not None
            said = tracer.stderr.readline()
            if "attached" not in said:
                child.kill()
                raise Skip(f"strace may not follow a process here: {said.strip()}")
            child.go_on()
            ended = launcher.finish(child)
            tracer.wait(_ATTACHED_S)
        finally:
            child.kill()
            tracer.kill()
            tracer.communicate()
        return ended, list(parse(log.read_text(errors="replace")))


def program(
    argv: Sequence[object], env: Mapping[str, str], fault: Fault | None = None, call: Call | None = None
) -> tuple[Ended, list[Call]]:
    """Run a whole program under strace, from its very start."""
    with tempfile.TemporaryDirectory(prefix="lnmap-strace-") as place:
        log = Path(place, "log")
        options = _options(log) + (["-e", fault.option(call)] if fault and call else ["-f"])
        command, began = [strace(), *options, *map(str, argv)], time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **env})
        killed = done.returncode < 0
        code, signal = (None, -done.returncode) if killed else (done.returncode, None)
        ended = Ended(code, signal, time.monotonic() - began, 0.0, 0.0, done.stdout, done.stderr)
        return ended, list(parse(log.read_text(errors="replace")))


def _options(log: Path, data: bool = False) -> list[str]:
    names = (*CALLS, *_HANDLES) if data else CALLS
    text = ["-s", "100000000", "-xx"] if data else ["-s", "200"]
    return ["-y", "-o", str(log), *text, "-e", "trace=" + ",".join(f"?{name}" for name in names)]


def parse(text: str) -> Iterator[Call]:
    """Read what strace has written; a call that was interrupted by another thread's is put together again."""
    begun: dict[str, str] = {}
    counts: dict[tuple[int, str], int] = {}
    for line in text.splitlines():
        if found := _UNFINISHED.fullmatch(line):
            begun[found[1]] = found[2]
            continue
        if found := _RESUMED.fullmatch(line):
            line = f"{found[1]} {begun.pop(found[1], '')}{found[2]}"
        if found := _LINE.fullmatch(line):
            thread, name = int(found[1] or 0), found[2]
            counts[thread, name] = nth = counts.get((thread, name), 0) + 1
            result = None if found[4] == "?" else int(found[4])
            yield Call(thread, name, nth, found[3], result, "(INJECTED)" in found[5])


def _unescaped(text: str) -> bytes:
    """Return the bytes of a string in the log, as `-xx` writes it or plain."""
    if text.startswith("\\x"):
        return bytes.fromhex(text.replace("\\x", ""))
    return text.encode().decode("unicode_escape").encode("latin-1", "replace") if "\\" in text else text.encode()


def _await(true: Callable[[], bool], problem: str) -> None:
    end = time.monotonic() + _ATTACHED_S
    while not true():
        if time.monotonic() > end:
            raise AssertionError(problem)
        time.sleep(0.001)
