"""Where `auto` starts with few pairs."""

import math

import pytest
import torch

from lnmap.errors import TrainingError
from lnmap.methods.auto.anchored import Anchors, Field, learn_rotation
from lnmap.methods.auto.start import doubt, first_pairs, own_words, spelt_alike
from lnmap.methods.base import Run
from lnmap.methods.procrustes import rotation
from lnmap.normalize import unit

WORDS, DIM = 1200, 40


@pytest.fixture(scope="module")
def planted():
    """Clustered words, the same words rotated with some noise, and how they correspond."""
    torch.set_num_threads(1)
    g = torch.Generator().manual_seed(0)
    middle = torch.randn(60, DIM, generator=g)
    x = unit(middle[torch.randint(60, (WORDS,), generator=g)] + 0.7 * torch.randn(WORDS, DIM, generator=g))
    w = rotation(torch.randn(DIM, DIM, generator=g), torch.randn(DIM, DIM, generator=g))
    z = unit(x @ w + 0.05 * torch.randn(WORDS, DIM, generator=g))
    return x, z, torch.arange(WORDS)[:, None].expand(-1, 2)


def found(x, z, w):
    return float(((x @ w) @ z.T).argmax(dim=1).eq(torch.arange(len(x))).float().mean())


def test_self_learning_from_a_few_anchors(planted):
    x, z, pairs = planted
    field = Field(x, z, (pairs[:, 0], pairs[:, 1]))
    some = pairs[::100]
    alone = rotation(x[some[:, 0]], z[some[:, 1]])
    w = learn_rotation(field, Anchors(some, torch.full((len(some),), 10.0)), Run())
    assert found(x, z, w) > 0.95 > 0.3 > found(x, z, alone)


def test_anchors_of_held_out_words_are_left_out():
    anchors = Anchors(torch.tensor([[0, 1], [2, 3], [4, 1], [5, 6]]), torch.arange(4.0))
    kept = anchors.without(torch.tensor([[2, 9], [8, 1]]))
    assert kept.pairs.tolist() == [[5, 6]]
    assert kept.weights.tolist() == [3.0]


def test_numbers_and_the_other_script_are_no_words_of_a_language():
    greek, english = ["και", "the", "7", "νόμος", "</s>"], ["the", "και", "law", "2"]
    assert own_words(greek, english, 5).tolist() == [0, 3]
    assert own_words(english, greek, 4).tolist() == [0, 2]
    assert own_words(["le", "the", "3"], ["the", "le"], 3).tolist() == [0, 1]
    assert own_words(None, None, 3).tolist() == [0, 1, 2]


def test_words_spelt_alike_are_long_or_numbers():
    assert spelt_alike(["</s>", "the", "1999", "moskva"], ["</s>", "the", "Москва", "1999"]) == [(2, 3), (3, 2)]


class TestFirstPairs:
    def test_few_pairs_lead_to_many(self, planted):
        x, z, pairs = planted
        seed = pairs[:300:12]
        dictionary = first_pairs(x, z, seed, None, Run())
        assert torch.equal(dictionary[: len(seed)], seed)
        assert len(dictionary) > 800
        assert float((dictionary[:, 0] == dictionary[:, 1]).float().mean()) > 0.95
        assert len(dictionary[:, 0].unique()) == len(dictionary)

    def test_unrelated_vectors_are_refused(self, planted):
        x, _, pairs = planted
        z = unit(torch.randn(WORDS, DIM, generator=torch.Generator().manual_seed(5)))
        with pytest.raises(TrainingError, match=r"nothing usable .* of the seed words held out .*, or give more"):
            first_pairs(x, z, pairs[:300:12], None, Run())
        with pytest.raises(TrainingError, match="6 seed pairs are too few to be held out"):
            first_pairs(x, z, pairs[:300:50], None, Run())


@pytest.mark.parametrize(("stood_out", "bias"), [(1.16, -1.5), (1.32, -0.5), (1.4, 0.0), (4.4, 0.0), (math.inf, 0.0)])
def test_answers_are_less_sure_where_words_hardly_stood_out(stood_out, bias):
    log = [{"stage": "start", "distinct": 9.0}, {"stage": "start", "distinct": stood_out}, {"stage": "round"}]
    assert doubt(log) == pytest.approx(bias, abs=0.05)
    assert doubt([{"stage": "round"}]) == 0
