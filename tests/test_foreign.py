"""Words of the other language inside a vocabulary: planted ones are found, names and shared words are not."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lnmap.foreign import foreignness

OTHER = ["the", "about", "from", "with", "four", "paris", "table", "1990", *(f"english{i}" for i in range(2000))]


@pytest.fixture(scope="module")
def vocabulary() -> tuple[list[str], torch.Tensor]:
    """Own words first, then a handful of foreign ones that stand together; each in one of two clusters."""
    generator = torch.Generator().manual_seed(0)
    shared = ["english1", "english2", "english3", "english4", "english5", "english6", "english7", "english8"]
    words = ["le", "table", "Paris", "1990", *(f"mot{i}" for i in range(1000)), "four"]
    words += ["the", "about", "from", "with", *shared]
    centre = torch.randn(2, 20, generator=generator)
    foreign = [word in {"the", "about", "from", "with", *shared} for word in words]
    noise = torch.randn(len(words), 20, generator=generator)
    return words, centre[torch.tensor(foreign).long()] * 2 + noise


def test_planted_words_are_found(vocabulary):
    words, vectors = vocabulary
    found = dict(zip(words, foreignness(words, vectors, OTHER).tolist(), strict=True))
    assert all(found[word] > 0.9 for word in ("the", "about", "from", "with", "english1"))
    assert all(found[word] < 0.2 for word in ("table", "Paris", "le", "mot7"))
    assert found["four"] < 0.3  # its neighbours are of its own language
    assert found["1990"] == found["mot7"] == 0


def test_what_is_equally_frequent_is_not_foreign(vocabulary):
    words, vectors = vocabulary
    assert float(foreignness(words, vectors, words).max()) < 0.01


def test_letter_case_does_not_count(vocabulary):
    words, vectors = vocabulary
    upper = [word.upper() for word in words]
    assert torch.equal(foreignness(upper, vectors, OTHER), foreignness(words, vectors, OTHER))


def test_another_script_speaks_for_it(vocabulary):
    words, vectors = vocabulary
    greek = [word.replace("mot", "λέξη") if word.startswith("mot") else word for word in words]
    before, after = (foreignness(one, vectors, OTHER) for one in (words, greek))
    assert (after >= before).all()
    assert after[words.index("table")] > before[words.index("table")]


def test_text_that_is_partly_in_the_other_language():
    """A fifth of the text is foreign: its words are five times rarer than at home, names are as frequent."""
    generator, own = torch.Generator().manual_seed(3), [f"mot{i}" for i in range(3000)]
    english, names = [f"word{i}" for i in range(400)], [f"name{i}" for i in range(100)]
    other = [word for pair in zip(english, own[:400], strict=True) for word in (pair[0], pair[1] + "x")]
    other[300:300] = names
    words = list(own)
    for place, word in enumerate(english):
        words.insert(min(10 * place + 40, len(words)), word)
    words[300:300] = names
    centre = torch.randn(3, 30, generator=generator) * 2
    kind = torch.tensor([0 if word.startswith("mot") else 1 if word.startswith("word") else 2 for word in words])
    vectors = centre[kind] + torch.randn(len(words), 30, generator=generator)
    found = foreignness(words, vectors, other)
    assert float((found[kind == 1] > 0.7).float().mean()) > 0.9
    assert float((found[kind == 2] > 0.7).float().mean()) < 0.05
    assert not found[kind == 0].any()


@pytest.mark.parametrize("other", [[], ["nothing", "shared"]])
def test_nothing_shared(other, vocabulary):
    words, vectors = vocabulary
    assert not foreignness(words, vectors, other).any()


def test_one_word_and_none():
    assert foreignness(["the"], torch.ones(1, 3), ["the"]).shape == (1,)
    assert foreignness([], torch.zeros(0, 3), ["the"]).shape == (0,)
    assert np.isfinite(foreignness(["a", "the"], torch.zeros(2, 3), ["the"]).numpy()).all()


def test_words_of_another_script_among_their_own_are_foreign_however_frequent():
    """A Greek text quotes English law: its words are as frequent as at home, abbreviations and a loan stand apart."""
    generator, own = torch.Generator().manual_seed(4), [f"λέξη{i}" for i in range(300)]
    quoted, loans = [f"quoted{i}" for i in range(40)], ["internet", "dna"]
    words, other = quoted + loans + own, [*quoted, *loans, *(f"word{i}" for i in range(300))]
    centre = torch.randn(2, 20, generator=generator) * 2
    kind = torch.tensor([int(word in quoted or word == "dna") for word in words])
    found = foreignness(words, centre[kind] + torch.randn(len(words), 20, generator=generator), other)
    assert (found[:40] == 1).all()
    assert found[words.index("internet")] < 0.5  # among Greek words: Greek uses it
    assert found[words.index("dna")] < 0.5  # too short to be more than an abbreviation
    assert not found[len(quoted + loans) :].any()


def test_a_third_script_is_not_the_other_language():
    """English words in a Russian vocabulary are no Greek ones, even where a Greek vocabulary holds them too."""
    generator = torch.Generator().manual_seed(5)
    quoted, russian = [f"quoted{i}" for i in range(40)], [f"слово{i}" for i in range(300)]
    centre = torch.randn(2, 20, generator=generator) * 2
    kind = torch.tensor([1] * 40 + [0] * 300)
    vectors = centre[kind] + torch.randn(340, 20, generator=generator)
    found = foreignness(quoted + russian, vectors, [*quoted, *(f"λέξη{i}" for i in range(300))])
    assert float(found.max()) < 0.9
