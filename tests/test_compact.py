"""A compact space finds what a search in all columns finds, and maps only the words that are asked for."""

import pytest
import torch

from lnmap.compact import COARSE, COMPONENTS, CompactSpace, CompactWords, MappedRows, condense
from lnmap.direction import Side
from lnmap.normalize import unit
from lnmap.retrieve import BilingualSpace

SIZES, WIDTH = {Side.SOURCE: 1500, Side.TARGET: 2000}, 500
CPU = torch.device("cpu")
ROWS = torch.arange(0, 1500, 7)


@pytest.fixture(scope="module")
def sides():
    """Two vocabularies whose columns say much the same."""
    torch.manual_seed(0)
    falling = torch.linspace(1, 0.05, WIDTH) ** 2
    x = torch.randn(SIZES[Side.SOURCE], WIDTH) * falling
    near = x + 0.5 * torch.randn_like(x) * falling
    rest = torch.randn(SIZES[Side.TARGET] - len(x), WIDTH) * falling
    return {Side.SOURCE: unit(x), Side.TARGET: unit(torch.cat([near, rest]))}


@pytest.fixture
def spaces(sides):
    """The same words in all columns and in few, and the rows that were mapped for the latter."""
    exact = BilingualSpace(sides[Side.SOURCE], sides[Side.TARGET], scaled=True)
    maps = {side: sides[side].__getitem__ for side in Side}
    few, means = condense(maps, SIZES, CPU)
    asked = {side: [] for side in Side}

    def watched(side):
        def take(rows):
            asked[side] += rows.tolist()
            return 3 * sides[side][rows]  # of any length

        return MappedRows(take, SIZES[side], WIDTH, CPU)

    words = [CompactWords(watched(side), few.basis, few.coarse[side], few.fine[side]) for side in Side]
    return exact, CompactSpace(*words, tuple(means[side] for side in Side)), asked


def test_few_columns_are_kept(sides):
    few, means = condense({side: sides[side].__getitem__ for side in Side}, SIZES, CPU, means=False)
    assert means == {}
    assert few.basis.shape == (WIDTH, COMPONENTS)
    assert few.coarse[Side.TARGET].shape == (SIZES[Side.TARGET], COARSE)
    assert few.fine[Side.TARGET].dtype == torch.float16


def test_means_are_those_of_all_columns(spaces):
    exact, compact, _ = spaces
    for one, other in zip(exact.means, compact.means, strict=True):
        assert (one - other).abs().mean() < 5e-3
        torch.testing.assert_close(one, other, rtol=0, atol=3e-2)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("criterion", ["csls", "cosine"])
def test_a_search_finds_what_all_columns_find(spaces, criterion, turned):
    exact, compact = (space.swapped() if turned else space for space in spaces[:2])
    one, other = exact.search(ROWS, 10, criterion), compact.search(ROWS, 10, criterion)
    assert (one.rows[:, 0] == other.rows[:, 0]).float().mean() > 0.99
    assert (one.rows == other.rows).float().mean() > 0.95
    torch.testing.assert_close(one.cosines[:, 0], other.cosines[:, 0], rtol=0, atol=2e-2)
    again = compact.search(compact.source[ROWS], 10, criterion)
    assert torch.equal(again.rows, other.rows)
    torch.testing.assert_close(compact.score(ROWS, other.rows, criterion).scores, other.scores)


@pytest.mark.parametrize("many", [1, 40, 700])
def test_the_nearest_by_few_columns_are_those_of_the_plain_way(spaces, many, monkeypatch):
    words, few = spaces[1].target, spaces[1].source[ROWS] @ spaces[1].target.basis
    bias = torch.rand(len(words)) / 10
    monkeypatch.setattr("lnmap.compact.fast_type", lambda vectors: vectors.dtype)
    coarse, rows = (few[:, :COARSE] @ words.coarse.T + bias).topk(max(many, 9), dim=1)
    plain = coarse + torch.einsum("qr,qmr->qm", few[:, COARSE:], words.fine[rows].float())
    scores, place = plain.topk(9, dim=1)
    found = words.nearest(few, 9, many, bias)
    assert torch.equal(found[1], rows.gather(1, place))
    torch.testing.assert_close(found[0], scores)


def test_numbers_of_half_the_precision_find_the_same(spaces, monkeypatch):
    monkeypatch.setattr("lnmap.compact.fast_type", lambda vectors: torch.bfloat16)
    _, compact, _ = spaces
    found, scores = compact.best.look_up(ROWS)
    one_by_one = [compact.two_best(row[None]) for row in ROWS]  # a few words are searched in all digits
    assert (found == torch.cat([rows[:, 0] for rows, _ in one_by_one])).float().mean() > 0.99
    torch.testing.assert_close(scores, torch.cat([own for _, own in one_by_one]), rtol=0, atol=2e-2)
    assert compact.target._rough.dtype is torch.bfloat16


def test_the_best_are_found_once(spaces):
    exact, compact, _ = spaces
    assert (exact.search_best(ROWS).rows == compact.search_best(ROWS).rows).float().mean() > 0.99
    found, scores = compact.best.look_up(ROWS)
    assert torch.equal(found, compact.search(ROWS, 1).rows[:, 0])
    assert scores.shape == (len(ROWS), 2)


def test_ranks_beyond_the_first_are_near(spaces):
    exact, compact, _ = spaces
    gold = ROWS[:, None]
    assert (exact.ranks(ROWS, gold) - compact.ranks(ROWS, gold)).abs().float().median() <= 1
    assert (exact.search(ROWS, 1, "isf").rows == compact.search(ROWS, 1, "isf").rows).float().mean() > 0.9


def test_only_words_that_are_asked_for_are_mapped_and_only_once(spaces):
    _, compact, asked = spaces
    compact.search(torch.tensor([5]), 3)
    assert asked[Side.SOURCE] == [5]
    assert 3 <= len(asked[Side.TARGET]) < 50
    compact.search(torch.tensor([5]), 3)
    assert len(asked[Side.TARGET]) == len(set(asked[Side.TARGET])) < 50
    torch.testing.assert_close(compact.source[5].norm(), torch.tensor(1.0))
