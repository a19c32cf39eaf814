"""The judge's model: it finds planted weights, keeps to its prior where words are few, and knows when none is right."""

import pytest
import torch

from lnmap.errors import InputError
from lnmap.judge.logit import Judge, Weights

NAMES = ("a", "b", "c")
NOTHING = Weights((), (), 0.0)


def planted(n=600, k=12, weights=(2.0, -1.0, 0.0), none=1.0):
    """Candidates whose right ones were drawn by known weights."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(n, k, len(weights), generator=generator)
    scores = torch.cat([x @ torch.tensor(weights), torch.full((n, 1), none)], dim=1)
    drawn = torch.multinomial(scores.softmax(dim=1), 1, generator=generator)[:, 0]
    right = torch.nn.functional.one_hot(drawn, k + 1).bool()[:, :-1]
    return x, torch.ones(n, k, dtype=torch.bool), right


def test_finds_planted_weights():
    judge = Judge.fit(NAMES, *planted(), NOTHING, ridge=0.01)
    assert judge.weights.values == pytest.approx((2.0, -1.0, 0.0), abs=0.25)
    assert judge.weights.none == pytest.approx(1.0, abs=0.4)
    assert judge.outcomes == 600


def test_its_probability_is_how_often_it_is_right():
    x, there, right = planted(2000)
    judge = Judge.fit(NAMES, x[:1000], there[:1000], right[:1000], NOTHING, ridge=0.1)
    chance = judge.probability(x[1000:], there[1000:])
    sure, place = chance.max(dim=1)
    hit = right[1000:].gather(1, place[:, None])[:, 0].float()
    for low, high in ((0.0, 0.4), (0.4, 0.7), (0.7, 1.0)):
        inside = (sure >= low) & (sure < high)
        assert float(hit[inside].mean()) == pytest.approx(float(sure[inside].mean()), abs=0.07)
    assert float(judge.softmax(x, there).sum(dim=1).max()) <= 1 + 1e-5  # "none of them" has the rest


def test_a_seed_with_one_of_several_translations_still_shows_how_often_answers_are_right():
    """The first answer is right where it is sure, but in three of ten cases another right one was given."""
    generator = torch.Generator().manual_seed(0)
    x, there, right = planted(3000, weights=(4.0, 0.0, 0.0), none=3.0)
    other = torch.rand(3000, generator=generator) < 0.3
    given = right & ~other[:, None]
    one_given = Judge.fit(NAMES, x, there, given, NOTHING, ridge=0.1, complete=False)
    sure, place = one_given.probability(x, there).max(dim=1)
    hit = right.gather(1, place[:, None])[:, 0].float().mean()
    assert one_given.calibration.share == pytest.approx(0.7, abs=0.11)
    assert float(sure.mean()) == pytest.approx(float(hit), abs=0.08)
    all_given = Judge.fit(NAMES, x, there, given, NOTHING, ridge=0.1, complete=True)
    assert float(all_given.probability(x, there).max(dim=1).values.mean()) < float(hit) - 0.1


def test_few_words_hardly_change_the_prior():
    x, there, right = planted(4)
    prior = Weights(NAMES, (-3.0, 3.0, 1.0), 0.5)
    judge = Judge.fit(NAMES, x, there, right, prior, ridge=1e4)
    assert judge.weights.values == pytest.approx(prior.values, abs=0.01)


def test_what_is_no_candidate_has_no_probability():
    x, there, right = planted(50)
    there[:, 3:] = False
    judge = Judge.fit(NAMES, x, there, right, NOTHING, ridge=1.0)
    assert not judge.probability(x, there)[:, 3:].any()


def test_lists_of_one_kind_only():
    x, there, _ = planted(30)
    nothing_right, all_right = torch.zeros_like(there), torch.ones_like(there)
    for right, low in ((nothing_right, 0.0), (all_right, 0.5)):
        judge = Judge.fit(NAMES, x, there, right, NOTHING, ridge=1.0)
        assert torch.isfinite(judge.probability(x, there)).all()
        assert float(judge.probability(x, there).sum(dim=1).mean()) >= low


def test_comes_back_from_its_state_and_refuses_a_broken_one():
    judge = Judge.fit(NAMES, *planted(100), NOTHING, ridge=1.0)
    assert Judge.from_state(judge.state()) == judge
    with pytest.raises(ValueError, match="3 features has 2 weights"):
        Judge.from_state(judge.state() | {"weights": [1.0, 2.0]})


def test_needs_words():
    x, there, right = planted(1)
    with pytest.raises(InputError, match="got none"):
        Judge.fit(NAMES, x[:0], there[:0], right[:0], NOTHING, ridge=1.0)
