"""Two builds of the same files are the same bytes, wherever, whenever and under whatever settings they are made."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Builds at another time: what a build asks the clock is answered by the first argument.
BUILD = """
import sys, time
now, folder = float(sys.argv[1]), sys.argv[2]
localtime, gmtime = time.localtime, time.gmtime
time.time = lambda: now
time.localtime = lambda seconds=None: localtime(now if seconds is None else seconds)
time.gmtime = lambda seconds=None: gmtime(now if seconds is None else seconds)
from hatchling.cli import hatchling
sys.argv = ["hatchling", "build", "-d", folder]
hatchling()
"""


def tracked() -> list[str]:
    """Names of the files that are under version control."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this is no checkout: the files to build from are not known")
    return [name for name in done.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def copy(place: Path, names: list[str], changed: int, mode: int) -> Path:
    """Copy files in a given order, with a time of change and permissions."""
    for name in names:
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
        target.chmod(mode)
        os.utime(target, (changed, changed))
    return place


def build(place: Path, now: int, **environment: str) -> dict[str, str]:
    """Build the wheel and the source archive, and return their hashes."""
    settings = {**os.environ, "PYTHONUTF8": "0", **environment}
    settings.pop("SOURCE_DATE_EPOCH", None)
    command = [sys.executable, "-c", BUILD, str(now), "dist"]
    subprocess.run(command, cwd=place, env=settings, check=True, capture_output=True)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (place / "dist").iterdir()}


def test_builds_are_identical(tmp_path):
    pytest.importorskip("hatchling")
    names = tracked()
    here = copy(tmp_path / "a", names, 1_000_000_000, 0o644)
    there = copy(tmp_path / "another place" / "é", names[::-1], 1_700_000_000, 0o600)
    first = build(here, 1_100_000_000, LC_ALL="C", TZ="UTC", PYTHONHASHSEED="1")
    second = build(there, 1_800_000_000, LC_ALL="C.UTF-8", TZ="Asia/Kathmandu", PYTHONHASHSEED="2")
    assert len(first) == 2
    assert first == second
