"""What is written can be read again, and nothing is left half-written."""

import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lnmap.embeddings import Embeddings
from lnmap.errors import OptionError, OutputError
from lnmap.io import FORMATS, read, write, write_stream
from lnmap.io.write import text_rows

EMBEDDINGS = Embeddings.from_arrays(["a", "Bb", "é"], [[1, 2], [3, 4], [0.1, -1e-30]])
finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
settled = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def embeddings(draw, alphabet, at_least=1):
    words = draw(st.lists(st.text(alphabet, min_size=at_least, max_size=6), min_size=1, max_size=6, unique=True))
    dim = draw(st.integers(1, 4))
    return Embeddings(words, draw(arrays.arrays(np.float32, (len(words), dim), elements=finite)))


def same(found: Embeddings, expected: Embeddings) -> bool:
    return list(found.words) == list(expected.words) and found.vectors.tobytes() == expected.vectors.tobytes()


anything = st.characters(exclude_categories=["Cs"])
no_blanks = st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n")


@settled
@given(embeddings(no_blanks))
def test_text_round_trip(tmp_path, expected):
    write(expected, tmp_path / "words.vec")
    assert same(read(tmp_path / "words.vec", policy="vecmap"), expected)


@settled
@given(embeddings(no_blanks))
def test_binary_round_trip(tmp_path, expected):
    write(expected, tmp_path / "words.bin", "bin")
    found = read(tmp_path / "words.bin", policy="vecmap")
    if found.origin["format"] == "word2vec-binary":  # a few floats are the bytes of decimal text
        assert same(found, expected)
    else:
        assert len(expected) * expected.dim < 4


@settled
@given(embeddings(anything, 0), st.integers(0, 10**9))
def test_store_round_trip(tmp_path, expected, name):
    import shutil

    shutil.rmtree(tmp_path / "store", ignore_errors=True)
    write(expected, tmp_path / "store", "store")
    assert same(read(tmp_path / "store", policy="vecmap"), expected)


@settled
@given(embeddings(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), 0))
def test_npz_round_trip(tmp_path, expected):
    write(expected, tmp_path / "words.npz", "npz")
    assert same(read(tmp_path / "words.npz", policy="vecmap"), expected)


def test_words_with_blanks_in_text(tmp_path):
    expected = Embeddings.from_arrays(["new york", ". . .", "x"], np.eye(3))
    write(expected, tmp_path / "words.vec")
    assert same(read(tmp_path / "words.vec", policy="vecmap"), expected)


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz"])
def test_suffix_compresses(tmp_path, suffix):
    path = tmp_path / f"words.vec.{suffix}"
    write(EMBEDDINGS, path)
    assert not path.read_bytes().startswith(b"3 2")
    found = read(path, policy="vecmap")
    assert same(found, EMBEDDINGS)
    assert found.origin["compression"]


def test_same_numbers_without_polars(monkeypatch, tmp_path):
    values = np.random.default_rng(0).standard_normal((20, 7)).astype(np.float32)
    words = [f"w{row}" for row in range(20)]
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    (tmp_path / "words.vec").write_bytes(text_rows(words, values))
    assert np.array_equal(read(tmp_path / "words.vec").vectors, values)


@pytest.mark.parametrize(
    ("format", "word"),
    [
        *(("vec", word) for word in ("a\nb", "a\tb", " a", "a ", "a  b", "", "\ud800")),
        *(("bin", word) for word in ("a b", "\na", "")),
        ("npz", "a\0"),
    ],
)
def test_words_a_format_cannot_hold(tmp_path, format, word):
    with pytest.raises(OutputError, match="write a store instead"):
        write(Embeddings.from_arrays(["x", word], np.eye(2)), tmp_path / "words", format)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", FORMATS)
def test_streams_are_checked_and_leave_nothing(tmp_path, format):
    path = tmp_path / "out"
    rows = np.eye(2, dtype=np.float32)

    def breaking():
        yield ["a", "b"], rows
        raise RuntimeError("stop")

    with pytest.raises(OutputError, match="3 words were announced but 2 came"):
        write_stream(path, format, 3, 2, [(["a", "b"], rows)])
    with pytest.raises(OutputError, match="expected 3 columns"):
        write_stream(path, format, 2, 3, [(["a", "b"], rows)])
    with pytest.raises(RuntimeError, match="stop"):
        write_stream(path, format, 2, 2, breaking())
    assert list(tmp_path.iterdir()) == []
    write_stream(path, format, 4, 2, [(["a", "b"], rows), (["c", "d"], -rows.astype(np.float64))])
    found = read(path, policy="vecmap")
    assert list(found.words) == list("abcd")
    assert np.array_equal(found.vectors, np.concatenate([rows, -rows]))


def test_an_existing_file_survives_a_failure(tmp_path):
    path = tmp_path / "words.vec"
    write(EMBEDDINGS, path)
    before = path.read_bytes()
    with pytest.raises(OutputError):
        write(Embeddings.from_arrays(["x", ""], np.eye(2)), path)
    assert path.read_bytes() == before
    write(EMBEDDINGS.head(1), path)
    assert len(read(path)) == 1


def test_refusals(tmp_path):
    with pytest.raises(OptionError, match="unknown format"):
        write(EMBEDDINGS, tmp_path / "x", "csv")
    with pytest.raises(OutputError, match="is a folder"):
        write(EMBEDDINGS, tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="cannot write"):
        write(EMBEDDINGS, tmp_path / "file" / "words.vec")


def test_gzip_output_is_the_same_every_time(tmp_path):
    for name in ("a.vec.gz", "b.vec.gz"):
        write(EMBEDDINGS, tmp_path / name)
    assert (tmp_path / "a.vec.gz").read_bytes() == (tmp_path / "b.vec.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.vec.gz").read_bytes()).startswith(b"3 2\na 1")
