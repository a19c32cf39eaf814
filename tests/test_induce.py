from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch

import lnmap.induce
from lnmap.errors import OptionError
from lnmap.induce import MODES, induce
from lnmap.retrieve import neighbourhood_means
from lnmap.search import near


def spaces(n=90, m=70, d=8, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, d, generator=generator) * 2, torch.randn(m, d, generator=generator)


def reference(source, target, mode, max_rank=None, pool=None, k=10, count=1):
    """Every pair by its definition: loops over a float64 CSLS matrix."""
    x, y = (t.numpy().astype(np.float64)[:pool] for t in (source, target))
    x, y = (t / np.linalg.norm(t, axis=1, keepdims=True) for t in (x, y))
    cosine = x @ y.T
    r_x = np.sort(cosine, axis=1)[:, ::-1][:, :k].mean(axis=1)
    r_y = np.sort(cosine.T, axis=1)[:, ::-1][:, :k].mean(axis=1)
    csls = 2 * cosine - r_x[:, None] - r_y[None, :]
    forward = {(i, int(j)) for i in range(len(x)) for j in (-csls[i]).argsort(kind="stable")[:count]}
    backward = {(int(i), j) for j in range(len(y)) for i in (-csls[:, j]).argsort(kind="stable")[:count]}
    found = {"forward": forward, "backward": backward, "mutual": forward & backward, "union": forward | backward}[mode]
    limit = max_rank if max_rank is not None else max(len(x), len(y))
    return {(i, j): (csls[i, j], cosine[i, j]) for i, j in found if i < limit and j < limit}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("max_rank", "pool"), [(None, None), (20, None), (None, 50), (20, 50), (80, None), (500, 500), (1, None)]
)
def test_modes_equal_brute_force(mode, max_rank, pool):
    source, target = spaces()
    expected = reference(source, target, mode, max_rank, pool)
    found = induce(source, target, mode=mode, max_rank=max_rank, pool=pool)
    assert {tuple(pair) for pair in found.rows.tolist()} == set(expected)
    assert len(found) == len(expected)
    for pair, csls, cosine in zip(found.rows.tolist(), found.csls.tolist(), found.cosine.tolist(), strict=True):
        assert (csls, cosine) == pytest.approx(expected[tuple(pair)], abs=1e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dim", [3, 60])
def test_modes_equal_brute_force_on_many_words(mode, dim):
    """Far more candidates than any shortlist; in few dimensions with many near ties, in many with hubs."""
    source, target = spaces(700, 600, dim)
    target += 0.3
    found = induce(source, target, mode=mode, max_rank=400)
    assert {tuple(pair) for pair in found.rows.tolist()} == set(reference(source, target, mode, max_rank=400))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [2, 7, 100])
def test_several_translations_a_word_equal_brute_force(mode, count):
    source, target = spaces(150, 130, 20)
    target += 0.1
    found = induce(source, target, mode=mode, count=count)
    assert {tuple(pair) for pair in found.rows.tolist()} == set(reference(source, target, mode, count=count))
    if mode == "mutual":
        assert found.rows[:, 0].bincount().max() <= count
    with pytest.raises(OptionError, match="at least one translation"):
        induce(source, target, mode=mode, count=0)


@pytest.mark.parametrize("rank_by", ["csls", "cosine"])
@pytest.mark.parametrize("mode", MODES)
def test_ranking(rank_by, mode):
    found = induce(*spaces(), mode=mode, rank_by=rank_by)
    scores = getattr(found, rank_by)
    assert torch.equal(scores, scores.sort(descending=True).values)
    assert len(found.head(5)) == 5
    assert torch.equal(found.head(5).rows, found.rows[:5])
    assert len(found.head(None)) == len(found)


@pytest.mark.parametrize("rank_by", ["csls", "cosine"])
def test_equally_good_pairs_stay_in_order(rank_by):
    found = induce(torch.eye(60), torch.eye(60), rank_by=rank_by)
    assert len(found.csls.unique()) == 1
    assert found.rows.tolist() == [[row, row] for row in range(60)]


def test_known_means_change_nothing():
    source, target = spaces()
    x, y = (torch.nn.functional.normalize(t) for t in (source, target))
    means = neighbourhood_means(x, y), neighbourhood_means(y, x)
    for mode in MODES:
        assert torch.equal(induce(source, target, mode=mode, means=means).rows, induce(source, target, mode=mode).rows)


@pytest.mark.parametrize("neighbours", [3, 40])
def test_neighbours(neighbours):
    """Few, and more than a shortlist holds."""
    source, target = spaces()
    expected = reference(source, target, "mutual", k=neighbours)
    found = induce(source, target, neighbours=neighbours)
    assert {tuple(pair) for pair in found.rows.tolist()} == set(expected)


def test_finds_a_permutation(plant):
    planted = plant(n=300, d=30)
    source, target = (torch.from_numpy(side.vectors) for side in (planted.source, planted.target))
    found = induce(source @ torch.from_numpy(planted.rotation), target)
    right = {(planted.source.index[w], planted.target.index[w]) for w in planted.source.words}
    assert {tuple(pair) for pair in found.rows.tolist()} == right


@pytest.mark.parametrize("mode", MODES)
def test_nothing_to_find(mode):
    """One word on each side: nothing breaks."""
    found = induce(torch.ones(1, 3), torch.ones(1, 3), mode=mode)
    assert found.rows.tolist() == [[0, 0]]


def test_unknown_mode_and_ranking():
    with pytest.raises(OptionError, match="unknown induction mode 'best'; choose from mutual, forward"):
        induce(*spaces(), mode="best")
    with pytest.raises(OptionError, match="unknown ranking 'dot'; choose from csls, cosine"):
        induce(*spaces(), rank_by="dot")


def plain(source, target, mode, count=1, k=10):
    """Every pair by its definition, the earlier row first among equals: cosines in float64, rounded to float32."""
    x, y = (torch.nn.functional.normalize(t) for t in (source, target))
    cosine = (x.double() @ y.double().T).float()
    sides = []
    for scores in (cosine, cosine.T):
        r = scores.T.topk(min(k, scores.shape[0]), dim=1).values.double().mean(dim=1).float()
        order = (scores.double() - r / 2).sort(dim=1, descending=True, stable=True).indices[:, :count]
        sides.append([(i, j) for i, row in enumerate(order.tolist()) for j in row])
    forward, backward = set(sides[0]), {(j, i) for i, j in sides[1]}
    wanted = {"forward": forward, "backward": backward, "mutual": forward & backward, "union": forward | backward}
    return wanted[mode]


def with_doubles(n, d=10, seed=0):
    """Words with hubs, doubles and words without a vector."""
    vectors = torch.nn.functional.normalize(torch.randn(n, d, generator=torch.Generator().manual_seed(seed)) + 0.2)
    vectors[n // 3 : n // 3 + 40] = vectors[:40]
    vectors[n // 2 : n // 2 + 20] = vectors[5]
    vectors[-15:] = 0
    return vectors


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("shortlist", "count"), [(11, 1), (32, 1), (32, 3)])
def test_one_pass_gives_the_pairs_of_the_plain_way(mode, shortlist, count, dtype, monkeypatch):
    """Doubles and zeros make ties, short lists make bounds fail; the pairs stay the same."""
    monkeypatch.setattr(near, "_FEW", 0)
    monkeypatch.setattr(near, "_SAMPLE", 64)
    monkeypatch.setattr(lnmap.induce, "_SHORTLIST", shortlist)
    monkeypatch.setattr(lnmap.induce, "near_both", partial(near.near_both, dtype=dtype))
    source, target = with_doubles(500), with_doubles(400, seed=1)
    found = induce(source, target, mode=mode, count=count, scaled=True)
    assert {tuple(pair) for pair in found.rows.tolist()} == plain(source, target, mode, count)


def test_few_words_are_searched_twice(plant, monkeypatch):
    """Where translations stand out, the lists of the one pass prove nearly all answers."""
    planted = plant(n=3000, d=40)
    source, target = (torch.from_numpy(side.vectors) for side in (planted.source, planted.target))
    source = source @ torch.from_numpy(planted.rotation)
    again = []
    original = lnmap.induce.best_by_bias
    monkeypatch.setattr(
        lnmap.induce, "best_by_bias", lambda q, *a, **k: (again.append(len(q)), original(q, *a, **k))[1]
    )
    found = induce(source, target)
    assert sum(again) < 60
    assert {tuple(pair) for pair in found.rows.tolist()} == plain(source, target, "mutual")


def test_words_that_no_word_chose_are_not_searched_again(monkeypatch):
    """Short lists prove little; of the targets, a mutual pair needs those that were chosen."""
    again, original = [], lnmap.induce.best_by_bias
    monkeypatch.setattr(lnmap.induce, "_SHORTLIST", 11)
    monkeypatch.setattr(
        lnmap.induce, "best_by_bias", lambda q, *a, **k: (again.append(len(q)), original(q, *a, **k))[1]
    )
    source, target = with_doubles(500), with_doubles(400, seed=1)
    searched = {}
    for mode in ("forward", "backward", "union", "mutual"):
        induce(source, target, mode=mode, scaled=True)
        searched[mode], again[:] = sum(again), []
    assert searched["union"] == searched["forward"] + searched["backward"]
    assert searched["forward"] < searched["mutual"] < searched["union"]


@pytest.mark.parametrize("sizes", [(6000, 5), (5, 6000)])
def test_a_large_vocabulary_and_a_small_one(sizes):
    source, target = spaces(*sizes)
    found = induce(source, target, memory=1 << 20)
    assert {tuple(pair) for pair in found.rows.tolist()} == plain(source, target, "mutual")


def test_the_means_come_with_the_pairs():
    source, target = spaces()
    x, y = (torch.nn.functional.normalize(t) for t in (source, target))
    found = induce(source, target).head(3).above(-2)
    for means, expected in zip(found.means, (neighbourhood_means(x, y), neighbourhood_means(y, x)), strict=True):
        torch.testing.assert_close(means, expected)


def test_repr_is_short():
    assert repr(induce(*spaces(), mode="forward")) == "Induced(90 pairs)"


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_on_words_outside_a_list_is_its_definition(seed, monkeypatch):
    """Numbers are multiples of 1/8, full of ties and exact; the lists name words beyond `max_rank` too."""
    monkeypatch.setattr(lnmap.induce, "_ROWS", 3)
    rng = np.random.default_rng(seed)
    words, asked, candidates = 12, [12, 7, 1][seed % 3], 10
    most, limit = rng.integers(0, 8, asked) / 8, rng.integers(0, 8, candidates) / 8
    bias = rng.integers(-8, 1, candidates) / 8
    rows = np.array([np.sort(rng.choice(words, 4, replace=False)) for _ in range(candidates)])
    cosines = rng.integers(0, 9, rows.shape) / 8
    lists = near.Near(*map(torch.tensor, (rows, cosines, limit)))
    found = lnmap.induce._most_outside(torch.tensor(most), lists, torch.tensor(bias))
    for query in range(asked):
        expected = [min(most[query], limit[one]) + bias[one] for one in range(candidates)]
        expected += [
            cosine + bias[one]
            for one in range(candidates)
            for row, cosine in zip(rows[one], cosines[one], strict=True)
            if row == query and cosine <= most[query]
        ]
        assert found[query] == max(expected)


def test_a_pair_at_the_limit_is_kept():
    found = induce(*spaces())
    least = float(found.csls[3])
    assert len(found.above(least)) == int((found.csls >= least).sum()) >= 4


def test_confidence_is_a_ranking_that_models_know():
    lnmap.induce.check_wanted("mutual", 1, "confidence")
