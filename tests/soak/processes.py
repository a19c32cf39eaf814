"""Processes, as /proc lists them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_ORPHANS_S = 20.0  # how long what a killed process has started may outlive it


def await_end(alive: Callable[[], Sequence[object]], seconds: float = _ORPHANS_S) -> None:
    """Wait until `alive` returns nothing; fail after some seconds."""
    end = time.monotonic() + seconds
    while left := alive():
        if time.monotonic() > end:
            raise AssertionError(f"processes {left} outlive their parent by {seconds:.0f} s")
        time.sleep(0.01)


def group_members(group: int) -> list[int]:
    """Return the living processes of a group."""
    return [pid for pid in _all() if (found := _stat(pid)) and int(found[2]) == group]


def descendants(ancestor: int) -> Mapping[int, str]:
    """Return all processes that one has started, and those in turn, with their command lines."""
    parents = {pid: int(found[1]) for pid in _all() if (found := _stat(pid))}
    family = {ancestor}
    while new := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= new
    return {pid: name for pid in family - {ancestor} if (name := command_line(pid))}


def birth(pid: int) -> int:
    """Return when a process started, which tells it from a later one of the same number; 0 if it has ended."""
    found = _stat(pid)
    return int(found[19]) if found else 0


def command_line(pid: int) -> str:
    """Return the command line of a process; nothing if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()[:200]
    return ""


def memory_mb(pid: int) -> float:
    """Return the resident memory of a process; 0 if it has ended."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/status").read_text().partition("VmRSS:")[2].split()[0]) / 1024
    return 0.0


def state(pid: int) -> str:
    """Return the letter of a process's state, T for a stopped one; nothing if it has ended."""
    return "".join(_stat(pid)[:1])


def _all() -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*")]


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the state on; nothing if the process has ended."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return fields if fields[0] not in "ZX" else []
    return []
