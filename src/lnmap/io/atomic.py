"""Atomic writing and locking.

Everything is written under a temporary name and renamed when it is whole, so that a kill or a full disk never leaves
half a file. Data are on the disk before the rename, and the new name is when it returns, so that a power cut does not
lose it. A process holds the lock of what it is writing; temporary files without a holder are leftovers, removed by the
next write to the same folder.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from lnmap.errors import OutputError

try:
    import fcntl
except ImportError:  # Windows: no advisory locks, but the renames still keep every file whole
    fcntl = None  # type: ignore[assignment]

TEMPORARY = ".lnmap-partial-"
_LOCK = ".lock"
_CANNOT_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM}  # folders, on some file systems


@contextmanager
def writing(what: str, path: Path) -> Iterator[None]:
    """Turn an OSError into one line about `path`."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(
            f"cannot write {what} to {path}: {reason}; nothing that was there has been changed"
        ) from error


@contextmanager
def atomic_file(path: Path, mode: str = "wb", **kwargs: Any) -> Iterator[Any]:
    """Open a temporary file that replaces `path` on success and is removed on failure."""
    path = Path(path)
    with writing("the file", path):
        make_folder(path.parent)
        with _temporary(path.parent, lambda work: work.touch(exist_ok=False), path.suffix) as work:
            try:
                with work.open(mode, **kwargs) as file:
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(work, path)
            except BaseException:
                work.unlink(missing_ok=True)
                raise
    sync_folder(path.parent)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder that is renamed to `path`, which must not exist, on success and removed on failure."""
    path = Path(path)
    with writing("the folder", path):
        make_folder(path.parent)
        with partial_folder(path.parent, 0o777) as work:
            yield work
            _sync_all(work)
            os.rename(work, path)
    sync_folder(path.parent)


@contextmanager
def partial_folder(parent: Path, mode: int = 0o700) -> Iterator[Path]:
    """Yield a new temporary folder in `parent`; it is removed at the end unless it has been renamed."""
    with _temporary(parent, lambda work: work.mkdir(mode)) as work:
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)


def remove_folder(path: Path) -> None:
    """Remove a folder; whatever ends the process, it is there whole or not at all."""
    with writing("the folder", path):
        work = path.with_name(f"{TEMPORARY}{uuid.uuid4().hex}")
        os.rename(path, work)
    shutil.rmtree(work, ignore_errors=True)


def put(work: Path, path: Path) -> None:
    """Move a finished file to its place on the same disk; when this returns, no power cut can lose it."""
    _sync(work)
    os.replace(work, path)
    sync_folder(path.parent)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, where they are missing."""
    new = _missing(path)
    path.mkdir(parents=True, exist_ok=True)
    for one in new:
        sync_folder(one.parent)


def sync_folder(folder: Path) -> None:
    """Write the names of a folder to the disk, where its file system can do that for folders."""
    try:
        _sync(folder)
    except OSError as error:
        if os.name == "posix" and error.errno not in _CANNOT_SYNC:
            raise OutputError(
                f"cannot write {folder} through to the disk: {error.strerror}; what was written there may be lost when "
                "the power is cut, so write it again"
            ) from error


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write an indented JSON object, whole or not at all."""
    with atomic_file(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1, ensure_ascii=True, default=str)
        file.write("\n")


def append_line(path: Path, line: bytes, patience: float = 10.0) -> None:
    """Append a line to a file that several processes append to; it is on the disk when this returns.

    A torn last line of a killed writer is closed off, so that it spoils no other. A write that fails leaves the file as
    it was.

    :param patience: seconds to wait for the other writers.
    """
    with writing("a line", path), _opened(path, os.O_CREAT | os.O_RDWR | os.O_APPEND) as handle:
        deadline = time.monotonic() + patience
        while not _lock(handle):  # its holder needs milliseconds
            if time.monotonic() > deadline:
                raise OutputError(f"{path} has been locked by another program for {patience:.0f} s; try again")
            time.sleep(0.005)
        size = os.fstat(handle).st_size
        if not size:  # the file may be new, and its name must survive a power cut too
            sync_folder(path.parent)
        torn = size > 0 and _last_byte(handle, size) != b"\n"
        data = b"\n" * torn + line + b"\n"
        try:
            while data:
                data = data[os.write(handle, data) :]
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise


def _last_byte(handle: int, size: int) -> bytes:
    os.lseek(handle, size - 1, os.SEEK_SET)
    return os.read(handle, 1)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold `folder` for this process; raise OutputError if another one holds it. Killing a process frees its lock.

    If it fails before anything is written, the folder is removed again, unless it was there before.
    """
    new = _missing(folder) or ([folder] if _only_lock(folder) else [])
    with ExitStack() as stack:
        while True:
            with writing("the output", folder):
                make_folder(folder)
                handle = stack.enter_context(_opened(folder / _LOCK, os.O_CREAT | os.O_RDWR))
            if not _lock(handle):
                raise OutputError(
                    f"{folder} is being written by another run", advice="wait for it or choose another {out}"
                )
            if _is_at(handle, folder / _LOCK):  # else a run that failed has just removed it
                break
        try:
            yield
        except BaseException:
            _remove_unused(folder, new)
            raise


def _remove_unused(folder: Path, new: Sequence[Path]) -> None:
    """Remove the lock of a folder that holds nothing else, and the folders that were made for it."""
    with suppress(OSError):
        if _only_lock(folder):
            (folder / _LOCK).unlink()
            for one in new:
                one.rmdir()


def _only_lock(folder: Path) -> bool:
    return folder.is_dir() and [path.name for path in folder.iterdir()] == [_LOCK]


def _is_at(handle: int, path: Path) -> bool:
    """Return whether an open file is the one of this name."""
    with suppress(OSError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False


def _missing(path: Path) -> list[Path]:
    """Return which of a folder and those above it do not exist, the innermost first."""
    return [one for one in (path, *path.parents) if not one.exists()]


@contextmanager
def in_turn(lock: Path) -> Iterator[None]:
    """Wait until no other process holds the same lock file, then hold it. Killing a process frees its lock."""
    with ExitStack() as stack:
        with suppress(OSError):  # without a lock the work may be done twice, which does no harm
            lock.parent.mkdir(parents=True, exist_ok=True)
            _lock(stack.enter_context(_opened(lock, os.O_CREAT | os.O_RDWR)), wait=True)
        yield


@contextmanager
def _temporary(parent: Path, make: Callable[[Path], None], suffix: str = "") -> Iterator[Path]:
    """Remove leftovers in `parent`, make something temporary there and hold its lock."""
    _sweep(parent)
    with ExitStack() as stack:
        while True:
            work = parent / f"{TEMPORARY}{uuid.uuid4().hex}{suffix}"
            make(work)
            if fcntl is not None:
                with suppress(OSError):
                    _lock(stack.enter_context(_open_existing(work)), wait=True)
            if work.exists():  # else another process swept it before it was locked
                break
        yield work


def _sweep(folder: Path) -> None:
    """Remove temporary files and folders that no process holds."""
    if fcntl is None:  # nothing tells them from those in use
        return
    for left in folder.glob(f"{TEMPORARY}*"):
        with suppress(OSError), _open_existing(left) as handle:
            if _lock(handle):
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def _open_existing(path: Path) -> AbstractContextManager[int]:
    return _opened(path, (os.O_RDONLY if path.is_dir() else os.O_RDWR) | getattr(os, "O_NOFOLLOW", 0))  # not on Windows


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    handle = os.open(path, flags, 0o666)
    try:
        yield handle
    finally:
        os.close(handle)


def _sync(path: Path) -> None:
    with _open_existing(path) as handle:
        os.fsync(handle)


def _sync_all(folder: Path) -> None:
    """Write everything below a folder to the disk, and its own names."""
    for place, _, files in os.walk(folder, topdown=False):
        for name in files:
            _sync(Path(place, name))
        sync_folder(Path(place))


def _lock(handle: int, wait: bool = False) -> bool:
    """Lock an open file or folder until it is closed; return False if another process holds it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True
