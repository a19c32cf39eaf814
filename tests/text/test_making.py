"""Text becomes vectors, counts and subwords; the same seed gives the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.helpers import CannotMountError, contents, small_disk
from tests.text.writing import NOUNS, VERBS, sentences, write_text

import lnmap
from lnmap.cli import main
from lnmap.errors import InputError, MissingExtraError, OptionError, OutputError
from lnmap.io.atomic import TEMPORARY
from lnmap.progress import Silent
from lnmap.text import TrainingOptions, corpus, make_vectors, phrases, training

pytest.importorskip("gensim")
SMALL = TrainingOptions(dim=8, epochs=2, min_count=2, neighbours=4)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    make_vectors(write_text(folder / "text.txt"), folder / "xx.vec", options=SMALL)
    return folder


def test_three_files(made):
    assert {path.name for path in made.iterdir()} == {"text.txt", "xx.vec", "xx.bin", "xx.counts.tsv"}
    found = lnmap.read(made / "xx.vec")
    counts = dict(line.split("\t") for line in (made / "xx.counts.tsv").read_text().splitlines())
    assert list(counts) == list(found.words)
    numbers = [int(count) for count in counts.values()]
    assert numbers == sorted(numbers, reverse=True)
    text = " ".join(sentences(400)).lower()
    assert int(counts["hound"]) == text.count("hound")


def test_words_that_the_text_does_not_have_can_be_translated(made, tmp_path):
    pairs = [(word, word) for word in lnmap.read(made / "xx.vec").words[:40]]
    model = lnmap.align(made / "xx.vec", made / "xx.vec", pairs, method="procrustes", device="cpu")
    (answer,) = model.translate("mountains")
    assert answer.subwords
    assert "mountain" in answer.words
    (tmp_path / "xx.vec").write_bytes((made / "xx.vec").read_bytes())  # no .bin beside it
    model = lnmap.align(tmp_path / "xx.vec", made / "xx.vec", pairs, method="procrustes", device="cpu")
    assert not model.translate("mountains")[0].known


def test_same_seed_same_bytes(made, tmp_path):
    code = (
        "import sys; from lnmap.text import *; "
        "make_vectors(sys.argv[1], sys.argv[2], options=TrainingOptions(dim=8, epochs=2, min_count=2, "
        "neighbours=4))"
    )
    command = [sys.executable, "-c", code, str(made / "text.txt"), str(tmp_path / "xx.vec")]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    assert {**contents(tmp_path), "text.txt": ""} == {**contents(made), "text.txt": ""}
    make_vectors(made / "text.txt", tmp_path / "xx.vec", options=replace(SMALL, seed=1))
    assert contents(tmp_path)["xx.vec"] != contents(made)["xx.vec"]


def test_phrases_are_words_with_a_blank(tmp_path, monkeypatch):
    monkeypatch.setattr(phrases, "_THRESHOLD", 10)  # the score grows with the vocabulary, which is small here
    lines = [f"{noun} New York {verb}" for noun in NOUNS for verb in VERBS[:2]]
    (tmp_path / "text.txt").write_text("\n".join(sentences(300) + lines), encoding="utf-8")
    result = make_vectors(tmp_path / "text.txt", tmp_path / "xx.vec", options=SMALL, phrases=True)
    assert result.phrases == sum(" " in word for word in lnmap.read(tmp_path / "xx.vec").words) > 0
    assert "new york" in lnmap.read(tmp_path / "xx.vec")
    words = lnmap.io.SubwordModel(tmp_path / "xx.bin")
    assert words.vector("new york") == pytest.approx(lnmap.read(tmp_path / "xx.vec")["new york"], abs=1e-5)
    assert "new york\t" in (tmp_path / "xx.counts.tsv").read_text()
    monkeypatch.setattr(training, "LEAST_WORDS", 2)
    few = make_vectors(tmp_path / "text.txt", tmp_path / "few.vec", options=replace(SMALL, limit=2), phrases=True)
    assert few.phrases == sum(" " in word for word in lnmap.read(tmp_path / "few.vec").words) < result.phrases


def test_each_window_trains_its_part(made, tmp_path):
    one = replace(SMALL, dim=4, windows=(5,), neighbours=0)
    make_vectors(made / "text.txt", tmp_path / "xx.vec", options=one)
    part, whole = lnmap.read(tmp_path / "xx.vec").vectors, lnmap.read(made / "xx.vec").vectors
    assert (part.shape[1], whole.shape[1]) == (4, 12)
    assert (part == pytest.approx(whole[:, :4], abs=1e-5)) is True
    lengths = [np.linalg.norm(half, axis=1).mean() for half in (whole[:, :4], whole[:, 4:8])]
    assert lengths == pytest.approx([1, 1], abs=1e-4)
    words = lnmap.io.SubwordModel(made / "xx.bin")
    assert words.vector("hound") == pytest.approx(lnmap.read(made / "xx.vec")["hound"], abs=1e-5)


def test_without_subwords(made, tmp_path):
    (tmp_path / "xx.bin").write_text("of an earlier run")
    options = TrainingOptions(dim=8, epochs=1, min_count=2, max_n=0)
    result = make_vectors(made / "text.txt", tmp_path / "xx.vec.gz", options=options)
    assert result.subwords is None
    assert {path.name for path in tmp_path.iterdir()} == {"xx.vec.gz", "xx.counts.tsv"}


def test_what_was_made_is_not_read_again(made, tmp_path):
    (tmp_path / "text.txt").write_bytes((made / "text.txt").read_bytes())
    for _ in range(2):
        assert make_vectors(tmp_path, tmp_path / "xx.vec", options=SMALL).files == 1
    assert contents(tmp_path) == contents(made)


def test_repeated_lines_count_once(tmp_path):
    (tmp_path / "text.txt").write_text("\n".join(sentences(300) + ["Read our terms and conditions."] * 50))
    result = make_vectors(tmp_path / "text.txt", tmp_path / "xx.vec", options=SMALL)
    assert result.repeated_lines == 49
    assert "conditions" not in lnmap.read(tmp_path / "xx.vec")


def test_rare_words_are_forgotten_when_there_are_too_many(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "_MOST_WORDS", 50)
    made = corpus.Corpus(tmp_path / "words")
    made.write([["often", f"once{number}"] for number in range(200)])
    assert len(made.counts) <= 52
    assert made.counts["often"] == 200


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word " * 100, "has 100 words, too few"),
        ("word " * 2000, "only 1 words occur 2 times"),
        ("", "has 0 words"),
        ("我喜欢每天早上吃炒饭。" * 400, "Chinese or Japanese, which is written without blanks"),
    ],
)
def test_too_little_text(tmp_path, text, message):
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        make_vectors(tmp_path / "text.txt", tmp_path / "xx.vec", options=SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


def test_little_text_is_noted(made, tmp_path):
    progress = Silent()
    make_vectors(made / "text.txt", tmp_path / "xx.vec", options=SMALL, progress=progress)
    assert "more text" in progress.notes[0]


def test_long_training_is_announced(made, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "_PACE", 10)
    progress = Silent()
    result = make_vectors(made / "text.txt", tmp_path / "xx.vec", options=SMALL, progress=progress)
    minutes = result.tokens * 2 * 2 / 10 / 60
    assert progress.notes[-1] == f"4 passes over {result.tokens:,} words take about {minutes:,.0f} minutes"


def test_an_error_while_training_does_not_hang(made, tmp_path, monkeypatch):
    class Broken(training._Reading):
        def __iter__(self):
            self.failed = OSError(5, "Input/output error")
            yield from ()

    monkeypatch.setattr(training, "_Reading", Broken)
    with pytest.raises(OutputError, match="Input/output error"):
        make_vectors(made / "text.txt", tmp_path / "xx.vec", options=SMALL)
    assert not list(tmp_path.iterdir())


def test_a_full_disk(made, tmp_path):
    try:
        with small_disk(tmp_path / "disk", 64) as disk:
            (disk / "xx.vec").write_text("old")
            options = TrainingOptions(dim=100, epochs=1, min_count=2)
            with pytest.raises(OutputError, match="No space left"):
                make_vectors(made / "text.txt", disk / "xx.vec", options=options)
            assert (disk / "xx.vec").read_text() == "old"
            assert not list(disk.glob(f"{TEMPORARY}*"))
    except CannotMountError as error:
        pytest.skip(str(error))


def test_bad_names_and_numbers(made, tmp_path):
    with pytest.raises(OptionError, match=r"name them xx\.vec"):
        make_vectors(made / "text.txt", tmp_path / "xx.bin")
    with pytest.raises(OutputError, match="is a folder"):
        make_vectors(made / "text.txt", tmp_path)
    with pytest.raises(OptionError, match="epochs is 0"):
        TrainingOptions(epochs=0)
    with pytest.raises(OptionError, match="cannot be shared"):
        TrainingOptions(dim=9)
    with pytest.raises(OptionError, match="cannot be shared"):
        TrainingOptions(windows=(0, 5))
    with pytest.raises(OptionError, match="longest subword"):
        TrainingOptions(min_n=5, max_n=3)
    with pytest.raises(OptionError, match="neighbours is -1"):
        TrainingOptions(neighbours=-1)
    with pytest.raises(OptionError, match="seed"):
        TrainingOptions(seed=-1)
    for rate in (0, -0.1, 1.5, float("nan")):
        with pytest.raises(OptionError, match="rate"):
            TrainingOptions(rate=rate)


def test_gensim_is_an_extra(made, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim", None)
    with pytest.raises(MissingExtraError, match=r"lnmap\[gensim\]"):
        make_vectors(made / "text.txt", tmp_path / "xx.vec")


def test_command(made, tmp_path, capsys):
    out = tmp_path / "xx.vec"
    command = ["vectors", str(made / "text.txt"), "--out", str(out), "--dim", "8", "--epochs", "2", "--min-count", "2"]
    command += ["--neighbours", "4"]
    assert main([*command, "--json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["vectors"], found["files"], found["dim"]) == (str(out), 1, 12)
    assert contents(tmp_path)["xx.vec"] == contents(made)["xx.vec"]
    assert main([*command, "--windows", "5,x"]) == 2
    assert "--windows expects numbers" in capsys.readouterr().err
    assert main(command) == 0
    captured = capsys.readouterr()
    assert f"saved in {out}" in captured.out
    assert "next: lnmap check" in captured.err
