"""Marks on the command line, and answers for other programs."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.helpers import PROGRAM

import lnmap
from lnmap.io import DICTIONARY_FORMATS, read_lexicon
from lnmap.model.marks import JOURNAL, Marks
from lnmap.serve.retrain import retrain_command

WORDS = 800


@pytest.fixture(scope="module")
def made(pair, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for side, name in ((pair.source.head(WORDS), "en"), (pair.target.head(WORDS), "fr")):
        lnmap.write(side, folder / f"{name}.vec")
    seed = [*pair.train.pairs, ("grandmother", "grand-mère")]
    (folder / "seed.txt").write_text("".join(f"{s}\t{t}\n" for s, t in seed), encoding="utf-8")
    paths = [folder / f"{name}.vec" for name in ("en", "fr")]
    lnmap.align(*paths, folder / "seed.txt", method="procrustes", take="200-unique", out=folder / "en-fr")
    return folder


@pytest.fixture
def files(made, tmp_path) -> Path:
    """A copy whose marks no other test sees: "school" is corrected and "zyx" added."""
    shutil.copytree(made, tmp_path / "files")
    folder = tmp_path / "files"
    marks = Marks(folder / "en-fr")
    first = lnmap.load(folder / "en-fr").translate("school", 1)[0].words[0]
    marks.add("school", first, "wrong")
    marks.add("school", "ville", "added")
    marks.add("zyx", "zig-zag", "added")
    return folder


def test_translate_finds_the_marks_of_the_folder(run, files, tmp_path):
    wrong = next(mark.target for mark in Marks(files / "en-fr").latest()[0].values() if mark.mark == "wrong")
    code, out, _ = run("translate", files / "en-fr", "school", "zyx", "-k", 3)
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split()[1] == "ville"
    assert " added" in lines[0]
    assert f" {wrong} " not in lines[0]
    assert lines[1].split()[1:] == ["zig-zag", "added"]
    (found,) = json.loads(run("translate", files / "en-fr", "school", "--json")[1])
    assert (found["candidates"][0]["mark"], found["candidates"][0]["given"]) == ("added", True)
    assert [one["word"] for one in found["dropped"]] == [wrong]
    for option in ("--no-marks", "--no-given"):
        assert run("translate", files / "en-fr", "school", option)[1].split()[1] == wrong
    other = tmp_path / "other"
    other.mkdir()
    Marks(other).add("school", "année", "right")
    assert "année 0" in run("translate", files / "en-fr", "school", "--marks", other)[1].replace("-", "")
    assert "right" in run("translate", files / "en-fr", "année", "--reverse", "--marks", other)[1]


@pytest.mark.parametrize("name", DICTIONARY_FORMATS)
def test_marks_reach_every_format(run, files, tmp_path, name):
    wrong = next(mark.target for mark in Marks(files / "en-fr").latest()[0].values() if mark.mark == "wrong")
    assert run("induce", files / "en-fr", "--out", tmp_path / "x", "--format", name)[0] == 0
    pairs = set(read_lexicon(tmp_path / "x"))
    assert {("school", "ville"), ("zyx", "zig-zag")} <= pairs
    assert ("school", wrong) not in pairs
    if name == "html":
        assert run("induce", files / "en-fr", "--out", tmp_path / "y", "--format", name, "--no-marks")[0] == 0
        assert ("school", "ville") not in set(read_lexicon(tmp_path / "y"))


def test_a_table_has_the_column_mark(run, files, tmp_path):
    _, out, _ = run("induce", files / "en-fr", "--out", "-")
    rows = list(csv.DictReader(io.StringIO(out), delimiter="\t"))
    assert list(rows[0]) == ["source", "target", "csls", "cosine", "given", "mark"]
    assert {(row["source"], row["mark"]) for row in rows if row["mark"]} == {("school", "added"), ("zyx", "added")}
    assert "mark" not in run("induce", files / "en-fr", "--out", "-", "--no-marks")[1].splitlines()[0]


def test_a_dictionary_on_stdout(run, files):
    code, out, err = run("induce", files / "en-fr", "--out", "-", "--format", "json", "--max", 5)
    assert (code, err) == (0, "")
    assert [set(json.loads(line)) >= {"source", "target", "csls"} for line in out.splitlines()] == [True] * 5
    code, out, err = run("induce", files / "en-fr", "--out", "-", "--format", "stardict")
    assert (code, out) == (3, "")
    assert "stardict has" in err
    assert run("induce", files / "en-fr", "--out", "-", "--json")[0] == 2


def test_lines_of_answers(run, files, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("year\nqqqqqq\na\tb\nschool\n"))
    code, out, err = run("translate", files / "en-fr", "-", "-k", 2, "--format", "tsv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out), delimiter="\t"))
    assert list(rows[0]) == ["source", "target", "csls", "cosine", "confidence", "given", "mark", "rank"]
    assert [row["source"] for row in rows] == ["year", "year", "qqqqqq", "a b", "school", "school"]
    assert [row["target"] for row in rows][2:5] == ["", "", "ville"]
    assert "2 of 4 words" in err
    monkeypatch.setattr("sys.stdin", io.StringIO("year\nschool\n"))
    _, out, _ = run("translate", files / "en-fr", "-", "--format", "json", "--criterion", "cosine")
    found = [json.loads(line) for line in out.splitlines()]
    assert [one["word"] for one in found] == ["year", "school"]
    assert set(found[0]["candidates"][0]) == {"word", "cosine", "confidence", "given", "rank", "mark"}
    assert run("translate", files / "en-fr", "year", "--format", "json", "--json")[0] == 2
    assert run("translate", files / "en-fr", "year", "--format", "xml")[0] == 2


def test_words_are_answered_while_others_are_still_to_come(files):
    command = [*PROGRAM, "translate", str(files / "en-fr"), "-", "-k", "1", "--format", "json", "--quiet"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for word in ("year", "été", "bad\udcff"):
            process.stdin.write(word.encode("utf-8", "surrogateescape") + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["word"].startswith(word[:3])
        process.stdin.write(b"school")  # without an end of line
        process.stdin.close()
        assert json.loads(process.stdout.readline())["word"] == "school"
    assert process.returncode == 0


def test_align_takes_the_marks(run, files):
    align = ["align", files / "en.vec", files / "fr.vec", "--method", "procrustes", "--marks", files / "en-fr"]
    code, _, err = run(*align, "--pairs", files / "seed.txt", "--take", "200-unique", "--out", files / "second")
    assert code == 0
    assert "marks: 1 wrong, 2 added" in err
    second = lnmap.load(files / "second")
    assert ("school", "ville") in set(second.pairs)
    assert len(second.pairs) == len(lnmap.load(files / "en-fr").pairs)  # one less, one more
    wrong = next(mark.target for mark in Marks(files / "en-fr").latest()[0].values() if mark.mark == "wrong")
    assert second.marks == lnmap.load(files / "en-fr").marks  # what was marked counts in the new folder, too
    assert wrong not in second.translate("school", 100)[0].words
    assert second.translate("zyx")[0].words == ["zig-zag"]
    Marks(files / "second").add("zyx", "zig-zag", "none")
    run(*align, "--pairs", files / "seed.txt", "--take", "200-unique", "--out", files / "second")
    assert ("zyx", "zig-zag") not in lnmap.load(files / "second").marks  # a journal that is there stays
    run(*align, "--out", files / "en-fr")
    again = lnmap.load(files / "en-fr")
    assert set(again.pairs) == set(second.pairs)
    assert set(again.outside) >= {("grandmother", "grand-mère")}
    assert again.translate("school", 1)[0].words == ["ville"]
    run(*align, "--pairs", "identical", "--out", files / "third")
    assert ("school", "ville") in set(lnmap.load(files / "third").pairs)


def test_align_takes_both_seeds_from_the_folder(run, files):
    back, quick = files / "back.txt", ("code=16", "hidden=16", "mapper_hidden=16", "ae_epochs=1", "epochs=1")
    back.write_text("temps time\nannée year\nvie life\n", encoding="utf-8")
    align = ["align", files / "en.vec", files / "fr.vec", "--method", "lnmap", "--out", files / "new"]
    align += [word for setting in (*quick, "iterations=1", "ae_draws=100") for word in ("--set", setting)]
    assert run(*align, "--pairs", files / "seed.txt", "--take", "200-unique", "--back-pairs", back)[0] == 0
    first = lnmap.load(files / "new")
    assert f"--back-pairs {back.resolve()}" in retrain_command(first, files / "new", local=True)
    assert "--back-pairs back.txt" in retrain_command(first, files / "new", local=False)
    back.unlink()
    assert "--back-pairs" not in retrain_command(first, files / "new", local=True)  # the folder has it
    Marks(files / "new").add("school", "ville", "added")
    assert run(*align, "--marks", files / "new")[0] == 0
    assert set(lnmap.load(files / "new").back) == {*first.back, ("ville", "school")}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["translate", "MODEL", "year", "--marks", "nowhere"], "nowhere holds no marks (marks.jsonl is missing)"),
        (["translate", "MODEL", "year", "--marks", "MODEL", "--no-marks"], "contradict"),
        (["induce", "MODEL", "--out", "x.tsv", "--marks", "nowhere"], "holds no marks"),
        (["align", "SRC", "TGT", "--out", "x", "--marks", "nowhere"], "holds no marks"),
    ],
)
def test_marks_that_are_not_there(run, files, arguments, words):
    places = {"MODEL": files / "en-fr", "SRC": files / "en.vec", "TGT": files / "fr.vec"}
    code, out, err = run(*(places.get(one, one) for one in arguments))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err


def test_a_journal_that_cannot_be_read(run, files):
    (files / "en-fr" / JOURNAL).unlink()
    (files / "en-fr" / JOURNAL).mkdir()
    code, _, err = run("translate", files / "en-fr", "year")
    assert (code, err.count("\n")) == (2, 1)
    assert "cannot be read" in err
