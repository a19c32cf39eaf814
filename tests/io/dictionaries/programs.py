"""The programs that dictionaries are written for; `make programs` installs those that can be had."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAMS = Path(os.environ.get("LNMAP_PROGRAMS", ROOT / ".venv/programs"))
SCHEMAS = Path(os.environ.get("LNMAP_SCHEMAS", PROGRAMS / "schemas"))  # lift.rng, tmx14.dtd, dictionary-*-schema.json
NODE = PROGRAMS / "node_modules"
PYTHON = PROGRAMS / "python/bin/python"
PYGLOSSARY = PYTHON.with_name("pyglossary")
DIX = Path("/usr/share/lttoolbox/dix.dtd")


def needs(*names: str) -> pytest.MarkDecorator:
    """Skip a test unless all programs are installed."""
    missing = [name for name in names if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not installed: make programs")


def needs_file(path: Path) -> pytest.MarkDecorator:
    """Skip a test unless a file is there."""
    return pytest.mark.skipif(not path.exists(), reason=f"there is no {path.name} here: make programs")


def needs_schema(name: str) -> pytest.MarkDecorator:
    """Skip a test unless a schema is there; none of them comes with a package."""
    reason = f"there is no {name} here; LNMAP_SCHEMAS names the folder it is in"
    return pytest.mark.skipif(not (SCHEMAS / name).is_file(), reason=reason)


def run(*command: object, **options: object) -> str:
    """Run a program and return what it prints."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120, check=False, **options)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
