"""`python -m lnmap` is the command `lnmap`, and starts without torch where it can."""

from __future__ import annotations

import os
import re
import subprocess
import sys

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


WORKER = """
from lnmap.cli import main
if __name__ == "__main__":
    main(["--version"])
    from lnmap.experiments.engines import LocalEngine
    engine = LocalEngine(jobs=1, threads=2)
    engine.start()
    print(engine.wait(60)[0].kind)
    engine.close()
"""


def turns(printed: str) -> set[str]:
    """How often the threads of each process look whether there is work before they sleep, as OpenMP prints it."""
    found = set(re.findall(r"GOMP_SPINCOUNT *= *'(\w+)'", printed))
    if not found:
        pytest.skip("torch does not use GNU's OpenMP here")
    return found


def test_threads_sleep_while_they_wait(monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    assert turns(run("methods", "procrustes", OMP_DISPLAY_ENV="verbose").stderr) == {"0"}


def test_the_users_own_way_to_wait_is_kept():
    done = run("methods", "procrustes", OMP_DISPLAY_ENV="verbose", OMP_WAIT_POLICY="ACTIVE")
    assert turns(done.stderr) == {"30000000000"}


def test_threads_of_workers_sleep_too(monkeypatch, tmp_path):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    program = tmp_path / "program.py"
    program.write_text(WORKER)
    environment = {**os.environ, "OMP_DISPLAY_ENV": "verbose"}
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout.split()[-1], turns(done.stderr)) == ("ready", {"0"})
