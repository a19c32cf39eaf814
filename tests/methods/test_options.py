from __future__ import annotations

from dataclasses import dataclass, fields

import pytest

from lnmap.errors import OptionError
from lnmap.methods import METHODS, make_method
from lnmap.methods.options import Options, option


@dataclass(frozen=True)
class Example(Options):
    """One option of each type."""

    count: int = option(5, "a whole number", low=1)
    rate: float = option(0.5, "a number", low=0)
    flag: bool = option(False, "yes or no")
    kind: str = option("soft", "one of two", choices=("soft", "hard"))
    normalize: str = option("unit", "a recipe")
    free: float = option(0.0, "any number")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("count", "7", 7),
        ("count", "10_000", 10_000),
        ("count", " 7 ", 7),
        ("count", "none", None),
        ("rate", "1e-3", 1e-3),
        ("rate", "2", 2.0),
        ("rate", "None", None),
        ("flag", "true", True),
        ("flag", "YES", True),
        ("flag", "1", True),
        ("flag", "false", False),
        ("flag", "No", False),
        ("flag", "0", False),
        ("kind", "hard", "hard"),
        ("normalize", "unit,center", "unit,center"),
        ("free", "-3", -3.0),
    ],
)
def test_text_is_read_by_type(name, text, value):
    found = getattr(Example().with_values({name: text}), name)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("count", "2.5", "option count='2.5': expected a whole number"),
        ("count", "many", "expected a whole number"),
        ("rate", "fast", "option rate='fast': expected a number"),
        ("flag", "maybe", "option flag='maybe': expected true or false"),
        ("flag", "", "expected true or false"),
        ("flag", "none", "expected true or false"),
        ("count", "0", "option count=0: must be at least 1"),
        ("rate", "-0.1", "option rate=-0.1: must be at least 0"),
        ("kind", "SOFT", "option kind='SOFT': choose from soft, hard"),
        ("normalize", "whitenn", "unknown normalisation step 'whitenn'"),
        ("cuont", "3", "unknown option 'cuont'; this method has: count, rate, flag, kind, normalize, free"),
    ],
)
def test_refused(name, text, message):
    with pytest.raises(OptionError) as caught:
        Example().with_values({name: text})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_values_that_are_not_text_are_taken_as_they_are():
    assert Example().with_values({"count": 9, "flag": True}) == Example(count=9, flag=True)


def test_options_do_not_change():
    example = Example()
    with pytest.raises(AttributeError):
        example.count = 3
    assert example.with_values({"count": "3"}).count == 3
    assert example.count == 5


def test_describe():
    rows = Example(count=3).describe()
    assert rows[0] == {"name": "count", "value": 3, "choices": [], "help": "a whole number"}
    assert rows[3]["choices"] == ["soft", "hard"]
    assert [row["name"] for row in rows] == [spec.name for spec in fields(Example)]


def test_unknown_method():
    with pytest.raises(OptionError, match=r"unknown method 'muze'; choose from .*procrustes"):
        make_method("muze")


def test_unknown_profile():
    with pytest.raises(OptionError, match="method 'procrustes' has no profile 'paper'; its profiles: none"):
        make_method("procrustes", "paper")
    with pytest.raises(
        OptionError, match="method 'lnmap' has no profile 'fast'; its profiles: default, paper, release"
    ):
        make_method("lnmap", "fast")


@pytest.mark.parametrize(("name", "profile"), [(m.name, p) for m in METHODS.values() for p in m.profiles])
def test_profiles(name, profile):
    """A profile names existing options, and the caller's own options come on top."""
    built = make_method(name, profile)
    for option_name, value in METHODS[name].profiles[profile].items():
        assert getattr(built.options, option_name) == value
    assert make_method(name, profile, {"normalize": "none"}).options.normalize == "none"


@pytest.mark.parametrize("name", list(METHODS))
def test_every_option_survives_a_round_trip_through_text(name):
    options = METHODS[name].Options()
    text = {spec.name: str(getattr(options, spec.name)) for spec in fields(options)}
    assert options.with_values(text) == options
