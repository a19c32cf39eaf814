"""Run a module's tests on each of its mutants.

The tests are collected once. Each mutant is a forked process, in which the changed function takes the place of the
right one and the tests that call this function run until one fails. Changes outside of functions need the module to
be imported anew, with all its tests, and take longer.
"""

from __future__ import annotations

import gc
import importlib.abc
import importlib.util
import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

import pytest
from tests.mutation.mutate import Mutant
from tests.mutation.state import State, path_of
from tests.soak.launcher import end_with_parent

KILLED, TIMED_OUT, SURVIVED = "killed", "timed out", "survived"
_ANEW = 77  # exit code: this mutant cannot be put in place of a function
_MEMORY = 12 << 30  # bytes of addresses that a mutant may take
_SLOWER, _AT_LEAST = 6, 5.0  # times the tests' own time, and seconds, of the processor before a mutant is hanging
_WAITING = 20  # times that by the clock, for one that waits: the machine may be busy
_PYTEST = ["-q", "-p", "no:cacheprovider", "-p", "no:warnings", "--tb=no"]


def in_a_fork(work: Callable[[], int], seconds: float) -> int | None:
    """Run work in a process of its own and return its exit code, or None if it took too much processor time."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)  # how the run itself ends is not for what it tries
            os.setsid()  # with what it starts it is a group, which can be ended as a whole
            end_with_parent()
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            limit = int(time.process_time() + seconds) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
            code = work()
        finally:
            os._exit(code)
    end = time.monotonic() + _WAITING * seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return None if code == -signal.SIGXCPU else code
        time.sleep(0.005)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Load one module from other code than its file holds."""

    def __init__(self, name: str, code: CodeType) -> None:
        self.name, self.code = name, code

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, path_of(name), loader=self)

    def get_code(self, name: str) -> CodeType:
        return self.code

    def get_source(self, name: str) -> str:
        return path_of(name).read_text(encoding="utf-8")


def import_anew(module: str, mutant: Mutant, tests: Sequence[str], seconds: float) -> str:
    """Run all tests on a mutant in a process that imports lnmap, and the tests, for the first time."""

    def work() -> int:
        _silence()
        for name in [name for name in sys.modules if name.partition(".")[0] in ("lnmap", "tests")]:
            del sys.modules[name]  # the runner's own helpers import lnmap
        sys.meta_path.insert(0, _Changed(module, mutant.code))
        return int(pytest.main(["-x", *_PYTEST, *tests]))

    return _verdict(in_a_fork(work, seconds))


def _verdict(code: int | None) -> str:
    return TIMED_OUT if code is None else SURVIVED if code == 0 else KILLED


class Hunter:
    """A plugin of pytest that runs the collected tests once per mutant, instead of once."""

    def __init__(self, module: str, missing: Sequence[Mutant], state: State, end: float) -> None:
        self.path, self.missing, self.state, self.end = str(path_of(module)), missing, state, end
        self.calls: dict[str, tuple[float, list[int]]] = {}  # by test: seconds, first lines of the functions it called
        self.functions: list[FunctionType] = []  # of the module

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.calls = self._watch(session.items)
        functions = [one for one in gc.get_objects() if type(one) is FunctionType]
        self.functions = [one for one in functions if one.__code__.co_filename == self.path]
        for mutant in self.missing:
            if time.monotonic() > self.end:
                break
            if mutant.lines is not None:
                result = self._try(mutant, session.items)
                if result is not None:
                    self._keep(mutant, result)
        return True

    def _keep(self, mutant: Mutant, result: str) -> None:
        try:
            self.state.add(mutant, result)
        except OSError as error:
            raise pytest.UsageError(f"cannot keep results in {self.state.path}: {error.strerror}") from error

    def _watch(self, items: Sequence[pytest.Item]) -> dict[str, tuple[float, list[int]]]:
        """Run all tests on the code as it is, and note what each of them calls."""

        def work() -> int:
            _silence()
            found = {item.nodeid: self._watch_one(item, following) for item, following in _in_order(items)}
            self.state.notes.write_text(json.dumps(found), encoding="utf-8")
            return 0

        code = in_a_fork(work, 1800)
        found = json.loads(self.state.notes.read_text(encoding="utf-8")) if code == 0 else {}
        failed = [f"{name}: {result}" for name, result in found.items() if isinstance(result, str)]
        if code != 0 or failed:
            raise pytest.UsageError(f"tests fail on the code as it is: {failed or 'they do not end well'}")
        return found

    def _watch_one(self, item: pytest.Item, following: pytest.Item | None) -> tuple[float, list[int]] | str:
        """Return the seconds of a test and what it called, or why it failed."""
        called: set[int] = set()

        def watch(frame: Any, event: str, _: Any) -> None:
            if event == "call" and frame.f_code.co_filename == self.path:
                called.add(frame.f_code.co_firstlineno)

        began = time.process_time()
        sys.setprofile(watch)
        threading.setprofile(watch)
        failure = _failure(item, following)
        sys.setprofile(None)
        return failure or (time.process_time() - began, sorted(called))

    def _try(self, mutant: Mutant, items: Sequence[pytest.Item]) -> str | None:
        first, last = mutant.lines or (0, 0)
        chosen = [item for item in items if any(first <= line <= last for line in self.calls[item.nodeid][1])]
        chosen.sort(key=lambda item: self.calls[item.nodeid][0])  # the fastest first: most mutants end there
        seconds = sum(self.calls[item.nodeid][0] for item in chosen)

        def work() -> int:
            _silence()
            if not _replace(mutant, self.functions):
                return _ANEW
            return int(any(_failure(item, following) for item, following in _in_order(chosen)))

        code = in_a_fork(work, _AT_LEAST + _SLOWER * seconds)
        return None if code == _ANEW else _verdict(code)


def _in_order(items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    """Yield each test and the one after it, which decides what is kept of its fixtures."""
    yield from zip(items, [*items[1:], None], strict=False)  # without any test there is none after it


def _failure(item: pytest.Item, following: pytest.Item | None) -> str:
    """Run a test; return the last line of what it says if it fails."""
    from _pytest.runner import runtestprotocol

    failed = [one.longreprtext for one in runtestprotocol(item, log=False, nextitem=following) if one.failed]
    return (failed[0].strip() or "it fails").splitlines()[-1] if failed else ""


def _replace(mutant: Mutant, functions: Sequence[FunctionType]) -> bool:
    """Give all functions made from the changed one its new code; return False if there are none, or it does not fit."""
    first = (mutant.lines or (0, 0))[0]
    (code,) = [one for one in _codes(mutant.code) if one.co_firstlineno == first] or [None]
    found = [one for one in functions if one.__code__.co_firstlineno == first and code and one.__name__ == code.co_name]
    if not found or code is None or any(one.__code__.co_freevars != code.co_freevars for one in found):
        return False
    for one in found:
        one.__code__ = code
    return True


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the outermost functions of a module, those of its classes too."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if inner.co_flags & 0x2:  # it has fast locals: a function, not the body of a class
                yield inner
            else:
                yield from _codes(inner)


def hunt(module: str, tests: Sequence[str], state: State, mutants: Sequence[Mutant], end: float) -> None:
    """Try the mutants that have no result yet, until the time is over."""
    missing = [mutant for mutant in mutants if mutant.key not in state.results]

    def work() -> int:
        return int(pytest.main([*_PYTEST, "--no-header", *tests], plugins=[Hunter(module, missing, state, end)]))

    if missing and time.monotonic() < end:
        if in_a_fork(work, 1e5) != 0:
            raise SystemExit(f"the hunt in {module} has stopped, for the reason above; its tests: {' '.join(tests)}")
        state.read()
    seconds = sum(took for took, _ in state.noted().values())
    for mutant in missing:
        if mutant.key not in state.results and time.monotonic() < end:
            state.add(mutant, import_anew(module, mutant, tests, 2 * _AT_LEAST + _SLOWER * seconds))
