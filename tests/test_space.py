"""A space: what it computes for whole vocabularies is computed once, and shared by both ways to search it."""

from __future__ import annotations

import pytest
import torch

from lnmap import retrieve
from lnmap.normalize import unit
from lnmap.retrieve import BilingualSpace


def rows(n, d=16, seed=0):
    return unit(torch.randn(n, d, generator=torch.Generator().manual_seed(seed)))


def test_known_means_are_used_and_not_computed(monkeypatch):
    means = torch.zeros(40), torch.zeros(30)
    space = BilingualSpace(rows(40), rows(30), means=means)
    monkeypatch.setattr(space, "_mean", None)
    assert [a is b for a, b in zip(space.means, means, strict=True)] == [True, True]
    assert not space.bias("csls").any()


def test_rows_are_searched_like_their_vectors():
    generator = torch.Generator().manual_seed(0)
    space = BilingualSpace(torch.randn(50, 8, generator=generator), torch.randn(60, 8, generator=generator))
    rows = torch.tensor([3, 0, 49])
    before = space.search(rows, 5)
    assert torch.equal(space.search(rows).rows, before.rows[:, :1])
    by_vector = space.search(space.source[rows], 5)
    _ = space.means
    for hits in (before, space.search(rows, 5), space.search(space.source[rows], 5)):
        assert torch.equal(hits.rows, by_vector.rows)
        assert torch.allclose(hits.scores, by_vector.scores, atol=1e-6)
        assert torch.allclose(hits.cosines, by_vector.cosines, atol=1e-6)


def test_best_answers_are_searched_once(monkeypatch):
    generator = torch.Generator().manual_seed(0)
    space = BilingualSpace(torch.randn(50, 8, generator=generator), torch.randn(60, 8, generator=generator))
    assert space.swapped().swapped() is space.unjudged is space
    assert len(space.best) == 50
    assert torch.equal(space.swapped().means[0], space.means[1])
    rows = torch.tensor([3, 0, 49, 3])
    best, scores = space.best.look_up(rows)
    found = space.search(rows, 2)
    assert torch.equal(best, found.rows[:, 0])
    assert torch.allclose(2 * scores - space.means[0][rows][:, None], found.scores, atol=1e-6)
    assert space.best.known.tolist() == [0, 3, 49]
    monkeypatch.setattr(retrieve, "top_k", None)  # nothing is searched again
    assert torch.equal(space.best.look_up(rows)[0], best)
    assert torch.equal(space.best.rivals(rows, best), scores[:, 1])
    assert torch.equal(space.best.rivals(rows, best + 1), scores[:, 0])
    answers = space.search_best(rows)
    assert torch.equal(answers.rows, found.rows[:, :1])
    assert torch.allclose(answers.scores, found.scores[:, :1], atol=1e-6)
    assert torch.allclose(answers.cosines, found.cosines[:, :1], atol=1e-6)


@pytest.fixture
def computed(monkeypatch):
    """List what is computed of neighbourhood means: "both" sides in one pass, or the number of words of "one"."""
    calls = []
    both, one = retrieve.means_of_both, retrieve.neighbourhood_means
    monkeypatch.setattr(retrieve, "means_of_both", lambda *a, **k: (calls.append("both"), both(*a, **k))[1])
    monkeypatch.setattr(retrieve, "neighbourhood_means", lambda *a, **k: (calls.append(len(a[0])), one(*a, **k))[1])
    return calls


def expected_means(space):
    scores = space.source @ space.target.T
    return [s.sort(dim=1, descending=True).values[:, :10].mean(dim=1) for s in (scores, scores.T)]


def test_means_of_both_sides_are_computed_once_and_shared(computed):
    space = BilingualSpace(rows(40), rows(30, seed=1))
    other = space.swapped()
    assert space.known_means is other.known_means is None
    found = space.means
    for own, wanted in zip(found, expected_means(space), strict=True):
        torch.testing.assert_close(own, wanted)
    assert [a is b for a, b in zip(other.known_means, found[::-1], strict=True)] == [True, True]
    assert [a is b for a, b in zip(other.means, found[::-1], strict=True)] == [True, True]
    assert space.target_means is found[1]
    assert computed == ["both"]


def test_a_side_that_is_known_is_not_computed_again(computed):
    for first_from_the_other_side in (False, True):
        computed.clear()
        space = BilingualSpace(rows(40), rows(30, seed=1))
        other = space.swapped()
        (other if first_from_the_other_side else space).target_means.sum()
        assert space.known_means is None
        for own, wanted in zip(space.means, expected_means(space), strict=True):
            torch.testing.assert_close(own, wanted)
        for own, wanted in zip(other.means, expected_means(other), strict=True):
            torch.testing.assert_close(own, wanted)
        assert computed == ([40, 30] if first_from_the_other_side else [30, 40])


def test_ranking_from_either_side_shares_its_means(computed):
    space = BilingualSpace(rows(40), rows(30, seed=1))
    other = space.swapped()
    _ = other.means
    assert space.bias("csls") is not None
    assert computed == ["both"]


def test_every_answer_is_kept_whichever_row_it_is(monkeypatch):
    space = BilingualSpace(torch.eye(5), torch.eye(5), neighbours=1)
    assert not space.best.complete
    space.best.look_up(torch.arange(4))
    assert space.best.known.tolist() == [0, 1, 2, 3]
    assert not space.best.complete
    assert space.best.look_up(torch.arange(5))[0].tolist() == [0, 1, 2, 3, 4]
    assert space.best.complete
    _ = space.means
    monkeypatch.setattr(retrieve, "top_k", None)  # nothing is searched again
    assert space.search_best(torch.arange(5)).rows.tolist() == [[0], [1], [2], [3], [4]]


def test_a_single_candidate_is_its_own_rival():
    table = BilingualSpace(torch.eye(3), torch.ones(1, 3)).best
    best, scores = table.look_up(torch.tensor([0, 2]))
    assert best.tolist() == [0, 0]
    assert torch.equal(scores[:, 0], scores[:, 1])
