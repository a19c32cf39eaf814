"""What a judge looks at: the features of vectors against their definitions, from both sides, and their names."""

from __future__ import annotations

import json

import pytest
import torch

from lnmap.compact import MappedRows
from lnmap.direction import Direction, Side
from lnmap.judge import Judge, Judges, Panel, WordFacts
from lnmap.judge.logit import Weights
from lnmap.judge.panel import KIND, Columns, Query, describe, gathered, with_spelt_alike
from lnmap.retrieve import BilingualSpace
from lnmap.spelling import Letters

N, M, WIDTH = 150, 90, 6  # more words than are described at a time
SPACE = ("csls", "ahead", "behind", "ahead back", "behind back")
SPREADS = {"csls": 0.1, "ahead": 0.05, "behind": 0.1, "ahead back": 0.05, "behind back": 0.1, "letters": 2.0}
SPREADS |= {"alike": 0.3, "alike and rare": 0.5, "alike but rarer": 0.5, "length apart": 0.2, "foreign": 0.3}
COLUMNS = (
    Columns("both", None, 0, 2, 0.5),
    Columns("there", Direction.FORWARD, 2, 5, 0.25),
    Columns("other", Direction.BACKWARD, 5, WIDTH, 0.3),
)


@pytest.fixture(scope="module")
def space() -> BilingualSpace:
    g = torch.Generator().manual_seed(0)
    return BilingualSpace(torch.randn(N, WIDTH, generator=g), torch.randn(M, WIDTH, generator=g))


def facts(letters: Letters | None = None, foreign=None) -> WordFacts:
    words = {Side.SOURCE: [f"a{i}" for i in range(N)], Side.TARGET: [f"b{i}" for i in range(M)]}
    words[Side.TARGET][7] = "A3"
    return WordFacts(words, letters, foreign)


def ask(space: BilingualSpace, rows: torch.Tensor, k: int = 4) -> tuple[Query, torch.Tensor, torch.Tensor]:
    """Words, some candidates of them and the two best scores `cosine + bias`."""
    scores = space.source[rows] @ space.target.T - space.means[1] / 2
    top, order = scores.sort(dim=1, descending=True)
    candidates = torch.cat([order[:, : k - 1], order[:, -1:]], dim=1)
    return Query(rows, space.source[rows], space.means[0][rows]), candidates, top[:, :2]


@pytest.mark.parametrize("direction", Direction)
def test_features_by_hand(space, direction):
    """Against the whole score matrix; each divided by its usual spread."""
    space = space if direction is Direction.FORWARD else space.swapped()
    liked = torch.linspace(-1, 2, len(space.target))
    panel = Panel(COLUMNS, facts(), {direction.answering: liked})
    rows = torch.arange(0, len(space.source), 1)
    query, candidates, top = ask(space, rows)
    found = describe(panel, space, direction, query, candidates, top)
    names = panel.names(direction)
    assert found.shape == (len(rows), 4, len(names))
    csls = 2 * space.source @ space.target.T - space.means[0][:, None] - space.means[1]
    words = panel.facts.describe(direction.asked, rows, candidates)
    for i in (0, 1, 63, 64, 65, 89):
        for j, t in enumerate(candidates[i].tolist()):
            ahead = float(csls[i, t] - max(csls[i, u] for u in range(len(space.target)) if u != t))
            back = float(csls[i, t] - max(csls[u, t] for u in range(len(space.source)) if u != i))
            products = space.source[i] * space.target[t]
            values = [float(csls[i, t]) / 0.1, max(ahead, 0) / 0.05, min(ahead, 0) / 0.1]
            values += [max(back, 0) / 0.05, min(back, 0) / 0.1]
            values += [float(products[:2].sum()) / 0.5 / 0.1, float(products[2:5].sum()) / 0.25 / 0.1]
            values += [float(products[5:].sum()) / 0.3 / 0.1, *words[i, j].tolist(), float(liked[t])]
            assert found[i, j].tolist() == pytest.approx(values, abs=1e-3)


@pytest.mark.parametrize("direction", Direction)
def test_names_say_which_way_a_system_was_made_for(direction):
    forward = direction is Direction.FORWARD
    systems = ("both", "there", "other back") if forward else ("both", "there back", "other")
    frequency = ("frequency", "rarer", "frequency apart")
    assert Panel(COLUMNS, facts()).names(direction) == (*SPACE, *systems, *frequency)
    liked = Panel(COLUMNS, facts(), {direction.answering: torch.zeros(M)})
    assert liked.names(direction) == (*SPACE, *systems, *frequency, "kind")
    assert liked.names(direction.opposite)[-1] == "frequency apart"


def test_every_feature_has_its_spread():
    panel = Panel(COLUMNS, facts(Letters.fit([], [])), {Side.TARGET: torch.zeros(M)})
    names = panel.names(Direction.FORWARD)
    spreads = SPREADS | {"both": 0.1, "there": 0.1, "other back": 0.1}
    wanted = [spreads.get(name, 1.0) for name in names]
    assert panel.scales(Direction.FORWARD).tolist() == pytest.approx(wanted)


def test_no_words_have_no_features(space):
    panel = Panel(COLUMNS, facts())
    query, candidates, top = ask(space, torch.arange(0))
    found = describe(panel, space, Direction.FORWARD, query, candidates, top)
    assert found.shape == (0, 4, len(panel.names(Direction.FORWARD)))


def test_vectors_are_gathered_from_a_table_and_from_words_mapped_when_asked_for(space):
    mapped = MappedRows(lambda rows: space.target[rows], M, WIDTH, space.target.device)
    rows = torch.tensor([[4, 0], [2, 2]])
    for words in (space.target, mapped):
        found = gathered(words, rows)
        torch.testing.assert_close(found, space.target[rows])
        found.zero_()  # a copy: callers multiply it in place
        assert gathered(words, rows).any()


def test_part_of_a_query():
    query = Query(torch.arange(5), torch.eye(5), torch.arange(5.0), list("abcde"))
    part = query[1:3]
    assert (part.rows.tolist(), part.means.tolist(), part.spelt) == ([1, 2], [1.0, 2.0], ["b", "c"])
    assert torch.equal(part.vectors, torch.eye(5)[1:3])
    assert Query(query.rows, query.vectors, query.means)[2:].spelt is None


def test_the_word_spelt_alike_is_added_where_it_is_missing():
    known, rows = facts(Letters.fit([], [])), torch.tensor([3, 3, 4])
    query = Query(rows, torch.zeros(3, 1), torch.zeros(3))
    candidates = torch.tensor([[1, 2], [2, 7], [1, 2]])
    every, there = with_spelt_alike(known, Side.SOURCE, query, candidates, M)
    assert torch.equal(every[:, :2], candidates)
    assert int(every[0, 2]) == 7
    assert there.tolist() == [[True, True, True], [True, True, False], [True, True, False]]
    assert every.min() >= 0
    for size, found in ((8, True), (7, False)):  # only words that can be found count
        assert with_spelt_alike(known, Side.SOURCE, query, candidates, size)[1][0].tolist() == [True, True, found]
    spelt = Query(torch.full((3,), -1), torch.zeros(3, 1), torch.zeros(3), ["B5", "nowhere", "á3"])
    every, there = with_spelt_alike(known, Side.SOURCE, spelt, candidates, M)
    assert there[:, -1].tolist() == [True, False, True]
    assert (int(every[0, -1]), int(every[2, -1])) == (5, 7)


def test_a_foreign_word_is_no_answer_even_if_spelt_alike():
    foreign = {Side.TARGET: torch.zeros(M)}
    foreign[Side.TARGET][[7, 2]] = 0.8
    known = facts(Letters.fit([], []), foreign)
    query = Query(torch.tensor([3]), torch.zeros(1, 1), torch.zeros(1))
    _, there = with_spelt_alike(known, Side.SOURCE, query, torch.tensor([[1, 2]]), M)
    assert there.tolist() == [[True, False, False]]


def test_state_is_plain_json_and_gives_the_same_again():
    panel = Panel(COLUMNS, facts(), {Side.TARGET: torch.arange(3.0)})
    by = {}
    for direction in Direction:
        names = panel.names(direction)
        by[direction] = Judge(Weights(names, tuple(float(i) for i in range(len(names))), 1.0), outcomes=3)
    judges = Judges(panel, by, 700)
    values, tensors = judges.state()
    assert values["columns"][0] == {"name": "both", "direction": None, "start": 0, "stop": 2, "weight": 0.5}
    assert values["columns"][1]["direction"] == "forward"
    assert set(values) == {"columns", "facts", "judges", "among"}
    assert set(values["judges"]) == {"forward", "backward"}
    assert set(tensors) == {f"{KIND}.target"} == {"kind.target"}
    again = Judges.from_state(panel.facts.words, json.loads(json.dumps(values)), tensors)
    assert again.panel.columns == COLUMNS
    assert [type(part.direction) for part in again.panel.columns[1:]] == [Direction, Direction]
    assert again.by == by
    assert again.among == 700
    assert Judges.from_state(panel.facts.words, {**values, "among": None}, tensors).among is None
    assert Judges.from_state(panel.facts.words, {**values, "among": 1}, tensors).among == 1
    with pytest.raises(ValueError, match="learnt among 0 words"):
        Judges.from_state(panel.facts.words, {**values, "among": 0}, tensors)
    assert torch.equal(again.panel.kinds[Side.TARGET], torch.arange(3.0))
    with pytest.raises(ValueError, match="a judge of the features"):
        Judges.from_state(panel.facts.words, values, {})  # without the kinds
