"""Scores of groups of words: they add up to the whole, and the calibration error is what its definition says."""

from __future__ import annotations

import numpy as np
import pytest

import lnmap
from lnmap.evaluate import Evaluation, WordResult, expected_calibration_error, measure_groups, title_of
from lnmap.evaluate.groups import BANDS, MEASURES, text_of


def rows(count=4000, seed=0, confidence=False):
    """Made-up answers at random ranks of frequency; a third of the words are their own gold translation."""
    rng = np.random.default_rng(seed)
    found = []
    for i, place in enumerate(rng.permutation(30_000)[:count].tolist()):
        gold = (f"Word{i}", f"mot{i}") if rng.random() < 1 / 3 else (f"mot{i}",)
        right = rng.random() < (0.9 if len(gold) == 2 else 0.5)
        answer = gold[0] if right else f"word{i}" if rng.random() < 0.2 else "non"
        sure = float(rng.random()) if confidence else None
        found.append(WordResult(f"word{i}", gold, (answer,), 0 if right else 3, place, sure))
    return found


def test_all_words_are_the_weighted_mean_of_the_bands():
    found = measure_groups(rows(confidence=True))
    bands = [found[name] for name in BANDS]
    for measure in ("p@1", "mean_confidence"):
        mean = np.average([band[measure] for band in bands], weights=[band["n"] for band in bands])
        assert mean == pytest.approx(found["all"][measure])
    assert sum(band["n"] for band in bands) == found["all"]["n"] == 4000


def test_identical_gold_and_the_others_are_the_whole():
    many = rows()
    found = measure_groups(many)
    same, other = found["gold_identical"], found["gold_differs"]
    assert same["n"] == sum(len(row.gold) == 2 for row in many)
    assert same["n"] + other["n"] == len(many)
    right = sum(row.rank == 0 for row in many if len(row.gold) == 1)
    assert other["p@1"] == pytest.approx(100 * right / other["n"])


def test_leaving_out_identical_gold_changes_only_what_it_must():
    many = rows(confidence=True)
    whole, rest = measure_groups(many), measure_groups([row for row in many if len(row.gold) == 1])
    assert rest["gold_differs"] == whole["gold_differs"] == rest["all"]
    assert rest["gold_identical"] == {"n": 0}
    assert {name for name in rest if name.startswith("rank_")} == set(BANDS)


@pytest.mark.parametrize(
    ("source", "gold", "same"),
    [
        ("paris", ("paris",), True),
        ("Paris", ("paris",), True),
        ("paris", ("PARIS", "x"), True),
        ("two", ("deux", "two"), True),
        ("two", ("deux",), False),
        ("strasse", ("straße",), False),
        ("été", ("ete",), False),
    ],
)
def test_one_gold_translation_spelt_alike_is_enough(source, gold, same):
    found = measure_groups([WordResult(source, gold, ("x",), 1, 0)])
    assert (found["gold_identical"]["n"], found["gold_differs"]["n"]) == (int(same), int(not same))


@pytest.mark.parametrize(
    ("rank", "band"),
    [(1, 0), (1000, 0), (1001, 1), (5000, 1), (5001, 2), (20_000, 2), (20_001, 3), (10**7, 3)],
)
def test_bands_begin_and_end_where_they_say(rank, band):
    found = measure_groups([WordResult("a", ("b",), ("b",), 0, rank - 1)])
    assert [name for name in found if name.startswith("rank_")] == [BANDS[band]]
    assert found[BANDS[band]] == {"n": 1, "p@1": 100}


def test_answers_spelt_like_the_question():
    answers = [("about", "about", 3), ("From", "from", 2), ("nation", "Nation", 0), ("dog", "chien", 0), ("a", "x", 1)]
    many = [WordResult(word, ("?",), (first, word), rank, 0, 0.9) for word, first, rank in answers]
    found = measure_groups(many)["answer_identical"]
    assert found == {
        "n": 3,
        "p@1": pytest.approx(100 / 3),
        "mean_confidence": pytest.approx(0.9),
        "ece": pytest.approx(0.9 - 1 / 3),
    }


def test_without_a_confidence_nothing_is_said_about_it():
    for measures in measure_groups(rows()).values():
        assert set(measures) == {"n", "p@1"}
    for measures in measure_groups(rows(confidence=True)).values():
        assert set(measures) == {"n", "p@1", "mean_confidence", "ece"}


def test_calibrated_is_zero():
    """Of 10 answers with a confidence of 0.3 three are right, and so on."""
    sure, right = [], []
    for tenth in range(11):
        sure += [tenth / 10] * 10
        right += [True] * tenth + [False] * (10 - tenth)
    # 0.9 and 1.0 share the last bin, and are right together.
    assert expected_calibration_error(np.array(sure), np.array(right)) == pytest.approx(0, abs=1e-12)


def test_certain_and_half_right_is_a_half():
    assert expected_calibration_error(np.ones(100), np.arange(100) % 2 == 0) == 0.5
    assert expected_calibration_error(np.zeros(10), np.ones(10, dtype=bool)) == 1


def test_gaps_of_two_bins_do_not_cancel_but_those_of_one_bin_do():
    right = np.array([True, False])
    assert expected_calibration_error(np.array([0.2, 0.8]), right) == pytest.approx(0.8)
    assert expected_calibration_error(np.array([0.45, 0.49]), right) == pytest.approx(0.03)


def test_error_equals_the_definition_and_is_no_less_than_the_gap_of_the_means():
    rng = np.random.default_rng(0)
    for size in (1, 7, 500):
        p, right = rng.random(size), rng.random(size) < 0.4
        bins = np.minimum((p * 10).astype(int), 9)
        expected = sum(abs(p[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in set(bins))
        found = expected_calibration_error(p, right)
        assert found == pytest.approx(expected)
        assert found >= abs(p.mean() - right.mean()) - 1e-12


def test_evaluation_has_the_groups_rounded_for_json():
    many = rows(300, confidence=True)
    score = Evaluation(many, 300, 0, 300)
    found = score.to_dict()["groups"]
    assert found["all"]["p@1"] == score.to_dict()["p@1"]
    assert found["all"]["ece"] == round(score.groups["all"]["ece"], 4)
    assert list(found)[:4] == ["all", "gold_differs", "gold_identical", "answer_identical"]
    assert title_of("rank_1_1000") == "rank 1-1,000"
    assert title_of("rank_20001") == "rank 20,001 and above"


def test_confidence_of_an_evaluation_is_that_of_translate(pair):
    sides = pair.source.head(2000), pair.target.head(2000)
    model = lnmap.align(*sides, pair.train, method="procrustes", device="cpu", calibrate=True)
    for direction, gold in (("forward", pair.test), ("backward", pair.test.reversed())):
        score = model.evaluate(gold, direction)
        answers = model.translate([row.source for row in score.rows], 1, direction)
        assert [row.answers[0] for row in score.rows] == [answer.words[0] for answer in answers]
        sure = [answer.candidates[0].confidence for answer in answers]
        assert [row.confidence for row in score.rows] == pytest.approx(sure, abs=1e-5)
        assert score.groups["all"]["mean_confidence"] == pytest.approx(np.mean(sure), abs=1e-5)
    model.confidence = None
    assert all(row.confidence is None for row in model.evaluate(pair.test).rows)


def test_full_confidence_is_in_the_last_bin():
    """1.0 belongs to the bin of 0.9 to 1, where it and 0.95 make up for each other."""
    found = expected_calibration_error(np.array([1.0, 0.95]), np.array([False, True]))
    assert found == pytest.approx((1 - 0.05) / 2)


def test_every_group_and_measure_has_a_name_for_readers():
    groups = measure_groups(rows(confidence=True))
    assert {title_of(group) for group in groups} == {
        "all words",
        "gold is another word",
        "gold is the word itself",
        "answered by the word itself",
        "rank 1-1,000",
        "rank 1,001-5,000",
        "rank 5,001-20,000",
        "rank 20,001 and above",
    }
    assert MEASURES == {"p@1": "P@1", "mean_confidence": "mean confidence", "ece": "ECE"}
    assert set(groups["all"]) == {"n", *MEASURES}


@pytest.mark.parametrize(
    ("measure", "value", "text"),
    [
        ("p@1", 45.678, "45.7"),
        ("ece", 0.1234, "0.123"),
        ("mean_confidence", 0.8764, "87.6 %"),
        ("mean_confidence", None, ""),
    ],
)
def test_measures_as_people_read_them(measure, value, text):
    assert text_of(measure, value) == text
