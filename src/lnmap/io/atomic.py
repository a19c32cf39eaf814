"""Writing that never leaves half a file: everything goes to a temporary name first and is renamed when whole."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lnmap.errors import OutputError

TEMPORARY = ".lnmap-partial-"


@contextmanager
def writing(what: str, path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into one clear line."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(
            f"cannot write {what} to {path}: {reason}; nothing that was there has been changed"
        ) from error


@contextmanager
def atomic_file(path: Path, mode: str = "wb", **kwargs: Any) -> Iterator[Any]:
    """Open a temporary file beside `path`; on success it takes the name `path`, on failure it is removed."""
    path = Path(path)
    with writing("the file", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _claimed(path.parent, lambda: _new_file(path)) as work:
            try:
                os.chmod(work, 0o666 & ~_umask())
                with work.open(mode, **kwargs) as file:
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(work, path)
            except BaseException:
                work.unlink(missing_ok=True)
                raise


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `path` that takes its name on success; an existing `path` must not exist."""
    path = Path(path)
    with writing("the folder", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial_folder(path.parent) as work:
            os.chmod(work, 0o777 & ~_umask())
            yield work
            os.rename(work, path)


@contextmanager
def partial_folder(parent: Path) -> Iterator[Path]:
    """Yield a new temporary folder in `parent`; unless it has been renamed it is removed at the end."""
    with _claimed(parent, lambda: tempfile.mkdtemp(prefix=TEMPORARY, dir=parent)) as work:
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Remove the temporary files and folders of processes that are gone; those of a living one are locked."""
    for left in folder.glob(f"{TEMPORARY}*"):
        handle = _open_locked(left, wait=False)
        if handle is None:
            continue
        try:
            with suppress(OSError):
                shutil.rmtree(left) if left.is_dir() else left.unlink()
        finally:
            os.close(handle)


@contextmanager
def _claimed(parent: Path, make: Callable[[], str]) -> Iterator[Path]:
    """Sweep `parent`, make something temporary there and hold its lock, so that nobody takes it for a leftover."""
    sweep(parent)
    while True:
        work = Path(make())
        handle = _open_locked(work, wait=True)
        if work.exists():  # else it was swept before it was locked
            break
        if handle is not None:
            os.close(handle)
    try:
        yield work
    finally:
        if handle is not None:
            os.close(handle)


def _new_file(path: Path) -> str:
    handle, name = tempfile.mkstemp(prefix=TEMPORARY, suffix=path.suffix, dir=path.parent)
    os.close(handle)
    return name


def _open_locked(path: Path, wait: bool) -> int | None:
    """Open and lock a file or folder; None where it is gone, somebody else has it, or there are no locks."""
    try:
        import fcntl

        access = os.O_RDONLY if path.is_dir() else os.O_RDWR
        handle = os.open(path, access | os.O_NOFOLLOW)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(handle)
        return None
    return handle


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON object a person can read, whole or not at all."""
    with atomic_file(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1, ensure_ascii=True, default=str)
        file.write("\n")


def append_line(path: Path, line: bytes, patience: float = 10.0) -> None:
    """Add a line to a file that several processes add to; when this returns the line is on the disk.

    What a killed writer left of its last line is closed off, so that it spoils no other; a write that fails leaves the
    file as it was.
    """
    with writing("a line", path):
        new = not path.exists()
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o666)
        try:
            _wait_for(handle, path, patience)
            size = os.fstat(handle).st_size
            torn = size > 0 and _last_byte(handle, size) != b"\n"
            try:
                _write_all(handle, b"\n" * torn + line + b"\n")
                os.fsync(handle)
            except OSError:
                os.ftruncate(handle, size)
                raise
        finally:
            os.close(handle)
        if new:
            _sync_folder(path.parent)


def _last_byte(handle: int, size: int) -> bytes:
    os.lseek(handle, size - 1, os.SEEK_SET)
    return os.read(handle, 1)


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def _sync_folder(folder: Path) -> None:
    """Make a new file's name survive a power cut, where folders can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _wait_for(handle: int, path: Path, patience: float) -> None:
    """Take the lock of an open file; whoever holds it needs it for milliseconds."""
    deadline = time.monotonic() + patience
    while not _try_lock(handle):
        if time.monotonic() > deadline:
            raise OutputError(f"{path} has been locked by another program for {patience:.0f} s; try again")
        time.sleep(0.005)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold `folder` for this process; a second one that wants it is refused, a killed one lets go."""
    with writing("the output", folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ".lock", os.O_CREAT | os.O_RDWR, 0o666)
    try:
        _flock(handle, folder)
        yield
    finally:
        os.close(handle)


def _flock(handle: int, folder: Path) -> None:
    if not _try_lock(handle):
        raise OutputError(f"{folder} is being written by another run", advice="wait for it or choose another {out}")


def _try_lock(handle: int) -> bool:
    """Lock an open file unless another process has; it is unlocked when it is closed."""
    try:
        import fcntl
    except ImportError:  # Windows: no advisory locks; the atomic renames still keep the folder whole
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def in_turn(lock: Path) -> Iterator[None]:
    """Wait until no other process of this machine is in here with the same lock file; a killed one lets go."""
    try:
        import fcntl

        lock.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(lock, os.O_CREAT | os.O_RDWR, 0o666)
    except (ImportError, OSError):  # nowhere to lock: the work may be done twice, which does no harm
        yield
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
