"""What tests of several parts share."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from lnmap.io.atomic import TEMPORARY

PROGRAM = [sys.executable, "-c", "import sys; from lnmap.cli import main; sys.exit(main())"]  # the command `lnmap`


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a program."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(process: subprocess.Popen[str], line: str) -> None:
    """Wait until a program prints a line; fail if it prints another."""
    assert process.stdout is not None
    found = process.stdout.readline().strip()
    assert found == line, process.communicate()[1]


def contents(folder: Path) -> dict[str, str]:
    """Hash all files of a folder, but for locks and temporary files."""
    files = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in files.items()
        if path.name != ".lock" and TEMPORARY not in name
    }


def planted(n: int, d: int, noise: float = 0.01, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return vectors (n, d), the same rotated and with noise (n, d), and the rotation (d, d)."""
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    source = rng.normal(size=(n, d))
    return source, source @ rotation + noise * rng.normal(size=(n, d)), rotation


class CannotMountError(Exception):
    """A small disk cannot be had here."""


@contextmanager
def small_disk(place: Path, kilobytes: int) -> Iterator[Path]:
    """Mount a disk of some kilobytes, where that is allowed."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("mount") is None:
        raise CannotMountError("only root on Linux may mount a small disk")
    place.mkdir(parents=True)
    options = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)]
    done = subprocess.run(options, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = done.stderr.strip() or "mount gives no reason"
        raise CannotMountError(f"cannot mount a small disk here: {reason.splitlines()[0]}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)
