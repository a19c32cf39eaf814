"""Questions to a speaker: in the terminal, on a sheet, for programs."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from tests.helpers import PROGRAM

import lnmap
from lnmap.ask import Answers
from lnmap.model.marks import Marks

pty = pytest.importorskip("pty", reason="needs a terminal of Unix")


@pytest.fixture(scope="module")
def made(pair, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for side, name in ((pair.source.head(800), "en"), (pair.target.head(800), "fr")):
        lnmap.write(side, folder / f"{name}.vec")
    paths = [folder / f"{name}.vec" for name in ("en", "fr")]
    lnmap.align(*paths, pair.train, method="procrustes", take="100-unique", calibrate=True, out=folder / "en-fr")
    return folder / "en-fr"


@pytest.fixture
def folder(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "en-fr"))


@pytest.fixture
def talk(run, folder, monkeypatch):
    """Type lines at a terminal; return what `run` does."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def call(*lines: str, arguments: tuple = ()) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", Terminal("".join(f"{line}\n" for line in lines)))
        return run("ask", folder, *arguments)

    return call


def questions(run, folder, *arguments) -> list[dict]:
    code, out, _ = run("ask", folder, "--json", *arguments)
    assert code == 0
    return json.loads(out)


def judged(folder) -> dict[tuple[str, str], str]:
    return {pair: mark.mark for pair, mark in Marks(folder).latest()[0].items()}


def test_questions_for_programs(run, folder):
    found = questions(run, folder, "--count", 7, "--candidates", 3)
    assert len(found) == 7
    assert set(found[0]) == {"word", "rank", "why", "candidates"}
    assert [len(one["candidates"]) for one in found] == [3] * 7
    assert set(found[0]["candidates"][0]) == {"word", "csls", "cosine", "confidence", "given", "rank", "mark"}
    back = questions(run, folder, "--reverse", "--count", 1, "--max-rank", 100)
    assert lnmap.load(folder).target.words[back[0]["rank"] - 1] == back[0]["word"]
    assert back[0]["rank"] <= 100


def test_answers_at_the_terminal(run, folder, talk):
    first, second, third, fourth, *_ = questions(run, folder)
    code, out, err = talk("1", "machin, 2", "", "0", ".")
    assert code == 0
    assert judged(folder) == {
        (first["word"], first["candidates"][0]["word"]): "right",
        (second["word"], "machin"): "added",
        (second["word"], second["candidates"][1]["word"]): "right",
        **{(fourth["word"], one["word"]): "wrong" for one in fourth["candidates"]},
    }
    assert "2 words answered, 2 skipped" in out
    assert f"1/50  {first['word']} " in out
    assert "machin has no vector" in err
    assert "lnmap align" in err
    assert f"--marks {folder}" in err
    assert not {one["word"] for one in (first, second, third, fourth)} & {one["word"] for one in questions(run, folder)}
    again = {one["word"] for one in questions(run, folder, "--again", "--count", 800)}
    assert {third["word"], fourth["word"]} <= again


def test_undo_help_and_what_is_no_answer(run, folder, talk):
    first, *_ = questions(run, folder)
    _, out, err = talk("<", "7", "?", "1", "", "<", "<", "2")  # then the input ends
    assert judged(folder) == {(first["word"], first["candidates"][1]["word"]): "right"}
    assert Answers(folder).skipped == []
    assert "nothing to undo" in err
    assert "there is no candidate 7" in err
    assert err.count("Enter: skip") == 2
    assert "1 word answered, 0 skipped" in out


def test_it_stops_by_itself(run, folder, talk):
    _, out, _ = talk("1", "1", "1", "1", arguments=("--count", 3))
    assert "3 words answered" in out
    for one in lnmap.load(folder).source.words:
        Answers(folder).skip(one) if one[0] in "abcdefghijklmnopqrstuvwxyz" else None
    _, out, err = talk("1")
    assert "nothing is left to ask; " in err
    assert "--again asks about" in err
    assert questions(run, folder) == []
    code, out, err = run("ask", folder, "--out", folder / "sheet.csv")
    assert (code, out) == (0, "")
    assert "nothing is left to ask" in err
    assert not (folder / "sheet.csv").exists()


def test_a_sheet_out_and_in(run, folder, tmp_path):
    sheet = tmp_path / "sheet.csv"
    code, out, _ = run("ask", folder, "--out", sheet, "--count", 5)
    assert (code, out) == (0, f"5 questions written to {sheet}; fill in the column 'answer'\n")
    head, *rows = list(csv.reader(io.StringIO(sheet.read_text(encoding="utf-8-sig"))))
    rows[0][1], rows[1][1], rows[2][1] = "1", "truc-muche", "12"
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=";").writerows([head, *reversed(rows)])
    code, out, err = run("ask", folder, "--answers", sheet)
    assert code == 1
    assert out == "2 words answered (2 of them new), 2 left open; the answers count from now on\n"
    assert "line 4: there is no candidate 12\n" in err
    assert "1 answer kept, but without a vector to learn from (truc-muche)" in err
    assert judged(folder) == {(rows[0][0], rows[0][2]): "right", (rows[1][0], "truc-muche"): "added"}
    code, out, _ = run("ask", folder, "--answers", sheet, "--json")
    assert (code, json.loads(out)) == (
        1,
        {
            "file": str(sheet),
            "answered": 2,
            "new": 0,
            "empty": 2,
            "without_vector": [],
            "problems": [{"line": 4, "reason": "there is no candidate 12"}],
        },
    )


def test_the_way_back_by_sheet(run, folder, tmp_path):
    sheet = tmp_path / "sheet.csv"
    run("ask", folder, "--out", sheet, "--count", 1, "--reverse")
    rows = list(csv.reader(io.StringIO(sheet.read_text(encoding="utf-8-sig"))))
    rows[1][1] = "1"
    with sheet.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    assert run("ask", folder, "--answers", sheet)[0] == 0
    assert judged(folder) == {(rows[1][2], rows[1][0]): "right"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["MODEL"], "stdin is no terminal"),
        (["nowhere", "--json"], "nowhere"),
        (["MODEL", "--count", 0, "--json"], "--count 0"),
        (["MODEL", "--candidates", 10, "--json"], "at most 9"),
        (["MODEL", "--out", "a.csv", "--answers", "b.csv"], "give one of them"),
        (["MODEL", "--answers", "nowhere.csv"], "cannot be read"),
        (["MODEL", "--answers", "MODEL"], "cannot be read"),
    ],
)
def test_what_cannot_be_done(run, folder, monkeypatch, arguments, words):
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n"))
    code, out, err = run("ask", *(folder if one == "MODEL" else one for one in arguments))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err


def test_nothing_is_lost_when_it_is_killed(run, folder):
    first = questions(run, folder)[0]
    master, slave = pty.openpty()
    with subprocess.Popen([*PROGRAM, "ask", str(folder)], stdin=slave, stdout=slave, stderr=slave) as process:
        os.close(slave)
        shown = b""
        while b"> " not in shown:
            shown += os.read(master, 1000)
        os.write(master, b"2\n")
        shown = b""
        while b"2/50" not in shown:
            shown += os.read(master, 1000)
        process.send_signal(signal.SIGKILL)
    os.close(master)
    assert judged(folder) == {(first["word"], first["candidates"][1]["word"]): "right"}


def test_ctrl_c_stops(run, folder, talk, monkeypatch):
    def interrupt(prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    code, out, _ = talk()
    assert (code, out.splitlines()[-1]) == (0, "0 words answered, 0 skipped; the answers count from now on")
