"""Readers of what public packages hold, on small packages of the same layout."""

from __future__ import annotations

import gzip
import json

import mmh3
import msgpack
import numpy as np
import pytest
from tests.datasets.small_packages import key, navec_package, npy, spacy_model, stardict_members, wheel

from lnmap.datasets.open_data import dictionaries, navec
from lnmap.datasets.open_data.dictionaries import equal_scores, shared_senses, split
from lnmap.datasets.open_data.navec import navec_words
from lnmap.datasets.open_data.sources import VECTORS
from lnmap.datasets.open_data.spacy import floret_words, string_hash, trained_words
from lnmap.datasets.open_data.stardict import read_articles
from lnmap.datasets.open_data.wordnets import english_senses, other_senses
from lnmap.errors import DownloadError


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (b"", 14313749767032693980),
        (b"coffee", 3197928453018144401),  # in spaCy's documentation
        (b"12345678", 9871996032675327904),
        (b"hello world", 2758594965276909933),
        (bytes(range(40)), 8311891932932432384),
    ],
)
def test_string_hash(text, number):
    assert string_hash(text) == number


def test_subword_hashes_are_murmur3_of_128_bits():
    """The digests that the algorithm's author publishes hold low half first, in little-endian order."""
    fox = b"The quick brown fox jumps over the lazy dog"
    halves = [np.frombuffer(mmh3.hash_bytes(text, 0, x64arch=True), "<u8").tolist() for text in (b"hello", fox, b"")]
    assert [f"{low:016x}{high:016x}" for low, high in halves] == [
        "cbd8a7b341bd9b025b1e906a48ae1d19",
        "e34bbc7bbc071b6c7a433ca9c49a9347",
        "0" * 32,
    ]


@pytest.mark.parametrize(
    "data",
    [b"", b"\xc1", b"\xdf\xff\xff\xff\xff", b"\xa5ab", b"\x01\x02", b"\x91" * 2000, b"\x81\x90\x01", b"\xa1\xff"],
)
def test_broken_msgpack(tmp_path, data):
    model = wheel(tmp_path / "m.whl", **{"m/vocab/vectors": npy(np.ones((1, 2), np.float32)), "m/vocab/key2row": data})
    with pytest.raises(DownloadError, match="does not hold the vectors that were expected"):
        VECTORS["en"].read(model)


def test_first_word_of_a_row_owns_it(tmp_path):
    table = np.arange(6, dtype=np.float32).reshape(3, 2)
    model = spacy_model(tmp_path / "m.whl", ["the", "cat", "kitten", "été"], [2, 0, 0, 1], table)
    words, vectors = trained_words(model, 10)
    assert words == ["the", "cat", "été"]
    assert vectors.tolist() == [[4, 5], [0, 1], [2, 3]]
    assert trained_words(model, 2)[0] == ["the", "cat"]


def test_pickled_vectors_are_refused(tmp_path):
    model = wheel(tmp_path / "m.whl", **{"m/vocab/vectors": npy(np.array([{}], dtype=object))})
    with pytest.raises(ValueError, match="allow_pickle=False"):
        trained_words(model, 10)


SETTINGS = {"mode": "floret", "minn": 4, "maxn": 4, "hash_count": 2, "hash_seed": 5, "bow": "<", "eow": ">"}


def floret_model(path, table, probabilities: dict[str, float], names: list[str]):
    lookups = {"lexeme_prob": {key(word): value for word, value in probabilities.items()}}
    return wheel(
        path,
        **{
            "m/vocab/vectors": npy(table),
            "m/vocab/vectors.cfg": json.dumps(SETTINGS).encode(),
            "m/vocab/lookups.bin": msgpack.packb(lookups),
            "m/vocab/strings.json": json.dumps(names).encode(),
        },
    )


def test_words_by_probability(tmp_path):
    probabilities = {"b": -2.0, "a": -1.0, "unnamed": -0.5}
    model = floret_model(tmp_path / "m.whl", np.ones((5, 2), np.float32), probabilities, ["a", "b"])
    assert floret_words(model, 5)[0] == ["a", "b"]
    assert floret_words(model, 1)[0] == ["a"]


def test_subwords_are_averaged(tmp_path):
    """One word by hand: '<abc>' itself and its two 4-grams, each with two rows."""
    table = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    model = floret_model(tmp_path / "m.whl", table, {"abc": -1.0, "ö": -2.0}, ["abc", "ö"])
    halves = [mmh3.hash64(piece, 5, x64arch=True, signed=False)[0] for piece in (b"<abc>", b"<abc", b"abc>")]
    rows = [part % 50 for low in halves for part in (low & 0xFFFFFFFF, low >> 32)]
    words, found = floret_words(model, 2)
    assert words == ["abc", "ö"]
    assert np.allclose(found[0], table[rows].mean(axis=0), atol=1e-6)
    assert found.shape == (2, 3)


def test_navec(tmp_path, monkeypatch):
    monkeypatch.setattr(navec, "_ARCHIVE", "v.tar")
    table = np.arange(8).reshape(2, 2, 2)  # 2 parts, 2 centroids, 2 coordinates per part
    package = navec_package(
        tmp_path / "n.tar.gz", ["редко", "часто", "<unk>"], [1, 9, 0], [[0, 0], [1, 0], [0, 1]], table
    )
    words, vectors = navec_words(package, 5)
    assert words == ["часто", "редко"]
    assert vectors.tolist() == [[2, 3, 4, 5], [0, 1, 4, 5]]


def test_stardict(tmp_path):
    members = stardict_members("en-ru", {"dog": "собака", "run": "бежать, бегать"})
    articles = [("dog", ["собака"]), ("run", ["бежать", "бегать"])]
    assert list(read_articles(wheel(tmp_path / "a.whl", **members), "en-ru")) == articles
    members["d/en-ru.dict.dz"] = gzip.compress(members.pop("d/en-ru.dict"))
    assert list(read_articles(wheel(tmp_path / "b.whl", **members), "en-ru")) == articles
    members["d/en-ru.idx"] = members["d/en-ru.idx"][:-3]
    with pytest.raises(ValueError, match="ends within an entry"):
        list(read_articles(wheel(tmp_path / "c.whl", **members), "en-ru"))


def test_wordnets(tmp_path):
    senses = "dog%1:05:00:: 02084071 1 3\ndog%2:38:00:: 02001858 1 0\nhot%5:00:00:x:00 00000001 1 0\n"
    french = "# WOLF\tfra\turl\tCeCILL-C\n02084071-n\tfra:lemma\tChien\n00000001-s\tfra:lemma\tchaud\n"
    japanese = "02084071-n\tjpn:lemma\t犬\n02084071-n\tjpn:def\t0\t動物\n"
    package = wheel(
        tmp_path / "w.whl",
        **{"n/wordnet/index.sense": senses.encode(), "o/fra.tab": french.encode(), "o/jpn.tab": japanese.encode()},
    )
    assert english_senses(package)["dog"] == {"02084071-n": 0.8, "02001858-v": 0.2}
    assert other_senses(package, "fra.tab") == {"chien": {"02084071-n": 1.0}, "chaud": {"00000001-a": 1.0}}
    assert english_senses(package)["hot"].keys() == {"00000001-a"}
    assert other_senses(package, "jpn.tab") == {"犬": {"02084071-n": 1.0}}


def test_likely_translations_score_more():
    english = {"dog": {"animal": 0.9, "man": 0.1}, "man": {"man": 1.0}}
    french = {"chien": {"animal": 1.0}, "homme": {"man": 1.0}}
    scores = shared_senses(english, french, {"dog": 5, "man": 1}, {"chien": 3, "homme": 2})
    assert scores["dog", "chien"] == pytest.approx(0.9**0.5)
    assert scores["man", "homme"] > 0.9 > 0.2 > scores["dog", "homme"]
    assert shared_senses(english, french, {"dog": 5}, {"homme": 2}).keys() == {("dog", "homme")}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(dictionaries, "TRAIN_WORDS", 6)
    monkeypatch.setattr(dictionaries, "TEST_WORDS", 3)


def test_test_words_are_the_next_frequent_ones(small):
    ranks = {f"e{row}": row for row in range(12)}
    others = {f"f{row}": row for row in range(12)}
    pairs = equal_scores(((f"e{row}", f"f{row}") for row in range(20)), ranks, others)
    there, back = split(pairs, ranks, others)
    assert there.train == [(f"e{row}", f"f{row}") for row in range(6)]
    assert there.test == [(f"e{row}", f"f{row}") for row in (6, 7, 8)]
    assert back.test == [(f"f{row}", f"e{row}") for row in (6, 7, 8)]
    assert back.train == [(f"f{row}", f"e{row}") for row in range(6)]


def test_weak_pairs_are_correct_answers_but_no_seed(small):
    ranks, others = {f"e{row}": row for row in range(4)}, {f"f{row}": row for row in range(5)}
    scores = {(f"e{row}", f"f{row}"): 0.8 for row in range(4)}
    scores |= {("e3", "f4"): 0.3, ("e3", "f0"): 0.1, ("e0", "f1"): 0.3}
    there, _ = split(scores, ranks, others)
    assert there.test == [("e1", "f1"), ("e2", "f2"), ("e3", "f3"), ("e3", "f4")]
    assert there.train == [("e0", "f0")]


def test_nothing_leaks_in_either_direction():
    rng = np.random.default_rng(0)
    ranks, others = {f"e{row}": row for row in range(3000)}, {f"f{row}": row for row in range(2500)}
    drawn = {(f"e{rng.integers(3000)}", f"f{rng.integers(2500)}"): float(rng.random()) for _ in range(9000)}
    there, back = split(drawn, ranks, others)
    assert (there, back) == split(dict(sorted(drawn.items())), ranks, others)
    seed = set(there.train) | {(ours, theirs) for theirs, ours in back.train}
    tested = {ours for ours, _ in there.test}, {theirs for theirs, _ in back.test}
    assert len(tested[0]) == len(tested[1]) == 1500
    assert len(seed) > 100
    assert not {ours for ours, _ in seed} & tested[0]
    assert not {theirs for _, theirs in seed} & tested[1]
