"""Dictionaries of other programs on the command line: induce writes them, --pairs reads them."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

import lnmap
from lnmap.io import DICTIONARY_FORMATS

WORDS = 800


@pytest.fixture(scope="module")
def files(pair, tmp_path_factory) -> Path:
    """en.vec, fr.vec, and the model in en-fr."""
    folder = tmp_path_factory.mktemp("files")
    sides = [(pair.source.head(WORDS), "en"), (pair.target.head(WORDS), "fr")]
    for side, name in sides:
        lnmap.write(side, folder / f"{name}.vec")
    paths = [folder / f"{name}.vec" for _, name in sides]
    lnmap.align(*paths, pair.train, method="procrustes", calibrate=True, out=folder / "en-fr")
    return folder


@pytest.mark.parametrize("name", DICTIONARY_FORMATS)
def test_written_and_taken_as_a_seed(run, files, tmp_path, name):
    """The dictionary of one model is the seed of another."""
    out = tmp_path / "dictionary"
    code, stdout, _ = run("induce", files / "en-fr", "--out", out, "--format", name, "--translations", 2, "--json")
    told = json.loads(stdout)
    assert code == 0
    assert (told["format"], told["left_out"]) == (name, 0)
    assert told["pairs"] > told["given"] > 0
    code, _, stderr = run(
        *("align", files / "en.vec", files / "fr.vec", "--pairs", out, "--method", "procrustes"),
        *("--out", tmp_path / "again", "--languages", "en,fr"),
    )
    assert code == 0, stderr
    assert f" of {told['pairs']:,} pairs from {out}" in stderr  # given pairs outside the vocabularies are read, too


def test_both_directions_and_languages(run, files, tmp_path):
    run("induce", files / "en-fr", "--out", tmp_path / "book", "--format", "stardict", "--both")
    assert sorted(path.name for path in (tmp_path / "book").glob("*.ifo")) == ["en-fr.ifo", "fr-en.ifo"]
    run("induce", files / "en-fr", "--out", tmp_path / "x.tmx", "--reverse")
    assert 'srclang="fr"' in (tmp_path / "x.tmx").read_text(encoding="utf-8")
    run("induce", files / "en-fr", "--out", tmp_path / "y.tmx", "--languages", "en-GB,fr-CA")
    assert '<tuv xml:lang="fr-CA">' in (tmp_path / "y.tmx").read_text(encoding="utf-8")
    lexicon = lnmap.read_lexicon(tmp_path / "y.tmx", "fr,en")
    assert lexicon.pairs == [(t, s) for s, t in lnmap.read_lexicon(tmp_path / "y.tmx")]
    code, stdout, _ = run("evaluate", files / "en-fr", "--pairs", tmp_path / "y.tmx", "--languages", "en,fr", "--json")
    assert code == 0
    assert json.loads(stdout)["n"] > 100


def test_notes(run, files, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "icu", None)
    _, _, stderr = run("induce", files / "en-fr", "--out", tmp_path / "x.html")
    assert "note: sorted letter by letter; for the language's own alphabet: pip install 'lnmap[alphabet]'" in stderr
    _, _, stderr = run("induce", files / "en-fr", "--out", tmp_path / "x.dic", "--least", 9, "--no-given")
    assert "note: no pair passed" in stderr
    folder = tmp_path / "odd"
    words = [f"new york {i}" if i % 3 else f"w{i}" for i in range(60)]
    vectors = lnmap.load(files / "en-fr").source.vectors[:60]
    lnmap.align((words, vectors), (words, vectors), "identical", method="procrustes", out=folder)
    _, _, stderr = run(
        "induce", folder, "--out", tmp_path / "odd.gz", "--format", "moses", "--no-given", "--all-tokens"
    )
    assert "note: 40 pairs left out: moses cannot hold words with blanks" in stderr


def test_refusals(run, files, tmp_path):
    out = tmp_path / "book"
    shutil.copytree(files / "en-fr", out)
    for code, says, arguments in (
        (2, "error: unknown dictionary format 'mdx'; choose from tsv, csv", ["--format", "mdx"]),
        (2, "error: languages are two codes such as en,fr, not 'english'", ["--languages", "english"]),
        (3, "is a folder of 3 files; choose another --out, or one that ends in .zip", ["--format", "stardict"]),
    ):
        found = run("induce", files / "en-fr", "--out", out, *arguments)
        assert (found[0], found[2].count("error: ")) == (code, 1)
        assert says in found[2]


def test_skipped_entries_are_told(run, files, tmp_path):
    memory = tmp_path / "memory.tmx"
    run("induce", files / "en-fr", "--out", memory)
    text = memory.read_text(encoding="utf-8")
    sentence = (
        '<tu><tuv xml:lang="en"><seg>one two three four five six</seg></tuv><tuv xml:lang="fr"><seg>x</seg></tuv></tu>'
    )
    memory.write_text(text.replace("<body>", f"<body>{sentence}"), encoding="utf-8")
    _, _, stderr = run(
        *("align", files / "en.vec", files / "fr.vec", "--pairs", memory, "--method", "procrustes"),
        *("--out", tmp_path / "again"),
    )
    assert "1 line skipped (first: line 5, a sentence instead of a word)" in stderr
    many = '<tu><tuv xml:lang="de"><seg>Hund</seg></tuv><tuv xml:lang="fr"><seg>x</seg></tuv></tu>'
    memory.write_text(text.replace("</body>", f"{many}</body>"), encoding="utf-8")
    code, _, stderr = run("evaluate", files / "en-fr", "--pairs", memory)
    assert code == 2
    assert "more than two languages (en, fr, de); name the two with --languages en,fr" in stderr
