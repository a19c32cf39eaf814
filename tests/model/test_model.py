from __future__ import annotations

import numpy as np
import pytest
import torch

import lnmap
from lnmap.direction import Direction
from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, OptionError
from lnmap.io import load_store, save_store
from lnmap.lexicon import Lexicon
from lnmap.methods.base import LinearAlignment
from lnmap.model.model import Model, as_tensor, pick_device
from lnmap.normalize import Normalizer


@pytest.fixture(scope="module")
def model(planted):
    return lnmap.align(planted.source, planted.target, planted.lexicon, method="procrustes", device="cpu")


def test_translates_both_ways(model):
    for direction in Direction:
        found = model.translate(["w3", "W7", "w0"], k=4, direction=direction)
        assert [t.query for t in found] == ["w3", "W7", "w0"]
        assert [t.words[0] for t in found] == ["w3", "w7", "w0"]
        assert all(t.known and len(t.candidates) == 4 for t in found)
        for translation in found:
            scores = [candidate.score for candidate in translation.candidates]
            assert scores == sorted(scores, reverse=True)
            assert all(-1.001 <= candidate.cosine <= 1.001 for candidate in translation.candidates)


def test_one_word_or_many(model):
    assert model.translate("w3") == model.translate(["w3"])
    assert model.translate([]) == []


def test_unknown_words_get_spellings(model):
    known, unknown = model.translate(["w12", "w1234"])
    assert known.known
    assert not unknown.known
    assert unknown.words == []
    assert len(unknown.spellings) == 3
    assert all(word in model.source for word in unknown.spellings)
    (alone,) = model.translate("zzz")
    assert (alone.candidates, alone.spellings) == ((), ())


def test_more_than_there_are(model):
    assert len(model.translate("w3", k=10_000)[0].candidates) == len(model.target)


@pytest.mark.parametrize("k", [0, -1])
def test_no_translation_asked_for(model, k):
    with pytest.raises(InputError, match="asks for no translation"):
        model.translate("w3", k=k)
    with pytest.raises(InputError, match="asks for no translation"):
        model.nearest(model.source.vectors[:1], k=k)


@pytest.mark.parametrize("criterion", ["csls", "cosine", "isf"])
def test_criteria(model, criterion):
    assert model.translate("w3", criterion=criterion)[0].words[0] == "w3"
    assert model.evaluate(Lexicon.from_pairs([("w3", "w3")]), criterion=criterion).precision() == 100


def test_unknown_criterion(model):
    with pytest.raises(OptionError, match="unknown retrieval criterion"):
        model.translate("w3", criterion="best")


def test_new_vectors(model, planted):
    """A vector outside the vocabulary, near a known word, is translated like it."""
    new = planted.source.vectors[:5] + 0.01
    assert [found[0].word for found in model.nearest(new)] == ["w0", "w1", "w2", "w3", "w4"]
    back = planted.target.vectors[:5] * 2
    assert [found[0].word for found in model.nearest(back, direction="backward")] == list(planted.target.words[:5])
    same = model.nearest(planted.source.vectors[3:4], k=3)[0]
    assert [c.word for c in same] == model.translate("w3", k=3)[0].words


@pytest.mark.parametrize("vectors", [np.zeros((2, 19)), np.zeros(20), np.zeros((1, 1, 20))])
def test_vectors_of_the_wrong_shape(model, vectors):
    with pytest.raises(InputError, match=r"expected vectors of shape \(n, 20\) for the source language"):
        model.map(vectors.astype(np.float32))


def test_unknown_side(model):
    with pytest.raises(InputError, match="unknown side 'middle'"):
        model.map(np.zeros((1, 20), np.float32), "middle")


def test_mapped_is_map_in_blocks(model, monkeypatch):
    monkeypatch.setattr("lnmap.model.model._BLOCK", 64)
    for side in ("source", "target"):
        blocks = list(model.mapped(side))
        assert max(len(block) for block in blocks) == 64
        torch.testing.assert_close(torch.cat(blocks), model.map(model.side(side).vectors, side))


def test_induce(model):
    entries = model.induce(given=False)
    assert len(entries) == 500
    assert all(entry.source == entry.target for entry in entries)
    assert [e.csls for e in entries] == sorted((e.csls for e in entries), reverse=True)
    assert model.induce(limit=7, given=False) == entries[:7]
    least = entries[99].csls
    assert model.induce(least=least, given=False) == [entry for entry in entries if entry.csls >= least]
    ranked = model.induce(rank_by="cosine", max_rank=50, given=False)
    assert [e.cosine for e in ranked] == sorted((e.cosine for e in ranked), reverse=True)
    allowed = set(model.source.words[:50]) & set(model.target.words[:50])
    assert {e.source for e in ranked} == allowed
    backward = model.induce(direction="backward", given=False)
    assert {(e.source, e.target) for e in backward} == {(e.target, e.source) for e in entries}


def test_translations_are_shown_as_a_line(model):
    known, unknown = model.translate(["w5", "w5000"], k=2, given=False)
    assert repr(known) == f"Translation('w5': w5 {known.candidates[0].score:.2f}, {known.words[1]} " + (
        f"{known.candidates[1].score:.2f})"
    )
    assert repr(unknown) == f"Translation('w5000': unknown, near {', '.join(unknown.spellings)})"


def test_induce_tells_what_was_left_out(model):
    entries = model.induce(given=False)
    assert entries.left_out == {"words_only": 0, "wrong": 0, "least": 0, "min_confidence": 0, "given": 0, "limit": 0}
    assert repr(entries).startswith("InducedLexicon(500 pairs, first [(")
    assert "left out" not in repr(entries)
    some = model.induce(least=entries[99].csls, limit=7, given=False)
    assert some.left_out == {"words_only": 0, "wrong": 0, "least": 400, "min_confidence": 0, "given": 0, "limit": 93}
    assert repr(some).endswith(", left out: 400 by least, 93 by limit)")
    assert some._repr_html_().count("<tr>") == 8


def test_evaluate_both_ways(model, planted):
    for direction in Direction:
        found = model.evaluate(planted.lexicon, direction=direction)
        assert found.precision() == 100
        assert found.seen_pairs == found.test_pairs == 500


def test_different_dimensions():
    """Source words in three dimensions, target words in two, a shared space of two."""
    source = Embeddings.from_arrays(["a", "b"], [[1, 0, 0], [0, 1, 0]])
    target = Embeddings.from_arrays(["x", "y", "z"], [[1, 0], [0, 1], [1, 1]])
    norms = Normalizer("none"), Normalizer("none")
    model = Model(source, target, LinearAlignment(norms, torch.eye(3)[:, :2], torch.eye(2)))
    assert model.map(source.vectors).shape == (2, 2)
    assert model.translate("b", k=1, criterion="cosine")[0].words == ["y"]
    assert model.translate("x", k=1, direction="backward", criterion="cosine")[0].words == ["a"]


def test_arrays_become_tensors():
    frozen = np.ones((2, 3), np.float32)
    frozen.flags.writeable = False
    cpu = torch.device("cpu")
    for vectors in (frozen, np.ones((2, 3)), np.ones((3, 2), np.float32).T, torch.ones(2, 3, dtype=torch.float64)):
        found = as_tensor(vectors, cpu)
        assert found.dtype == torch.float32
        assert found.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_mapped_files_become_tensors_without_a_copy(tmp_path):
    save_store(Embeddings.from_arrays(["a", "b"], [[1, 2], [3, 4]]), tmp_path / "store")
    mapped = load_store(tmp_path / "store").vectors
    found = as_tensor(mapped, torch.device("cpu"))
    assert found.data_ptr() == mapped.ctypes.data
    assert not mapped.flags.writeable
    found += 1  # nothing does, and if it did, the file would stay as it is
    assert load_store(tmp_path / "store").vectors.tolist() == [[1, 2], [3, 4]]


def test_devices():
    assert pick_device("cpu") == pick_device(torch.device("cpu")) == torch.device("cpu")
    expected = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    assert pick_device("auto").type == expected


@pytest.mark.parametrize("name", ["banana", "", "cpu:x", "cuda:99", "cpu:7", "meta", "xpu", "mps:3"])
def test_devices_that_are_not_there(name):
    with pytest.raises(OptionError, match=r"is not available on this machine; choose from auto, .*cpu"):
        pick_device(name)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
@pytest.mark.parametrize("device", ["cuda", "cuda:0", torch.device("cuda")])
def test_no_cuda(model, planted, tmp_path, device):
    with pytest.raises(OptionError, match="is not available"):
        lnmap.align(planted.source, planted.target, planted.lexicon, method="procrustes", device=device)
    with pytest.raises(OptionError, match="is not available"):
        model.to(device)
    assert model.device == torch.device("cpu")
    model.save(tmp_path / "m")
    with pytest.raises(OptionError, match="is not available"):
        lnmap.load(tmp_path / "m", device)


def test_repr_is_one_line(model):
    assert repr(model).startswith("Model(procrustes, Embeddings(500 words x 20")
    assert "\n" not in repr(model)
