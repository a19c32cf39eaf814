"""Confidence: what it is learnt from, what it promises, and that it means what it says."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

import lnmap
from lnmap.cli import main
from lnmap.confidence import FEATURES, LEAST, Confidence, features, hold_out, outcomes
from lnmap.direction import Direction
from lnmap.errors import InputError, ModelError, OptionError
from lnmap.lexicon import Lexicon
from lnmap.methods import make_method
from lnmap.methods.base import Run
from lnmap.methods.procrustes import Procrustes
from lnmap.pipeline.calibrate import calibrate
from lnmap.progress import Silent
from lnmap.retrieve import BilingualSpace

F = len(FEATURES)


def draws(n: int, weights: list[float], bias: float, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Features and outcomes of a logistic truth."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, len(weights), generator=generator) * torch.tensor([0.1, 1, 1, 3, 0.5]) + 0.3
    p = torch.sigmoid(x @ torch.tensor(weights) + bias)
    return x, torch.rand(n, generator=generator) < p


@pytest.fixture(scope="module")
def calibrated(pair):
    return lnmap.align(pair.source, pair.target, pair.train, method="procrustes", device="cpu", calibrate=True)


@pytest.fixture(scope="module")
def small(pair):
    sides = pair.source.head(3000), pair.target.head(3000)
    return lnmap.align(*sides, pair.train, method="procrustes", device="cpu", calibrate=True)


def test_planted_truth_is_found():
    truth = [9.0, 0.7, 0.4, 0.3, 1.5]
    found = Confidence.fit(*draws(40_000, truth, -0.5))
    assert found.weights == pytest.approx(truth, rel=0.15, abs=0.06)
    assert found.bias == pytest.approx(-0.5, abs=0.15)
    assert found.outcomes == 40_000


def test_no_weight_is_negative():
    x, right = draws(5_000, [5.0, -2.0, 0.5, 0.0, -1.0], 0.0)
    found = Confidence.fit(x, right)
    assert min(found.weights) >= 0
    assert found.weights[1] == found.weights[4] == 0
    better = x + torch.rand(x.shape, generator=torch.Generator().manual_seed(1))
    assert bool((found.probability(better) >= found.probability(x)).all())


@pytest.mark.parametrize("right", [torch.ones(60), torch.zeros(60)])
def test_one_sided_outcomes_give_no_certainty(right):
    x = torch.randn(60, F, generator=torch.Generator().manual_seed(0))
    p = Confidence.fit(x, right).probability(x)
    assert bool(((p > 0.001) & (p < 0.999)).all())


def test_nothing_to_learn_from():
    with pytest.raises(InputError, match="judged candidates"):
        Confidence.fit(torch.zeros(0, F), torch.zeros(0))


def test_state_round_trip():
    found = Confidence.fit(*draws(500, [1.0, 1.0, 1.0, 1.0, 1.0], 0.0))
    assert Confidence.from_state(json.loads(json.dumps(found.state()))) == found
    with pytest.raises(ValueError, match="expected"):
        Confidence.from_state({**found.state(), "features": ["length"]})


def test_features_by_hand():
    """Against the definition, computed with the whole score matrix."""
    generator = torch.Generator().manual_seed(3)
    space = BilingualSpace(torch.randn(30, 6, generator=generator), torch.randn(40, 6, generator=generator))
    csls = 2 * space.source @ space.target.T - space.means[0][:, None] - space.means[1]
    queries = torch.tensor([4, 0, 29])
    hits = space.search(space.source[queries], 4)
    found = features(space, queries, hits)
    for i, s in enumerate(queries.tolist()):
        for j, t in enumerate(hits.rows[i].tolist()):
            ahead = csls[s, t] - max(csls[s, u] for u in range(40) if u != t)
            back = csls[s, t] - max(csls[u, t] for u in range(30) if u != s)
            wanted = [csls[s, t], max(ahead, 0), min(ahead, 0), max(back, 0), min(back, 0)]
            assert found[i, j].tolist() == pytest.approx([float(value) for value in wanted], abs=1e-5)
    by_vector = features(space, space.source[queries] * 3, hits)
    assert torch.allclose(by_vector[..., :3], found[..., :3], atol=1e-5)
    assert bool((by_vector[..., 3] <= 1e-5).all())  # the word itself competes now, and none is ahead of it


def test_features_of_a_single_word():
    space = BilingualSpace(torch.ones(1, 3), torch.ones(1, 3))
    found = features(space, torch.tensor([0]), space.search(torch.tensor([0])))
    assert bool(torch.isfinite(found).all())


def test_outcomes_are_judged_by_all_known_pairs():
    space = BilingualSpace(torch.eye(5), torch.eye(5))
    known = torch.tensor([[0, 0], [0, 3], [1, 2], [2, 2]])
    x, right = outcomes(space, torch.tensor([0, 1, 2]), known, 1)
    assert x.shape == (3, 1, F)
    assert right.tolist() == [[True], [False], [True]]


def test_held_out_words_are_not_trained_on(planted):
    seen = []

    class Spy(Procrustes):
        def fit(self, source, target, pairs, run):
            seen.append(pairs)
            return super().fit(source, target, pairs, run)

    x, y = (torch.tensor(side.vectors) for side in (planted.source, planted.target))
    pairs = torch.as_tensor(planted.lexicon.rows(planted.source, planted.target))
    pairs = torch.cat([pairs, torch.stack([pairs[:, 0], pairs[:, 1].roll(1)], dim=1)])  # two translations a word
    run = Run(seed=3)
    held = hold_out(pairs, run.seed)
    assert len(held[:, 0].unique()) == 100
    found = calibrate(Spy(), x, y, pairs, run)
    assert set(found) == set(Direction)
    (trained,) = seen
    for side in (0, 1):
        assert not set(trained[:, side].tolist()) & set(held[:, side].tolist())
    assert run.log == []
    assert found == calibrate(Spy(), x, y, pairs, Run(seed=3))


def test_small_seed_says_so(planted):
    progress = Silent()
    pairs = Lexicon(planted.lexicon.pairs[: 2 * LEAST - 1])
    model = lnmap.align(
        planted.source, planted.target, pairs, method="procrustes", device="cpu", calibrate=True, progress=progress
    )
    assert model.confidence is None
    assert any("no confidence" in note for note in progress.notes)


def test_second_training_that_fails_costs_no_model(planted):
    class Fails(Procrustes):
        def fit(self, source, target, pairs, run):
            if len(pairs) < len(planted.lexicon):
                raise InputError("too few")
            return super().fit(source, target, pairs, run)

    progress = Silent()
    model = lnmap.align(
        planted.source, planted.target, planted.lexicon, method=Fails(), device="cpu", calibrate=True, progress=progress
    )
    assert model.confidence is None
    assert any("too few" in note for note in progress.notes)


def test_a_method_may_bring_its_own(planted):
    own = {way: Confidence((1.0,) * F, 0.0) for way in (False, True)}

    class Knows(Procrustes):
        def fit(self, source, target, pairs, run):
            run.confidence = own
            return super().fit(source, target, pairs, run)

    model = lnmap.align(planted.source, planted.target, planted.lexicon, method=Knows(), device="cpu", calibrate=True)
    assert model.confidence is own


def test_confidence_means_what_it_says(pair, calibrated):
    """On test words: mean confidence near the share that is right, in every half, and right words are surer."""
    for direction, gold in (("forward", pair.test), ("backward", pair.test.reversed())):
        wanted: dict[str, set[str]] = {}
        for s, t in gold:
            wanted.setdefault(s, set()).add(t)
        best = [(answer.query, answer.candidates[0]) for answer in calibrated.translate(list(wanted), 1, direction)]
        p = np.array([candidate.confidence for _, candidate in best])
        right = np.array([candidate.word in wanted[query] for query, candidate in best])
        assert p.min() >= 0
        assert p.max() <= 1
        bins = np.minimum((p * 10).astype(int), 9)
        ece = sum(abs(p[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in set(bins))
        assert ece < 0.08
        assert np.mean((p - right) ** 2) < 0.15
        assert (p[right][:, None] > p[~right][None]).mean() > 0.8


def test_withheld_candidates(small):
    plain = small.translate(["freedom", "whom", "zzzz"])
    assert all(0 <= c.confidence <= 1 for answer in plain for c in answer.candidates)
    sure, unsure, unknown = small.translate(["freedom", "whom", "zzzz"], min_confidence=0.9)
    assert sure.words[0] == "liberté"
    assert sure.candidates + sure.withheld == plain[0].candidates
    assert unsure.known
    assert unsure.no_translation
    assert unsure.withheld == plain[1].candidates
    assert not unknown.known
    assert not unknown.no_translation


def test_induced_pairs_carry_it(small):
    whole = small.induce(given=False)
    sure = small.induce(min_confidence=0.9, given=False)
    assert 0 < len(sure) < len(whole)
    assert sure == [entry for entry in whole if entry.confidence >= 0.9]
    entry = whole[0]
    (answer,) = small.translate(entry.source, 1, given=False)
    assert answer.candidates[0].confidence == pytest.approx(entry.confidence, abs=1e-4)


def test_new_vectors_carry_it(small):
    (found,) = small.nearest(small.source.vectors[50:51] + 0.001, k=2)
    assert all(0 <= candidate.confidence <= 1 for candidate in found)


@pytest.mark.parametrize("least", [-0.1, 1.5])
def test_no_probability(small, least):
    with pytest.raises(OptionError, match="between 0 and 1"):
        small.translate("freedom", min_confidence=least)


def test_a_model_without(planted):
    model = lnmap.align(planted.source, planted.target, planted.lexicon, method="procrustes", device="cpu")
    assert model.translate("w3")[0].candidates[0].confidence is None
    assert model.induce()[0].confidence is None
    with pytest.raises(OptionError, match="calibrate=True"):
        model.induce(min_confidence=0.5)


def test_folder(small, tmp_path):
    small.save(tmp_path / "m")
    again = lnmap.load(tmp_path / "m")
    assert again.confidence == small.confidence
    again.confidence = None
    again.save(tmp_path / "m")
    assert lnmap.load(tmp_path / "m").confidence is None
    assert not list((tmp_path / "m").glob("confidence-*"))


def test_folder_with_a_broken_or_later_confidence(small, tmp_path):
    from lnmap.model import folder

    for name, change, loads in (
        ("later", {"version": 2}, True),
        ("other", {"forward": {**small.confidence[Direction.FORWARD].state(), "features": ["x"]}}, False),
    ):
        place = small.save(tmp_path / name)
        (path,) = place.glob("confidence-*.json")
        entry = folder._write_bytes(
            place, "confidence", json.dumps({**json.loads(path.read_text()), **change}).encode(), ".json"
        )
        manifest = json.loads((place / "model.json").read_text())
        manifest["files"]["confidence"] = entry
        (place / "model.json").write_text(json.dumps(manifest))
        if loads:
            assert lnmap.load(place).confidence is None
        else:
            with pytest.raises(ModelError, match="features"):
                lnmap.load(place)


def test_command_line(pair, tmp_path, capsys):
    for name, side in (("en.npz", pair.source.head(3000)), ("fr.npz", pair.target.head(3000))):
        lnmap.write(side, tmp_path / name, "npz")
    lnmap.io.write_lexicon(tmp_path / "pairs.tsv", ((s, t, 1.0) for s, t in pair.train), ("source", "target", "x"))
    files = [str(tmp_path / name) for name in ("en.npz", "fr.npz")]
    out = str(tmp_path / "m")
    arguments = ["--pairs", str(tmp_path / "pairs.tsv"), "--out", out, "--method", "procrustes", "--calibrate"]
    assert main(["align", *files, *arguments]) == 0
    capsys.readouterr()
    assert main(["translate", out, "freedom", "whom", "zzzz", "--json", "--min-confidence", "0.9"]) == 0
    sure, unsure, unknown = json.loads(capsys.readouterr().out)
    assert sure["candidates"][0]["word"] == "liberté"
    assert sure["candidates"][0]["confidence"] >= 0.9
    assert (unsure["known"], unsure["no_translation"], unsure["candidates"]) == (True, True, [])
    assert unsure["withheld"][0]["confidence"] < 0.9
    assert "no_translation" not in unknown
    assert main(["translate", out, "freedom", "whom", "--min-confidence", "0.9"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("freedom  liberté 0.")
    assert lines[0].endswith("%")
    assert "no translation (the surest candidate is " in lines[1]
    assert main(["induce", out, "--out", str(tmp_path / "lexicon.tsv"), "--min-confidence", "0.5"]) == 0
    head, *rows = (tmp_path / "lexicon.tsv").read_text(encoding="utf-8").splitlines()
    assert head.split("\t") == ["source", "target", "csls", "cosine", "confidence", "given"]
    given, own = ([row.split("\t")[4] for row in rows if row.endswith(end)] for end in ("\ttrue", "\tfalse"))
    assert len(given) + len(own) == len(rows)
    assert set(given) == {""}
    assert own
    assert all(float(confidence) >= 0.5 for confidence in own)
    assert len(lnmap.read_lexicon(tmp_path / "lexicon.tsv")) == len(rows)
    capsys.readouterr()
    assert main(["info", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["confidence"]["forward"] > 100
    assert main(["info", out]) == 0
    assert "learnt from " in capsys.readouterr().out
    assert main(["translate", out, "freedom", "--min-confidence", "2"]) == 2
    assert "between 0 and 1" in capsys.readouterr().err


def test_every_method_can_be_calibrated(plant):
    tiny = plant(n=120, d=8)
    for name in ("vecmap-sup", "geomm"):
        model = lnmap.align(
            tiny.source, tiny.target, tiny.lexicon, method=make_method(name), device="cpu", calibrate=True
        )
        assert set(model.confidence) == set(Direction)
