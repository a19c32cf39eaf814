"""fastText models, against gensim's reader of the same files."""

import struct
from contextlib import suppress

import numpy as np
import pytest
from tests.io.ngrams import plain_ngrams

from lnmap.errors import LnmapError, VectorFileError
from lnmap.io import SubwordModel, read
from lnmap.io.formats.fasttext import ngram_hashes

SENTENCES = [["straße", "the", "cat", "日本語", "ünïcode", "a", "</s>", "𝒳y"], ["dog", "the", "a", "été"]] * 20
UNKNOWN = ["katze", "x", "日本", "𝒳𝒳𝒳", "the-cat"]


@pytest.fixture(scope="module", params=[(3, 6), (1, 2), (2, 5), (0, 0)], ids=str)
def model(request, tmp_path_factory):
    fasttext = pytest.importorskip("gensim.models.fasttext")
    minn, maxn = request.param
    trained = fasttext.FastText(
        vector_size=8, min_count=1, bucket=300, min_n=minn, max_n=maxn, epochs=1, seed=1, workers=1
    )
    trained.build_vocab(SENTENCES)
    trained.train(SENTENCES, total_examples=len(SENTENCES), epochs=1)
    path = tmp_path_factory.mktemp("fasttext") / "model.bin"
    fasttext.save_facebook_model(trained, str(path))
    return path, fasttext.load_facebook_vectors(str(path)), maxn


def test_same_vectors_as_gensim(model):
    path, expected, maxn = model
    found = read(path, policy="vecmap")
    assert list(found.words) == expected.index_to_key
    for word in found.words:
        if word != "</s>":  # gensim gives it n-grams, fastText itself does not
            np.testing.assert_allclose(found[word], expected[word], atol=1e-6)
    subwords = SubwordModel(path)
    assert len(subwords) == len(found)
    assert "cat" in subwords
    for word in found.words:
        np.testing.assert_allclose(subwords.vector(word), found[word], atol=1e-7)
    for word in UNKNOWN if maxn else []:
        wanted = expected[word] if expected.buckets_word is not None else None
        np.testing.assert_allclose(subwords.vector(word), wanted, atol=1e-6)
    if not maxn:
        assert not subwords.vector("katze").any()


def test_the_end_of_a_sentence_has_no_subwords(model):
    path, _, _ = model
    subwords = SubwordModel(path)
    row = subwords.words.index("</s>")
    assert np.array_equal(subwords.vector("</s>"), subwords._matrix[row])


def test_limit_and_policy(model):
    path, expected, _ = model
    assert list(read(path, limit=3).words) == expected.index_to_key[:3]
    assert read(path, limit=3, policy="vecmap").origin["format"] == "fasttext"


def test_hashes_of_a_plain_loop():
    words = ["cat", "", "é", "日本語の", "𝒳y", "a" * 40]
    for shortest, longest in [(3, 6), (1, 1), (2, 3), (0, 4), (6, 6)]:
        owner, hashes = ngram_hashes([word.encode() for word in words], shortest, longest)
        for row, word in enumerate(words):
            assert sorted(hashes[owner == row].tolist()) == sorted(plain_ngrams(word, shortest, longest))


def test_every_truncation_is_refused(model, tmp_path):
    path, _, _ = model
    data = path.read_bytes()
    cut = tmp_path / "cut.bin"
    for size in [5, 8, 20, 60, 80, 100, 120, 200, 300, 400, len(data) // 3]:
        cut.write_bytes(data[:size])
        with pytest.raises(VectorFileError):
            read(cut)


def test_every_damage_is_refused_or_read(model, tmp_path):
    path, _, _ = model
    data = path.read_bytes()
    broken = tmp_path / "broken.bin"
    for place in range(0, 120):
        changed = bytearray(data)
        changed[place] ^= 0xFF
        broken.write_bytes(changed)
        with suppress(LnmapError):
            read(broken)


@pytest.mark.parametrize("pruned", [1 << 40, (1 << 63) - 1])
def test_more_pruned_ngrams_than_there_can_be(model, tmp_path, pruned):
    path, _, _ = model
    data = bytearray(path.read_bytes())
    struct.pack_into("<q", data, 8 + struct.calcsize("<12id") + struct.calcsize("<iiiq"), pruned)
    broken = tmp_path / "broken.bin"
    broken.write_bytes(data)
    with pytest.raises(VectorFileError, match="cut short before its matrix"):
        read(broken)


def test_quantised_and_other_versions(model, tmp_path):
    path, _, _ = model
    data = bytearray(path.read_bytes())
    place = data.index(struct.pack("<q", 8)) - 9  # the matrix's number of columns
    data[place] = 1
    broken = tmp_path / "broken.bin"
    broken.write_bytes(data)
    with pytest.raises(VectorFileError, match="quantised"):
        read(broken)
    data = bytearray(path.read_bytes())
    data[4] = 99
    broken.write_bytes(data)
    with pytest.raises(VectorFileError, match="version 99"):
        read(broken)
