"""Collecting rows under a policy, against a plain loop, and the growing array that holds them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnmap.errors import VectorFileError
from lnmap.io.collect import Collector, Rows
from lnmap.io.policy import ReadOptions


def matrix(*rows):
    return np.array(rows, np.float32)


def collected(blocks, **options):
    """Return the collector and all vectors that it kept."""
    rows = Rows()
    collector = Collector(ReadOptions(**options), rows.add)
    for words, vectors in blocks:
        collector.add(words, vectors)
    return collector, rows.vectors


def numbered(words, start=1):
    """Give words vectors that tell them apart."""
    return matrix(*([start + row, 1] for row in range(len(words))))


blocks_of_words = st.lists(st.lists(st.sampled_from("aAbBcd"), min_size=1, max_size=5), min_size=1, max_size=5)


@given(blocks_of_words, st.one_of(st.none(), st.integers(1, 6)), st.booleans(), st.sampled_from(["words", "lines"]))
def test_words_of_a_plain_loop(blocks, limit, lowercase, counts):
    kept, duplicates, row, given_blocks = {}, 0, 0, []
    for words in blocks:
        given_blocks.append((words, numbered(words, row + 1)))
        for word in words:
            row += 1
            word = word.lower() if lowercase else word
            if counts == "words" and len(kept) == limit:
                continue
            duplicates += word in kept
            kept.setdefault(word, [row, 1])
    found, vectors = collected(given_blocks, limit=limit, lowercase=lowercase, limit_counts=counts)
    assert found.words == list(kept)
    assert vectors.tolist() == list(kept.values())
    assert found.duplicates == duplicates
    assert found.full == (counts == "words" and len(kept) == limit)


@pytest.mark.parametrize("blocks", [["ab", "cb"], ["abca"], ["aA"]])
def test_a_word_twice_is_an_error_on_request(blocks):
    given_blocks = [(list(words), numbered(words)) for words in blocks]
    with pytest.raises(VectorFileError, match=r"the word '[ab]' occurs more than once; read with dedupe='first'"):
        collected(given_blocks, dedupe="error")
    assert len(collected([(["a", "A"], numbered("ab"))], dedupe="error", lowercase=False)[0].words) == 2


@pytest.mark.parametrize("policy", ["patch", "keep"])
def test_zero_vectors(policy):
    vectors = matrix([0, 0], [0, 3], [-0.0, 0], [5, 0], [0, -1])
    before = vectors.copy()
    found, kept = collected([(list("abcde"), vectors)], zero_policy=policy)
    patched = policy == "patch"
    expected = before.copy()
    if patched:
        expected[[0, 2], 0] = np.float32(0.01)
    assert np.array_equal(kept, expected)
    assert found.zeros == 2 * patched
    assert np.array_equal(vectors, before)  # they are the caller's


def test_zero_vectors_of_one_value():
    assert collected([(["a", "b"], matrix([0], [2]))])[1].tolist() == [[np.float32(0.01)], [2]]


def test_zeros_are_counted_over_blocks():
    found, _ = collected([(["a"], matrix([0, 0])), (["b", "c"], matrix([0, 0], [1, 1])), (["d"], matrix([0, 0]))])
    assert found.zeros == 3


@pytest.mark.parametrize("empty_words", [True, False])
def test_bad_rows_are_left_out_and_named(empty_words):
    rows = Rows()
    collector = Collector(ReadOptions(), rows.add)
    words = ["a", "", "b", "", "c", "d"]
    vectors = matrix([1, 1], [2, 2], [3, np.nan], [-np.inf, 4], [np.inf, 5], [6, 6])
    collector.add_checked(words, vectors, 10, **({} if empty_words else {"empty_words": False}))
    not_finite = "NaN or infinite value"
    named = [[12, not_finite], [13, not_finite], [14, not_finite]]
    assert collector.words == (["a", "", "d"] if empty_words else ["a", "d"])
    assert collector.samples == (named if empty_words else [[11, "empty word"], *named])
    assert rows.vectors[:, 0].tolist() == ([1, 2, 6] if empty_words else [1, 6])


def test_good_rows_pass_untouched():
    kept = []
    collector = Collector(ReadOptions(), kept.append)
    vectors = matrix([1, 2], [3, 4])
    collector.add_checked(["a", "b"], vectors, 1, empty_words=False)
    assert kept[0] is vectors
    assert (collector.words, collector.skipped, collector.samples) == (["a", "b"], 0, [])


def test_twenty_samples_and_the_true_number():
    collector = Collector(ReadOptions(), lambda _: None)
    for place in range(1, 31):
        collector.skip(place, "odd")
    assert collector.skipped == 30
    assert collector.samples == [[place, "odd"] for place in range(1, 21)]


def test_what_is_reported():
    found, _ = collected([(["a", "A", "b"], matrix([0, 0], [1, 1], [2, 2]))], limit=5)
    found.skip(7, "odd")
    assert found.report() == {
        "policy": "muse",
        "lowercase": True,
        "dedupe": "first",
        "zero_policy": "patch",
        "limit": 5,
        "limit_counts": "words",
        "words": 2,
        "skipped": 1,
        "skipped_samples": [[7, "odd"]],
        "duplicates": 1,
        "zeros_patched": 1,
    }


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12))
def test_rows_are_the_blocks_one_after_the_other(sizes):
    everything = np.arange(2 * sum(sizes), dtype=np.float32).reshape(-1, 2)
    rows, blocks = Rows(), np.split(everything, np.cumsum(sizes)[:-1])
    copies = [block.copy() for block in blocks]
    for block in blocks:
        rows.add(block)
    assert np.array_equal(rows.vectors, everything)
    assert all(np.array_equal(block, copy) for block, copy in zip(blocks, copies, strict=True))


def test_one_block_is_not_copied_and_many_take_little_more_than_they_need():
    rows = Rows()
    assert len(rows.vectors) == 0
    block = np.ones((1000, 4), np.float32)
    rows.add(block)
    assert np.shares_memory(rows.vectors, block)
    for _ in range(20):
        rows.add(block[:10])
    assert not np.shares_memory(rows.vectors, block)
    assert rows.vectors.shape == (1200, 4)
    assert len(rows.vectors.base) <= 1200 * 9 / 8
