"""Foreign words against their definition, word by word, with the numbers that were chosen by reading vocabularies."""

from __future__ import annotations

import math
from statistics import median_low

import pytest
import torch

from lnmap import foreign
from lnmap.embeddings import is_word
from lnmap.foreign import foreignness, script, script_of

OWN = [f"mot{i}" for i in range(300)]
THERE = [f"word{i}" for i in range(400)]


def by_hand(words: list[str], vectors: torch.Tensor, other: list[str]) -> list[float]:
    there = {word.lower(): rank for rank, word in reversed(list(enumerate(other)))}
    known = {row: there[word.lower()] for row, word in enumerate(words) if word.lower() in there and is_word(word)}
    more = {row: math.log((row + 10) / (rank + 10)) for row, rank in known.items()}
    first = [more[row] for row, rank in known.items() if rank < 100]
    gap = median_low(first) if len(first) >= 30 else 3.5
    middle = max(1.2, 3.9 - 1.9 * (3.5 - gap)) if 1 <= gap < 3.5 else 3.9
    cosines = torch.nn.functional.normalize(vectors) @ torch.nn.functional.normalize(vectors).T
    found = [0.0] * len(words)
    for row, ratio in more.items():
        own = 1.25 * min(ratio, 3.2) + 2.5 * (script([words[row]]) != script(words)) - middle
        near = [one for one in cosines[row].argsort(descending=True)[:11].tolist() if one != row]
        says = sum(min(max(more.get(one, -1), -1), 4) for one in near) / max(len(near), 1)
        if own + 0.75 * 4 > math.log(1e-3) / 2:
            found[row] = 1 / (1 + math.exp(-2 * (own + 0.75 * says)))
    return found


def mixed(step: int, seed: int) -> tuple[list[str], torch.Tensor]:
    """A vocabulary with a word of the other language after every few of its own, some of each near the other's."""
    words = list(OWN)
    for place, word in enumerate(THERE[: len(OWN) // step]):
        words.insert(step * place + 4, word)
    generator = torch.Generator().manual_seed(seed)
    kind = torch.tensor([word.startswith("word") for word in words]).long()
    vectors = torch.randn(2, 6, generator=generator)[kind] + torch.randn(len(words), 6, generator=generator)
    return words, vectors


@pytest.mark.parametrize("step", [1, 2, 3, 6, 9, 12])
def test_mixtures_by_hand(step):
    """From every second word to every thirteenth; the first words tell how much of the text is foreign."""
    words, vectors = mixed(step, step)
    found = foreignness(words, vectors, THERE)
    assert found.tolist() == pytest.approx(by_hand(words, vectors, THERE), abs=1e-5)
    assert len(found.unique()) > 15


@pytest.mark.parametrize("shared", [29, 30])
def test_strays_by_hand(shared):
    """A few words far behind, of all frequencies, of another script, in both letter cases, and a number."""
    strays = [*THERE[::14][: shared - 2], "ΛΌΓΟΣ", "Mot3"]
    words = [*OWN, *strays, "1990"]
    other = [*THERE[:20], "1990", "λόγος", "mot3", *THERE[20:], "Λόγος", "word0"]
    vectors = torch.randn(len(words), 5, generator=torch.Generator().manual_seed(shared))
    vectors[len(OWN) :] += 1.5
    found = foreignness(words, vectors, other)
    assert found.tolist() == pytest.approx(by_hand(words, vectors, other), abs=1e-5)
    assert found[-1] == 0
    assert (found > 0).sum() > 10


def test_two_words_by_hand():
    words, vectors = ["about", "word"], torch.eye(2)
    for other in (["word", "about"], ["x", "y", "word"]):
        assert foreignness(words, vectors, other).tolist() == pytest.approx(by_hand(words, vectors, other), abs=1e-6)


def test_far_behind_by_hand():
    """What a neighbour can say has an end, and so have words that no neighbour can make foreign."""
    words = ["about", *(f"mot{i}" for i in range(700)), *THERE[:20]]
    other = [*THERE[:77], "about", *THERE[77:]]
    vectors = torch.randn(len(words), 5, generator=torch.Generator().manual_seed(0))
    vectors[0] = vectors[len(words) - 20 :].mean(dim=0) + 20
    vectors[len(words) - 20 :] += 20
    found = foreignness(words, vectors, other)
    assert found.tolist() == pytest.approx(by_hand(words, vectors, other), abs=1e-5)
    assert found[0] == 0
    assert found[-1] > 0.5


def test_the_first_hundred_words_tell_by_hand():
    """One more would be thirty, enough to move the middle."""
    words = [*OWN, *THERE[71:101]]
    vectors = torch.randn(len(words), 5, generator=torch.Generator().manual_seed(0))
    found = foreignness(words, vectors, THERE)
    assert found.tolist() == pytest.approx(by_hand(words, vectors, THERE), abs=1e-5)
    assert found.max() > 1e-3


def test_a_word_without_neighbours_speaks_for_itself():
    assert float(foreignness(["a"], torch.ones(1, 2), ["a"])) == pytest.approx(1 / (1 + math.exp(2 * 3.9)))


@pytest.mark.parametrize(
    ("gap", "many", "middle"),
    [(2.5, 30, 2.0), (2.5, 29, 3.9), (3.0, 100, 2.95), (1.0, 30, 1.2), (0.99, 30, 3.9), (3.5, 30, 3.9), (5.0, 30, 3.9)],
)
def test_the_middle_moves_where_the_other_language_is_a_part_of_the_text(gap, many, middle):
    assert foreign._middle(torch.full((many,), gap)) == pytest.approx(middle, abs=1e-5)


def test_the_script_is_that_of_most_first_letters():
    assert script(["1αbc", "a", "β", "7"]) == "GREEK"
    assert script(["水", "paris", "山"]) == "CJK"
    assert script(["12", "", "!"]) == script([]) == ""
    assert script(["a"] * 2499 + ["б"] * 2500 + ["β"] + ["a"] * 9) == "CYRILLIC"  # the first 5,000 words tell


@pytest.mark.parametrize(("first", "theirs", "expected"), [("term", 6, True), ("law", 6, False), ("term", 5, False)])
def test_words_of_the_other_script_among_six_of_ten(first, theirs, expected):
    """Rare in the other language, so that nothing but the script and the neighbours speaks against them."""
    visitors = [first, *["form", "rules", "paper", "state", "court", "treaty"][:theirs]]
    greek = [f"λόγο{letter}" for letter in "αβγδεζηθικλμνξοπρστυφχψω"]
    words = [*visitors, *greek]
    near = torch.eye(3)[[0] * 11 + [1] * (len(words) - 11)]  # ten neighbours each, and the rest far away
    vectors = near + 0.01 * torch.randn(len(words), 3, generator=torch.Generator().manual_seed(0))
    found = foreignness(words, vectors, [*THERE, *visitors])
    assert (float(found[0]) == 1) is expected
    assert found[len(visitors) :].max() == 0
    assert script_of("«form»") == "LATIN"
    assert script_of("1990") == ""
