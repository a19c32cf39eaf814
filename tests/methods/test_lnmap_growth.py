"""LNMap's default: its closed form, and the rehearsal that says how far a dictionary should grow."""

import pytest
import torch
from tests.methods.test_lnmap_state import Interrupted

from lnmap.induce import Induced
from lnmap.methods import make_method
from lnmap.methods.base import Run
from lnmap.methods.lnmap.algorithm import Algorithm1
from lnmap.methods.lnmap.closed_form import scoring
from lnmap.methods.lnmap.held_out import latest
from lnmap.methods.lnmap.networks import Encoder
from lnmap.methods.lnmap.options import LNMapOptions
from lnmap.retrieve import BilingualSpace

SMALL = {"code": 20, "mapper_hidden": 20}


def half_related():
    """Return vectors of 600 words, of which the second half has no translation, and 60 seed pairs."""
    draw = torch.Generator().manual_seed(0)
    x, noise, unrelated = (torch.randn(600, 20, generator=draw) for _ in range(3))
    y = x @ torch.linalg.qr(torch.randn(20, 20, generator=draw)).Q + 0.6 * noise
    y[300:] = unrelated[300:]
    return x, y, torch.arange(60).repeat(2, 1).T


class TestClosedForm:
    def test_scoring_form_is_where_the_gradient_is_zero(self):
        torch.manual_seed(2)
        a, b = torch.randn(50, 8).double(), torch.randn(50, 8).double()
        to_y, stretch = scoring(a, b, 0.5)
        torch.testing.assert_close(stretch, stretch.T)
        torch.testing.assert_close((b @ stretch).norm(dim=1).mean(), torch.tensor(1.0).double())
        w, aa, bb = to_y @ stretch, a.T @ a, b.T @ b
        wanted = aa @ w @ bb + 0.5 * aa.diagonal().mean() * bb.diagonal().mean() * w  # = a^T b, but for the lengths
        torch.testing.assert_close(wanted / wanted.norm(), a.T @ b / (a.T @ b).norm())

    def test_stretched_codes_are_those_codes_times_the_matrix(self):
        torch.manual_seed(4)
        for kind in ("linear", "nonlinear"):
            encoder, x, matrix = (
                Encoder(12, LNMapOptions(code=20, autoencoder=kind)),
                torch.randn(5, 12),
                torch.randn(20, 20),
            )
            before = encoder(x)
            encoder.stretch(matrix)
            torch.testing.assert_close(encoder(x), before @ matrix, atol=1e-4, rtol=1e-4)


class TestRehearsal:
    """Seed words that are held out say how many iterations help."""

    def fit(self, **values):
        """Return how well words outside the seed are found, and the log."""
        x, y, seed = half_related()
        run, words = Run(one_way=True), torch.arange(60, 300)
        alignment = make_method("lnmap", None, SMALL | values).fit(x, y, seed, run)
        ranks = BilingualSpace(alignment.map_source(x), alignment.map_target(y)).ranks(words, words[:, None])
        return float((1 / (ranks + 1)).mean()), run.log

    def test_never_ends_below_its_start_where_half_of_the_words_have_no_translation(self):
        start, _ = self.fit(rehearse=False, iterations=1)
        for least in (0.1, -2.0):
            assert self.fit(least=least)[0] >= start

    def test_growth_that_harms_is_left_out(self, monkeypatch):
        """The dictionary grows by pairs drawn at random."""
        start, _ = self.fit(iterations=1)

        def induce(self, way):
            rows = torch.randint(600, (300, 2), generator=torch.Generator().manual_seed(1))
            return Induced(rows, torch.ones(300), torch.ones(300))

        monkeypatch.setattr(Algorithm1, "induce", induce)
        without, _ = self.fit(rehearse=False)
        found, log = self.fit()
        assert without < found == start
        assert [row["iteration"] for row in log if row["stage"] == "forward"] == [1]
        held = {(row["ridge"], row["after"]): row["rank"] for row in log if row["stage"] == "held out"}
        assert max(held, key=held.get)[1] == 1

    def test_iterations_go_on_until_words_fall_by_more_than_a_standard_error(self):
        best, near = torch.full((4,), 0.5), torch.tensor([0.3, 0.65, 0.3, 0.65])
        far = torch.tensor([0.3, 0.3, 0.3, 0.35])
        assert latest({(4.0, 1): best - 0.1, (4.0, 2): best, (4.0, 3): near, (1.5, 1): best - 0.2}) == (4.0, 3)
        assert latest({(4.0, 1): best - 0.1, (4.0, 2): best, (4.0, 3): far, (1.5, 1): best - 0.2}) == (4.0, 2)
        assert latest({(4.0, 1): best - 0.1, (1.5, 1): best, (1.5, 2): far, (1.5, 3): near}) == (1.5, 3)

    def test_a_seed_too_small_to_hold_words_out_runs_all_iterations(self, planted):
        x, y = torch.from_numpy(planted.source.vectors), torch.from_numpy(planted.target.vectors)
        rows, run = torch.as_tensor(planted.lexicon.rows(planted.source, planted.target)[:30]), Run(one_way=True)
        make_method("lnmap", None, SMALL | {"iterations": 2}).fit(x, y, rows, run)
        assert [row["stage"] for row in run.log] == ["forward"] * 2

    def test_published_profiles_hold_nothing_out(self):
        assert not any(make_method("lnmap", profile).options.rehearse for profile in ("paper", "release"))


def test_run_resumed_after_any_iteration_keeps_what_was_rehearsed():
    x, y, seed = half_related()
    method = make_method("lnmap", None, SMALL | {"iterations": 3, "closed_iterations": 1, "steps": 2, "tolerance": 0.0})
    log = Run()
    whole = method.fit(x, y, seed, log).state()[1]
    rows = [row for row in log.log if row["stage"] != "held out"]
    assert {row["stage"] for row in log.log} == {"held out", "forward", "backward"}
    for saves in range(1, len(rows) + 2):  # after step 1 and after each iteration
        checkpoint = Interrupted(saves)
        with pytest.raises(KeyboardInterrupt):
            method.fit(x, y, seed, Run(checkpoint=checkpoint))
        run = Run(checkpoint=checkpoint)
        resumed = method.fit(x, y, seed, run).state()[1]
        assert all(torch.equal(whole[name], resumed[name]) for name in whole)
        assert [row["stage"] for row in run.log] == [row["stage"] for row in log.log]
        moved = [[row["moved_mapper_m"] for row in one if "iteration" in row] for one in (run.log, log.log)]
        assert moved[0] == moved[1]


def test_default_is_linear_in_effect(pair, monkeypatch):
    """As its departure says: without the tanh of the trained mapper no first answer changes."""
    x, y = (torch.tensor(side.vectors[:1500]) for side in (pair.source, pair.target))
    rows = torch.tensor(pair.train.rows(pair.source, pair.target))
    rows = rows[(rows < 1500).all(dim=1)][:300]
    short = {"rehearse": False, "iterations": 2, "closed_iterations": 1}
    alignment = make_method("lnmap", None, short).fit(x, y, rows, Run(one_way=True))

    def answers() -> torch.Tensor:
        return (alignment.map_source(x) @ alignment.map_target(y).T).argmax(dim=1)

    before = answers()
    monkeypatch.setattr(torch, "tanh", lambda z: z)
    assert torch.equal(answers(), before)
