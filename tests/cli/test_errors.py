"""Bad input on the command line: one clear line, the right exit code, no traceback, nothing damaged."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.helpers import contents

import lnmap
from lnmap.cli import main
from lnmap.embeddings import Embeddings
from lnmap.methods.base import require_equal_dimensions
from lnmap.methods.procrustes import Procrustes

N, DIM = 120, 8


@pytest.fixture(scope="module")
def base(plant, tmp_path_factory) -> Path:
    """A small planted problem: s.vec, t.vec, pairs.txt and its model."""
    folder = tmp_path_factory.mktemp("base")
    planted = plant(n=N, d=DIM)
    lnmap.write(planted.source, folder / "s.vec")
    lnmap.write(planted.target, folder / "t.vec")
    (folder / "pairs.txt").write_text("".join(f"w{i} w{i}\n" for i in range(60)))
    assert main(align(folder / "s.vec", folder / "t.vec", folder / "pairs.txt", folder / "model")) == 0
    return folder


def align(source, target, pairs, out, *more) -> list[str]:
    options = ["--pairs", str(pairs), "--out", str(out), "--method", "procrustes", "--quiet"]
    return ["align", str(source), str(target), *options, *more]


@pytest.fixture
def refused(capsys):
    """Run a command that must fail with an exit code and one line that holds some words; return the line."""

    def call(code: int, *arguments, words: tuple[str, ...] = ()) -> str:
        capsys.readouterr()
        found = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        lines = captured.err.splitlines()
        assert (found, captured.out) == (code, ""), captured
        assert len(lines) == 1, captured.err
        assert lines[0].startswith("error: ")
        assert "Traceback" not in captured.err
        for word in words:
            assert word in lines[0]
        return lines[0]

    return call


@pytest.fixture
def work(base, tmp_path) -> Path:
    """A copy of the small problem that a test may break."""
    shutil.copytree(base, tmp_path / "work")
    return tmp_path / "work"


BAD_VECTORS = {
    "empty": b"",
    "only a header": b"120 8\n",
    "binary": bytes(range(256)) * 40,
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(4000),
    "truncated gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48",
    "prose": b"This is a letter to a friend.\nIt holds no vectors.\n" * 20,
    "a web page": b"<!DOCTYPE html><html><body>404</body></html>\n",
    "all NaN": b"2 3\na nan nan nan\nb nan nan nan\n",
    "words only": b"one\ntwo\nthree\n",
}


@pytest.mark.parametrize("content", BAD_VECTORS.values(), ids=BAD_VECTORS.keys())
def test_vector_files_that_hold_no_vectors(refused, work, content):
    path = work / "bad.vec"
    path.write_bytes(content)
    before = contents(work)
    refused(2, *align(path, work / "t.vec", work / "pairs.txt", work / "model"), words=(str(path),))
    refused(2, *align(work / "s.vec", path, work / "pairs.txt", work / "new"), words=(str(path),))
    assert contents(work) == before


def test_missing_files(refused, work):
    missing = work / "nothing.vec"
    refused(2, *align(missing, work / "t.vec", work / "pairs.txt", work / "new"), words=("no file", str(missing)))
    refused(2, *align(work / "s.vec", work / "t.vec", missing, work / "new"), words=("no file", str(missing)))
    refused(2, *align(work, work / "t.vec", work / "pairs.txt", work / "new"), words=(str(work),))
    refused(2, "translate", missing, "w1", words=("no model folder", str(missing)))
    refused(2, "evaluate", work / "model", "--pairs", missing, words=(str(missing),))
    assert not (work / "new").exists()


class Strict(Procrustes):
    """Stands for every method that compares vectors coordinate by coordinate."""

    name = "strict"

    def fit(self, source, target, pairs, run):
        require_equal_dimensions(self, source, target)
        return super().fit(source, target, pairs, run)


def test_dimensions_may_differ_where_the_method_can(refused, work, capsys, monkeypatch):
    monkeypatch.setitem(lnmap.METHODS, "strict", Strict)
    narrow = Embeddings.from_arrays([f"w{i}" for i in range(N)], np.random.default_rng(0).normal(size=(N, DIM - 3)))
    lnmap.write(narrow, work / "narrow.vec")
    assert main(align(work / "s.vec", work / "narrow.vec", work / "pairs.txt", work / "new")) == 0
    assert main(["export", str(work / "new"), "--out", str(work / "space")]) == 0
    capsys.readouterr()
    arguments = align(work / "s.vec", work / "narrow.vec", work / "pairs.txt", work / "other", "--method", "strict")
    refused(2, *arguments, words=(f"got {DIM} and {DIM - 3}",))


def test_one_line_of_another_length_is_skipped_and_reported(work, capsys):
    text = (work / "s.vec").read_text()
    (work / "s.vec").write_text(text + "odd 1 2 3\n")
    arguments = align(work / "s.vec", work / "t.vec", work / "pairs.txt", work / "new")
    arguments.remove("--quiet")
    assert main(arguments) == 0
    assert "1 line skipped (first: line 122, " in capsys.readouterr().err


@pytest.mark.parametrize("promised", [N + 50, 10**12])
def test_header_that_promises_too_much(work, capsys, promised):
    lines = (work / "s.vec").read_text().splitlines()
    (work / "s.vec").write_text("\n".join([f"{promised} {DIM}", *lines[1:]]) + "\n")
    arguments = align(work / "s.vec", work / "t.vec", work / "pairs.txt", work / "new")
    arguments.remove("--quiet")
    assert main(arguments) == 0
    assert f"the header promises {promised:,} words" in capsys.readouterr().err


def test_truncated_binary_file(work, capsys, refused):
    lnmap.write(lnmap.read(work / "s.vec"), work / "s.bin", format="bin")
    whole = (work / "s.bin").read_bytes()
    (work / "s.bin").write_bytes(whole[: len(whole) // 2])
    arguments = align(work / "s.bin", work / "t.vec", work / "pairs.txt", work / "new")
    arguments.remove("--quiet")
    assert main(arguments) == 0
    assert "source: 59 words" in (err := capsys.readouterr().err) or "source: 60 words" in err
    assert "promises" in err
    (work / "s.bin").write_bytes(whole[:20])
    refused(2, *align(work / "s.bin", work / "t.vec", work / "pairs.txt", work / "new"), words=("s.bin",))


def test_some_values_not_finite(work, capsys):
    lines = (work / "s.vec").read_text().splitlines()
    lines[5] = "w4 " + " ".join(["inf"] * DIM)
    lines[6] = "w5 nan " + " ".join(["1"] * (DIM - 1))
    (work / "s.vec").write_text("\n".join(lines) + "\n")
    arguments = align(work / "s.vec", work / "t.vec", work / "pairs.txt", work / "new")
    arguments.remove("--quiet")
    assert main(arguments) == 0
    assert "source: 118 words x 8" in (err := capsys.readouterr().err)
    assert "2 lines skipped" in err


def test_duplicate_words(work, capsys):
    lines = (work / "s.vec").read_text().splitlines()
    (work / "s.vec").write_text("\n".join([f"{N + 1} {DIM}", *lines[1:], lines[1].replace("w0", "W0")]) + "\n")
    arguments = align(work / "s.vec", work / "t.vec", work / "pairs.txt", work / "new")
    arguments.remove("--quiet")
    assert main(arguments) == 0
    assert "1 repeated word left out" in capsys.readouterr().err
    assert main([*arguments, "--policy", "vecmap"]) == 0
    assert "source: 121 words" in capsys.readouterr().err


def test_dictionaries(refused, work):
    bad = work / "bad.txt"
    for content, words in (
        (b"", ("empty",)),
        (b"hund chien\nkatze chat\n", ("none of the 2 pairs", "'hund' -> 'chien'")),
        (b"one\ntwo\n", ("no word pairs",)),
        (bytes(range(256)), ("binary",)),
    ):
        bad.write_bytes(content)
        refused(2, *align(work / "s.vec", work / "t.vec", bad, work / "new"), words=words)
        if content:
            refused(2, "evaluate", work / "model", "--pairs", bad)
    without = "align", work / "s.vec", work / "t.vec", "--out", work / "new", "-q"
    refused(2, *without, "--method", "lnmap", words=("--pairs",))
    assert not (work / "new").exists()


def test_output_that_cannot_be_written(refused, work):
    before = contents(work)
    inside_a_file = work / "pairs.txt" / "model"
    good = work / "s.vec", work / "t.vec", work / "pairs.txt"
    refused(3, *align(*good, inside_a_file), words=(str(inside_a_file), "is a file"))
    refused(3, *align(*good, work / "pairs.txt"), words=("is a file",))
    refused(3, "induce", work / "model", "--out", inside_a_file / "lexicon.tsv")
    refused(3, "export", work / "model", "--out", inside_a_file)
    refused(3, "evaluate", work / "model", "--pairs", work / "pairs.txt", "--rows", inside_a_file / "x.tsv", "-q")
    assert contents(work) == before


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_output_on_a_read_only_file_system(refused, work):
    good = work / "s.vec", work / "t.vec", work / "pairs.txt"
    refused(3, *align(*good, "/proc/lnmap-model"), words=("/proc/lnmap-model",))
    refused(3, "export", work / "model", "--out", "/proc/lnmap-space", words=("/proc/lnmap-space",))


def test_half_written_model_folders(refused, work):
    model = work / "model"
    refused(2, "translate", work, "w1", words=("holds no finished model",))
    for path in sorted(model.iterdir()):
        if path.name.startswith(("log", ".lock")):  # a model without its log still works
            continue
        broken = work / f"without-{path.name}"
        shutil.copytree(model, broken)
        gone = broken / path.name
        shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
        refused(2, "translate", broken, "w1", words=(str(broken),))
        if path.is_file():
            gone.write_bytes(path.read_bytes()[:-7])
            refused(2, "info", broken, words=(str(broken),))


def test_models_of_another_version_or_kind(refused, work):
    manifest = work / "model" / "model.json"
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**content, "version": 99}))
    refused(2, "translate", work / "model", "w1", words=("version 99", "this lnmap reads versions 1 to 2"))
    manifest.write_text(json.dumps({"hello": "world"}))
    refused(2, "evaluate", work / "model", "--pairs", work / "pairs.txt", words=("not the manifest",))
    manifest.write_text("{")
    refused(2, "induce", work / "model", "--out", work / "x.tsv", words=("cannot be read",))
    content["files"]["source"]["name"] = "../../etc"
    manifest.write_text(json.dumps(content))
    refused(2, "export", work / "model", "--out", work / "space", words=("broken",))
    assert not (work / "space").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--method", "magic"], ("unknown method 'magic'", "procrustes")),
        (["--profile", "magic"], ("no profile 'magic'",)),
        (["--set", "speed=9"], ("unknown option 'speed'", "normalize")),
        (["--set", "speed"], ("--set expects name=value",)),
        (["--method", "muse", "--set", "refinements=many"], ("expected a whole number",)),
        (["--method", "muse", "--set", "refinements=-1"], ("at least 0",)),
        (["--method", "lnmap", "--set", "mapper=magic"], ("choose from",)),
        (["--set", "normalize=magic"], ("magic",)),
        (["--take", "some"], ("unknown seed rule 'some'", "1k-unique")),
        (["--device", "abacus"], ("device 'abacus'", "cpu")),
        (["--policy", "magic"], ("unknown reading policy 'magic'", "muse")),
        (["--limit", "0"], ("limit of 0",)),
        (["--memory", "0"], ("--memory 0",)),
        (["--memory", "999999999"], ("--memory 999999999 is more than the", "megabytes of this machine")),
        (["--seed", "x"], ("--seed", "lnmap align --help")),
        (["--nonsense"], ("--nonsense", "lnmap align --help")),
        (["--resume"], ("cannot resume",)),
    ],
)
def test_wrong_options_of_align(refused, base, tmp_path, more, words):
    arguments = align(base / "s.vec", base / "t.vec", base / "pairs.txt", tmp_path / "new", *more)
    refused(2, *arguments, words=words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["translate", "MODEL"], ("lnmap translate --help",)),
        (["translate", "MODEL", "w1", "-k", "0"], ("k = 0",)),
        (["translate", "MODEL", "w1", "--criterion", "magic"], ("magic", "csls")),
        (["induce", "MODEL", "--out", "x.tsv", "--mode", "magic"], ("magic", "mutual")),
        (["induce", "MODEL", "--out", "x.tsv", "--rank-by", "magic"], ("magic", "cosine")),
        (["induce", "MODEL", "--out", "x.tsv", "--max", "0"], ("--max 0",)),
        (["induce", "MODEL", "--out", "x.tsv", "--translations", "0"], ("--translations 0",)),
        (["export", "MODEL", "--out", "x", "--format", "magic"], ("magic", "vec")),
        (["export", "MODEL", "--out", "x", "--limit", "-1"], ("--limit -1",)),
        (["evaluate", "MODEL"], ("--pairs", "lnmap evaluate --help")),
        (["methods", "magic"], ("unknown method 'magic'",)),
        (["demo", "--method", "magic"], ("unknown method 'magic'",)),
        (["magic"], ("magic", "lnmap --help")),
    ],
)
def test_wrong_use_of_the_other_commands(refused, base, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    refused(2, *[str(base / "model") if word == "MODEL" else word for word in arguments], words=words)
    assert not list(tmp_path.iterdir())


def test_a_failed_run_keeps_the_model_that_was_there(refused, work, monkeypatch):
    before = contents(work / "model")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    good = work / "s.vec", work / "t.vec", work / "pairs.txt"
    refused(3, *align(*good, work / "model", "--take", "30-all"), words=("No space left on device",))
    monkeypatch.undo()
    assert {name: data for name, data in contents(work / "model").items() if name in before} == before
    assert main(["translate", str(work / "model"), "w1", "-q"]) == 0
