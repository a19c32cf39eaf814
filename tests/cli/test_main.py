"""`python -m lnmap` is the command `lnmap`, and starts without torch where it can."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from lnmap.version import __version__


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lnmap", *arguments]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)


def test_the_package_runs_as_a_program():
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"lnmap {__version__}\n", "")


def test_its_exit_code_is_that_of_the_command():
    done = run("translate", "no-such-model", "dog")
    assert done.returncode == 2
    assert "no-such-model" in done.stderr
    assert run("--no-such-flag").returncode == 2


@pytest.mark.parametrize("command", ["--help", "methods"])
def test_what_needs_no_torch_does_not_wait_for_it(command):
    program = (
        f"import sys; from lnmap.cli import main; code = main(['{command}']); sys.exit(code or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=False).returncode == 0


INTERRUPTED = """
import os, signal, sys

class WhileItLoads:
    def find_spec(self, name, *_):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, WhileItLoads())
from lnmap.__main__ import main
sys.exit(main())
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_ctrl_c_while_it_loads_is_one_line():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")


def test_the_installed_program_starts_there():
    (script,) = entry_points(group="console_scripts", name="lnmap")
    assert script.value == "lnmap.__main__:main"
