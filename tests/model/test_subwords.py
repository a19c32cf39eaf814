"""gensim objects in and out, and words outside the vocabulary through fastText subwords."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import lnmap
from lnmap.cli import main
from lnmap.errors import InputError, VectorFileError
from lnmap.io import SubwordModel, read
from lnmap.io.write import write
from lnmap.model.subwords import SpeltWords

gensim = pytest.importorskip("gensim")
LONG = ["internationalisation", "misunderstanding", "straßenbahnhaltestelle", "répercussions", "благодарность"]
OOV = {"internationalisations": LONG[0], "misunderstandings": LONG[1], "благодарности": LONG[4]}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A fastText model, and a target language that is a rotation of it with the same words."""
    from gensim.models import fasttext

    words = [f"{a}{b}{c}" for a in ("ka", "mo", "ti", "su") for b in "aeiou" for c in ("lem", "por", "vix", "nud")]
    rng = np.random.default_rng(0)
    sentences = [list(rng.permutation(LONG + words)) for _ in range(30)]
    trained = fasttext.FastText(vector_size=16, min_count=1, bucket=5000, min_n=3, max_n=6, seed=1, workers=1)
    trained.build_vocab(sentences)
    trained.train(sentences, total_examples=len(sentences), epochs=2)
    folder = tmp_path_factory.mktemp("subwords")
    fasttext.save_facebook_model(trained, str(folder / "src.bin"))
    source = read(folder / "src.bin")
    rotation = np.linalg.qr(rng.normal(size=(16, 16)))[0]
    lnmap.write(lnmap.Embeddings.from_arrays(source.words, source.vectors @ rotation), folder / "tgt.vec")
    lnmap.io.write_lexicon(folder / "pairs.tsv", ((word, word, 1.0) for word in words), ("source", "target", "x"))
    return folder


@pytest.fixture
def model(files):
    return lnmap.align(
        files / "src.bin", files / "tgt.vec", files / "pairs.tsv", method="procrustes", device="cpu", calibrate=True
    )


def test_unknown_words_of_a_model_made_from_a_bin(model):
    known, *answers = model.translate(["kaalem", *OOV], k=3)
    assert not known.subwords
    for answer in answers:
        assert answer.known
        assert answer.subwords
        assert answer.words[0] == OOV[answer.query]
        assert all(0 <= candidate.confidence <= 1 for candidate in answer.candidates)
    assert answers[1].spellings == ("misunderstanding",)  # perhaps that was meant
    expected = model.nearest(SubwordModel(model.source.origin["path"]).vector("misunderstandings")[None], k=3)[0]
    assert answers[1].words == [candidate.word for candidate in expected]
    (unknown,) = model.translate("misunderstandings", direction="backward")  # the target's file has no subwords
    assert not unknown.known
    assert unknown.spellings == ("misunderstanding",)


def test_only_what_was_read_is_used(files, model, tmp_path):
    with pytest.raises(VectorFileError, match="no file"):
        model.use_subwords("source", tmp_path / "none.bin")
    with pytest.raises(InputError, match="knows no subwords"):
        model.use_subwords("source", 3)
    with pytest.raises(InputError, match="agree"):
        model.use_subwords("target", files / "src.bin")
    other = lnmap.Embeddings.from_arrays(["a", "b"], np.eye(2))
    with pytest.raises(InputError, match="16 values"):
        SpeltWords(files / "src.bin", other)


def test_a_file_that_went_away_or_changed(files, tmp_path):
    place = tmp_path / "src.bin"
    shutil.copy(files / "src.bin", place)
    made = lnmap.align(place, files / "tgt.vec", files / "pairs.tsv", method="procrustes", device="cpu")
    made.save(tmp_path / "m")
    assert lnmap.load(tmp_path / "m").translate("misunderstandings")[0].subwords
    data = bytearray(place.read_bytes())
    data[-4000:] = bytes(4000)
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    place.write_bytes(data[: len(data) // 2])
    assert not lnmap.load(tmp_path / "m").translate("misunderstandings")[0].known
    place.unlink()
    again = lnmap.load(tmp_path / "m")
    assert not again.translate("misunderstandings")[0].known
    again.use_subwords("source", files / "src.bin")
    assert again.translate("misunderstandings")[0].words[0] == "misunderstanding"


def test_command_line(files, tmp_path, capsys):
    place = tmp_path / "moved.bin"
    shutil.copy(files / "src.bin", place)
    out = str(tmp_path / "m")
    arguments = ["--pairs", str(files / "pairs.tsv"), "--out", out, "--method", "procrustes"]
    assert main(["align", str(place), str(files / "tgt.vec"), *arguments]) == 0
    place.unlink()
    capsys.readouterr()
    assert main(["translate", out, "misunderstandings"]) == 1
    assert "perhaps misunderstanding?" in capsys.readouterr().out
    assert main(["translate", out, "misunderstandings", "--vectors", str(files / "src.bin")]) == 0
    line = capsys.readouterr().out
    assert line.startswith("misunderstandings  misunderstanding ")
    assert "(by its subwords; perhaps misunderstanding?)" in line
    assert main(["translate", out, "Misunderstandings", "--vectors", str(files / "src.bin"), "--json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)
    assert answer["subwords"] is True
    assert answer["candidates"][0]["word"] == "misunderstanding"
    assert main(["translate", out, "x", "--vectors", str(files / "tgt.vec")]) == 2
    assert "fastText" in capsys.readouterr().err


def test_gensim_in_and_out(files):
    from gensim.models import KeyedVectors, fasttext

    source = fasttext.load_facebook_vectors(str(files / "src.bin"))
    target = KeyedVectors.load_word2vec_format(str(files / "tgt.vec"))
    pairs = [(word, word) for word in source.index_to_key if word.startswith(("ka", "mo", "ti"))]
    made = lnmap.align(source, target, pairs, method="procrustes", device="cpu")
    assert made.translate("misunderstandings")[0].words[0] == "misunderstanding"
    assert made.translate("")[0].candidates == ()  # too short for n-grams
    first, second = made.to_gensim()
    assert first.index_to_key == list(made.source.words)
    (nearest, cosine), *_ = second.similar_by_vector(first["misunderstanding"], topn=1)
    assert nearest == "misunderstanding"
    assert cosine == pytest.approx(made.translate("misunderstanding", 1, criterion="cosine")[0].candidates[0].cosine)
    again = lnmap.align(first, second, pairs, method="procrustes", device="cpu")
    assert again.translate("misunderstanding")[0].words[0] == "misunderstanding"


def test_gensim_models_and_writing(files, tmp_path):
    from gensim.models import Word2Vec

    trained = Word2Vec([["A", "b", "c"]] * 20, vector_size=4, min_count=1, workers=1, seed=1)
    assert set(read(trained).words) == {"a", "b", "c"}
    write(trained, tmp_path / "kv.vec")
    assert set(read(tmp_path / "kv.vec", policy="vecmap").words) == {"A", "b", "c"}
    write(trained.wv, tmp_path / "store", "store")
    assert len(read(tmp_path / "store")) == 3
    with pytest.raises(InputError, match="KeyedVectors"):
        write({"a": [1.0]}, tmp_path / "no.vec")


def test_aligned_embeddings(model):
    found = model.aligned("source")
    assert list(found.words) == list(model.source.words)
    np.testing.assert_allclose(found.vectors, model.map(model.source.vectors).numpy(), atol=1e-6)
