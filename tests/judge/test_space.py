"""A judged space: every way to ask it says the same, and a judge of CSLS alone changes nothing."""

import pytest
import torch
from tests.search.watched import Watched

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


@pytest.mark.parametrize("k", [1, LIST, LIST + 3, M])
def test_scores_and_cosines_are_those_of_the_words_found(k):
    plain, judged = spaces(WEIGHTS)
    hits = judged.search(ROWS, k)
    assert hits.rows.shape == hits.confidence.shape == (len(ROWS), k)
    wanted = plain.score(ROWS, hits.rows)
    torch.testing.assert_close(hits.scores, wanted.scores)
    torch.testing.assert_close(hits.cosines, wanted.cosines)
    assert hits.confidence[:, :30].all()
    assert not hits.confidence[:, 30:].any()  # the rest follows by CSLS, and is not judged
    assert torch.equal(hits.rows[:, LIST:], plain.search(ROWS, k).rows[:, LIST:])


def test_a_judge_that_knows_nothing_leaves_the_order_of_csls():
    plain, judged = spaces({})
    assert torch.equal(judged.search(ROWS, M).rows, plain.search(ROWS, M).rows)
    assert torch.equal(judged.search(ROWS).rows, plain.search(ROWS, 1).rows)
    assert judged.source is plain.source  # nothing is copied
    assert judged.target is plain.target
    assert judged.unjudged is plain
    assert plain.unjudged is plain


def test_the_two_best_scores_are_those_of_csls():
    plain, judged = spaces(WEIGHTS)
    scores = plain.source[ROWS] @ plain.target.T - plain.means[1] / 2
    for k in (2, LIST):
        found = _top(plain.search(ROWS, k), judged._query(ROWS, None))
        torch.testing.assert_close(found, scores.sort(dim=1, descending=True).values[:, :2])


def test_the_table_keeps_the_probabilities_of_the_two_best():
    _, judged = spaces(WEIGHTS)
    hits = judged.search(ROWS, 2)
    best, sure = judged.best.look_up(ROWS)
    assert torch.equal(best, hits.rows[:, 0])
    torch.testing.assert_close(sure, hits.confidence)
    assert judged.best is judged.best


def test_nothing_asked_nothing_found():
    _, judged = spaces(WEIGHTS)
    nothing = ROWS[:0]
    assert judged.search(nothing, 3).rows.shape == (0, 3)
    assert judged.score(nothing, nothing[:, None]).rows.shape == (0, 1)
    assert judged.ranks(nothing, nothing[:, None]).shape == (0,)


def test_a_single_word_to_answer_with():
    words = {Side.SOURCE: ["a", "b"], Side.TARGET: ["c"]}
    panel = Panel((), WordFacts(words, None, None))
    by = {way: Judge(Weights(panel.names(way), (1.0,) * len(panel.names(way)), 0.0)) for way in Direction}
    for queries, words in ((torch.tensor([1, 0]), None), (torch.eye(2), ["x", "y"])):
        space = JudgedSpace(BilingualSpace(torch.eye(2), torch.ones(1, 2)), Judges(panel, by), Direction.FORWARD)
        hits = space.search(queries, 1, words=words)
        assert hits.rows.tolist() == [[0], [0]]
        assert torch.isfinite(hits.confidence).all()


def test_ranks_by_other_criteria_and_of_words_that_are_not_listed():
    plain, judged = spaces(WEIGHTS)
    gold = torch.stack([ROWS, (ROWS + 7) % M], dim=1)
    for criterion in ("cosine", "isf"):
        assert torch.equal(judged.ranks(ROWS, gold, criterion), plain.ranks(ROWS, gold, criterion))
    far = plain.search(ROWS, M).rows[:, [LIST, M - 1]]
    assert torch.equal(judged.ranks(ROWS, far), torch.full((len(ROWS),), LIST))


def test_blocks_change_nothing(monkeypatch):
    _, judged = spaces(WEIGHTS)
    targets, vectors, words = (
        torch.arange(4).expand(len(ROWS), 4),
        judged.source[ROWS],
        [f"w{i}" for i in ROWS.tolist()],
    )
    whole = judged.search(ROWS, 5), judged.search(vectors, 5, words=words), judged.score(ROWS, targets)
    monkeypatch.setattr("lnmap.judge.space.ROWS", 7)
    parts = judged.search(ROWS, 5), judged.search(vectors, 5, words=words), judged.score(ROWS, targets)
    for one, other in zip(whole, parts, strict=True):
        assert torch.equal(one.rows, other.rows)
        torch.testing.assert_close(one.confidence, other.confidence)
        torch.testing.assert_close(one.scores, other.scores)


def test_vectors_without_words_are_judged_by_the_vectors():
    _, judged = spaces({"csls": 1.0, "alike": 5.0})
    vectors = 3 * judged.source[ROWS]
    bare, unnamed = judged.search(vectors, 5), judged.search(vectors, 5, words=[""] * len(ROWS))
    assert torch.equal(bare.confidence, unnamed.confidence)
    named = judged.search(vectors, 5, words=[f"TWO{M - 1}"] * len(ROWS))
    assert (named.rows[:, 0] == M - 1).all()  # spelt like a word that is near to none of them


def test_given_targets_are_judged_beside_the_usual_ones():
    """What is asked for twice, or listed anyway, does not compete with itself."""
    plain, judged = spaces(WEIGHTS)
    listed = judged.search(ROWS, LIST)
    far = plain.search(ROWS, M).rows[:, -1:]
    alone = judged.score(ROWS, listed.rows[:, :1]).confidence
    torch.testing.assert_close(alone, listed.confidence[:, :1])
    both = judged.score(ROWS, torch.cat([listed.rows[:, :1], far], dim=1)).confidence
    assert (both[:, 0] <= alone[:, 0] + 1e-6).all()
    assert (both[:, 1] > 0).all()
    cosine = judged.score(ROWS, far, "cosine")
    torch.testing.assert_close(cosine.scores, plain.score(ROWS, far, "cosine").scores)


def test_foreign_targets_have_no_probability():
    foreign = {Side.SOURCE: torch.zeros(N), Side.TARGET: torch.zeros(M)}
    foreign[Side.TARGET][ROWS] = 0.9
    _, judged = spaces({"csls": 1.0}, foreign)
    assert not judged.score(ROWS, ROWS[:, None]).confidence.any()


def test_foreign_words_are_no_answers():
    foreign = {Side.SOURCE: torch.zeros(N), Side.TARGET: torch.zeros(M)}
    foreign[Side.TARGET][ROWS] = 0.9
    _, judged = spaces({"csls": 1.0}, foreign)
    assert not torch.isin(judged.search(ROWS, 1).rows, ROWS).any()


@pytest.mark.parametrize("sign", ["</s>", "&", "1990", "—"])
def test_no_sign_translates_a_word(sign):
    plain, judged = spaces({"csls": 1.0})
    rows, words = torch.arange(8), judged.judges.panel.facts.words
    words[Side.TARGET][7] = words[Side.TARGET][6] = sign
    words[Side.SOURCE][6] = "..."
    assert torch.equal(plain.search(rows, 1).rows[:, 0], rows)
    hits = judged.search(rows, LIST)
    assert torch.equal(hits.rows[:7, 0], rows[:7])
    assert hits.rows[7, 0] not in (6, 7)
    assert judged.score(rows, rows[:, None]).confidence[6:, 0].bool().tolist() == [True, False]
    new = judged.search(plain.source[7:8].repeat(2, 1), 1, words=["word", "1991"])
    assert [int(row) == 7 for row in new.rows[:, 0]] == [False, True]


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


@pytest.mark.parametrize("place", [0, LIST - 1, LIST, LIST + 20])
def test_a_word_spelt_alike_is_listed_once_wherever_its_vector_is(place):
    plain, judged = spaces({"csls": 1.0, "alike": 5.0})
    like = int(plain.search(torch.tensor([7]), M).rows[0, place])
    judged.judges.panel.facts.words[Side.TARGET][like] = "ONE7"
    for k in (LIST, LIST + 40, M):
        rows = judged.search(torch.tensor([7]), k).rows[0].tolist()
        assert rows[0] == like
        assert len(set(rows)) == k


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


@pytest.mark.parametrize(("mode", "words"), [("mutual", N + M), ("forward", N)])
def test_inducing_says_how_far_it_is(mode, words):
    _, judged = spaces(WEIGHTS)
    judged.progress = Watched()
    induce_judged(judged, mode=mode, count=1, rank_by="confidence")
    assert judged.progress.titles == ["inducing"]
    assert judged.progress.tasks[0][1] == words


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
