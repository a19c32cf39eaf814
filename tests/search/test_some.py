"""Means of some words give the answers of the means of all."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from lnmap import retrieve
from lnmap.normalize import unit
from lnmap.retrieve import BilingualSpace
from lnmap.search import some
from lnmap.search.near import means_of, means_of_both
from lnmap.search.some import SomeMeans

K = 10


def vectors(n, seed, hubs=0):
    """Return unit vectors of falling variances; the last ones are near to everything."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 20, generator=generator) * torch.linspace(1.5, 0.3, 20) + 0.3
    if hubs:
        x[-hubs:] = 0.3 * x[-hubs:] + x.mean(dim=0)
    return unit(x)


@pytest.fixture
def sides():
    return vectors(700, 0), vectors(900, 1, hubs=60)


@pytest.fixture
def spaces(sides, monkeypatch):
    """The same space with all means, and one that computes those it looks at."""
    monkeypatch.setattr(retrieve, "_PER_WORD", 0)
    monkeypatch.setattr(some, "_BATCH", 8)
    known = BilingualSpace(*sides, scaled=True, means=means_of_both(*sides, K))
    return known, BilingualSpace(*sides, scaled=True)


def test_means_are_those_of_the_whole_pass(sides):
    x, y = sides
    means, near = means_of(y[5:40], x, K)
    assert torch.equal(means, means_of_both(x, y, K)[1][5:40])
    assert torch.equal(near.sort(dim=1).values, (y[5:40] @ x.T).topk(K, dim=1).indices.sort(dim=1).values)


def test_bounds_are_below_the_means(sides):
    x, y = sides
    means, found = means_of_both(x, y, K)[1], SomeMeans(y, x, K)
    for rows in (torch.tensor([3, 899]), torch.arange(40)):
        assert torch.equal(found.of(rows), means[rows])
        assert (found.low <= means).all()
    assert int(found.known.sum()) == 41
    assert found.low[~found.known].mean() > 0


@pytest.mark.parametrize("k", [1, 5, 30, 900])
def test_a_search_finds_the_same(spaces, k):
    known, lazy = spaces
    rows = torch.arange(0, 700, 70)
    one, other = known.search(rows, k), lazy.search(rows, k)
    assert torch.equal(one.rows, other.rows)
    torch.testing.assert_close(one.scores, other.scores)
    torch.testing.assert_close(one.cosines, other.cosines)
    assert lazy.known_means is None
    by_vector = lazy.search(lazy.source[rows], k)
    assert torch.equal(by_vector.rows, one.rows)


def test_a_search_looks_at_few_words(spaces):
    _, lazy = spaces
    lazy.search(torch.tensor([7]), 3)
    assert 3 <= int(lazy._some.known.sum()) < 300


def test_scores_and_ranks_are_the_same(spaces):
    known, lazy = spaces
    rows = torch.tensor([3, 300, 699, 7])
    gold = torch.tensor([[5, 880], [300, -1], [1, 2], [0, -1]])
    for criterion in ("csls", "cosine"):
        one, other = (space.score(rows, gold.clamp_min(0), criterion) for space in spaces)
        torch.testing.assert_close(one.scores, other.scores)
        torch.testing.assert_close(one.cosines, (known.source @ known.target.T)[rows[:, None], gold.clamp_min(0)])
        torch.testing.assert_close(other.cosines, one.cosines)
        assert torch.equal(known.ranks(rows, gold, criterion), lazy.ranks(rows, gold, criterion))
        assert torch.equal(known.search(rows, 4, criterion).rows, lazy.search(rows, 4, criterion).rows)
    assert torch.equal(lazy.ranks(rows, gold), known.ranks(rows, gold, "csls"))
    torch.testing.assert_close(lazy.score(rows, gold.clamp_min(0)).scores, known.score(rows, gold.clamp_min(0)).scores)
    assert lazy._target_means is None


def test_the_other_way_has_means_of_its_own(spaces):
    known, lazy = (space.swapped() for space in spaces)
    spaces[1].search(torch.tensor([1]), 2)
    assert torch.equal(known.search(torch.tensor([4]), 5).rows, lazy.search(torch.tensor([4]), 5).rows)


def test_means_that_the_other_way_knows_are_taken(spaces):
    known, lazy = spaces
    lazy.swapped().keep_means(known.means[::-1])
    assert torch.equal(lazy.search(torch.tensor([4]), 5).rows, known.search(torch.tensor([4]), 5).rows)
    assert lazy._some is None


@pytest.mark.parametrize(("targets", "all_of_them"), [(1000, True), (1001, False)])
def test_all_means_where_there_are_a_thousand_words_for_each_asked_for(targets, all_of_them):
    space = BilingualSpace(vectors(50, 0), vectors(targets, 1), scaled=True)
    space.search(torch.tensor([7]), 3)
    assert (space._target_means is not None) == (space._some is None) == all_of_them


def test_many_words_are_searched_with_all_means(sides):
    space = BilingualSpace(*sides, scaled=True)
    space.search(torch.arange(2), 3)
    assert space._target_means is not None


def test_the_best_of_few_words_need_few_means(spaces):
    known, lazy = spaces
    rows = torch.tensor([3, 300, 699])
    one, other = (space.best.look_up(rows) for space in spaces)
    assert torch.equal(one[0], other[0])
    torch.testing.assert_close(one[1], other[1])
    torch.testing.assert_close(known.search_best(rows).scores, lazy.search_best(rows).scores)
    assert lazy._target_means is None
    lazy.keep_means(known.means)
    rest = torch.arange(700)
    assert torch.equal(known.best.look_up(rest)[0], lazy.best.look_up(rest)[0])


def test_threads_that_learn_at_once_lose_nothing(sides):
    x, y = sides
    means, found = means_of_both(x, y, K)[1], SomeMeans(y, x, K)
    parts = torch.randperm(len(y), generator=torch.Generator().manual_seed(0)).split(20)
    with ThreadPoolExecutor(8) as threads:
        assert all(
            torch.equal(some, means[rows]) for rows, some in zip(parts, threads.map(found.of, parts), strict=True)
        )
    assert torch.equal(found.low, means)


@pytest.mark.parametrize("way", ["search", "two_best", "ranks", "score", "search_best"])
def test_for_many_words_all_means_are_computed(sides, monkeypatch, way):
    monkeypatch.setattr(retrieve, "_PER_WORD", 100)
    monkeypatch.setattr(retrieve, "_PER_PAIR", 100)
    lazy = BilingualSpace(*sides, scaled=True)
    for count, all_known in ((2, False), (20, True)):
        rows = torch.arange(count)
        getattr(lazy, way)(*((rows, rows[:, None]) if way in ("ranks", "score") else (rows,)))
        assert (lazy._target_means is not None) is all_known


def test_what_another_thread_learns_meanwhile_is_not_taken_for_known(sides):
    """A word that was known by its bound only when it was ranked is ranked again."""
    x, y = sides
    known = BilingualSpace(x, y, scaled=True, means=means_of_both(x, y, K))
    rows = torch.arange(0, 700, 35)
    right, ranks = known.search(rows, 5).rows, known.ranks(rows, rows[:, None])
    for place, row in enumerate(rows.tolist()):
        cosines, found = x[row] @ y.T, [_Disturbed(y, x, K) for _ in range(2)]
        assert torch.equal(found[0].best(cosines, 5), right[place])
        assert found[1].rank(cosines, torch.tensor([row])) == ranks[place]


class _Disturbed(SomeMeans):
    """Another thread learns all means as soon as the first bounds are read."""

    def _bound(self, cosines):
        bound = super()._bound(cosines)
        if not self.known.all():
            self.of(torch.arange(len(self.words)))
        return bound
