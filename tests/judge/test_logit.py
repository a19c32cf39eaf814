"""The judge's model: it finds planted weights, keeps to its prior where words are few, and knows when none is right."""

import json
import math

import pytest
import torch

from lnmap.errors import InputError
from lnmap.judge.calibration import Calibration
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


def test_weights_are_learnt_among_what_is_possible_and_there():
    x, there, right = planted(200)
    there[:, -2:] = False
    every = torch.ones_like(there)
    assert Judge.fit(NAMES, x, there, right, NOTHING, 0.1, possible=every) == Judge.fit(
        NAMES, x, there, right, NOTHING, 0.1
    )
    impossible = every.clone()
    impossible[:50] = ~right[:50]  # what is right could not have been given
    kept = ~right[:50].any(dim=1)  # but for words that have no right one
    some = torch.cat([kept, torch.ones(150, dtype=torch.bool)])
    fitted = Judge.fit(NAMES, x, every, right, NOTHING, 0.1, possible=impossible)
    assert fitted.weights == Judge.fit(NAMES, x[some], every[some], right[some], NOTHING, 0.1).weights
    assert fitted.outcomes == 200


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


def several(n=3000, k=12):
    """Words with two right candidates among others; a seed gives one of them, mostly not the better one."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(n, k, 1, generator=generator)
    x[:, 0] += 4.0
    x[:, 1] += 3.0
    right = torch.zeros(n, k, dtype=torch.bool)
    right[:, :2] = True
    given = torch.zeros_like(right)
    chosen = (torch.rand(n, generator=generator) < 0.7).long()
    given[torch.arange(n), chosen] = True
    return x, torch.ones_like(right), right, given


def test_what_is_believed_to_be_right_is_no_mistake():
    """Taken at its word, a seed with one of several translations teaches that the others are wrong."""
    x, there, right, given = several()
    prior = Weights(("a",), (2.0,), 2.0)
    believed = 0.1 * Judge(prior).softmax(x, there)
    fitted = Judge.fit(("a",), x, there, given, prior, 0.1, believed)
    plain = Judge.fit(("a",), x, there, given, prior, 0.1)
    sums = [float((judge.softmax(x, there) * right).sum(dim=1).mean()) for judge in (plain, fitted)]
    assert sums[1] > sums[0] + 0.05
    assert fitted.weights.values[0] > plain.weights.values[0] + 0.2
    assert fitted.calibration == Calibration()  # how often an answer is right cannot be counted
    assert fitted.outcomes == 3000


def test_beliefs_of_zero_and_beliefs_in_what_was_given_change_no_weight():
    x, there, right = planted(60)
    plain = Judge.fit(NAMES, x, there, right, NOTHING, 1.0)
    for believed in (torch.zeros_like(x[..., 0]), right.float()):
        assert Judge.fit(NAMES, x, there, right, NOTHING, 1.0, believed).weights == plain.weights


def test_nothing_is_believed_of_what_is_no_candidate():
    x, there, right = planted(60)
    there[:, 6:] = False
    believed = torch.full_like(x[..., 0], 0.3)
    inside = believed * there
    found = Judge.fit(NAMES, x, there, right, NOTHING, 1.0, believed)
    assert found == Judge.fit(NAMES, x, there, right, NOTHING, 1.0, inside)
    alone = Judge.fit(NAMES, *(part[:, :6] for part in (x, there, right)), NOTHING, 1.0, believed[:, :6])
    assert found.weights.values == pytest.approx(alone.weights.values, abs=1e-6)


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
    together = Judge(Weights(NAMES, (1.0, 2.0, 3.0), 0.5, TOGETHER))
    assert Judge.from_state(json.loads(json.dumps(together.state()))) == together
    with pytest.raises(ValueError, match="3 features has 2 weights"):
        Judge.from_state(judge.state() | {"weights": [1.0, 2.0]})


def test_needs_words():
    x, there, right = planted(1)
    with pytest.raises(InputError, match="got none"):
        Judge.fit(NAMES, x[:0], there[:0], right[:0], NOTHING, ridge=1.0)


def naive_softmax(judge: Judge, x: torch.Tensor, there: torch.Tensor) -> list[list[float]]:
    """Shares of all candidates' weight, one number at a time."""
    found = []
    for features, mask in zip(x.double().tolist(), there.tolist(), strict=True):
        scores = [sum(w * f for w, f in zip(judge.weights.values, one, strict=True)) for one in features]
        weights = [math.exp(score) if kept else 0.0 for score, kept in zip(scores, mask, strict=True)]
        total = sum(weights) + math.exp(judge.weights.none)
        found.append([weight / total for weight in weights])
    return found


def test_softmax_equals_its_formula():
    x, there, _ = planted(20)
    there[::2, 4:] = False
    judge = Judge(Weights(NAMES, (1.5, -0.5, 0.2), 0.7))
    assert judge.outcomes == 0
    for own, wanted in zip(judge.softmax(x, there).tolist(), naive_softmax(judge, x, there), strict=True):
        assert own == pytest.approx(wanted, abs=1e-6)


TOGETHER = (("a", "c", 0.6), ("b", "b", -0.3), ("c", "somewhere else", 5.0))


def q_of_together(x: torch.Tensor) -> torch.Tensor:
    """What `TOGETHER` adds to the scores, by its definition."""
    return 0.6 * x[..., 0] * x[..., 2] - 0.3 * x[..., 1] ** 2


def test_products_of_features_count_in_the_score():
    x, there, _ = planted(20)
    there[::2, 4:] = False
    judge = Judge(Weights(NAMES, (1.5, -0.5, 0.2), 0.7, TOGETHER))
    flat = torch.cat([x, q_of_together(x)[..., None]], dim=-1)
    plain = Judge(Weights((*NAMES, "q"), (1.5, -0.5, 0.2, 1.0), 0.7))
    assert torch.allclose(judge.softmax(x, there), plain.softmax(flat, there), atol=1e-6)


def test_weights_of_products_find_their_features_in_any_order():
    q = Weights((), (), 0.0, TOGETHER).together(("c", "b", "a"))
    assert q.nonzero().tolist() == [[1, 1], [2, 0]]
    assert (float(q[1, 1]), float(q[2, 0])) == (-0.3, 0.6)


def test_products_are_those_of_clipped_features():
    x, there, _ = planted(4)
    judge = Judge(Weights(NAMES, (0.0, 0.0, 0.0), 0.0, TOGETHER))
    x[..., 0] = 1e6
    assert torch.equal(judge.softmax(x, there), judge.softmax(x.clamp_max(6.0), there))


def test_products_are_learnt_elsewhere_and_stay():
    """Weights are found beside them, and none takes their place."""
    generator = torch.Generator().manual_seed(1)
    x, there = torch.randn(3000, 12, 3, generator=generator), torch.ones(3000, 12, dtype=torch.bool)
    scores = torch.cat([x @ torch.tensor((2.0, -1.0, 0.0)) + q_of_together(x), torch.ones(3000, 1)], dim=1)
    drawn = torch.multinomial(scores.softmax(dim=1), 1, generator=generator)[:, 0]
    right = torch.nn.functional.one_hot(drawn, 13).bool()[:, :-1]
    judge = Judge.fit(NAMES, x, there, right, Weights((), (), 0.0, TOGETHER), ridge=0.01)
    assert judge.weights.values == pytest.approx((2.0, -1.0, 0.0), abs=0.1)
    assert judge.weights.products == TOGETHER


@pytest.mark.parametrize("products", [(), TOGETHER])
@pytest.mark.parametrize("ridge", [0.5, torch.tensor([0.1, 5.0, 40.0], dtype=torch.float64)])
def test_no_other_weights_fit_better(ridge, products):
    """The slope of the loss by its definition is zero, however far the weights had to go from the prior."""
    x, there, right = planted(80)
    there[::3, 5:] = False
    right[:10] = False
    right[10:20, :3] = True  # several right ones
    prior = Weights(("b", "a"), (-2.0, 3.0), -4.0, products)
    judge = Judge.fit(NAMES, x, there, right, prior, ridge)
    w = torch.tensor([*judge.weights.values, judge.weights.none], dtype=torch.float64, requires_grad=True)
    scores = x.double() @ w[:-1] + (q_of_together(x.double()) if products else 0)
    scores = torch.cat([scores, w[-1].expand(80, 1)], dim=1)
    listed = torch.cat([there, torch.ones(80, 1, dtype=torch.bool)], dim=1)
    shares = scores.masked_fill(~listed, -torch.inf).softmax(dim=1)
    good = right & there
    good = torch.cat([good, ~good.any(dim=1, keepdim=True)], dim=1)
    lost = -(shares * good).sum(dim=1).log().sum()
    away = w[:-1] - torch.tensor([3.0, -2.0, 0.0])
    (slope,) = torch.autograd.grad(lost + (ridge * away.square()).sum() / 2, w)
    assert float(slope.abs().max()) < 3e-3
    assert judge.weights.names == NAMES


def test_steps_that_go_too_far_are_halved():
    """From a prior that is sure of the wrong candidates, a whole step makes the loss larger."""
    x, there, right = planted(40, weights=(3.0, 0.0, 0.0), none=4.0)
    far = Judge.fit(NAMES, x, there, right, Weights(NAMES, (-6.0, 0.0, 0.0), 0.0), ridge=1e-6)
    near = Judge.fit(NAMES, x, there, right, NOTHING, ridge=1e-6)
    assert far.weights.values == pytest.approx(near.weights.values, abs=0.01)
    assert far.weights.none == pytest.approx(near.weights.none, abs=0.01)


def test_what_is_right_but_not_listed_teaches_that_none_is():
    x, there, right = planted(60)
    there[:, 6:] = False
    assert Judge.fit(NAMES, x, there, right, NOTHING, 1.0) == Judge.fit(NAMES, x, there, right & there, NOTHING, 1.0)


def test_no_candidate_wins_by_one_number_alone():
    x, there, right = planted(60)
    x[0, 0, 0], x[1, 0, 1] = 6.0, -6.0
    beyond = x.clone()
    beyond[0, 0, 0], beyond[1, 0, 1] = 1e6, -1e6
    judge = Judge.fit(NAMES, x, there, right, NOTHING, 1.0)
    assert judge == Judge.fit(NAMES, beyond, there, right, NOTHING, 1.0)
    assert torch.equal(judge.softmax(x, there), judge.softmax(beyond, there))
    beyond[0, 0, 0] = 5.0
    assert not torch.equal(judge.softmax(x, there), judge.softmax(beyond, there))


def test_weights_of_other_features_are_zero():
    weights = Weights(("a", "c"), (1.0, 3.0), 9.0)
    assert weights.of(("c", "b", "a")).tolist() == [3.0, 0.0, 1.0, 9.0]


def test_its_calibration_is_learnt_from_first_answers():
    names = ("a", "frequency", "rarer")
    x, there, right = planted(300)
    x[..., 1:] = x[:, :1, 1:].abs()
    judge = Judge.fit(names, x, there, right, NOTHING, 1.0)
    best, place = judge.softmax(x, there).max(dim=1)
    first = right[torch.arange(300), place]
    assert judge.calibration == Calibration.fit(best, x[:, 0, 1] - x[:, 0, 2], first)
    again = judge.calibration.probability(judge.softmax(x, there), x[:, 0, 1] - x[:, 0, 2])
    assert torch.equal(judge.probability(x, there), again)


def test_the_rank_of_a_word_is_read_off_its_first_candidate():
    """ "rarer" and "frequency apart" are how far a candidate is behind the word, and the word behind it."""
    names = ("frequency apart", "a", "frequency", "rarer")
    judge = Judge(Weights(names, (0.0,) * 4, 0.0))
    own, other = torch.tensor([-2.0, -0.5]), torch.tensor([[-1.0, -3.0], [-2.5, -0.1]])
    apart = own[:, None] - other
    features = torch.stack([apart.clamp_min(0), torch.ones(2, 2), other, (-apart).clamp_min(0)], dim=-1)
    assert judge.log_ranks(features).tolist() == pytest.approx(own.tolist())
    assert judge.log_ranks(features[:, :1]).tolist() == pytest.approx(own.tolist())  # a list of one
    assert Judge(Weights(("a",), (1.0,), 0.0)).log_ranks(torch.ones(3, 2, 1)).tolist() == [0.0, 0.0, 0.0]


def test_less_sure_changes_the_log_odds_only():
    x, there, right = planted(50)
    judge = Judge.fit(NAMES, x, there, right, NOTHING, ridge=1.0)
    less = judge.less_sure(-0.8)
    before, after = torch.logit(judge.probability(x, there)), torch.logit(less.probability(x, there))
    assert torch.allclose(after, before - 0.8, atol=1e-4)
    assert less.weights == judge.weights
    assert less.outcomes == 50


def test_state_is_plain_json():
    calibration = {"slope": 2.0, "bias": -1.0, "rank": None}
    state = {"features": ["a"], "weights": [1.5], "none": -0.5, "products": [["a", "a", 0.25]]}
    state |= {"calibration": calibration, "outcomes": 7}
    judge = Judge.from_state(json.loads(json.dumps(state)))
    assert judge == Judge(Weights(("a",), (1.5,), -0.5, (("a", "a", 0.25),)), Calibration(2.0, -1.0, None), 7)
    assert judge.state() == state
    before = {name: value for name, value in state.items() if name != "products"}
    assert Judge.from_state(before) == Judge(Weights(("a",), (1.5,), -0.5), Calibration(2.0, -1.0, None), 7)
    assert Judge.from_state({**state, "calibration": {**calibration, "share": 0.9}}) == judge  # of an older model
    whole = state | {"calibration": {"slope": 2, "bias": 0, "rank": 3}, "weights": [1], "none": 0}
    assert isinstance(Judge.from_state(whole).calibration.rank, float)
    assert isinstance(Judge.from_state(whole).weights.none, float)
    assert Judge.from_state({**whole, "outcomes": 7.0}).outcomes == 7
