"""A judged space: every way to ask it says the same, and a judge of CSLS alone changes nothing."""

import pytest
import torch

from lnmap.direction import Direction, Side
from lnmap.judge import Judge, JudgedSpace, Judges, Panel, WordFacts
from lnmap.judge.logit import Weights
from lnmap.judge.pairs import induce_judged
from lnmap.judge.panel import Columns, describe
from lnmap.judge.space import LIST, _top
from lnmap.retrieve import BilingualSpace
from lnmap.spelling import Letters

N, M, WIDTH = 300, 400, 20


def spaces(weights: dict[str, float], foreign=None):
    """Two vocabularies of two systems side by side, plain and judged by given weights."""
    torch.manual_seed(0)
    x = torch.randn(N, 2 * WIDTH)
    y = torch.cat([x + 0.7 * torch.randn(N, 2 * WIDTH), torch.randn(M - N, 2 * WIDTH)])
    words = {Side.SOURCE: [f"one{i}" for i in range(N)], Side.TARGET: [f"two{i}" for i in range(M)]}
    facts = WordFacts(words, Letters.fit(["one"], ["two"]), foreign)
    columns = (Columns("first", None, 0, WIDTH, 0.5), Columns("second", Direction.FORWARD, WIDTH, 2 * WIDTH, 0.5))
    panel = Panel(columns, facts)
    by = {}
    for direction in Direction:
        names = panel.names(direction)
        by[direction] = Judge(Weights(names, tuple(weights.get(name, 0.0) for name in names), 0.0))
    plain = BilingualSpace(x, y)
    return plain, JudgedSpace(plain, Judges(panel, by), Direction.FORWARD)


ROWS = torch.arange(0, N, 3)


def test_a_judge_of_csls_alone_keeps_the_order():
    plain, judged = spaces({"csls": 1.0})
    assert torch.equal(judged.search(ROWS, 50).rows, plain.search(ROWS, 50).rows)
    gold = ROWS[:, None]
    assert torch.equal(judged.ranks(ROWS, gold), plain.ranks(ROWS, gold))


WEIGHTS = {"csls": 0.2, "first": 1.0, "second back": 0.5, "behind back": 1.0, "frequency": -0.5, "letters": 0.3}


@pytest.mark.parametrize("direction", list(Direction))
def test_all_ways_to_ask_say_the_same(direction):
    _, judged = spaces(WEIGHTS)
    space = judged if direction is Direction.FORWARD else judged.swapped()
    hits = space.search(ROWS, LIST)
    assert (hits.confidence.diff(dim=1) <= 1e-6).all()
    best = space.search_best(ROWS)
    assert torch.equal(best.rows, hits.rows[:, :1])
    torch.testing.assert_close(best.confidence, hits.confidence[:, :1])
    torch.testing.assert_close(best.scores, hits.scores[:, :1])
    scored = space.score(ROWS, hits.rows[:, :4])
    torch.testing.assert_close(scored.confidence, hits.confidence[:, :4])
    torch.testing.assert_close(scored.scores, hits.scores[:, :4])
    assert torch.equal(space.ranks(ROWS, hits.rows[:, 2:3]), torch.full((len(ROWS),), 2))
    assert space.swapped().swapped() is space


def test_a_word_outside_the_vocabulary_is_judged_by_its_vector_and_spelling():
    _, judged = spaces({"csls": 1.0})
    known, new = judged.search(ROWS, 5), judged.search(judged.source[ROWS], 5, words=["new"] * len(ROWS))
    assert torch.equal(known.rows, new.rows)
    assert new.confidence.shape == (len(ROWS), 5)


@pytest.mark.parametrize("direction", list(Direction))
def test_the_best_candidate_is_ahead_of_the_second_however_sums_are_rounded(direction):
    _, judged = spaces(WEIGHTS)
    space = judged if direction is Direction.FORWARD else judged.swapped()
    query, hits = space._query(ROWS, None), space.plain.search(ROWS, LIST)
    ahead, behind = describe(space.judges.panel, space.plain, direction, query, hits.rows, _top(hits, query))[
        ..., 1:3
    ].unbind(-1)
    assert (ahead[:, 0] > 0).all()
    assert (behind[:, 0] == 0).all()
    assert (ahead[:, 1:] == 0).all()


def test_other_criteria_are_not_judged():
    plain, judged = spaces(WEIGHTS)
    assert judged.search(ROWS, 3, "cosine").confidence is None
    assert torch.equal(judged.search(ROWS, 3, "isf").rows, plain.search(ROWS, 3, "isf").rows)


def test_foreign_words_are_no_answers():
    foreign = {Side.SOURCE: torch.zeros(N), Side.TARGET: torch.zeros(M)}
    foreign[Side.TARGET][ROWS] = 0.9
    _, judged = spaces({"csls": 1.0}, foreign)
    assert not torch.isin(judged.search(ROWS, 1).rows, ROWS).any()


def test_a_word_spelt_alike_is_a_candidate_however_far_its_vector_is():
    plain, judged = spaces({"csls": 1.0, "alike": 5.0})
    words = judged.judges.panel.facts.words
    far = int(plain.search(torch.tensor([7]), M).rows[0, -1])
    words[Side.TARGET][far] = "Oné7"
    hits = judged.search(torch.tensor([7, 8]), 40)
    assert int(hits.rows[0, 0]) == far
    assert len(set(hits.rows[0].tolist())) == 40
    assert torch.equal(hits.rows[1], plain.search(torch.tensor([8]), 40).rows[0])
    torch.testing.assert_close(hits.scores[0, :1], plain.score(torch.tensor([7]), torch.tensor([[far]])).scores[0])
    assert int(judged.search(torch.tensor([7]), M).rows.unique().numel()) == M


@pytest.mark.parametrize("mode", ["mutual", "forward", "backward", "union"])
def test_a_dictionary_is_made_of_judged_answers(mode):
    _, judged = spaces(WEIGHTS)
    found, sure = induce_judged(judged, mode=mode, count=1, rank_by="confidence")
    assert (sure.diff(dim=0) <= 1e-6).all()
    there = judged.search(torch.arange(N), 1).rows[:, 0]
    back = judged.swapped().search(torch.arange(M), 1).rows[:, 0]
    forward, backward = {(i, int(t)) for i, t in enumerate(there)}, {(int(s), i) for i, s in enumerate(back)}
    expected = {"forward": forward, "backward": backward, "union": forward | backward, "mutual": forward & backward}
    assert set(map(tuple, found.rows.tolist())) == expected[mode]
    again = judged.score(found.rows[:, 0], found.rows[:, 1:])
    torch.testing.assert_close(again.confidence, sure)


def test_judges_come_back_from_their_state():
    foreign = {Side.SOURCE: torch.rand(N), Side.TARGET: torch.rand(M) / 3}
    plain, judged = spaces(WEIGHTS, foreign)
    values, tensors = judged.judges.state()
    again = Judges.from_state(judged.judges.panel.facts.words, values, tensors)
    found = JudgedSpace(plain, again, Direction.FORWARD).search(ROWS, 5)
    assert torch.equal(found.confidence, judged.search(ROWS, 5).confidence)
    values["judges"]["forward"]["features"][0] = "another"
    with pytest.raises(ValueError, match="another"):
        Judges.from_state(judged.judges.panel.facts.words, values, tensors)
