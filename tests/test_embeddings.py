from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnmap.embeddings import Embeddings, is_word
from lnmap.errors import InputError


@pytest.fixture
def three():
    return Embeddings.from_arrays(["the", "Cat", "sat"], [[1, 2], [3, 4], [5, 6]], path="a.vec")


@pytest.mark.parametrize("token", ["word", "été", "日本", "شكرا", "ไทย", "ㅋ", "3rd", "1990s", "n't", "a<b"])
def test_words_have_a_letter(token):
    assert is_word(token)


@pytest.mark.parametrize(
    "token", ["</s>", "<unk>", "", ",", "...", "2004", "1,5", "-2", "٣", "Ⅳ", "$", "☃", "'", "\udcff"]
)
def test_tokens_that_are_no_words(token):
    assert not is_word(token)


def test_from_arrays(three):
    assert three.vectors.dtype == np.float32
    assert three.vectors.flags.c_contiguous
    assert three.dim == 2
    assert len(three) == 3
    assert three.origin == {"path": "a.vec"}
    assert three["Cat"].tolist() == [3, 4]
    assert "sat" in three
    assert "dog" not in three
    assert repr(three) == "Embeddings(3 words x 2, first ['the', 'Cat', 'sat'])"


@pytest.mark.parametrize("there", ["l'été", "l’été"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_find_whatever_keyboard_a_word_was_typed_on(there, form):
    """A notebook from a Mac has decomposed accents, a word processor curled apostrophes."""
    found = Embeddings.from_arrays(["other", unicodedata.normalize(form, there)], np.eye(2))
    for typed in (
        "l'été",
        "l’été",
        "L’Été",
        unicodedata.normalize("NFD", "l'été"),
        unicodedata.normalize("NFC", "l’été"),
    ):
        assert found.find(typed) == 1
    assert found.find("l'ete") is None
    assert found.find("lété") is None


def test_find_what_stands_there_before_what_is_written_otherwise():
    """Two spellings of a word in one vocabulary stay two words."""
    words = ["d’or", "d'or", "e\u0301", "é"]
    found = Embeddings.from_arrays(words, np.eye(4))
    assert [found.find(word) for word in words] == [0, 1, 2, 3]
    assert found.find("É") == 3


def test_find_falls_back_to_lower_case(three):
    assert three.find("Cat") == 1
    assert three.find("THE") == 0
    assert three.find("cat") is None


def test_spellings(three):
    assert three.spellings("thee") == ["the"]
    assert three.spellings("zzzzz") == []


@pytest.mark.parametrize(
    ("words", "vectors", "message"),
    [
        (["a"], np.zeros((1, 2)), "float32 matrix, got float64"),
        (["a"], np.zeros(2, np.float32), r"float32 matrix, got float32 of shape \(2,\)"),
        (["a", "b"], np.zeros((1, 2), np.float32), "2 words but 1 vectors"),
        ([], np.zeros((0, 2), np.float32), "vocabulary is empty"),
        (["a"], np.zeros((1, 0), np.float32), "vocabulary is empty"),
        (["a", "b"], np.array([[0, 1], [0, np.nan]], np.float32), r"vector of 'b' \(row 2\) holds NaN or infinite"),
        (["a", "b"], np.array([[-np.inf, 1], [0, 0]], np.float32), r"vector of 'a' \(row 1\)"),
        (["a", "b", "a"], np.ones((3, 2), np.float32), "1 words occur more than once"),
    ],
)
def test_refuses(words, vectors, message):
    with pytest.raises(InputError, match=message) as caught:
        Embeddings(words, vectors)
    assert "\n" not in str(caught.value)


def test_head(three):
    assert three.head(None) is three
    assert three.head(3) is three
    assert list(three.head(2).words) == ["the", "Cat"]
    assert three.head(2).origin == {"path": "a.vec", "limit": 2}
    with pytest.raises(InputError, match="limit of 0"):
        three.head(0)


def test_fingerprint_follows_the_content(three):
    same = Embeddings.from_arrays(three.words, three.vectors.copy(), path="elsewhere")
    assert same.fingerprint == three.fingerprint
    assert Embeddings.from_arrays(["the", "cat", "sat"], three.vectors).fingerprint != three.fingerprint
    assert Embeddings.from_arrays(three.words, three.vectors + 1e-6).fingerprint != three.fingerprint
    assert three.head(2).fingerprint != three.fingerprint
    strided = np.repeat(three.vectors, 2, axis=1)[:, ::2]
    assert Embeddings(three.words, strided).fingerprint == three.fingerprint


words = st.lists(st.text(st.characters(codec="utf-8") | st.sampled_from("\n\r\t\u2028"), max_size=3), max_size=4)


@given(words, words)
def test_fingerprints_tell_vocabularies_apart(first, second):
    first, second = list(dict.fromkeys([*first, "end"])), list(dict.fromkeys([*second, "end"]))
    prints = [Embeddings.from_arrays(w, np.zeros((len(w), 1))).fingerprint for w in (first, second)]
    assert (prints[0] == prints[1]) == (first == second)


def test_fingerprint_of_words_that_hold_line_ends():
    one, two = (Embeddings.from_arrays(w, np.zeros((2, 1))) for w in (["a\nb", "c"], ["a", "b\nc"]))
    assert one.fingerprint != two.fingerprint


def test_fingerprint_of_undecodable_words():
    assert Embeddings.from_arrays(["a\udc80"], [[1.0]]).fingerprint


def test_swapped_letters_are_found_before_other_spellings():
    words = ["hose", "whose", "those", "hoses", "house", "the", "he", "time", "tim", "tie"]
    found = Embeddings.from_arrays(words, np.eye(len(words)))
    assert found.spellings("hosue")[0] == "house"
    assert found.spellings("Tiem")[0] == "time"
    assert found.spellings("hte", 1) == ["the"]
    assert len(found.spellings("hosue", 2)) == 2


def test_slips_of_the_fingers():
    words = ["hose", "the", "house", "maison", "hous", "server", "serves"]
    found = Embeddings.from_arrays(words, np.eye(len(words)))
    assert found.slips("Hosue") == ["house", "hose"]  # swapped, then added
    assert found.slips("servr") == ["server"]  # left out
    assert found.slips("serven") == ["server", "serves"]  # another one
    assert found.slips("serven", 1) == ["server"]
    assert found.slips("thh") == []
    assert found.slips("unknown") == []
