"""Readers of word vectors against gensim, and against the fastText program on models that it trained."""

from __future__ import annotations

import gzip
import shutil
import subprocess

import numpy as np
import pytest

from lnmap.io import SubwordModel, read
from lnmap.io.formats import parse

LETTERS = ["abcdefgz", "àéîõüßç", "абвгжя", "αβγδω", "אבגדש", "日本語中文", "ابتثن", "𝒳𝒴😀", "-_'.,:0123"]
WRITTEN = ["%.6f", "%.4g", "%.9g", "%.17g", "%e", "%.30f", "%g"]


def vocabulary(rng, count: int) -> list[str]:
    """Distinct words of one to twelve letters of a script, cased and not."""
    found: dict[str, None] = {}
    while len(found) < count:
        letters = LETTERS[rng.integers(len(LETTERS))]
        word = "".join(letters[i] for i in rng.integers(len(letters), size=rng.integers(1, 13)))
        found[word.upper() if rng.random() < 0.2 else word] = None
    return list(found)


def values(rng, count: int, dim: int) -> np.ndarray:
    """Numbers of all sizes that float32 has, zeros and tiny ones among them."""
    found = rng.standard_normal((count, dim)) * 10.0 ** rng.integers(-3, 3, (count, dim))
    found[rng.random((count, dim)) < 0.05] = 0
    found[rng.random((count, dim)) < 0.02] = 1e-40
    return found


@pytest.fixture(params=["polars", "numpy"])
def parser(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(parse, "_polars", lambda: None)


def load(path, **options):
    """Read a file with gensim."""
    return pytest.importorskip("gensim.models").KeyedVectors.load_word2vec_format(str(path), **options)


def check(path, keyed) -> int:
    """Compare words and bits; gensim leaves empty rows at the end for repeated words."""
    found = read(path, policy="vecmap", cache=False)
    count = len(keyed.key_to_index)
    assert list(found.words) == keyed.index_to_key[:count]
    assert np.array_equal(found.vectors.view(np.int32), keyed.vectors[:count].view(np.int32))
    return found.vectors.size


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("seed", range(40))
def test_text_as_gensim_reads_it(tmp_path, seed, compared):
    """word2vec text with a header and GloVe text without, in seven ways to write numbers, some lines repeated."""
    rng = np.random.default_rng(seed)
    count, dim = int(rng.integers(1, 300)), int(rng.integers(2, 60))
    form = WRITTEN[seed % len(WRITTEN)]
    words = vocabulary(rng, count)
    words += words[: count // 7]  # gensim keeps the first of each, and so does lnmap
    numbers = values(rng, len(words), dim)
    rows = [" ".join([word, *(form % x for x in row)]) for word, row in zip(words, numbers, strict=True)]
    header = bool(seed % 2)
    data = "".join(f"{line}\n" for line in ([f"{len(words)} {dim}"] if header else []) + rows).encode()
    path = tmp_path / ("words.vec.gz" if seed % 3 == 0 else "words.vec")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    keyed = load(path, binary=False, no_header=not header)
    compared("text files, gensim: values, bit for bit", check(path, keyed))


@pytest.mark.parametrize("seed", range(40))
def test_binary_as_gensim_reads_it(tmp_path, seed, compared):
    """word2vec binary in both dialects, with and without a line end after each vector."""
    rng = np.random.default_rng(seed)
    count, dim = int(rng.integers(1, 400)), int(rng.integers(1, 80))
    words, vectors = vocabulary(rng, count), values(rng, count, dim).astype("<f4")
    end = [b"", b"\n"][seed % 2]
    rows = [word.encode() + b" " + row.tobytes() + end for word, row in zip(words, vectors, strict=True)]
    path = tmp_path / "words.bin"
    path.write_bytes(b"%d %d\n" % (count, dim) + b"".join(rows))
    compared("word2vec binaries, gensim: values, bit for bit", check(path, load(path, binary=True)))


# Word 1 occurs most often, and so on; the words of the unknown ones have letters in common with known ones.
SHAPES = [
    ["skipgram", "-minn", "3", "-maxn", "6"],
    ["skipgram", "-minn", "1", "-maxn", "2"],
    ["cbow", "-minn", "2", "-maxn", "5", "-bucket", "50"],
    ["cbow", "-minn", "0", "-maxn", "0"],
    ["skipgram", "-wordNgrams", "2", "-bucket", "300"],
    ["supervised", "-minn", "2", "-maxn", "4"],
    ["supervised"],
]


@pytest.fixture(scope="module", params=SHAPES, ids=" ".join)
def trained(request, tmp_path_factory):
    """A model that the fastText program trained on made-up text, and what it prints of words."""
    program = shutil.which("fasttext")
    if program is None:
        pytest.skip("there is no fasttext here (Debian: apt-get install fasttext)")
    folder = tmp_path_factory.mktemp("trained")
    rng = np.random.default_rng(3)
    words = vocabulary(rng, 120)
    chances = 1 / np.arange(1, len(words) + 1)
    lines = [rng.choice(words, 12, p=chances / chances.sum()) for _ in range(400)]
    label = "__label__a " if request.param[0] == "supervised" else ""
    (folder / "text").write_text("".join(f"{label}{' '.join(line)}\n" for line in lines), encoding="utf-8")
    options = ["-input", "text", "-output", "model", "-dim", "10", "-epoch", "1", "-thread", "1", "-minCount", "1"]
    mode, *shape = request.param
    if "-bucket" not in shape:
        shape += ["-bucket", "500"]
    subprocess.run([program, mode, *options, *shape], cwd=folder, check=True, capture_output=True)

    def says(asked: list[str]) -> dict[str, list[str]]:
        command = [program, "print-word-vectors", "model.bin"]
        told = "".join(f"{word}\n" for word in asked).encode()
        done = subprocess.run(command, cwd=folder, input=told, check=True, capture_output=True)
        return dict(zip(asked, (line.split()[1:] for line in done.stdout.decode().splitlines()), strict=True))

    return folder, words, says


def same(found: np.ndarray, printed: list[str]) -> int:
    """Compare with numbers of five digits: equal as far as they are printed, but for the rounding of float32 sums."""
    expected = np.array([float(number) for number in printed])
    step = 10.0 ** (np.floor(np.log10(np.maximum(np.abs(expected), 1e-30))) - 4)
    rounding = 4 * np.spacing(np.abs(found).max())
    assert (np.abs(found.astype(np.float64) - expected) <= step / 2 + rounding).all(), (found, printed)
    return len(expected)


def test_words_of_a_trained_model(trained, compared):
    folder, words, says = trained
    found = read(folder / "model.bin", policy="vecmap", cache=False)
    assert set(found.words) - {"</s>"} <= set(words)
    printed = says(list(found.words))
    checked = sum(same(found[word], printed[word]) for word in found.words)
    compared("models of the fastText program: values of known words, as printed", checked)


def test_text_of_a_trained_model(trained, compared):
    """The program's own text file, read as text, holds what the binary file gives, word for word."""
    folder, _, _ = trained
    written, model = (read(folder / name, policy="vecmap", cache=False) for name in ("model.vec", "model.bin"))
    assert list(written.words) == list(model.words)
    checked = sum(same(model[word], [f"{x:.5g}" for x in written[word]]) for word in model.words)
    compared("text files of the fastText program: values", checked)


def test_unknown_words_of_a_trained_model(trained, compared):
    folder, _, says = trained
    model = SubwordModel(folder / "model.bin")
    rng = np.random.default_rng(4)
    unknown = [word for word in vocabulary(rng, 200) if word not in model]
    printed = says(unknown)
    checked = sum(same(model.vector(word), printed[word]) for word in unknown)
    compared("models of the fastText program: values of unknown words, as printed", checked)
