from __future__ import annotations

import pytest
import torch

from lnmap.errors import LexiconError, OptionError
from lnmap.induce import Induced
from lnmap.methods import contrastive, make_method
from lnmap.methods.base import LinearAlignment, Run
from lnmap.methods.contrastive import Contrast, Contrastive, Grouped, best_of_each_side, induce_one_sided, refine
from lnmap.normalize import unit
from lnmap.retrieve import BilingualSpace

SHORT = {"steps": 4, "rounds": 2}


def tensors(problem):
    x, z = torch.from_numpy(problem.source.vectors), torch.from_numpy(problem.target.vectors)
    return x, z, torch.from_numpy(problem.lexicon.rows(problem.source, problem.target))


def precision(alignment, x, z, pairs):
    space = BilingualSpace(alignment.map_source(x), alignment.map_target(z))
    return float((space.ranks(pairs[:, 0], pairs[:, 1:]) == 0).float().mean())


def options(**values):
    return Contrastive.Options(**values).settled(0)


def random_maps(d, generator):
    return tuple(torch.randn(d, d, dtype=torch.float64, generator=generator) for _ in range(2))


def loss_by_hand(maps, x, z, pairs, count, temperature):
    """The loss pair by pair: negatives are the nearest words of either side, known pairs left out."""
    a, b = unit(x @ maps[0]), unit(z @ maps[1])
    known = {tuple(pair) for pair in pairs.tolist()}
    total = 0
    for s, t in pairs.tolist():
        wrong = [(s, j) for j in (a[s] @ b.T).topk(count).indices.tolist()]
        wrong += [(i, t) for i in (a @ b[t]).topk(count).indices.tolist()]
        scores = torch.stack([a[s] @ b[t], *(a[i] @ b[j] for i, j in wrong if (i, j) not in known)]) / temperature
        total = total - scores.log_softmax(0)[0]
    return total / len(pairs)


@pytest.mark.parametrize("temperature", [1.0, 0.1])
def test_loss_and_gradients_equal_the_definition(plant, temperature):
    x, z, pairs = tensors(plant(n=80, d=6, noise=0.3))
    x, z = unit(x.double()), unit(z.double())
    pairs = torch.cat([pairs[:15], torch.tensor([[0, 3], [4, 7]])])  # some words have two translations
    maps = [w.requires_grad_() for w in random_maps(6, torch.Generator().manual_seed(1))]
    value = loss_by_hand(maps, x, z, pairs, 5, temperature)
    wanted = torch.autograd.grad(value, maps)
    contrast = Contrast(x, z, pairs, options(negatives=5, temperature=temperature), 1 << 20)
    detached = maps[0].detach(), maps[1].detach()
    contrast.seek(detached)
    found, gradients = contrast(detached)
    assert found.item() == pytest.approx(value.item(), abs=1e-12)
    for one, other in zip(gradients, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def published_loss(maps, x, z, pairs, count):
    """The loss as the published program takes it: `count` others on each side, lengths that are constants."""
    mapped = x @ maps[0], z @ maps[1]
    a, b = (side / side.detach().norm(dim=1, keepdim=True) for side in mapped)
    total = 0
    for s, t in pairs.tolist():
        near_t = [j for j in (a[s] @ b.T).topk(count + 1).indices.tolist() if j != t][:count]
        near_s = [i for i in (a @ b[t]).topk(count + 1).indices.tolist() if i != s][:count]
        scores = torch.stack([a[s] @ b[t], *(a[s] @ b[j] for j in near_t), *(a[i] @ b[t] for i in near_s)])
        total = total - (scores[0].exp() / scores.exp().sum()).log()
    return total / len(pairs)


def test_published_loss_and_gradients(plant):
    x, z, pairs = tensors(plant(n=80, d=6, noise=0.3))
    x, z = unit(x.double()), unit(z.double())
    pairs = torch.cat([pairs[:15], torch.tensor([[0, 3], [4, 7]])])  # a second translation is a rival of the first
    for maps in (random_maps(6, torch.Generator().manual_seed(1)), (torch.eye(6, dtype=torch.float64),) * 2):
        leaves = [w.clone().requires_grad_() for w in maps]
        value = published_loss(leaves, x, z, pairs, 5)
        wanted = torch.autograd.grad(value, leaves)
        chosen = options(negatives=5, rivals="others", length_gradient=False)
        contrast = Contrast(x, z, pairs, chosen, 1 << 20)
        contrast.seek(maps)
        found, gradients = contrast(maps)
        assert ((~contrast.known).sum(dim=1) == 10).all()
        assert found.item() == pytest.approx(value.item(), abs=1e-12)
        for one, other in zip(gradients, wanted, strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def test_published_induction(plant):
    """The first words of each side choose among all of the other; the word's own mean does not count."""
    x, z, _ = tensors(plant(n=60, d=5, noise=0.5))
    dense = unit(x) @ unit(z).T
    wanted = set()
    for scores, swap in ((dense, False), (dense.T, True)):
        means = scores.topk(10, dim=0).values.mean(dim=0)
        best = (2 * scores[:25] - means).max(dim=1)
        for i in best.values.argsort(descending=True)[:9].tolist():
            j = int(best.indices[i])
            wanted.add((j, i) if swap else (i, j))
    found = {tuple(pair) for pair in induce_one_sided(x, z, 25, 9, Run()).tolist()}
    assert found == wanted
    assert max(max(pair) for pair in found) >= 25


@pytest.mark.parametrize(("profile", "steps"), [("c1-1k", 51), ("c1-5k", 201)])
def test_published_profiles_train_in_every_round_on_raw_means(plant, profile, steps):
    x, z, pairs = tensors(plant(n=120, d=8, noise=0.2))
    run, calls = Run(), []

    class Counted(Contrast):
        def seek(self, maps):
            calls.append(len(self.pairs))
            super().seek(maps)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contrastive, "Contrast", Counted)
        method = make_method("contrastive", profile, {"negatives": 5})
        alignment = method.fit(x, z, pairs[:40], run)
    assert len(calls) == steps * method.options.rounds, "new negatives in each step"
    assert (calls[-1] > 40) == (profile == "c1-1k")
    assert alignment.norms[0].steps == ["unit"]


def test_sparse_products():
    generator = torch.Generator().manual_seed(0)
    rows, columns = torch.tensor([2, 0, 1, 2, 0, 0]), torch.tensor([1, 0, 3, 2, 3, 0])  # (0, 0) is there twice
    values, queries = torch.randn(6, generator=generator), torch.randn(3, 5, generator=generator)
    vectors = torch.randn(4, 5, generator=generator)
    matrix = torch.zeros(3, 4).index_put_((rows, columns), values, accumulate=True)
    grouped = Grouped(rows, columns)
    torch.testing.assert_close(grouped.product(values, vectors), matrix @ vectors)
    torch.testing.assert_close(grouped.dots(queries, vectors), (queries @ vectors.T)[rows, columns])


def test_descent_clips_the_gradient_and_lowers_the_loss(plant):
    x, z, pairs = tensors(plant(n=300, d=12, noise=0.5))
    x, z, start = unit(x), unit(z), (torch.eye(12), torch.eye(12))
    run, chosen = Run(), options(negatives=20, steps=1, clip=1e-3, rate=2.0)
    moved = refine(start, Contrast(x, z, pairs[:100], chosen, run.memory), chosen, run, 1)
    change = torch.cat([(new - old).flatten() for new, old in zip(moved, start, strict=True)]).norm()
    assert change.item() == pytest.approx(2e-3, rel=1e-4)
    chosen = options(negatives=20, steps=30, clip=1.0, rate=2.0)
    refine(start, Contrast(x, z, pairs[:100], chosen, run.memory), chosen, run, 2)
    assert run.log[-1]["loss"] < run.log[-1]["first_loss"]
    assert (run.log[-1]["round"], run.log[-1]["pairs"]) == (2, 100)


def test_best_of_each_side():
    """Sorted by score, a word's first pair is its own choice."""
    rows = torch.tensor([[0, 0], [1, 0], [1, 2], [2, 1], [2, 2]])
    found = Induced(rows, torch.linspace(1, 0, 5), torch.linspace(1, 0, 5))
    # from the sources: (0, 0), (1, 0), (2, 1); from the targets: (0, 0), (1, 2), (2, 1)
    assert best_of_each_side(found, 3).tolist() == [[0, 0], [1, 0], [1, 2], [2, 1]]
    assert best_of_each_side(found, 1).tolist() == [[0, 0]]
    assert best_of_each_side(Induced(rows[:0], rows[:0, 0], rows[:0, 0]), 3).shape == (0, 2)


def test_options_follow_the_size_of_the_seed():
    small, large = Contrastive.Options().settled(1000), Contrastive.Options().settled(4400)
    assert (small.rounds, small.steps, small.induced) == (3, 15, 6000)
    assert (large.rounds, large.steps, large.induced) == (2, 8, 10_000)
    assert Contrastive.Options(steps=7).settled(10).steps == 7
    for profile, values in Contrastive.profiles.items():
        assert make_method("contrastive", profile).options.settled(1).steps == values["steps"]


def test_planted_rotation_is_recovered(plant):
    x, z, pairs = tensors(plant(n=600, d=20, noise=0.3))
    run = Run()
    alignment = Contrastive(Contrastive.Options(**SHORT)).fit(x, z, pairs[:60], run)
    assert isinstance(alignment, LinearAlignment)
    assert precision(alignment, x, z, pairs[60:]) > 0.95
    assert [(row["round"], "loss" in row) for row in run.log] == [(1, False), (2, True)]
    assert run.log[-1]["pairs"] == 60 + run.log[0]["induced"] > 400


def test_seed_words_get_no_second_translation(plant):
    x, z, pairs = tensors(plant(n=300, d=12, noise=0.2))
    wrong = torch.stack([pairs[:50, 0], pairs[:50, 1].roll(1)], dim=1)
    run = Run()
    Contrastive(Contrastive.Options(**SHORT)).fit(x, z, torch.cat([pairs[50:200], wrong]), run)
    assert run.log[0]["induced"] <= 100


def test_seed_alone_and_closed_rounds(plant):
    x, z, pairs = tensors(plant(n=300, d=12, noise=0.2))
    run = Run()
    Contrastive(Contrastive.Options(**SHORT, learn_from="seed")).fit(x, z, pairs[:80], run)
    assert [row.get("pairs") for row in run.log] == [None, 80]
    run = Run()
    Contrastive(Contrastive.Options(**SHORT, closed_rounds=0)).fit(x, z, pairs[:80], run)
    assert [(row["round"], "loss" in row) for row in run.log] == [(1, True), (1, False), (2, True)]
    closed = Contrastive(Contrastive.Options(rounds=1)).fit(x, z, pairs[:80], Run())
    vecmap = make_method("vecmap-sup").fit(x, z, pairs[:80], Run())
    assert torch.equal(closed.source, vecmap.source)


def test_small_memory_gives_the_same_maps(plant):
    x, z, pairs = tensors(plant(n=300, d=12, noise=0.2))
    method = Contrastive(Contrastive.Options(**SHORT))
    one, two = (method.fit(x, z, pairs[:100], Run(memory=memory)) for memory in (1 << 30, 1 << 14))
    torch.testing.assert_close(one.source, two.source, rtol=0, atol=1e-4)
    torch.testing.assert_close(one.target, two.target, rtol=0, atol=1e-4)


def test_negatives_are_frequent_words(plant):
    x, z, pairs = tensors(plant(n=300, d=12, noise=0.2))
    contrast = Contrast(unit(x), unit(z), pairs[:10], options(negatives=500, negative_words=40), 1 << 20)
    contrast.seek((torch.eye(12), torch.eye(12)))
    assert contrast.known.shape == (10, 80)
    seeds_x, seeds_z = set(pairs[:10, 0].tolist()), set(pairs[:10, 1].tolist())
    assert set(contrast.words_x.tolist()) == set(range(40)) | seeds_x
    assert set(contrast.words_z.tolist()) == set(range(40)) | seeds_z


def test_refusals(plant):
    x, z, pairs = tensors(plant(n=200, d=10))
    with pytest.raises(LexiconError, match="at least 1 seed pair"):
        Contrastive().fit(x, z, pairs[:0], Run())
    with pytest.raises(OptionError, match="all, seed"):
        make_method("contrastive", values={"learn_from": "test"})
    with pytest.raises(OptionError, match="temperature"):
        make_method("contrastive", values={"temperature": "0"})


def test_quality_on_the_bundled_pair(pair):
    """Better than its closed-form start on 3 000 real words a side, from 500 pairs and from all, both ways."""
    source, target = pair.source.head(3000), pair.target.head(3000)
    x, z = torch.from_numpy(source.vectors), torch.from_numpy(target.vectors)
    gold = torch.from_numpy(pair.test.rows(source, target))
    for rule in ("500-unique", "unique"):
        seed = torch.from_numpy(pair.train.take(rule, source, target).rows(source, target))
        fits = [
            make_method(name, values=values).fit(x, z, seed, Run())
            for name, values in (
                ("contrastive", {"steps": 5, "rounds": 2, "negatives": 50, "refresh": 5}),
                ("vecmap-sup", {}),
            )
        ]
        found, start = (precision(fit, x, z, gold) for fit in fits)
        assert found > start > 0.4, rule
