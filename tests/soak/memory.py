"""Memory: a disk in memory and a process that keeps its memory, for what is tried by the hundred thousand."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress


def memory_disk() -> str | None:
    """Name a disk in memory, where there is one: a hundred thousand small files wear nothing out there."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def keep_memory() -> None:
    """Let this process keep what it frees: fresh pages for a buffer of 9 MB cost more than reading a small file."""
    trim_threshold, mmap_threshold = -1, -3
    with suppress(OSError, AttributeError):  # not glibc: it only takes longer
        c = ctypes.CDLL(None)
        c.mallopt(mmap_threshold, 32 << 20)
        c.mallopt(trim_threshold, 256 << 20)
