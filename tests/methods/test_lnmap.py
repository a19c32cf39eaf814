"""LNMap: its equations, its algorithm, its profiles, and what it reaches on real vectors."""

from dataclasses import asdict

import pytest
import torch
from tests.methods.reference_lnmap import train as train_plainly

import lnmap
from lnmap.direction import Direction
from lnmap.errors import LexiconError, OptionError, TrainingError
from lnmap.methods import make_method
from lnmap.methods.base import Run
from lnmap.methods.lnmap.algorithm import Algorithm1, autoencoder_loss, mapping_losses
from lnmap.methods.lnmap.closed_form import near_rotation
from lnmap.methods.lnmap.networks import Decoder, Encoder, Mapper, Networks
from lnmap.methods.lnmap.optim import SGD, Adam, minimise
from lnmap.methods.lnmap.options import PROFILES, LNMapOptions
from lnmap.methods.lnmap.ranking import hard_negatives, ranking_loss
from lnmap.methods.lnmap.steps import Batches, joint_step, successive_step
from lnmap.methods.procrustes import rotation

SMALL = {"code": 60, "hidden": 64, "mapper_hidden": 64, "queries": 2000, "pool": 2000}


def options(**values):
    return LNMapOptions().with_values(SMALL | values)


def numbers(module):
    return sum(p.numel() for p in module.parameters())


class TestNetworks:
    def test_encoder_and_decoder_are_the_papers_equations(self):
        torch.manual_seed(0)
        spec = LNMapOptions(autoencoder="nonlinear")
        encoder, decoder = Encoder(300, spec).eval(), Decoder(300, spec).eval()
        x = torch.randn(5, 300)
        theta, slope = encoder.layers, encoder.layers.phi.weight
        phi = torch.nn.functional.prelu
        h1 = phi(x @ theta.first.weight.T + theta.first.bias, slope)  # Eq. 1
        h2 = phi(h1 @ theta.second.weight.T + theta.second.bias, slope)  # Eq. 2
        z = h2 @ theta.last.weight.T + theta.last.bias  # Eq. 3
        torch.testing.assert_close(encoder(x), z)
        assert z.shape == (5, 350)
        x_hat = decoder(z)
        assert x_hat.shape == (5, 300)
        assert x_hat.abs().max() <= 1  # Eq. 6: tanh
        assert numbers(encoder) == 300 * 400 + 400 + 400 * 400 + 400 + 400 * 350 + 350 + 1  # one PReLU slope

    def test_linear_autoencoder_is_one_layer_per_side_without_tanh(self):
        spec = LNMapOptions(autoencoder="linear")
        assert numbers(Encoder(300, spec)) == 300 * 350 + 350
        assert Decoder(300, spec)(100 * torch.ones(1, 350)).abs().max() > 1

    def test_mappers_start_as_the_identity(self):
        spec = LNMapOptions(mapper="nonlinear")
        mapper = Mapper(spec)
        mapper.set_matrix(torch.eye(350))
        z = 0.05 * torch.randn(4, 350)
        torch.testing.assert_close(mapper(z), torch.tanh(z))
        assert torch.equal(Mapper(LNMapOptions(mapper="linear"))(z), z)

    def test_residual_mapper_starts_linear_and_bends_when_trained(self):
        torch.manual_seed(0)
        mapper = Mapper(LNMapOptions(mapper="residual"))
        matrix, z = torch.randn(350, 350), torch.nn.functional.normalize(torch.randn(4, 350), dim=1)
        mapper.set_matrix(matrix)
        torch.testing.assert_close(mapper(z), z @ matrix.T)
        assert 0.8 < mapper.bend.inner(z).std() < 1.2
        torch.nn.init.normal_(mapper.bend.outer.weight)
        bent = mapper(z) - z @ matrix.T
        assert (mapper(2 * z) - 2 * z @ matrix.T - 2 * bent).norm() > 0.2 * bent.norm()

    def test_exact_autoencoders_reconstruct(self):
        nets = Networks((300, 200), LNMapOptions(autoencoder="linear"))
        nets.make_exact()
        for (encoder, decoder), d in zip(nets.autoencoders(), (300, 200), strict=True):
            x = torch.randn(7, d)
            torch.testing.assert_close(decoder(encoder(x)), x, atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(encoder(x).norm(dim=1), x.norm(dim=1))

    def test_swapped_sees_the_same_parameters_from_the_other_language(self):
        nets = Networks((30, 20), options())
        other = nets.swapped()
        assert other.encoder_x is nets.encoder_y
        assert other.mapper_m is nets.mapper_n
        assert other.swapped().encoder_x is nets.encoder_x
        assert {id(p) for p in other.parameters()} == {id(p) for p in nets.parameters()}


class TestLosses:
    @pytest.mark.parametrize("reduction", ["sum", "mean"])
    def test_four_losses_follow_equations_7_to_10(self, reduction):
        torch.manual_seed(1)
        spec = options(autoencoder="nonlinear", reduction=reduction)
        nets = Networks((12, 9), spec).eval()
        x, y = torch.randn(6, 12), torch.randn(6, 9)
        z_x, z_y = nets.encoder_x(x), nets.encoder_y(y)
        there = nets.mapper_m(z_x)
        back = nets.mapper_n(there)
        found = mapping_losses(nets, x, z_y, spec)
        wanted = {
            "autoencoder": (x, nets.decoder_x(z_x)),
            "mapping": (z_y, there),
            "back_translation": (z_x, back),
            "reconstruction": (x, nets.decoder_x(back)),
        }
        losses = found._asdict() | {"autoencoder": autoencoder_loss(nets.encoder_x, nets.decoder_x, x, spec)}
        for name, (a, b) in wanted.items():
            each = ((a - b) ** 2).sum(dim=1) / (1 if reduction == "sum" else a.shape[1])
            torch.testing.assert_close(losses[name], each.mean())

    def test_total_weighs_the_terms_and_zero_weight_gives_no_gradient(self):
        nets = Networks((12, 9), options())
        x, z_y = torch.randn(6, 12), torch.randn(6, 60)
        terms = mapping_losses(nets, x, z_y, options(back_translation=2.0, reconstruction=3.0))
        torch.testing.assert_close(terms.total, terms.mapping + 2 * terms.back_translation + 3 * terms.reconstruction)
        mapping_losses(nets, x, z_y, options(back_translation=0, reconstruction=0)).total.backward()
        assert all(p.grad is None for p in [*nets.mapper_n.parameters(), *nets.decoder_x.parameters()])

    def test_ranking_loss_is_the_softmax_of_the_right_partner(self):
        torch.manual_seed(3)
        nets = Networks((12, 9), options()).eval()
        x, y = torch.randn(80, 12), torch.randn(70, 9)
        pairs = torch.stack([torch.arange(20), torch.arange(20) + 30], dim=1)
        negatives = hard_negatives(nets, x, y, pairs, 70, 1 << 20)
        assert negatives.targets.shape == negatives.sources.shape == (20, 50)
        cosine = torch.cosine_similarity(nets.translate(x)[:, None], nets.encode_target(y)[None], dim=2)  # (80, 70)
        each = []
        for (i, j), targets, sources in zip(pairs.tolist(), *(n.tolist() for n in negatives), strict=True):
            assert set(targets) == set(cosine[i].topk(50).indices.tolist())
            assert set(sources) == set(cosine[:70, j].topk(50).indices.tolist())
            wrong = [cosine[i, other] for other in targets if other != j] + [cosine[o, j] for o in sources if o != i]
            scores = torch.stack([cosine[i, j], *wrong]) / 0.1
            each.append(float(scores.logsumexp(0) - scores[0]))
        assert ranking_loss(nets, x, y, pairs, negatives).item() == pytest.approx(sum(each) / 20, abs=1e-4)


class TestSteps:
    """Which networks each update moves; all optimisers remember earlier gradients."""

    def after(self, make, **values):
        """Return the networks before and after one step, and the steps that Adam counted for E_x and D_x."""
        torch.manual_seed(5)
        spec = options(autoencoder="nonlinear", **values)
        nets = Networks((12, 9), spec)
        coders = Adam((nets.encoder_x,), 1e-3), Adam((nets.decoder_x,), 1e-3)
        x, codes = torch.randn(8, 12), torch.randn(8, 60)
        minimise(autoencoder_loss(nets.encoder_x, nets.decoder_x, x, spec), *coders)  # fills the moments
        before = {name: tensor.clone() for name, tensor in nets.state_dict().items()}
        batches = Batches(8, 8, x.device)
        batches.begin(torch.arange(8))
        make(nets, (*coders, SGD((nets.mapper_m, nets.mapper_n), 0.1)), x, codes, batches, spec).run()
        moved = {
            name.split(".")[0] for name, tensor in nets.state_dict().items() if not torch.equal(tensor, before[name])
        }
        return moved, [int(coder.tensors()["0.step"]) - 1 for coder in coders]

    def test_the_mapping_update_leaves_the_decoder_alone(self):
        moved, counted = self.after(successive_step, back_translation=0.0, reconstruction=0.0)
        assert moved == {"encoder_x", "mapper_m"}
        assert counted == [1, 0]

    def test_back_translation_moves_the_mappers_alone(self):
        moved, counted = self.after(successive_step, reconstruction=0.0)
        assert moved == {"encoder_x", "mapper_m", "mapper_n"}
        assert counted == [1, 0]  # the encoder by the mapping loss, not by this one

    def test_reconstruction_moves_all_four(self):
        moved, counted = self.after(successive_step, back_translation=0.0)
        assert moved == {"encoder_x", "decoder_x", "mapper_m", "mapper_n"}
        assert counted == [2, 1]

    def test_the_released_code_takes_one_step_of_all(self):
        moved, counted = self.after(joint_step)
        assert moved == {"encoder_x", "decoder_x", "mapper_m", "mapper_n"}
        assert counted == [1, 1]


class TestClosedForm:
    def test_between_rotation_and_least_squares(self):
        torch.manual_seed(2)
        a, b = torch.randn(200, 10), torch.randn(200, 10)
        best = rotation(a, b)
        torch.testing.assert_close(best @ best.T, torch.eye(10), atol=1e-5, rtol=0)
        torch.testing.assert_close(near_rotation(a, b, 1e9), best, atol=1e-4, rtol=0)
        torch.testing.assert_close(near_rotation(a, b, 0.0), torch.linalg.lstsq(a, b).solution, atol=1e-4, rtol=0)


class TestReference:  # reference_lnmap.py
    def test_default_gives_the_numbers_of_the_plain_loop(self, pair, monkeypatch):
        source, target = pair.source.head(700), pair.target.head(700)
        x, y = torch.from_numpy(source.vectors), torch.from_numpy(target.vectors)
        seed = torch.as_tensor(pair.train.rows(source, target)[:170])
        sizes = {"code": 300, "iterations": 4, "steps": 4}
        codes, dictionaries = train_plainly(x, y, seed, hidden=300, **sizes)
        induced, merge = [], Algorithm1.merge
        monkeypatch.setattr(Algorithm1, "merge", lambda self, old, new: induced.append(new) or merge(self, old, new))
        method = make_method("lnmap", None, sizes | {"mapper_hidden": 300, "tolerance": 0.0})
        alignment = method.fit(x, y, seed, Run(one_way=True))
        torch.testing.assert_close(
            alignment.map_source(x), codes[0], atol=1e-3, rtol=0
        )  # Adam enlarges rounding errors
        torch.testing.assert_close(alignment.map_target(y), codes[1], atol=1e-3, rtol=0)
        induced = induced[-len(dictionaries) :]  # those before are of the rehearsal
        assert [as_set(found) for found in induced] == [as_set(found) for found in dictionaries]
        assert len(induced[-1]) > 100


def as_set(pairs):
    return set(map(tuple, pairs.tolist()))


class TestAlgorithm:
    def fit(self, planted, run=None, **values):
        source, target, pairs = planted.source, planted.target, planted.lexicon
        run = run or Run()
        method = make_method("lnmap", None, SMALL | {"rehearse": False} | values)
        x, y = torch.from_numpy(source.vectors), torch.from_numpy(target.vectors)
        rows = torch.as_tensor(pairs.rows(source, target)[:200])
        return method.fit(x, y, rows, run), run

    def test_dictionary_grows_by_the_increment_and_keeps_the_seed(self, planted):
        _, run = self.fit(planted, increment=50, iterations=3, closed_iterations=3, tolerance=0)
        sizes = [row["pairs"] for row in run.log if row["stage"] == "forward"]
        assert sizes[0] == 200
        assert 200 <= sizes[1] <= 250
        assert 200 <= sizes[2] <= 300

    def test_pairs_below_the_least_csls_are_not_used(self, planted):
        _, run = self.fit(planted, iterations=2, closed_iterations=2, least=5.0, tolerance=0)
        assert [row["pairs"] for row in run.log if row["stage"] == "forward"] == [200, 200]
        assert run.log[0]["induced"] > 0

    def test_stops_when_the_mean_similarity_no_longer_changes(self, planted):
        _, run = self.fit(planted, iterations=5, closed_iterations=1, steps=1, tolerance=10.0)
        assert max(row.get("iteration", 0) for row in run.log) == 2

    def test_one_way_trains_one_direction_and_both_still_translate(self, planted):
        run = Run(one_way=True)
        alignment, run = self.fit(planted, run, iterations=1, closed_iterations=1)
        assert {row["stage"] for row in run.log} == {"forward"}
        x = torch.from_numpy(planted.source.vectors)
        assert torch.equal(alignment.map_source(x), alignment.map_source(x, Direction.BACKWARD))

    def test_log_says_how_far_each_module_moved(self, planted):
        _, run = self.fit(planted, iterations=2, closed_iterations=1, steps=2)
        last = run.log[-1]
        assert last["moved_encoder_x"] > 0
        assert last["moved_mapper_m"] > 0
        assert {"mapping", "back_translation", "reconstruction", "ranking", "seconds", "similarity"} <= set(last)

    def test_same_seed_same_bits_on_several_threads(self, pair):
        source, target = pair.source.head(2000), pair.target.head(2000)
        threads = torch.get_num_threads()
        torch.set_num_threads(2)
        try:
            states = [
                lnmap.align(
                    source,
                    target,
                    pair.train,
                    method="lnmap",
                    take="300-unique",
                    one_way=True,
                    options={"iterations": 3, "steps": 6},
                ).alignment.state()[1]
                for _ in range(2)
            ]
        finally:
            torch.set_num_threads(threads)
        assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])

    def test_divergence_is_retried_gently_and_then_refused(self, planted):
        with pytest.raises(TrainingError, match="diverged"):
            self.fit(planted, updates="joint", ae_epochs=1, ae_least=0, epochs=5, encoder_rate=1e30, mapper_rate=1e30)

    def test_an_autoencoder_that_learns_nothing_is_told(self, planted):
        values = {"updates": "joint", "ae_least": 200, "epochs": 1, "iterations": 1}
        told = [self.fit(planted, **values, ae_rate=rate)[1].progress.notes for rate in (1e-3, 1e3)]
        assert not any("learnt nothing" in note for note in told[0])
        assert any("source autoencoder learnt nothing" in note for note in told[1])

    def test_unusual_data_is_told(self, plant):
        small = plant(n=60, d=10)
        run = Run(one_way=True)
        self.fit(small, run, iterations=1, closed_iterations=1)
        assert "only 60 words" in run.progress.notes[0]
        run = Run(one_way=True)
        x = torch.from_numpy(plant().source.vectors)
        pairs = torch.tensor([[i // 2, i] for i in range(40)])
        make_method("lnmap", None, SMALL | {"iterations": 1, "closed_iterations": 1}).fit(x, x, pairs, run)
        assert any("fewer than K" in note for note in run.progress.notes)
        assert any("20 seed pairs give a source word another" in note for note in run.progress.notes)

    def test_too_few_pairs_are_refused(self, planted):
        x = torch.from_numpy(planted.source.vectors)
        with pytest.raises(LexiconError, match="at least"):
            make_method("lnmap").fit(x, x, torch.zeros(3, 2, dtype=torch.long), Run())


class TestProfiles:
    def test_every_profile_is_made_of_known_options(self):
        for values in PROFILES.values():
            LNMapOptions().with_values(values)

    def test_release_and_paper_differ_where_text_and_code_do(self):
        release = asdict(make_method("lnmap", "release").options)
        paper = asdict(make_method("lnmap", "paper").options)
        assert (release["updates"], paper["updates"]) == ("joint", "successive")
        assert (release["rank_by"], paper["rank_by"]) == ("cosine", "csls")
        assert (release["pool"], paper["pool"]) == (30_000, 15_000)
        assert (release["reduction"], paper["reduction"]) == ("mean", "sum")
        assert release["tolerance"] == 0
        assert paper["tolerance"] == 1e-6

    def test_unknown_profile(self):
        with pytest.raises(OptionError, match="paper"):
            make_method("lnmap", "papre")

    @pytest.mark.parametrize(
        "values",
        [
            {"reconstruction": 0.0},
            {"back_translation": 0.0},
            {"mapper": "linear"},
            {"mapper": "procrustes"},
            {"mapper": "residual"},
            {"autoencoder": "linear"},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("profile", ["paper", "release"])
    def test_every_row_of_the_ablation_is_one_option_away(self, planted, profile, values):
        small = SMALL | {"ae_epochs": 2, "ae_draws": 500, "epochs": 2, "iterations": 2}
        model = lnmap.align(
            planted.source, planted.target, planted.lexicon, method="lnmap", profile=profile, options=small | values
        )
        assert all(torch.isfinite(t).all() for t in model.alignment.state()[1].values())


class TestQuality:
    """P@1 on real words that were not trained on, against Procrustes from the same 500 pairs."""

    def score(self, pair, method, **values):
        source, target = pair.source.head(4000), pair.target.head(4000)
        model = lnmap.align(source, target, pair.train, method=method, take="500-unique", one_way=True, options=values)
        return model.evaluate(pair.test).precision()

    def test_default_is_well_above_procrustes(self, pair):
        assert self.score(pair, "lnmap", iterations=3) > self.score(pair, "procrustes") + 3

    def test_self_training_does_not_make_it_worse(self, pair):
        scores = [self.score(pair, "lnmap", iterations=n, steps=4) for n in (3, 5)]
        assert scores[1] > scores[0] - 1


def test_random_state_is_left_alone(planted):
    before = torch.random.get_rng_state()
    x = torch.from_numpy(planted.source.vectors)
    pairs = torch.arange(40).repeat(2, 1).T
    make_method("lnmap", None, SMALL | {"iterations": 1, "closed_iterations": 1}).fit(x, x, pairs, Run())
    assert torch.equal(before, torch.random.get_rng_state())
