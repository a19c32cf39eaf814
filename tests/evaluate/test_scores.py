from __future__ import annotations

from fractions import Fraction
from math import factorial

import numpy as np
import pytest
import torch

from lnmap.embeddings import Embeddings
from lnmap.errors import LexiconError
from lnmap.evaluate import Evaluation, WordResult, compare, evaluate, sign_test
from lnmap.lexicon import Lexicon
from lnmap.methods.base import LinearAlignment
from lnmap.model.model import Model
from lnmap.normalize import Normalizer
from lnmap.retrieve import BilingualSpace, Hits

# Five target words at growing angles from each of four source words, so that every rank is known by hand.
SOURCE, TARGET = ["one", "two", "three", "four"], ["eins", "zwei", "drei", "vier", "fünf"]


def words(names, dim=2):
    return Embeddings.from_arrays(names, np.ones((len(names), dim)))


def by_hand(gold, **kwargs):
    """A space in which target j is the (j + 1)-th answer to every source word."""
    angles = torch.linspace(0.0, 1.2, len(TARGET))
    space = BilingualSpace(torch.tensor([[1.0, 0.0]] * len(SOURCE)), torch.stack([angles.cos(), angles.sin()], dim=1))
    lexicon = Lexicon.from_pairs(gold)
    return evaluate(space, words(SOURCE), words(TARGET), lexicon, criterion="cosine", **kwargs)


def results(ranks, names=None):
    names = names or [f"w{i}" for i in range(len(ranks))]
    rows = [WordResult(name, ("x",), ("x",), rank, i) for i, (name, rank) in enumerate(zip(names, ranks, strict=True))]
    return Evaluation(rows, len(rows), 0, len(rows))


def test_scores_by_hand():
    found = by_hand(
        [
            ("one", "eins"),  # rank 0
            ("two", "drei"),  # rank 2 ...
            ("two", "zwei"),  # ... but the better of two gold words has rank 1
            ("three", "fünf"),  # rank 4
            ("four", "sechs"),  # no gold word known: not tested
            ("five", "eins"),  # source word unknown: not tested
            ("five", "zwei"),
        ]
    )
    assert [row.rank for row in found.rows] == [0, 1, 4]
    assert found.precision(1) == pytest.approx(100 / 3)
    assert found.precision(2) == pytest.approx(200 / 3)
    assert found.precision(5) == 100
    assert found.mrr == pytest.approx(100 * (1 + 1 / 2 + 1 / 5) / 3)
    assert found.words_in_file == 5
    assert found.coverage == pytest.approx(60)
    assert found.precision(1, of_all=True) == pytest.approx(20)
    assert found.precision(10, of_all=True) == pytest.approx(60)
    assert found.rows[1].gold == ("drei", "zwei")
    assert found.rows[0].answers == tuple(TARGET)
    assert [row.frequency_rank for row in found.rows] == [0, 1, 2]
    assert found.to_dict() == {
        "p@1": 33.33,
        "p@5": 100.0,
        "p@10": 100.0,
        "mrr": 56.67,
        "coverage": 60.0,
        "n": 3,
        "n_all": 5,
        "p@1_interval": [0.0, 100.0],
        "p@1_all": 20.0,
        "test_pairs": 7,
        "test_pairs_seen_in_training": 0,
        "criterion": "cosine",
        "groups": {
            "all": {"n": 3, "p@1": 33.33},
            "gold_differs": {"n": 3, "p@1": 33.33},
            "gold_identical": {"n": 0},
            "answer_identical": {"n": 0},
            "rank_1_1000": {"n": 3, "p@1": 33.33},
        },
    }


def test_repeated_lines_count_once():
    found = by_hand([("one", "eins"), ("one", "eins"), ("One", "EINS"), ("two", "zwei")])
    assert [row.gold for row in found.rows] == [("eins",), ("zwei",)]
    assert (found.words_in_file, found.test_pairs) == (2, 2)


def test_letter_case_keeps_coverage_below_100():
    """A vocabulary that holds 'May' and 'may' has two test words, and a file that names both has two as well."""
    source = words(["May", "may"])
    space = BilingualSpace(torch.eye(2), torch.eye(2))
    gold = Lexicon.from_pairs([("May", "mai"), ("may", "kann"), ("MAY", "mai"), ("June", "juni"), ("june", "juni")])
    found = evaluate(space, source, words(["mai", "kann"]), gold)
    assert len(found.rows) == 2
    assert found.words_in_file == 3  # May, may, june
    assert found.coverage == pytest.approx(200 / 3)


def test_no_pair_known():
    with pytest.raises(LexiconError, match=r"none of the 1 test pairs .*first column.*direction='backward'"):
        by_hand([("eins", "one")])


def test_every_criterion(planted):
    x, y = (torch.from_numpy(side.vectors) for side in (planted.source, planted.target))
    space = BilingualSpace(x @ torch.from_numpy(planted.rotation), y)
    for criterion in ("csls", "cosine", "isf"):
        found = evaluate(space, planted.source, planted.target, planted.lexicon, criterion=criterion)
        assert found.precision(1) > 99
        assert found.criterion == criterion
        assert all((row.answers[0] in row.gold) == (row.rank == 0) for row in found.rows)


@pytest.fixture
def model():
    """Trained on three pairs, between two vocabularies of unit vectors."""
    source, target = (Embeddings.from_arrays(w, np.eye(4)) for w in (SOURCE, TARGET[:4]))
    norms = Normalizer("none"), Normalizer("none")
    alignment = LinearAlignment(norms, torch.eye(4), torch.eye(4))
    pairs = Lexicon.from_pairs([("one", "eins"), ("two", "zwei"), ("Three", "drei")])
    return Model(source, target, alignment, pairs)


def test_pairs_seen_in_training_forward(model):
    found = model.evaluate(Lexicon.from_pairs([("one", "eins"), ("three", "DREI"), ("four", "vier"), ("one", "zwei")]))
    assert (found.seen_pairs, found.test_pairs) == (2, 4)


def test_pairs_seen_in_training_backward(model):
    """The other direction's test file holds training pairs with their sides exchanged."""
    gold = Lexicon.from_pairs([("eins", "one"), ("vier", "four"), ("drei", "three"), ("zwei", "four")])
    found = model.evaluate(gold, direction="backward")
    assert (found.seen_pairs, found.test_pairs) == (2, 4)
    assert model.evaluate(gold.reversed()).seen_pairs == 2


def test_nothing_seen_without_training_pairs(model):
    model.pairs = Lexicon([])
    assert model.evaluate(Lexicon.from_pairs([("one", "eins")])).seen_pairs == 0


def test_interval_is_repeatable_and_holds_the_score():
    found = results([0] * 60 + [1] * 25 + [7] * 15)
    low, high = found.interval()
    assert low < 60 < high
    assert found.interval() == (low, high)
    assert found.interval(seed=1) != (low, high)
    wide, narrow = found.interval(level=0.99), found.interval(level=0.5)
    assert wide[0] < low < narrow[0] < narrow[1] < high < wide[1]
    assert results([0] * 10).interval() == (100, 100)
    assert results([3] * 10).interval() == (0, 0)
    assert found.interval(5)[0] > found.interval(1)[0]


def test_interval_has_the_binomial_width():
    low, high = results([0] * 600 + [1] * 400).interval()
    expected = 1.96 * 100 * np.sqrt(0.6 * 0.4 / 1000)
    assert (high - low) / 2 == pytest.approx(expected, rel=0.1)


def test_interval_covers():
    """Of 300 samples of a true 40 %, about 95 % have intervals that hold it."""
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(300):
        low, high = results(rng.binomial(1, 0.6, 200).tolist()).interval()
        covered += low <= 40 <= high
    assert 0.90 <= covered / 300 <= 0.99


def test_interval_of_many_words_needs_little_memory():
    """100 000 words: 1 000 resamples must not hold 100 000 draws each."""
    import tracemalloc

    found = results([0, 1] * 50_000)
    ranks = found.ranks
    tracemalloc.start()
    try:
        low, high = found.interval()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(ranks) == 100_000
    assert low < 50 < high
    assert peak < 50 << 20


def brute_force_sign_test(won, lost):
    """Two-sided binomial test at one half: all outcomes no likelier than the one seen."""
    n = won + lost
    chance = [Fraction(factorial(n), factorial(k) * factorial(n - k) * 2**n) for k in range(n + 1)]
    return float(sum(p for p in chance if p <= chance[won]))


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (1, 0), (3, 3), (5, 1), (1, 5), (10, 20), (0, 12), (40, 41)])
def test_sign_test_equals_a_binomial_test(won, lost):
    assert sign_test(won, lost) == pytest.approx(brute_force_sign_test(won, lost), rel=1e-12)


def test_sign_test_of_thousands():
    assert sign_test(3000, 3000) == 1
    assert 0 < sign_test(2900, 3100) < 0.02
    assert sign_test(0, 3000) == 0.0


def test_compare_by_hand():
    a = results([0, 0, 0, 1, 5, 0], ["a", "b", "c", "d", "e", "only a"])
    b = results([1, 0, 3, 0, 9, 0], ["a", "b", "c", "d", "e", "only b"])
    found = compare(a, b)
    assert found.n == 5
    assert found.difference == pytest.approx(100 * (3 - 2) / 5)
    assert found.p_value == pytest.approx(sign_test(2, 1)) == 1
    assert found.interval[0] <= found.difference <= found.interval[1]
    mirrored = compare(b, a)
    assert mirrored.difference == -found.difference
    assert mirrored.p_value == found.p_value


def test_compare_finds_a_real_difference():
    rng = np.random.default_rng(0)
    base = rng.random(1500)
    a, b = (results((base > limit).astype(int).tolist()) for limit in (0.75, 0.7))
    found = compare(a, b)
    assert found.difference == pytest.approx(a.precision() - b.precision())
    assert 0 < found.interval[0] < found.difference < found.interval[1]
    assert found.p_value < 1e-6
    same = compare(a, a)
    assert (same.difference, same.interval, same.p_value) == (0, (0, 0), 1)


def test_compare_without_a_common_word():
    with pytest.raises(LexiconError, match="share no test word"):
        compare(results([0], ["a"]), results([0], ["b"]))


def test_shown_as_a_line_and_in_a_notebook_as_a_table():
    found = results(range(2000))
    assert repr(found) == "Evaluation(P@1 0.1, P@5 0.2, P@10 0.5, MRR 0.4; 2,000 of 2,000 words, csls)"
    assert found._repr_html_().startswith("<table><tr><th>P@1</th><th>95 % interval</th>")
    assert len(found._repr_html_()) < 1000
    assert repr(Evaluation([], 3, 0, 3)) == "Evaluation(no scores; 0 of 3 words, csls)"
    assert Evaluation([], 3, 0, 3)._repr_html_().startswith("<table>")


@pytest.mark.parametrize(("level", "z"), [(0.5, 0.674), (0.9, 1.645)])
def test_both_ends_of_an_interval_are_where_they_belong(level, z):
    low, high = results([0] * 500 + [1] * 500).interval(level=level)
    spread = z * 100 * np.sqrt(0.25 / 1000)
    assert (50 - low, high - 50) == (pytest.approx(spread, rel=0.12), pytest.approx(spread, rel=0.12))


def test_a_judge_is_asked_about_first_answers_only():
    asked = []

    def judge(rows, hits):
        asked.append((rows.tolist(), hits.rows.tolist(), hits.scores.shape, hits.cosines.shape))
        return torch.tensor([[0.25], [0.75]])

    found = by_hand([("two", "zwei"), ("one", "eins")], judge=judge)
    assert asked == [([1, 0], [[0], [0]], (2, 1), (2, 1))]
    assert [row.confidence for row in found.rows] == [0.25, 0.75]
    assert [row.confidence for row in by_hand([("one", "eins")], judge=lambda rows, hits: None).rows] == [None]


def test_a_space_that_judges_is_not_judged_again():
    class Judging(BilingualSpace):
        def search(self, queries, k=1, criterion="csls", words=None):
            hits = super().search(queries, k, criterion, words)
            return Hits(hits.rows, hits.scores, hits.cosines, torch.tensor([[0.5, 0.1]] * len(hits.rows)))

    space = Judging(torch.eye(2), torch.eye(2))
    gold = Lexicon.from_pairs([("a", "x"), ("b", "y")])
    found = evaluate(space, words(["a", "b"]), words(["x", "y"]), gold, judge=lambda rows, hits: 1 / 0)
    assert [row.confidence for row in found.rows] == [0.5, 0.5]


def test_figures_have_two_digits_and_a_table_has_its_columns():
    found = Evaluation(results([0, 1, 2]).rows, 7, 0, 7)
    scores = found.to_dict()
    assert (scores["coverage"], scores["p@1_all"], scores["p@5"]) == (42.86, 14.29, 100.0)
    assert all(value == round(value, 2) for value in [*scores["p@1_interval"], scores["mrr"]])
    low, high = results([0] * 4 + [1] * 3).to_dict()["p@1_interval"]
    assert (low, high) == (round(low, 2), round(high, 2)) == (14.29, 85.71)
    assert list(found.cells) == [
        "P@1",
        "95 % interval",
        "P@5",
        "P@10",
        "MRR",
        "words",
        "coverage",
        "P@1 of all",
        "pairs seen",
    ]
