"""Packages fetched by pip at a fixed version and checked against a recorded hash."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lnmap.datasets.verify import sha256
from lnmap.errors import DownloadError
from lnmap.io.atomic import make_folder, partial_folder, put, writing
from lnmap.progress import Progress, Task

_POLL_S = 0.2


@dataclass(frozen=True)
class PinnedPackage:
    """One file of a package index; `source` marks a source archive, which pip would not choose by itself."""

    name: str
    version: str
    file: str
    size: int
    sha256: str
    source: bool = False

    def fetch(self, folder: Path, progress: Progress) -> Path:
        """Return the path of the package in a folder, after fetching it there if it is missing."""
        path = folder / self.file
        if path.is_file():
            self._check(path)
            return path
        with writing("the package", path):
            make_folder(folder)
            with partial_folder(folder) as work:
                title = f"fetching {self.name} {self.version} ({self.size / 1e6:.0f} MB)"
                with progress.task(title, self.size) as task:
                    self._download(work, folder, task)
                self._check(work / self.file)
                put(work / self.file, path)
        return path

    def _check(self, path: Path) -> None:
        if not path.is_file() or path.stat().st_size != self.size or sha256(path) != self.sha256:
            raise DownloadError(
                f"{path} is not the file that was published as {self.name} {self.version} (its SHA-256 is not "
                f"{self.sha256[:16]}...); remove it and try again"
            )

    def _download(self, work: Path, folder: Path, task: Task) -> None:
        requirements = work / "requirements.txt"
        requirements.write_text(f"{self.name}=={self.version} --hash=sha256:{self.sha256}\n", encoding="utf-8")
        choice = ["--no-binary", self.name] if self.source else ["--only-binary", ":all:"]
        options = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-deps", "--ignore-requires-python"]
        command = [sys.executable, "-m", "pip", "download", *options, *choice, "--require-hashes"]
        command += ["--requirement", str(requirements), "--dest", str(work)]
        code, output = _run(command, work, task, self.size)
        if code:
            lines = [line for line in output.splitlines() if line.strip() and not line.startswith("WARNING")]
            reason = next(
                (line for line in lines if line.startswith("ERROR")), lines[-1] if lines else "no reason given"
            )
            raise DownloadError(
                f"pip cannot fetch {self.name} {self.version}: {reason.removeprefix('ERROR: ').strip()}; without a "
                f"network, run 'pip download --no-deps {' '.join(choice)} {self.name}=={self.version}' on another "
                f"machine and put {self.file} into {folder}"
            )


def _run(command: Sequence[str], work: Path, task: Task, size: int) -> tuple[int, str]:
    """Run pip and return its exit code and its messages; it is stopped when this program is.

    pip keeps an unfinished download in its temporary folder. That is set to `work`, whose size shows the progress.
    """
    settings = {**os.environ, "PIP_NO_COLOR": "1", "PIP_PROGRESS_BAR": "off", "TMPDIR": str(work)}
    with (work / "messages.txt").open("w+b") as messages:
        process = subprocess.Popen(  # noqa: S603 - a list of arguments, none of them from outside
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=messages, env=settings
        )
        shown = 0
        try:
            while process.poll() is None:
                with suppress(OSError):  # pip removes files meanwhile
                    grown = min(sum(path.lstat().st_size for path in work.rglob("*")), size)
                    task.advance(max(grown - shown, 0))
                    shown = max(grown, shown)
                time.sleep(_POLL_S)
        finally:
            process.kill()
            process.wait()
        messages.seek(0)
        return process.returncode, messages.read().decode("utf-8", "replace")
