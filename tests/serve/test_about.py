"""What the model card shows."""

from __future__ import annotations

import lnmap
from lnmap.direction import Direction
from lnmap.lexicon import Lexicon
from lnmap.serve.about import _curves, score


def test_each_training_has_a_curve_of_its_own():
    log = [
        *({"iteration": i, "loss": 1 / i} for i in (1, 2, 3)),
        *({"iteration": i, "loss": 2 / i} for i in (1, 2)),
        {"stage": "round", "round": 0, "found": 50.0},
        {"stage": "check", "chance": 0.5},
        {"stage": "round", "round": 1, "found": 60.0},
        {"phase": "fit", "loss": 3.0, "kept": True},
        {"phase": "fit", "loss": 2.0, "kept": False},
    ]
    assert _curves(log) == {
        "loss": [[1, 1 / 2, 1 / 3], [2.0, 1.0]],
        "round found": [[50.0, 60.0]],
        "check chance": [[0.5]],
        "fit loss": [[3.0, 2.0]],
    }
    assert _curves([]) == {}
    assert len(_curves([{"iteration": i, "loss": i} for i in range(10_000)])["loss"][0]) <= 2000


def test_the_way_back_has_its_own_test_or_says_that_it_has_none(plant):
    problem = plant(n=60, d=10)
    model = lnmap.align(problem.source, problem.target, problem.lexicon, method="procrustes")
    test, back = Lexicon([("w1", "w1"), ("w2", "w2")]), Lexicon([("w3", "w3")])
    assert not score(model, test, Direction.FORWARD)["reversed"]
    turned = score(model, test, Direction.BACKWARD)
    assert (turned["reversed"], turned["n"]) == (True, 2)
    own = score(model, test, Direction.BACKWARD, back)
    assert (own["reversed"], own["n"]) == (False, 1)
