"""Run a module's tests on each of its mutants, in forked processes that have the large libraries loaded already."""

from __future__ import annotations

import hashlib
import importlib.abc
import importlib.util
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.mutation.mutate import Mutant, mutants

ROOT = Path(__file__).parents[2]
KILLED, TIMED_OUT, SURVIVED = "killed", "timed out", "survived"
_MEMORY = 12 << 30  # bytes of addresses that a mutant may take
_SLOWER = 5  # times the tests' own time before a mutant counts as hanging


class _Mutated(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Load one module from other source than its file holds."""

    def __init__(self, name: str, path: Path, source: str) -> None:
        self.name, self.path, self.source = name, path, source

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        package = [str(self.path.parent)] if self.path.name == "__init__.py" else None
        spec = importlib.util.spec_from_file_location(name, self.path, loader=self, submodule_search_locations=package)
        return spec

    def get_filename(self, name: str) -> str:
        return str(self.path)

    def get_data(self, path: str) -> bytes:
        return self.source.encode()

    def path_stats(self, path: str):
        raise OSError  # never from or into the cache of compiled files


def path_of(module: str) -> Path:
    """Return the file of a module, named by its dotted name."""
    base = ROOT / "src" / module.replace(".", "/")
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def load_libraries() -> None:
    """Import what is large, but nothing of lnmap and no plugin of pytest, before forking."""
    import torch

    torch.set_num_threads(1)


def attempt(module: str, source: str, tests: Sequence[str], seconds: float) -> tuple[str, float]:
    """Run tests with other source for a module; return what became of it and how long it took."""
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        _run_tests(module, source, tests)
    while time.monotonic() - began < seconds:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return (SURVIVED if status == 0 else KILLED), time.monotonic() - began
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)  # the group of this child alone: see setsid below
    os.waitpid(child, 0)
    return TIMED_OUT, time.monotonic() - began


def _run_tests(module: str, source: str, tests: Sequence[str]) -> None:
    """Become the process of one mutant; never returns."""
    code = 3
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        os.chdir(ROOT)
        import pytest

        sys.meta_path.insert(0, _Mutated(module, path_of(module), source))
        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--no-header", *tests]))
    finally:
        os._exit(code)


class State:
    """Results of one module, kept line by line, and valid for its source and its tests as they are."""

    def __init__(self, folder: Path, module: str, tests: Sequence[str]) -> None:
        digest = hashlib.sha256(path_of(module).read_bytes())
        for path in sorted(path for test in tests for path in _files(ROOT / test.partition("::")[0])):
            digest.update(path.read_bytes())
        self.path = folder / f"{module}.{digest.hexdigest()[:12]}.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        lines = self.path.read_text(encoding="utf-8").split("\n") if self.path.exists() else []
        self.results: dict[str, str] = {}
        for line in lines[:-1]:  # the last is empty, or was cut short
            entry = json.loads(line)
            self.results[entry["key"]] = entry["result"]
        whole = "".join(f"{line}\n" for line in lines[:-1])
        self.path.write_text(whole, encoding="utf-8")

    def add(self, mutant: Mutant, result: str) -> None:
        self.results[mutant.key] = result
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": mutant.key, "line": mutant.line, "result": result}) + "\n")


def _files(path: Path) -> Iterator[Path]:
    return iter([path]) if path.is_file() else path.rglob("*.py")


def hunt(module: str, tests: Sequence[str], folder: Path, minutes: float) -> tuple[list[Mutant], dict[str, str]]:
    """Try the mutants that have no result yet, until the time is over; return all mutants and the results so far."""
    source = path_of(module).read_text(encoding="utf-8")
    found, state = list(mutants(source)), State(folder, module, tests)
    missing = [mutant for mutant in found if mutant.key not in state.results]
    if not missing:
        return found, state.results
    end = time.monotonic() + 60 * minutes
    result, took = attempt(module, source, tests, 600)
    if result != SURVIVED:
        raise SystemExit(f"the tests of {module} fail on the code as it is: pytest {' '.join(tests)}")
    for mutant in missing:
        if time.monotonic() > end:
            break
        result, _ = attempt(module, mutant.source, tests, 10 + _SLOWER * took)
        state.add(mutant, result)
    return found, state.results
