"""Reading policies: what they are, what they refuse, and what results record of them."""

from __future__ import annotations

import pytest

from lnmap.errors import OptionError
from lnmap.io.policy import POLICIES, ReadOptions, resolve

MUSE = {"lowercase": True, "dedupe": "first", "zero_policy": "patch", "limit": None, "limit_counts": "words"}
VECMAP = {"lowercase": False, "dedupe": "first", "zero_policy": "keep", "limit": None, "limit_counts": "lines"}


def test_presets_are_those_of_the_programs_they_are_named_after():
    assert {name: vars(options) for name, options in POLICIES.items()} == {"muse": MUSE, "vecmap": VECMAP}


@pytest.mark.parametrize(("name", "values"), [("muse", MUSE), ("vecmap", VECMAP)])
def test_what_is_recorded(name, values):
    assert ReadOptions(**values).record() == {"policy": name, **values}
    assert resolve(name, 7).record() == {"policy": name, **values, "limit": 7}
    other = values | {"dedupe": "error"}
    assert ReadOptions(**other).record() == {"policy": "custom", **other}


def test_limits():
    words, lines = resolve("muse", 7), resolve("vecmap", 7)
    assert (words.word_limit, words.line_limit) == (7, None)
    assert (lines.word_limit, lines.line_limit) == (None, 7)
    assert resolve("muse", 1).limit == 1
    assert resolve("muse") is POLICIES["muse"]
    own = ReadOptions(limit=3)
    assert resolve(own) is own
    assert resolve(own, 4) == ReadOptions(limit=4)


@pytest.mark.parametrize("limit", [0, -1, True, False])
def test_limits_that_leave_nothing(limit):
    with pytest.raises(OptionError, match=f"a limit of {limit} words leaves no vocabulary.*1 or more, or none"):
        ReadOptions(limit=limit)


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("dedupe", "first or error"), ("zero_policy", "patch or keep"), ("limit_counts", "words or lines")],
)
def test_values_that_no_reader_knows(name, allowed):
    with pytest.raises(OptionError, match=f"^{name} cannot be 'odd'; use {allowed}$"):
        ReadOptions(**{name: "odd"})
    for value in allowed.split(" or "):
        assert getattr(ReadOptions(**{name: value}), name) == value


def test_unknown_presets():
    with pytest.raises(OptionError, match="unknown reading policy 'best'; use one of: muse, vecmap"):
        resolve("best")
