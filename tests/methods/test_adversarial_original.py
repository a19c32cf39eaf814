"""The profile `original` of the adversarial methods does what the authors' programs do."""

from __future__ import annotations

import math

import pytest
import torch

from lnmap.methods import aae, adversarial, bliss
from lnmap.methods.aae import Aae, cycle_gradient
from lnmap.methods.adversarial import AdversarialOptions, Game, forward_matches, mean_cosine, play
from lnmap.methods.base import Run
from lnmap.methods.bliss import Bliss, SeedLoss
from lnmap.methods.muse_unsup import MuseUnsup
from lnmap.methods.procrustes import rotate_pairs
from lnmap.methods.vecmap.mapping import multi_step
from lnmap.normalize import unit

TINY = {"epochs": 1, "iterations": 2, "batch": 8, "dis_hidden": 8}
SMALL = TINY | {"code": 16, "ae_steps": 5}
NO_PAIRS = torch.empty(0, 2, dtype=torch.long)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def noise(n=150, d=12, seed=0):
    return torch.randn(n, d, generator=generator(seed))


def original(method, **changes):
    return method(method.Options().with_values(method.profiles["original"] | changes))


def rounds(run, stage, what=None):
    return [row["round"] for row in run.log if row.get("stage") == stage and row.get("what") == what]


@pytest.mark.parametrize(("method", "changes"), [(MuseUnsup, TINY), (Aae, SMALL)])
def test_a_collapsed_game_is_played_once_and_returned(method, changes):
    run = Run()
    alignment = original(method, **changes).fit(noise(seed=1), noise(seed=2), NO_PAIRS, run)
    assert torch.isfinite(alignment.map_source(noise())).all()
    assert [row["aligned"] for row in run.log if "aligned" in row] == [True]
    assert all(row.get("attempt", 1) == 1 and row.get("what") != "chance" for row in run.log)


def test_criterion_and_refinement_cut_targets_as_muse_does():
    """Word i means target i; but word 0 target 30, the last one let in, and word 1 target 31, the first left out."""
    y = unit(noise(60, 40))
    x = y.clone()
    x[0], x[1] = y[30], y[31]
    x[2] = unit((y[2] + 0.5 * y[50])[None])[0]
    cosines = torch.ones(30)
    cosines[2] = x[2] @ y[2]
    kept = torch.arange(30) != 1
    muse, ours = (AdversarialOptions(criterion_words=30, muse_ranks=flag) for flag in (True, False))
    assert mean_cosine(x, y, muse, 1 << 20) == pytest.approx(float(cosines[kept].mean()), abs=1e-6)
    assert mean_cosine(x, y, ours, 1 << 20) == pytest.approx(float(cosines.mean()), abs=1e-6)
    assert forward_matches(x, y, 30, muse, 1 << 20)[0][:2].tolist() == [[0, 30], [2, 2]]
    assert forward_matches(x, y, 30, ours, 1 << 20)[0][:2].tolist() == [[2, 2], [3, 3]]
    assert MuseUnsup.profiles["original"]["muse_ranks"]
    assert Aae.profiles["original"]["muse_ranks"]


def test_muse_refines_from_the_map_of_the_game_itself():
    """No refinement: what is returned is the best map of the game, which a large step has made no rotation."""
    changes = TINY | {"map_lr": 50.0, "refinements": 0}
    w = original(MuseUnsup, **changes).fit(noise(seed=1), noise(seed=2), NO_PAIRS, Run()).source
    rounded = original(MuseUnsup, **changes | {"orthogonal_start": True})
    near = rounded.fit(noise(seed=1), noise(seed=2), NO_PAIRS, Run()).source
    assert (w @ w.T - torch.eye(12)).abs().max() > 0.1
    torch.testing.assert_close(near @ near.T, torch.eye(12), atol=1e-5, rtol=0)


def test_an_equal_criterion_is_no_fall():
    game = Game(noise(), noise(), AdversarialOptions(dis_hidden=4, map_lr=1.0, lr_decay=1.0), generator())
    rates = []
    for score in (0.5, 0.5, 0.4, math.nan, 0.3):
        game.end_epoch(score)
        rates.append(float(game.lr))
    assert rates == [1.0, 1.0, 1.0, 1.0, 0.5]


@pytest.mark.parametrize(("shrink", "epochs"), [(0.5, 3), (1.0, 6)])
def test_decay_has_a_floor_and_a_shrink_below_it_ends_the_game(monkeypatch, shrink, epochs):
    scores = iter([0.5, 0.4, 0.3, 0.2, 0.1, 0.0])
    monkeypatch.setattr(adversarial, "mean_cosine", lambda *_: next(scores))
    options = AdversarialOptions(
        **TINY | {"epochs": 6}, map_lr=1e-6, lr_decay=0.9, least_lr=1e-6, lr_shrink=shrink, dis_steps=1
    )
    game, run = Game(noise(), noise(), options, generator()), Run()
    play([game], run, 1)
    assert len(run.log) == epochs
    assert float(game.lr) == pytest.approx(1e-6 * shrink)
    assert MuseUnsup.profiles["original"]["least_lr"] == Aae.profiles["original"]["least_lr"] == 1e-6


def test_aae_steps_both_maps_at_once_and_orthogonalizes_both(monkeypatch):
    """One turn against autograd: fooling and cycle loss on the same words and the same maps, then both pulled."""
    options = Aae.Options(dis_hidden=4, map_lr=0.3, map_beta=0.1, joint_cycle=True)
    z = noise(8, seed=3)
    game, other = (
        Game(noise(), noise(), options, generator(s), start=torch.eye(12) + 0.1 * noise(12, 12, s)) for s in (1, 2)
    )
    monkeypatch.setattr(Game, "draw", lambda self, x: z)
    g, f = (side.w.clone().requires_grad_(True) for side in (game, other))
    logits = game.discriminator(z @ g)
    fooled = torch.nn.functional.binary_cross_entropy_with_logits(logits, torch.full_like(logits, 0.2)) / 2
    (fooled + 5 * (z - (z @ g).detach() @ f).abs().mean()).backward()
    wanted = [w.detach() - 0.3 * w.grad for w in (g, f)]
    wanted = [1.1 * w - 0.1 * w @ w.T @ w for w in wanted]
    Aae(options)._turn(game, other)
    torch.testing.assert_close(game.w, wanted[0])
    torch.testing.assert_close(other.w, wanted[1])
    assert Aae.profiles["original"]["joint_cycle"]


def test_cycle_gradient_is_that_of_the_loss():
    z, there = noise(8, 5), noise(5, 5, seed=1)
    back = noise(5, 5, seed=2).requires_grad_(True)
    (z - z @ there @ back).abs().mean().backward()
    torch.testing.assert_close(cycle_gradient(z, there, back.detach()), back.grad)


@pytest.mark.parametrize(("grows", "procrustes", "matched", "solved"), [(0.0, 22, 12, 12), (0.1, 100, 19, 20)])
def test_aae_makes_the_authors_number_of_rounds(monkeypatch, grows, procrustes, matched, solved):
    """A mean CSLS that never grows, and one that always does; the 20th re-weighting is not matched again."""
    found, calls = [], []
    rows = torch.arange(150)[:, None].expand(-1, 2)
    monkeypatch.setattr(aae, "csls_matches", lambda *_: found.append(1) or (rows, 0.5 + grows * len(found)))
    monkeypatch.setattr(aae, "multi_step", lambda *a: calls.append(1) or multi_step(*a))
    run = Run(one_way=True)
    alignment = original(Aae, **SMALL).fit(noise(), noise(seed=1), NO_PAIRS, run)
    assert len(rounds(run, "procrustes", "direction 0")) == procrustes
    assert len(rounds(run, "symmetric")) == matched
    assert len(calls) == solved
    assert alignment.norms[0].steps == ["unit", "center", "unit"] * 2  # normalised again before re-weighting


def test_aae_reweighting_must_gain_on_the_procrustes_rounds():
    x, rows = unit(noise(300)), torch.arange(300)[:, None].expand(-1, 2)
    lengths = {}
    for carry in (True, False):
        run = Run()
        Aae(Aae.Options(carry_gain=carry, tolerance=0.0))._reweight(x, x, rows, 10.0, run)
        lengths[carry] = len(rounds(run, "symmetric"))
    assert lengths[True] == 1 < lengths[False]


def test_aae_searches_the_first_dictionary_among_all_words(monkeypatch):
    """Half of the frequent words have their match beyond the limit: only a search of all words leaves them out."""
    x = noise(300, 12)
    y = torch.cat([x[:50], x[150:], x[50:150]])
    solved = []
    monkeypatch.setattr(aae, "rotate_pairs", lambda *a: solved.append(a[2]) or rotate_pairs(*a))
    for changes in ({}, {"search_all": False}):
        method = original(Aae, **SMALL, max_rank=100, rounds=1, **changes)
        method._refine(x, y, torch.eye(12), Run(), 1, "")
    assert solved[0].tolist() == [[i, i] for i in range(50)]
    assert len(solved[1]) == len(solved[2]) == 100
    assert len(solved) == 3


def test_budgets_are_those_of_the_programs():
    steps, words = Aae.profiles["original"]["ae_steps"], Bliss.profiles["original"]["most_frequent"]
    assert steps == 25 * math.ceil(1_000_000 / 128)
    assert words == 75_000 + 1  # rows 0 to 75,000


def test_bliss_start_does_not_compete(plant):
    """Steps far too long spoil a perfect start: the defaults return it, the original the best of its epochs."""
    problem = plant(n=400, d=12, noise=0.0)
    x, y = torch.from_numpy(problem.source.vectors), torch.from_numpy(problem.target.vectors)
    pairs = torch.from_numpy(problem.lexicon.rows(problem.source, problem.target))[:60]
    spoil = {"epochs": 3, "iterations": 4, "dis_hidden": 8, "rcsls_lr": 30.0, "refinements": 0}
    start = rotate_pairs(unit(x), unit(y), pairs)
    run = Run()
    kept = Bliss(Bliss.Options().with_values(spoil)).fit(x, y, pairs, Run()).source
    found = original(Bliss, **spoil).fit(x, y, pairs, run).source
    torch.testing.assert_close(kept, start)
    assert (found - start).abs().max() > 0.01
    assert run.log[1]["lr"] == pytest.approx(0.1 * 0.98)


def test_bliss_takes_the_neighbours_of_each_batch_after_its_adversarial_step(monkeypatch):
    x, y = unit(noise(200, 8)), unit(noise(200, 8, seed=1))
    pairs = torch.arange(40)[:, None].expand(-1, 2)
    fooled, searched = [], []
    fool, gradient = Game.fool, SeedLoss.gradient

    def spy_fool(self, weight):
        fool(self, weight)
        fooled.append(self.w.clone())

    def spy_gradient(self, batch, generator, w=None):
        searched.append(w.clone())
        return gradient(self, batch, generator, w)

    monkeypatch.setattr(Game, "fool", spy_fool)
    monkeypatch.setattr(bliss.SeedLoss, "gradient", spy_gradient)
    original(Bliss, epochs=1, iterations=3, dis_hidden=8).fit(x, y, pairs, Run())
    assert len(searched) == 3
    assert all(torch.equal(a, b) for a, b in zip(fooled, searched, strict=True))


def test_bliss_gradient_of_a_batch_equals_that_of_a_whole_search():
    x, y, w = unit(noise(200, 8)), unit(noise(200, 8, seed=1)), noise(8, 8, seed=2)
    seed = SeedLoss(x, y, torch.arange(40)[:, None].expand(-1, 2), Bliss.Options(), 1 << 20)
    batch = seed.gradient(16, generator(), w)
    seed.search(w)
    torch.testing.assert_close(batch, seed.gradient(16, generator()))
