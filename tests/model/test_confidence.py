"""Confidence: what it is learnt from, what it promises, and that it means what it says."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

import lnmap
from lnmap.cli import main
from lnmap.confidence import FEATURES, LEAST, Confidence, hold_out
from lnmap.direction import Direction
from lnmap.errors import InputError, ModelError, OptionError
from lnmap.lexicon import Lexicon
from lnmap.methods import make_method
from lnmap.methods.base import Run
from lnmap.methods.procrustes import Procrustes
from lnmap.pipeline.calibrate import calibrate
from lnmap.progress import Silent

F = len(FEATURES)


@pytest.fixture(scope="module")
def calibrated(pair):
    return lnmap.align(pair.source, pair.target, pair.train, method="procrustes", device="cpu", calibrate=True)


@pytest.fixture(scope="module")
def small(pair):
    sides = pair.source.head(3000), pair.target.head(3000)
    return lnmap.align(*sides, pair.train, method="procrustes", device="cpu", calibrate=True)


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
