"""The kind of word that answers are: learnt from words whose translations are known, kept with the judges."""

import torch

from lnmap.direction import Direction, Side
from lnmap.judge import Judge, JudgedSpace, Judges, Panel, WordFacts
from lnmap.judge.kinds import Kinds
from lnmap.judge.logit import Weights
from lnmap.judge.panel import KIND, Columns
from lnmap.methods.auto.judging import Outcomes, fit_judge
from lnmap.retrieve import BilingualSpace

WORDS, WIDTH, HELD, LISTED = 800, 30, 400, 10
NAMES = ("csls",)


def planted(seed: int) -> tuple[Kinds, Outcomes, torch.Tensor]:
    """Words of which one half lies along a direction, and lists of near words whose right answer is in that half."""
    g = torch.Generator().manual_seed(seed)
    base = torch.arange(WORDS) % 2 == 0
    vectors = torch.randn(WORDS, WIDTH, generator=g)
    vectors[:, 3] += torch.where(base, 2.0, -2.0)
    candidates = torch.randint(1, WORDS // 2, (HELD, LISTED), generator=g) * 2 + 1  # none of that half
    place = torch.randint(LISTED, (HELD,), generator=g)
    candidates[torch.arange(HELD), place] -= 1
    right = torch.zeros(HELD, LISTED, dtype=torch.bool)
    right[torch.arange(HELD), place] = True
    features = torch.randn(HELD, LISTED, 1, generator=g)
    there = torch.ones_like(right)
    return Kinds(vectors), Outcomes(features, there, right, torch.arange(HELD), candidates), base


def test_learns_which_kind_of_word_answers_are():
    kinds, found, base = planted(0)
    judge, weights = fit_judge(NAMES, found, kinds, True)
    liked = kinds.scores(weights)
    assert judge.weights.names == (*NAMES, KIND)
    assert liked[base].mean() > liked[~base].mean() + 1
    features = torch.cat([found.features, liked[found.candidates][..., None]], dim=-1)
    best = judge.softmax(features, found.there).argmax(dim=1, keepdim=True)
    assert found.right.gather(1, best).float().mean() > 0.9


def test_scores_are_the_weighted_coordinates():
    kinds, found, _ = planted(1)
    weights = torch.randn(len(kinds.names))
    rows = found.candidates[:5]
    torch.testing.assert_close(kinds.scores(weights)[rows], kinds.coordinates(rows) @ weights, atol=1e-4, rtol=1e-4)


def test_fewer_words_than_dimensions():
    kinds = Kinds(torch.randn(12, 40))
    assert 0 < len(kinds.names) <= 12
    assert torch.isfinite(kinds.coordinates(torch.arange(12))).all()


def test_coordinates_of_frequent_words_have_one_spread_and_nothing_in_common():
    """Those of the first 5 000 words, in the hundred directions in which they differ most; rarer words have no say."""
    g = torch.Generator().manual_seed(5)
    vectors = torch.randn(5600, 130, generator=g) * torch.linspace(2, 0.5, 130)
    vectors[5000:, 129] += 30
    kinds = Kinds(vectors)
    assert kinds.names == tuple(f"kind {i}" for i in range(100))
    found = kinds.coordinates(torch.arange(5000)).double()
    moments = found.T @ found / 5000
    torch.testing.assert_close(moments, 0.25 * torch.eye(100).double(), atol=1e-3, rtol=0)


def test_directions_without_spread_say_nothing():
    g = torch.Generator().manual_seed(6)
    spreads = torch.tensor([1.0] * 8 + [2e-3, 5e-4])  # of variance 4e-6 and 2.5e-7 of the largest
    assert len(Kinds(torch.randn(3000, 10, generator=g) * spreads).names) == 9
    nothing = Kinds(torch.zeros(5, 4))
    assert nothing.names == ()
    assert nothing.coordinates(torch.arange(5)).shape == (5, 0)


def test_the_kind_decides_between_equals_and_is_kept():
    g = torch.Generator().manual_seed(2)
    x = torch.randn(50, 8, generator=g)
    y = torch.cat([x, x])  # each word twice
    words = {Side.SOURCE: [f"a{i}" for i in range(50)], Side.TARGET: [f"b{i}" for i in range(100)]}
    liked = (torch.arange(100) >= 50).float()
    panel = Panel((Columns("only", None, 0, 8, 1.0),), WordFacts(words, None, None), {Side.TARGET: liked})
    by = {}
    for direction in Direction:
        names = panel.names(direction)
        by[direction] = Judge(Weights(names, tuple({"csls": 1.0, KIND: 1.0}.get(name, 0.0) for name in names), 0.0))
    rows = torch.arange(50)
    judges = Judges(panel, by)
    again = Judges.from_state(words, *judges.state())
    for one in (judges, again):
        found = JudgedSpace(BilingualSpace(x, y), one, Direction.FORWARD).search(rows, 1).rows[:, 0]
        assert torch.equal(found, rows + 50)
