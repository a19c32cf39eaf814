from __future__ import annotations

import pytest
import torch

from lnmap.direction import Direction
from lnmap.errors import InputError, LexiconError, TrainingError
from lnmap.methods import alignment_class
from lnmap.methods.aae import Aae, TwoWayAlignment, encode
from lnmap.methods.adversarial import AdversarialOptions, Discriminator, Game, mean_cosine, play
from lnmap.methods.base import Run
from lnmap.methods.bliss import Bliss, SeedLoss, weak_orthogonality
from lnmap.methods.muse_unsup import MuseUnsup
from lnmap.methods.procrustes import rotate_pairs
from lnmap.methods.rcsls import RcslsLoss
from lnmap.normalize import unit
from lnmap.progress import Silent
from lnmap.retrieve import BilingualSpace

TINY = {"epochs": 1, "iterations": 3, "batch": 8, "dis_hidden": 8, "restarts": 1}


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def noise(n=150, d=12, seed=0):
    return torch.randn(n, d, generator=generator(seed))


def precision(alignment, x, y, pairs):
    space = BilingualSpace(alignment.map_source(x), alignment.map_target(y))
    return float((space.ranks(pairs[:, 0], pairs[:, 1:]) == 0).float().mean())


def test_game_turns_a_skewed_cloud_onto_its_rotated_copy():
    """Two dimensions, one long skewed axis: the map must learn the angle from the two clouds alone."""
    x = -torch.log(torch.rand(2000, 2, generator=generator())) * torch.tensor([1.0, 0.2])
    angle = torch.tensor(0.8)
    rotation = torch.stack([torch.stack([angle.cos(), angle.sin()]), torch.stack([-angle.sin(), angle.cos()])])
    options = AdversarialOptions(epochs=1, iterations=400, batch=64, dis_hidden=16, dis_steps=3, map_lr=0.2)
    game = Game(x, x[torch.randperm(2000, generator=generator(1))] @ rotation, options, generator(2))
    play([game], Run(), 1)
    assert (game.w - rotation).norm() < 0.3 < (torch.eye(2) - rotation).norm()


def test_steps_follow_the_equations():
    x, y = noise(seed=1), noise(seed=2)
    game = Game(x, y, AdversarialOptions(batch=16, dis_hidden=8, dis_dropout=0.0, map_beta=0.0), generator())
    probe = torch.cat([x[:50], y[:50]])
    before = game.discriminator(probe)
    game.discriminate()
    after = game.discriminator(probe)
    assert not torch.equal(before, after)
    assert game.loss[1] == 1
    w = game.w.clone()
    game.fool()
    assert torch.equal(after, game.discriminator(probe))  # at rest in the map step
    assert not torch.equal(w, game.w)
    assert not game.w.requires_grad


def test_orthogonalize_pulls_singular_values_to_one():
    game = Game(
        noise(), noise(), AdversarialOptions(dis_hidden=4, map_beta=0.1), generator(), start=torch.eye(12) * 1.2
    )
    for _ in range(50):
        game.orthogonalize()
    torch.testing.assert_close(torch.linalg.svdvals(game.w), torch.ones(12), atol=1e-3, rtol=0)


def test_learning_rate_halves_from_the_second_fall_on():
    game = Game(noise(), noise(), AdversarialOptions(dis_hidden=4, map_lr=1.0, lr_decay=1.0), generator())
    rates = []
    for score in (0.5, 0.4, 0.3, 0.6):
        game.end_epoch(score)
        rates.append(float(game.lr))
    assert rates == [1.0, 1.0, 0.5, 0.5]
    assert game.score == 0.6


def test_dropout_is_only_on_in_training_and_drawn_from_the_generator():
    x = noise(20)
    one, two = (Discriminator(12, 8, 0.5, generator(3)) for _ in range(2))
    assert torch.equal(one(x, train=True), two(x, train=True))
    assert not torch.equal(one(x, train=True), one(x))


@pytest.mark.parametrize("method", [MuseUnsup, Aae])
def test_collapse_is_an_error_and_every_attempt_is_reported(method):
    progress = Silent()
    run = Run(progress=progress)
    with pytest.raises(TrainingError, match="found no alignment in 2 attempts"):
        method(method.Options(**TINY)).fit(noise(seed=1), noise(seed=2), torch.empty(0, 2, dtype=torch.long), run)
    assert [row["aligned"] for row in run.log if "aligned" in row] == [False, False]
    assert any("attempt 1 of 2 collapsed" in note for note in progress.notes)
    assert any("most_frequent=" in note for note in progress.notes)


def test_identical_spaces_are_aligned_and_the_same_seed_gives_the_same_map():
    """The map starts at the identity, so a tiny game on two copies must pass for aligned."""
    x = noise(300, 40)
    pairs = torch.arange(300)[:, None].expand(-1, 2)
    method = MuseUnsup(MuseUnsup.Options(**TINY | {"map_lr": 1e-3}))
    one, two = (method.fit(x, x, pairs[:0], Run(seed=5)) for _ in range(2))
    assert torch.equal(one.source, two.source)
    torch.testing.assert_close(one.source @ one.source.T, torch.eye(40), atol=1e-5, rtol=0)
    assert precision(one, x, x, pairs) == 1.0


@pytest.mark.parametrize("method", [MuseUnsup, Aae, Bliss])
def test_tiny_vocabularies_are_refused(method):
    pairs = torch.arange(20)[:, None].expand(-1, 2)
    with pytest.raises(InputError, match="at least 100 words"):
        method().fit(noise(50), noise(200), pairs, Run())


def test_unequal_dimensions():
    pairs = torch.arange(20)[:, None].expand(-1, 2)
    for method in (MuseUnsup, Bliss):
        with pytest.raises(InputError, match="one length"):
            method().fit(noise(200, 10), noise(200, 12), pairs, Run())


@pytest.mark.parametrize("start", ["isometry", "uniform"])
def test_codes_reconstruct_the_vectors(start):
    x, run = unit(noise(400, 10)), Run()
    codes = encode(x, Aae.Options(code=14, ae_start=start, ae_steps=1500, ae_lr=5e-3), generator(), run)
    assert codes.shape == (400, 14)
    assert run.log[-1]["loss"] < 1e-3 * x.var()
    if start == "isometry":
        torch.testing.assert_close(codes @ codes.T, x @ x.T, atol=1e-5, rtol=0)


def test_two_way_alignment_round_trip():
    x, y = noise(200, 12), noise(200, 12, seed=1)
    method = Aae(Aae.Options(**TINY | {"least_gain": 0.0, "code": 12, "restarts": 20}))
    alignment = method.fit(x, y, torch.empty(0, 2, dtype=torch.long), Run())
    assert isinstance(alignment, TwoWayAlignment)
    again = alignment_class(alignment.kind).from_state(*alignment.state())
    for direction in Direction:
        assert torch.equal(again.map_source(x, direction), alignment.map_source(x, direction))
        assert torch.equal(again.map_target(y, direction), alignment.map_target(y, direction))
    assert not torch.equal(alignment.map_source(x), alignment.map_source(x, Direction.BACKWARD))


def test_bliss_losses_equal_their_definitions():
    x, y = unit(noise(200, 8)), unit(noise(200, 8, seed=1))
    pairs = torch.arange(200)[:, None].expand(-1, 2)[:40]
    w = torch.linalg.qr(noise(8, 8, seed=2))[0]
    seed = SeedLoss(x, y, pairs, Bliss.Options(), 1 << 20)
    seed.search(w)
    mean = torch.stack([seed.gradient(40, generator(i)) for i in range(400)]).mean(dim=0)
    torch.testing.assert_close(mean, RcslsLoss(x, y, 10, 1 << 20)(w, pairs)[1], atol=0.02, rtol=0)
    assert weak_orthogonality(x, w).abs().max() < 1e-5  # an orthogonal W is at the optimum
    assert weak_orthogonality(x, w * torch.linspace(0.5, 2, 8)).abs().max() > 1e-3


def test_bliss_recovers_a_planted_rotation_and_repeats_itself(plant):
    problem = plant(n=600, d=20, noise=0.1)
    x, y = torch.from_numpy(problem.source.vectors), torch.from_numpy(problem.target.vectors)
    pairs = torch.from_numpy(problem.lexicon.rows(problem.source, problem.target))
    options = Bliss.Options(epochs=2, iterations=30, dis_hidden=16)
    one, two = (Bliss(options).fit(x, y, pairs[:60], Run(seed=1)) for _ in range(2))
    assert torch.equal(one.source, two.source)
    assert precision(one, x, y, pairs[60:]) > 0.99
    with pytest.raises(LexiconError):
        Bliss().fit(x, y, pairs[:0], Run())


def test_bliss_on_real_words(pair):
    """A reduced budget on 4 000 words a side is no worse than its start, Procrustes on the same seed."""
    source, target = pair.source.head(4000), pair.target.head(4000)
    x, y = torch.from_numpy(source.vectors), torch.from_numpy(target.vectors)
    seed = torch.from_numpy(pair.train.take("500-unique", source, target).rows(source, target))
    gold = torch.from_numpy(pair.test.rows(source, target))
    run = Run()
    found = precision(Bliss(Bliss.Options(epochs=2, iterations=40, dis_hidden=32)).fit(x, y, seed, run), x, y, gold)
    start = precision(
        Bliss(Bliss.Options(epochs=1, iterations=1, dis_hidden=32, refinements=0)).fit(x, y, seed, Run()), x, y, gold
    )
    assert found >= start - 0.01
    assert found > 0.5


def test_criterion_tells_a_true_map_from_a_random_one(pair):
    source, target = pair.source.head(3000), pair.target.head(3000)
    x, y = unit(torch.from_numpy(source.vectors)), unit(torch.from_numpy(target.vectors))
    rows = torch.from_numpy(pair.train.rows(source, target))
    true = rotate_pairs(x, y, rows)
    random = torch.linalg.qr(noise(x.shape[1], x.shape[1]))[0]
    options = AdversarialOptions(criterion_words=1000)
    assert mean_cosine(x @ true, y, options, 1 << 26) > mean_cosine(x @ random, y, options, 1 << 26) + 0.1
