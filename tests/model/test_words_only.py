"""Numbers, punctuation and markup stay out of the lexicon unless they are asked for."""

from __future__ import annotations

import numpy as np
import pytest

import lnmap
from lnmap.cli import main
from lnmap.embeddings import Embeddings
from lnmap.lexicon import Lexicon
from lnmap.model import Model

TOKENS = ["</s>", ",", "2004", "$"]
WORDS = [*TOKENS, *(f"w{i}" for i in range(60))]


@pytest.fixture(scope="module")
def model() -> Model:
    x = np.random.default_rng(0).normal(size=(len(WORDS), 8))
    sides = [Embeddings.from_arrays(WORDS, x) for _ in range(2)]
    return lnmap.align(*sides, Lexicon([(word, word) for word in ("$", *WORDS[20:])]), method="procrustes")


@pytest.mark.parametrize("mode", ["mutual", "forward", "backward", "union"])
def test_the_lexicon_has_only_words(model, mode):
    entries = model.induce(mode, given=False)
    assert {entry.source for entry in entries} == set(WORDS) - set(TOKENS)
    assert entries.left_out["words_only"] == 4
    assert {entry.source for entry in model.induce(mode, given=False, words_only=False)} == set(WORDS)
    assert "$" in {entry.source for entry in model.induce(mode)}  # it was given


def test_the_command_line_has_a_switch(model, tmp_path):
    folder, out = str(model.save(tmp_path / "m")), tmp_path / "lexicon.tsv"
    for more, count in (([], 61), (["--all-tokens"], 64)):
        assert main(["induce", folder, "--out", str(out), *more]) == 0
        assert len(lnmap.read_lexicon(out)) == count
