"""`python -m lnmap` is the command `lnmap`."""

from __future__ import annotations

import subprocess
import sys

from lnmap.version import __version__


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "lnmap", *arguments], capture_output=True, text=True, check=False)


def test_the_package_runs_as_a_program():
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"lnmap {__version__}\n", "")


def test_its_exit_code_is_that_of_the_command():
    done = run("translate", "no-such-model", "dog")
    assert done.returncode == 2
    assert "no-such-model" in done.stderr
    assert run("--no-such-flag").returncode == 2
