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


@pytest.fixture
def own(monkeypatch):
    """Forget what the environment of the tests sets."""
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_DISPLAY_ENV", "verbose")


def test_threads_soon_sleep_while_they_wait(own):
    assert turns(run("methods", "procrustes").stderr) == {"1000"}


def test_the_users_own_way_to_wait_is_kept(own):
    assert turns(run("methods", "procrustes", OMP_WAIT_POLICY="PASSIVE").stderr) == {"0"}
    assert turns(run("methods", "procrustes", GOMP_SPINCOUNT="5").stderr) == {"5"}


def test_threads_of_workers_soon_sleep_too(own, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(WORKER)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert (done.stdout.split()[-1], turns(done.stderr)) == ("ready", {"1000"})
