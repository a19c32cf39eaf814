"""Launcher: real processes that start in milliseconds, so that thousands of them can be killed.

A parent process imports lnmap once and forks a child for each command. A child has its own session, output files and
limits; from there on it does what `lnmap ARGUMENTS` does, or becomes that program from its very start.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.helpers import PROGRAM

ROOT = Path(__file__).parents[2]
_PRELOADED = ("torch", "numpy", "safetensors.torch", "lnmap.cli", "lnmap.pipeline", "lnmap.datasets")
_PRELOADED += ("lnmap.experiments", "lnmap.experiments.report", "lnmap.serve.run", "lnmap.serve.models")
_PRELOADED += ("gensim.models", "polars", "lnmap.check", "lnmap.judge", "lnmap.experiments.report.figures")
_POLL_S = 0.002
_SET_DEATH_SIGNAL, _SET_TRACER = 1, 0x59616D61  # as <linux/prctl.h> numbers them


@dataclass(frozen=True)
class Ended:
    """How a child ended.

    :param code: its exit code, None where a signal ended it.
    :param grown_mb: memory it took beyond what a child starts with.
    :param cpu_s: processor time, which a busy machine does not change.
    """

    code: int | None
    signal: int | None
    seconds: float
    cpu_s: float
    grown_mb: float
    out: str
    err: str

    @property
    def clean(self) -> bool:
        """Whether it ended by itself, with an exit code of the command line and without a traceback."""
        return self.code in range(7) and "Traceback" not in self.err

    def result(self, about: str) -> Any:
        """Return what a called function has returned; raise if it failed."""
        if self.code:
            raise AssertionError(f"{about}: {(self.err.strip().splitlines() or [f'signal {self.signal}'])[-1]}")
        return json.loads(self.out)


@dataclass
class Child:
    """A running child."""

    pid: int
    began: float
    folder: Path

    def output(self, name: str = "out") -> str:
        """Return what it has printed so far."""
        return (self.folder / name).read_text(errors="replace")

    def kill(self, everyone: bool = True) -> None:
        """Send SIGKILL, to its whole group or to it alone."""
        with suppress(ProcessLookupError):
            (os.killpg if everyone else os.kill)(self.pid, signal.SIGKILL)

    def go_on(self) -> None:
        """Let a child go on that was told to hold."""
        os.kill(self.pid, signal.SIGCONT)


@dataclass
class Launcher:
    """The parent of all children."""

    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        paths = [str(ROOT), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        own = {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NO_COLOR": "1"}
        own |= {"OMP_WAIT_POLICY": "PASSIVE", "POLARS_MAX_THREADS": "1"}  # idle threads must not spin
        self._folder = tempfile.TemporaryDirectory(prefix="lnmap-launcher-")
        self._count = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.soak.launcher"],
            cwd=ROOT,
            env={**os.environ, **own, **self.environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._born_kb = 0.0
        self._born_kb = self.call("tests.soak.launcher:nothing").grown_mb * 1024

    def start(self, argv: Sequence[object], **more: Any) -> Child:
        """Start `lnmap ARGV`. `env`, `fsize` and `cwd` set its environment, largest file in bytes and folder.

        With `hold` it stops before the command begins, until it is told to go on. With `whole` it is a program that
        loads Python and torch itself, as a user starts it.
        """
        return self._start({"argv": [str(word) for word in argv], **more})

    def run(self, argv: Sequence[object], kill_after: float | None = None, limit_s: float = 300, **more: Any) -> Ended:
        """Run `lnmap ARGV` to its end, or kill it after some seconds."""
        child = self.start(argv, **more)
        if kill_after is not None:
            time.sleep(kill_after)
            child.kill()
        return self.finish(child, limit_s)

    def call(self, function: str, *arguments: Any, limit_s: float = 300, **more: Any) -> Ended:
        """Run `module:function(*arguments)`; what it returns is printed as JSON on its standard output."""
        return self.finish(self.start_call(function, *arguments, **more), limit_s)

    def start_call(self, function: str, *arguments: Any, **more: Any) -> Child:
        """Start `module:function(*arguments)`."""
        return self._start({"call": function, "arguments": arguments, **more})

    def _start(self, order: dict[str, Any]) -> Child:
        self._count += 1
        folder = Path(self._folder.name, str(self._count))
        folder.mkdir()
        answer = self._ask({"do": "start", "folder": str(folder), **order})
        return Child(answer["pid"], time.monotonic(), folder)

    def finish(self, child: Child, limit_s: float = 300) -> Ended:
        """Wait for the end; one that does not come in time is a hang and is ended by force."""
        found = self._ask({"do": "finish", "pid": child.pid, "limit_s": limit_s})
        ended = Ended(
            found["code"],
            found["signal"],
            time.monotonic() - child.began,
            found["cpu_s"],
            max(0.0, found["peak_kb"] - self._born_kb) / 1024,
            child.output("out"),
            child.output("err"),
        )
        for name in ("out", "err"):
            (child.folder / name).unlink()
        child.folder.rmdir()
        if found["hung"]:
            raise TimeoutError(f"did not end within {limit_s:.0f} s: {ended.err[-200:]}")
        return ended

    def _ask(self, order: Mapping[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order, default=str) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the launcher has died")
        return json.loads(line)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._folder.cleanup()


def own_session() -> None:
    """Begin a session and keep its priority, which Linux shares out by sessions first and by processes then."""
    os.setsid()
    with suppress(OSError):  # not Linux, or without groups of its scheduler: processes alone count
        Path("/proc/self/autogroup").write_text(str(os.nice(0)))


def end_with_parent() -> None:
    """Let the kernel kill this process when its parent ends: in a session of its own, no interrupt reaches it."""
    _prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def nothing() -> None:
    """Do nothing: the memory of this child is what every child starts with."""


def _become(order: Mapping[str, Any]) -> int:
    """Run as the child."""
    own_session()
    end_with_parent()
    for number, (name, flags) in enumerate((("in", 0), ("out", 1), ("err", 1))):
        path = "/dev/null" if name == "in" else os.path.join(order["folder"], name)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC if flags else os.O_RDONLY, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    os.environ.update(order.get("env") or {})
    os.chdir(order.get("cwd") or "/")
    if order.get("fsize"):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then write() fails with EFBIG, as on a disk with a quota
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["fsize"], order["fsize"]))
    if order.get("whole"):
        os.execv(PROGRAM[0], [*PROGRAM, *order["argv"]])
    if "argv" in order:
        from lnmap.cli import main

        _hold(order)
        return main(order["argv"])
    module, _, name = order["call"].partition(":")
    function = getattr(importlib.import_module(module), name)
    _hold(order)
    found = function(*order["arguments"])
    if found is not None:
        sys.stdout.write(json.dumps(found) + "\n")
    return 0


def _prctl(option: int, value: int) -> None:
    with suppress(AttributeError):  # not Linux
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def _hold(order: Mapping[str, Any]) -> None:
    """Stop until SIGCONT, if that was asked for; any process may follow this one meanwhile."""
    if order.get("hold"):
        _prctl(_SET_TRACER, -1)  # matters where Yama restricts ptrace
        os.kill(os.getpid(), signal.SIGSTOP)


def _fork(order: Mapping[str, Any]) -> int:
    for name in ("out", "err"):
        Path(order["folder"], name).touch()
    pid = os.fork()
    if pid:
        return pid
    code = 99
    try:
        code = _become(order)
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        os._exit(code)


def _await(pid: int, limit_s: float) -> dict[str, Any]:
    end, hung = time.monotonic() + limit_s, False
    while True:
        found, status, used = os.wait4(pid, os.WNOHANG)
        if found:
            break
        if time.monotonic() > end and not hung:
            hung = True
            os.killpg(pid, signal.SIGKILL)
        time.sleep(_POLL_S)
    signalled = os.WIFSIGNALED(status)
    return {
        "code": None if signalled else os.WEXITSTATUS(status),
        "signal": os.WTERMSIG(status) if signalled else None,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_kb": used.ru_maxrss,
        "hung": hung,
    }


def _serve() -> None:
    """Run as the parent: fork and wait as ordered, one line of JSON per order."""
    for name in _PRELOADED:
        with suppress(ImportError):  # of an extra that is not installed
            importlib.import_module(name)
    importlib.import_module("torch").set_num_threads(1)
    list(importlib.import_module("lnmap.methods").METHODS.values())  # they are loaded when they are asked for
    gc.freeze()  # else the first collection of a child copies all of this
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        order = json.loads(line)
        answer = {"pid": _fork(order)} if order["do"] == "start" else _await(order["pid"], order["limit_s"])
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    _serve()
