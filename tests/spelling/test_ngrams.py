"""Shared n-grams: against a count of strings without hashing, and in the same columns as ever."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
import torch

from lnmap.direction import Side
from lnmap.spelling import COLUMNS, Spelling
from lnmap.spelling import ngrams as module

SOURCE = ["house", "mouse", "paris", "Été", "москва", "a", "international", "parisian", "x-ray"]
TARGET = ["maison", "souris", "Paris", "ete", "moskva", "a", "internationale", "parisien"]


def plain(word: str) -> str:
    return word.lower().replace("é", "e").replace("москва", "moskva")


def grams(word: str) -> Counter[str]:
    """N-grams of two to five characters, the ends of a word included."""
    marked = f"^{word}$"
    return Counter(marked[i : i + n] for n in (2, 3, 4, 5) for i in range(len(marked) - n + 1))


def weighted(word: str, words: list[str]) -> dict[str, float]:
    """Each n-gram of a word by how often it has it, times log(words / occurrences) among all words."""
    counts = sum((grams(plain(one)) for one in words), Counter())
    return {gram: n * max(math.log(len(words) / max(counts[gram], 1)), 0) for gram, n in grams(word).items()}


def cosine(a: str, b: str) -> float:
    """Cosine of a word and another by their weighted n-grams."""
    left, right = weighted(a, SOURCE), weighted(b, TARGET)
    lengths = math.sqrt(sum(v * v for v in left.values()) * sum(v * v for v in right.values()))
    return sum(value * right.get(gram, 0) for gram, value in left.items()) / lengths


@pytest.fixture(scope="module")
def wide() -> Spelling:
    """So many columns that hardly two n-grams share one."""
    return Spelling.of(SOURCE, TARGET, width=1 << 16)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("house", "maison"),
        ("paris", "paris"),
        ("parisian", "parisien"),
        ("international", "internationale"),
        ("Été", "ete"),
        ("москва", "moskva"),
        ("mouse", "souris"),
        ("new", "news"),
    ],
)
def test_cosines_are_those_of_shared_ngrams(wide, left, right):
    found = wide.columns(Side.SOURCE, [left])[0] @ wide.columns(Side.TARGET, [right])[0]
    assert float(found) == pytest.approx(cosine(plain(left), right), abs=0.02)


def test_few_columns_keep_cosines_roughly():
    spelling = Spelling.of(SOURCE, TARGET)
    left, right = spelling.columns(Side.SOURCE, SOURCE), spelling.columns(Side.TARGET, TARGET)
    assert left.shape == (len(SOURCE), COLUMNS) == (len(SOURCE), 512)
    assert left.dtype == torch.float32
    assert torch.allclose(left.norm(dim=1), torch.ones(len(SOURCE)), atol=1e-5)
    found = left @ right.T
    assert [TARGET[i] for i in found.argmax(dim=1)[[2, 3, 4, 6, 7]]] == [
        "Paris", "ete", "moskva", "internationale", "parisien"
    ]  # fmt: skip
    assert float(found[0, 1].abs()) < 0.35


def test_unrelated_words_are_near_zero_on_average():
    """Signs of their own make what two n-grams share by chance cancel out."""
    generator = np.random.default_rng(0)
    words = ["".join(generator.choice(list("abcdefghijklmnopqrstuvwxyz"), 8)) for _ in range(400)]
    spelling = Spelling.of(words[:200], words[200:])
    found = spelling.columns(Side.SOURCE, words[:200]) @ spelling.columns(Side.TARGET, words[200:]).T
    assert abs(float(found.mean())) < 0.01
    assert float(found.abs().mean()) < 0.08


def test_the_weight_is_that_of_the_cosine():
    spelling = Spelling.of(SOURCE, TARGET, weight=0.25)
    assert spelling.columns(Side.SOURCE, ["paris"]).norm() == pytest.approx(0.5)
    other = spelling.weighing(4.0)
    assert torch.allclose(other.columns(Side.SOURCE, SOURCE), 4 * spelling.columns(Side.SOURCE, SOURCE), atol=1e-6)
    assert other.width == spelling.width
    assert Spelling.of(SOURCE, TARGET).weight == 1.0


def test_rare_ngrams_count_more_and_those_of_all_words_nothing():
    words = ["xa", "xb", "xc", "xd"]
    spelling = Spelling.of(words, ["ya", "yb"], width=1 << 16)
    one, other = spelling.columns(Side.SOURCE, ["xa", "xb"])
    assert float(one @ other) == pytest.approx(0, abs=1e-6)  # the beginning is that of all
    twice = Spelling.of(["aaaaaa"], ["b"]).rarity[Side.SOURCE]
    assert float(twice.min()) == 0  # more often than there are words


@pytest.mark.parametrize("words", [[], ["house"], ["ab", "cd"], ["xa", "xb", "xc", "xd"]])
def test_no_ngram_is_rarer_than_one_that_was_seen_once(words):
    """A single word has no rare n-grams, and without words there are none."""
    rarity = Spelling.of(words, ["y"]).rarity[Side.SOURCE]
    assert float(rarity.max()) == pytest.approx(math.log(max(len(words), 1)))


def test_blocks_change_nothing(monkeypatch):
    words = [*SOURCE, *TARGET]
    whole = Spelling.of(words, TARGET)
    columns = whole.columns(Side.SOURCE, words)
    monkeypatch.setattr(module, "_BLOCK", 3)
    parts = Spelling.of(words, TARGET)
    assert torch.equal(parts.rarity[Side.SOURCE], whole.rarity[Side.SOURCE])
    assert torch.equal(parts.columns(Side.SOURCE, words), columns)
    for row, word in enumerate(words):  # nor does the company
        assert torch.equal(whole.columns(Side.SOURCE, [word])[0], columns[row])


def test_nothing_to_describe():
    spelling = Spelling.of([], [])
    assert spelling.columns(Side.SOURCE, []).shape == (0, COLUMNS)
    assert torch.isfinite(spelling.columns(Side.TARGET, ["", "a", "\ud800"])).all()
    assert Spelling.of([""], ["a"]).columns(Side.SOURCE, [""]).shape == (1, COLUMNS)


def test_state_gives_the_same_again():
    spelling = Spelling.of(SOURCE, TARGET, weight=0.3, width=64)
    values, tensors = spelling.state()
    assert values == {"weight": 0.3, "width": 64}
    assert set(tensors) == {"rarity.source", "rarity.target"}
    again = Spelling.from_state(values, tensors)
    assert torch.equal(again.columns(Side.TARGET, SOURCE), spelling.columns(Side.TARGET, SOURCE))
    assert Spelling.from_state({"weight": 1}, tensors).width == COLUMNS  # models from before had no other width


def test_columns_are_the_same_as_ever():
    """Kept models hold vectors that were made with these columns."""
    spelling = Spelling.of(SOURCE, TARGET)
    columns = spelling.columns(Side.SOURCE, ["paris", "москва"])
    used = [row.nonzero()[:, 0].tolist() for row in columns]
    assert (len(used[0]), sum(used[0]), len(used[1]), sum(used[1])) == (17, 3847, 22, 5514)
    positive = [(row > 0).sum().item() for row in columns]
    assert positive == [12, 14]


def test_rarities_that_were_kept_still_fit():
    """They are numbered by the hashes of n-grams: every hash must find its place, and the same one as ever."""
    rarity = {f"rarity.{side}": torch.arange(1 << 18).float() for side in Side}
    columns = Spelling.from_state({"weight": 1}, rarity).columns(Side.SOURCE, ["paris"])[0]
    assert (int(columns.argmax()), int(columns.argmin())) == (29, 278)


def test_n_grams_are_counted_where_there_is_float64():
    assert [str(module._computing(device)) for device in ("cpu", "mps", "cuda", "cuda:1")] == [
        "cpu",
        "cpu",
        "cuda",
        "cuda:1",
    ]
    spelling = Spelling.of(SOURCE, TARGET, device="mps")
    assert spelling.to("mps") is spelling
    assert {rarity.device.type for rarity in spelling.rarity.values()} == {"cpu"}
