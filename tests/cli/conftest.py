"""What the tests of the command line share."""

from pathlib import Path

import pytest

import lnmap
from lnmap.cli import main

WORDS = 2000


@pytest.fixture
def run(capsys):
    """Run a command in this process; return its exit code, stdout and stderr."""

    def call(*arguments) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture(scope="module")
def files(pair, tmp_path_factory) -> Path:
    """en.vec, fr.vec, train.txt, test.txt (English first), and the model in en-fr."""
    folder = tmp_path_factory.mktemp("files")
    sides = {"en": pair.source.head(WORDS), "fr": pair.target.head(WORDS)}
    for name, side in sides.items():
        lnmap.write(side, folder / f"{name}.vec")
    for name, pairs in (("train", pair.train), ("test", pair.test)):
        lines = [f"{s} {t}\n" for s, t in pairs if s in sides["en"] and t in sides["fr"]]
        (folder / f"{name}.txt").write_text("".join(lines), encoding="utf-8")
    code = main(
        f"align {folder}/en.vec {folder}/fr.vec --pairs {folder}/train.txt --out {folder}/en-fr "
        "--method procrustes --quiet".split()
    )
    assert code == 0
    return folder
