from __future__ import annotations

from collections import Counter

import pytest
import torch

from lnmap.errors import InputError, LexiconError, OptionError, TrainingError
from lnmap.methods import make_method
from lnmap.methods.base import LinearAlignment, Run
from lnmap.methods.vecmap import learning
from lnmap.methods.vecmap.check import chance, distinctness
from lnmap.methods.vecmap.learning import (
    SelfLearningOptions,
    Similarities,
    dropped,
    induce_pairs,
    initial_pairs,
    similarity_signatures,
    stages,
)
from lnmap.methods.vecmap.mapping import MultiStepOptions, Whitening, choose_ridge, multi_step, singular
from lnmap.normalize import unit
from lnmap.retrieve import BilingualSpace

SEEDED = ["artetxe2017", "artetxe2018aaai", "vecmap-sup", "vecmap-semi"]
LOOPS = ["artetxe2017", "vecmap-semi", "artetxe2018acl"]
SHORT = {"fast_words": 300, "fast_patience": 2, "fast_finish": 3, "patience": 2}
BUNDLED = {"words": 3000, "fast_words": 1500, "fast_patience": 2, "fast_finish": 2}


@pytest.fixture(autouse=True)
def fixed_numbers():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def clustered(n=800, d=20, noise=0.02, seed=0):
    """Words in clusters of different spread and size, and the same rotated: a space whose shape tells its words."""
    g = torch.Generator().manual_seed(seed)
    centres = torch.randn(25, d, generator=g) * torch.linspace(2, 0.3, d)
    sizes = torch.rand(25, generator=g) ** 2 + 0.02
    which = torch.multinomial(sizes, n, replacement=True, generator=g)
    spread = torch.rand(25, 1, generator=g) + 0.2
    x = centres[which] + spread[which] * torch.randn(n, d, generator=g)
    w = torch.linalg.qr(torch.randn(d, d, generator=g)).Q
    return x, x @ w + noise * torch.randn(n, d, generator=g), torch.arange(n)[:, None].repeat(1, 2)


def precision(alignment, x, z, pairs):
    space = BilingualSpace(alignment.map_source(x), alignment.map_target(z))
    return float((space.ranks(pairs[:, 0], pairs[:, 1:]) == 0).float().mean())


def fit(name, x, z, pairs, run=None, **values):
    short = SHORT if name in LOOPS else {}
    return make_method(name, values={**short, **values}).fit(x, z, pairs, run or Run())


# ---------------------------------------------------------------- the multi-step map


def test_whitening_identities():
    rows = torch.randn(200, 12, dtype=torch.float64) @ torch.randn(12, 12, dtype=torch.float64)
    whitening = Whitening.fit(rows)
    white = rows @ whitening.matrix
    eye = torch.eye(12, dtype=torch.float64)
    torch.testing.assert_close(white.T @ white, eye)
    torch.testing.assert_close(whitening.matrix, whitening.matrix.T)
    torch.testing.assert_close(whitening.matrix @ whitening.inverse, eye)


def test_whitening_with_a_ridge_exists_for_few_rows():
    rows = torch.randn(5, 12, dtype=torch.float64)
    assert singular(rows)
    whitening = Whitening.fit(rows, ridge=0.1)
    torch.testing.assert_close(whitening.matrix @ whitening.inverse, torch.eye(12, dtype=torch.float64))


def test_singular_rows_are_seen():
    rows = torch.randn(50, 6)
    assert not singular(rows)
    rows[:, 3] = rows[:, 1] + rows[:, 2]
    assert singular(rows)


def test_plain_multi_step_is_procrustes():
    x, z = torch.randn(80, 10, dtype=torch.float64), torch.randn(80, 10, dtype=torch.float64)
    options = MultiStepOptions(whiten=False, reweight_source=0.0, reweight_target=0.0)
    w_x, w_z = multi_step(x, z, options)
    u, _, vt = torch.linalg.svd(x.T @ z)
    torch.testing.assert_close(w_x @ w_z.T, u @ vt)


def test_whitening_without_reweighting_cancels_in_the_end():
    """De-whitening undoes whitening: what is left is a rotation of each side into the common axes."""
    x, z = torch.randn(80, 10, dtype=torch.float64), torch.randn(80, 10, dtype=torch.float64)
    for w in multi_step(x, z, MultiStepOptions(reweight_source=0.0, reweight_target=0.0)):
        torch.testing.assert_close(w.T @ w, torch.eye(10, dtype=torch.float64))


def test_reweighting_orders_the_axes():
    """Without de-whitening, the mapped dictionary has second moments S^(2a) and S^(2b), and S is decreasing."""
    x = torch.randn(80, 10, dtype=torch.float64)
    z = x + torch.randn(80, 10, dtype=torch.float64)
    w_x, w_z = multi_step(x, z, MultiStepOptions(reweight_source=0.5, reweight_target=1.0, dewhiten=False))
    moment_x, moment_z = (x @ w_x).T @ (x @ w_x), (z @ w_z).T @ (z @ w_z)
    s = moment_x.diagonal()
    assert (s.diff() <= 0).all()
    torch.testing.assert_close(moment_x, s.diag())
    torch.testing.assert_close(moment_z, s.square().diag())


def test_ridge_is_noted_once_and_only_when_needed():
    x = torch.randn(8, 12)
    run = Run()
    assert choose_ridge(x, x, MultiStepOptions(), run) == 0.1
    assert choose_ridge(x, x, MultiStepOptions(ridge=0.5), run) == 0.5
    assert choose_ridge(x, x, MultiStepOptions(whiten=False), run) == 0.0
    assert choose_ridge(torch.randn(80, 12), torch.randn(80, 12), MultiStepOptions(), run) == 0.0
    assert len(run.progress.notes) == 1
    assert "singular" in run.progress.notes[0]
    assert choose_ridge(torch.randn(20, 12), torch.randn(20, 12), MultiStepOptions(), run) == 0.0
    assert "poorly conditioned" in run.progress.notes[1]


# ---------------------------------------------------------------- the loop's parts


@pytest.mark.parametrize("memory", [1 << 28, 1 << 12])
def test_sweeps_equal_dense_scores(memory):
    """Held or computed block by block, a sweep chooses what the dense CSLS matrix chooses."""
    x, z = unit(torch.randn(70, 8)), unit(torch.randn(50, 8))
    dense = x @ z.T
    r_x, r_z = dense.topk(10, dim=1).values.mean(dim=1), dense.topk(10, dim=0).values.mean(dim=0)
    assert bool(Similarities(x, z, memory).held) == (memory >= 1 << 20)
    pairs, objective = induce_pairs(x, z, SelfLearningOptions(), 1.0, Run().generator(), memory)
    found = {tuple(pair) for pair in pairs.tolist()}
    csls = 2 * dense - r_x[:, None] - r_z
    assert found == {*enumerate(csls.argmax(dim=1).tolist()), *((i, j) for j, i in enumerate(csls.argmax(0).tolist()))}
    assert len(pairs) == 120
    assert objective == pytest.approx(float(dense.amax(1).mean() + dense.amax(0).mean()) / 2, abs=1e-6)


def test_forward_dot_products():
    x, z = torch.randn(30, 8), torch.randn(20, 8)
    options = SelfLearningOptions(neighbours=0, direction="forward")
    pairs, objective = induce_pairs(x, z, options, 1.0, Run().generator(), 1 << 28)
    best = (x @ z.T).max(dim=1)
    assert pairs.tolist() == [[i, j] for i, j in enumerate(best.indices.tolist())]
    assert objective == pytest.approx(float(best.values.mean()), abs=1e-5)


def test_dropout_keeps_the_asked_share_and_leaves_the_objective_alone():
    generator = Run().generator()
    mask = dropped(torch.empty(1000, 301), 0.1, generator)
    assert mask.shape == (1000, 301)
    assert float(mask.float().mean()) == pytest.approx(0.9, abs=0.003)
    assert float(mask.float().mean(dim=0).std()) == pytest.approx((0.09 / 1000) ** 0.5, rel=0.2)
    x, z = unit(torch.randn(200, 8)), unit(torch.randn(200, 8))
    runs = [induce_pairs(x, z, SelfLearningOptions(), keep, generator, 1 << 28) for keep in (0.1, 1.0)]
    assert runs[0][1] == runs[1][1]
    assert (runs[0][0] != runs[1][0]).any(dim=1).float().mean() > 0.5


def test_stages():
    original = stages(SelfLearningOptions(schedule="original"), 50_000)
    assert [(s.words, round(s.keep, 3)) for s in original] == [(20_000, k) for k in (0.1, 0.2, 0.4, 0.8, 1.0)]
    assert {s.patience for s in original} == {50}
    fast = stages(SelfLearningOptions(), 50_000)
    assert [s.words for s in fast] == [4000] * 5 + [20_000]
    assert fast[-1].keep == 1.0
    assert [s.words for s in stages(SelfLearningOptions(), 3000)] == [3000] * 5
    assert [s.words for s in stages(SelfLearningOptions(keep=1.0, words=0), 7000)] == [7000]


def vecmap_stages(patience, keep=0.1, growth=2.0):
    """Return how many iterations VecMap's loop makes at each probability if only its first one is an improvement."""
    counts, iteration, last = {}, 1, 0
    while True:
        if iteration - last > patience:
            if keep >= 1:
                return counts
            keep, last = min(1.0, growth * keep), iteration
        counts[keep] = counts.get(keep, 0) + 1
        last = 1 if iteration == 1 else last
        iteration += 1


def test_original_schedule_waits_as_long_as_vecmap(monkeypatch):
    monkeypatch.setattr(learning, "induce_pairs", lambda *_: (torch.tensor([[0, 0], [1, 1]]), 0.5))
    run, options = Run(), SelfLearningOptions(schedule="original", patience=7)
    learning.self_learn(torch.eye(5), torch.eye(5), torch.tensor([[0, 0]]), options, run)
    assert dict(Counter(row["keep"] for row in run.log)) == vecmap_stages(7)


def test_signatures_are_those_of_the_matrix_square_root():
    x = torch.randn(60, 5)
    values, vectors = torch.linalg.eigh(x.double() @ x.double().T)
    root = (vectors * values.clamp_min(0).sqrt()) @ vectors.T
    rows = unit(root.sort(dim=1).values)
    expected = unit(rows - rows.mean(dim=0)).float()
    torch.testing.assert_close(similarity_signatures(x), expected, atol=2e-4, rtol=1e-3)


def test_first_dictionary_of_a_rotated_space():
    x, z, _ = clustered(noise=0.001)
    pairs = initial_pairs(unit(x), unit(z), 4000, SelfLearningOptions(), Run())
    assert (pairs[:, 0] == pairs[:, 1]).float().mean() > 0.9


# ---------------------------------------------------------------- the systems


@pytest.mark.parametrize("name", SEEDED)
def test_planted_rotation_is_recovered(name):
    x, z, pairs = clustered()
    alignment = fit(name, x, z, pairs[:60])
    assert isinstance(alignment, LinearAlignment)
    assert precision(alignment, x, z, pairs[60:]) > 0.97


def test_planted_rotation_is_recovered_without_pairs():
    x, z, pairs = clustered()
    run = Run()
    alignment = fit("artetxe2018acl", x, z, pairs[:0], run)
    assert precision(alignment, x, z, pairs) > 0.97
    assert run.log[-1]["distinctness"] > 3 * run.log[-1]["chance"]
    assert any("800 words instead of 4000" in note for note in run.progress.notes)


def test_artetxe2017_is_orthogonal():
    x, z, pairs = clustered(noise=0.3)
    alignment = fit("artetxe2017", x, z, pairs[:60])
    torch.testing.assert_close(alignment.source @ alignment.source.T, torch.eye(20), atol=1e-5, rtol=0)
    torch.testing.assert_close(alignment.target, torch.eye(20))


@pytest.mark.parametrize("name", LOOPS)
def test_same_seed_same_tensors(name):
    x, z, pairs = clustered(n=400, noise=0.3)
    runs = [Run(seed=seed) for seed in (3, 3, 4)]
    first, second, _ = (fit(name, x, z, pairs[:60], run) for run in runs)
    assert torch.equal(first.source, second.source)
    assert torch.equal(first.target, second.target)
    assert runs[0].log == runs[1].log
    assert (runs[0].log == runs[2].log) == (name == "artetxe2017")  # the others go another way, to the same end


@pytest.mark.parametrize("name", [*SEEDED, "artetxe2018acl"])
def test_small_vocabulary(name):
    x, z, pairs = clustered(n=150, d=12)
    assert precision(fit(name, x, z, pairs[:40]), x, z, pairs) > 0.9


@pytest.mark.parametrize("name", SEEDED)
def test_unequal_dimensions(name):
    x, z, pairs = clustered()
    alignment = fit(name, x, z[:, :16], pairs[:300])
    assert precision(alignment, x, z[:, :16], pairs[300:]) > 0.5


@pytest.mark.parametrize("name", ["artetxe2018aaai", "vecmap-sup"])
def test_few_pairs_are_regularised_and_noted(name):
    x, z, pairs = clustered(d=40)
    run = Run()
    alignment = fit(name, x, z, pairs[:25], run)
    assert "ridge of 0.1" in run.progress.notes[0]
    assert precision(alignment, x, z, pairs[25:]) > 0.5


@pytest.mark.parametrize("name", SEEDED)
def test_no_pairs_is_refused(name):
    x, z, pairs = clustered(n=150)
    with pytest.raises(LexiconError, match="seed pairs"):
        fit(name, x, z, pairs[:0])


def test_tiny_vocabulary_is_refused_without_a_seed():
    x, z, pairs = clustered(n=60)
    with pytest.raises(InputError, match="100 words"):
        fit("artetxe2018acl", x, z, pairs[:0])


def test_unrelated_spaces_are_a_failed_run():
    x, _, pairs = clustered(seed=1)
    _, z, _ = clustered(seed=2)
    run = Run()
    with pytest.raises(TrainingError, match="found no alignment"):
        fit("artetxe2018acl", x, z, pairs[:0], run)
    assert run.log[-1]["distinctness"] < 1.4 * run.log[-1]["chance"]


def test_the_original_profile_hands_out_a_weak_result():
    x, _, pairs = clustered(n=200, seed=1)
    _, z, _ = clustered(n=200, seed=2)
    run = Run()
    values = {"patience": 2}
    assert make_method("artetxe2018acl", "original", values).fit(x, z, pairs[:0], run).source.isfinite().all()
    assert {row["words"] for row in run.log} == {200}, "all words take part in every stage"
    assert not any("distinctness" in row for row in run.log)


def test_distinctness_of_chance_is_low():
    x, z, _ = clustered(noise=0.0)
    x, z = unit(x), unit(z)
    w = torch.linalg.lstsq(x, z).solution
    assert distinctness(x @ w, z, 1 << 28) > 5 * chance(x, z, SelfLearningOptions(), Run())


def test_iteration_limit_is_noted():
    x, z, pairs = clustered(n=400, noise=0.3)
    run = Run()
    fit("vecmap-semi", x, z, pairs[:60], run, max_iterations=4)
    assert [row["iteration"] for row in run.log] == [1, 2, 3, 4]
    assert "limit of 4 iterations" in run.progress.notes[0]


def test_log_rows_tell_the_stage():
    x, z, pairs = clustered(n=400, noise=0.3)
    run = Run()
    fit("vecmap-semi", x, z, pairs[:60], run)
    assert {row["words"] for row in run.log} == {300, 400}
    assert run.log[0]["keep"] == 0.1
    assert run.log[-1]["keep"] == 1.0


def test_bad_options_are_refused():
    with pytest.raises(OptionError, match="fast, original"):
        make_method("vecmap-semi", values={"schedule": "slow"})
    with pytest.raises(OptionError, match="at least"):
        make_method("artetxe2018acl", values={"keep": "0"})


# ---------------------------------------------------------------- quality on real words


@pytest.fixture(scope="module")
def bundled(pair):
    x, z = torch.from_numpy(pair.source.vectors), torch.from_numpy(pair.target.vectors)
    seed = torch.from_numpy(pair.train.take("1k-unique", pair.source, pair.target).rows(pair.source, pair.target))
    gold: dict[int, list[int]] = {}
    for s, t in pair.test.rows(pair.source, pair.target).tolist():
        gold.setdefault(s, []).append(t)
    width = max(map(len, gold.values()))
    padded = torch.tensor([row + [-1] * (width - len(row)) for row in gold.values()])
    return x, z, seed, torch.tensor(list(gold)), padded


@pytest.mark.parametrize(
    ("name", "floor", "values"),
    [
        ("vecmap-sup", 0.72, {}),
        ("artetxe2018aaai", 0.71, {}),
        ("artetxe2017", 0.71, {"words": 4000, "max_iterations": 4}),
        ("vecmap-semi", 0.69, BUNDLED),
        ("artetxe2018acl", 0.68, {**BUNDLED, "initial_words": 1500, "check_words": 1000}),
    ],
)
def test_quality_on_the_bundled_pair(bundled, name, floor, values):
    x, z, seed, rows, gold = bundled
    alignment = make_method(name, values=values).fit(x, z, seed, Run())
    space = BilingualSpace(alignment.map_source(x), alignment.map_target(z))
    assert float((space.ranks(rows, gold) == 0).float().mean()) > floor
