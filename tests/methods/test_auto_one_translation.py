"""Seeds with one translation of several: others that are right are no mistakes, and answers are as sure as right."""

from dataclasses import replace

import torch

from lnmap.judge.calibration import Calibration
from lnmap.judge.kinds import Kinds
from lnmap.judge.logit import Judge
from lnmap.judge.usual import USUAL
from lnmap.methods.auto.judging import Outcomes, fit_judge

NAMES = ("csls", "letters")


def words(n=800, k=8):
    """Words whose candidates are right by what the usual judge says; a seed names one of the right ones by chance."""
    g = torch.Generator().manual_seed(0)
    features = torch.randn(n, k, len(NAMES), generator=g)
    features[:, :2] += 5.0  # two good candidates of each word
    features[n // 2 :] -= 5.0  # and of half of the words none
    odds = features @ USUAL.of(NAMES)[:-1].float() - USUAL.none
    odds += ((features @ USUAL.together(NAMES).float()) * features).sum(dim=-1)
    right = torch.rand(n, k, generator=g) < torch.sigmoid(odds)
    chosen = torch.multinomial(right + 1e-9, 1, generator=g)
    given = torch.zeros_like(right).scatter_(1, chosen, True) & right
    candidates = torch.randint(0, 500, (n, k), generator=g)
    there = torch.ones_like(right)
    kinds = Kinds(torch.randn(500, 3, generator=g))
    return features, right, Outcomes(features, there, given, torch.arange(n), candidates), kinds


def first_answers(judge, features, right):
    """How sure first answers are, and how many are right."""
    weights = replace(judge.weights, names=NAMES, values=judge.weights.values[: len(NAMES)])
    judge = Judge(weights, judge.calibration)
    sure, place = judge.probability(features, torch.ones_like(right)).max(dim=1)
    return float(sure.mean()), float(right.gather(1, place[:, None]).float().mean())


def test_answers_are_as_sure_as_they_are_right():
    features, right, found, kinds = words()
    sure, share = first_answers(fit_judge(NAMES, found, kinds, complete=False)[0], features, right)
    assert abs(sure - share) < 0.06
    counted, share = first_answers(fit_judge(NAMES, found, kinds, complete=True)[0], features, right)
    assert counted < share - 0.1  # taken at its word, the seed says that half of the right answers are wrong


def test_weights_stay_near_the_usual_ones_and_kinds_are_learnt():
    _, _, found, kinds = words()
    usual = USUAL.of(NAMES)[:-1]
    near, far = (
        (torch.tensor(fit_judge(NAMES, found, kinds, whole)[0].weights.values[: len(NAMES)]) - usual).abs().max()
        for whole in (False, True)
    )
    assert near < far
    base = torch.arange(500) % 2 == 0
    kinds = Kinds(torch.randn(500, 3) + torch.where(base, 2.0, -2.0)[:, None])
    even = found._replace(candidates=2 * (found.candidates // 2) + ~found.right)  # what is given is of one kind
    liked = kinds.scores(fit_judge(NAMES, even, kinds, complete=False)[1])
    assert liked[base].mean() > liked[~base].mean() + 1


def test_the_log_odds_gain_what_right_answers_share():
    judge = fit_judge(NAMES, *words()[2:], complete=False)[0]
    assert judge.calibration == Calibration(bias=0.45)
    assert fit_judge(NAMES, *words()[2:], complete=True)[0].calibration.rank is not None
