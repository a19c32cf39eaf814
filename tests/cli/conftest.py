"""What the tests of the command line share."""

import pytest

from lnmap.cli import main


@pytest.fixture
def run(capsys):
    """Run a command in this process; return its exit code, stdout and stderr."""

    def call(*arguments) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
