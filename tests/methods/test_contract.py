"""Every method of lnmap's own keeps the contract, and the contract notices who breaks it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import pytest
import torch

import lnmap
from lnmap.errors import InputError, LnmapError, OptionError
from lnmap.methods import METHODS
from lnmap.methods.base import Alignment, LinearAlignment, Method, Run, require_pairs
from lnmap.methods.facts import Facts
from lnmap.methods.options import Options, option
from lnmap.methods.procrustes import Procrustes
from lnmap.testing import RULES, Contract, ContractError, check_method

NAMES = list(METHODS)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Tiny matrices: threads would only wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def contract():
    """Keep what was fitted for each method."""
    kept: dict[str, Contract] = {}

    def get(name: str) -> Contract:
        return kept.setdefault(name, Contract(METHODS[name]))

    return get


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rule", RULES)
def test_contract(name, rule, contract):
    if rule == "gpu" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    contract(name).check(rule)


@pytest.mark.parametrize("name", NAMES)
def test_own_methods_say_more(name):
    """They can be told how to normalise, and are found under their name."""
    method = METHODS[name]
    assert method.name == name
    assert METHODS.facts()[NAMES.index(name)] == tuple(getattr(method, one) for one in Facts._fields), (
        "set them as texts"
    )
    assert "normalize" in {spec.name for spec in fields(method.Options)}, "declare an option normalize"
    assert set(method.costs) <= {None, *method.profiles} or name == "lnmap", "costs are by profile"
    assert method.Options.__doc__
    assert method.finds >= 90 or name in ("muse-unsup", "aae"), "only a game of a few steps may find nothing"


@pytest.mark.parametrize(
    "name", [name for name in NAMES if METHODS[name].supervision != "none" and METHODS[name].needs_pairs]
)
def test_without_pairs(name, contract):
    case = contract(name).case
    with pytest.raises(InputError, match="learns from seed pairs and got none"):
        lnmap.align(case.problem.source, case.problem.target, method=case.build(), device="cpu")
    x, y, pairs = case.problem.tensors()
    with pytest.raises(LnmapError, match="seed pairs"):
        case.build().fit(x, y, pairs[:0], Run())


class Toy(Method):
    """Procrustes under another name, without options."""

    name = "toy"
    title = "Toy"
    citation = "nobody, 2026"
    stochastic = False

    def fit(self, source, target, pairs, run):
        require_pairs(self, pairs)
        return Procrustes().fit(source, target, pairs, run)


def test_a_method_needs_no_options():
    check_method(Toy)
    assert METHODS.get("toy") is None
    assert Toy().options == Options()
    with pytest.raises(LnmapError, match="unknown option 'x'; this method has: none"):
        Toy.Options().with_values({"x": 1})


class Other(LinearAlignment):
    """Linear under another kind."""

    kind = "other"


def fit_like_toy(change):
    """Build a method that fits like Toy but for a change to the alignment or the run."""

    def fit(self, source, target, pairs, run):
        return change(Toy.fit(self, source, target, pairs, run), run)

    return fit


def skewed(alignment, run):
    alignment.source = alignment.source * 1.1
    return alignment


def spoilt(alignment, run):
    alignment.source = alignment.source * torch.nan
    return alignment


def random(alignment, run):
    alignment.source = alignment.source + 1e-6 * torch.rand(alignment.source.shape)
    return alignment


def seeded(alignment, run):
    alignment.source = alignment.source + 1e-6 * torch.rand(alignment.source.shape, generator=run.generator())
    return alignment


def learning(alignment, run):
    alignment.source.requires_grad_(True)
    return alignment


def renamed(alignment, run):
    return Other(alignment.norms, alignment.source, alignment.target)


def fit_in_place(self, source, target, pairs, run):
    source *= 2
    return Toy.fit(self, source, target, pairs, run)


def fit_none(self, source, target, pairs, run):
    return Procrustes().fit(source, target, pairs if len(pairs) else torch.zeros(1, 2, dtype=torch.long), run)


def fit_strangely(self, source, target, pairs, run):
    return Toy.fit(self, source, target, pairs, run) if len(pairs) > 1 else 1 / 0


@dataclass(frozen=True)
class Silent(Options):
    """An option without help."""

    rate: float = field(default=1.0)


@dataclass(frozen=True)
class Vague(Options):
    """An option without a value."""

    rate: float = option(None, "what for")


@dataclass(frozen=True)
class Rated(Options):
    """One option."""

    rate: float = option(1.0, "what for")


@dataclass(frozen=True)
class Strict(Rated):
    """Options that cannot be built."""

    def __post_init__(self):
        raise OptionError("never")


@pytest.mark.parametrize(
    ("rule", "changes", "found"),
    [
        ("declaration", {"title": " "}, "it has no title"),
        ("declaration", {"citation": "nobody"}, "no citation with a year"),
        ("declaration", {"name": "To y"}, "not one lower-case word"),
        ("declaration", {"name": None}, "not one lower-case word"),
        ("declaration", {"__doc__": None}, "no docstring"),
        ("declaration", {"supervision": "some"}, "supervision is none of 'seed', "),
        ("declaration", {"Options": dict}, "do not derive"),
        ("declaration", {"Options": Silent}, "'rate' has no help"),
        ("declaration", {"Options": Vague}, "'rate' needs a default"),
        ("declaration", {"Options": type("Bare", (Options,), {"rate": option(1.0, "none")})}, "not a dataclass"),
        ("declaration", {"Options": Strict}, "cannot be used: OptionError: never"),
        ("declaration", {"quick": {"steps": 1}}, "cannot be used: OptionError: unknown option 'steps'"),
        ("declaration", {"profiles": {"old": {"steps": 1}}}, "unknown option 'steps'"),
        ("declaration", {"profiles": {"old": {"rate": {1}}}, "Options": Rated}, "sets 'rate'"),
        ("declaration", {"profiles": 3}, "cannot be used: AttributeError"),
        ("departure_lines", {"departures": {"old": "none known"}}, "no profile: old"),
        ("departure_lines", {"departures": {None: "one\ntwo"}}, "not one line: None"),
        ("departure_lines", {"departures": {None: "none known"}}, None),
        ("departure_lines", {"__module__": "lnmap.methods.toy"}, "it has no line on the defaults"),
        ("departure_lines", {"__module__": "lnmap.x", "profiles": {"same": {}}, "departures": {None: "none"}}, None),
        (
            "departure_lines",
            {
                "__module__": "lnmap.x",
                "profiles": {"old": {"rate": 2.0}},
                "Options": Rated,
                "departures": {None: "none"},
            },
            "it has no line on old",
        ),
        ("declaration", {"departures": "none known"}, "its departures are no mapping"),
        ("one_space", {"fit": lambda *_: None}, "AttributeError: 'NoneType' object"),
        ("same_seed", {"fit": lambda *_: 1 / 0}, "ZeroDivisionError: division by zero"),
        ("declaration", {"alignment": dict}, "does not derive from lnmap.methods.base.Alignment"),
        ("declaration", {"alignment": Alignment}, "has no kind"),
        ("declaration", {"fit": Method.fit}, "does not define fit"),
        ("planted_rotation", {"finds": 100.0}, "100.0 % of the words are found"),
        ("orthogonality", {"orthogonal": True, "fit": fit_like_toy(skewed)}, "differs from the identity"),
        ("kept_target", {"keeps_target": True, "fit": lambda *a: renamed(Toy.fit(*a), None)}, None),
        ("finite_state", {"fit": fit_like_toy(spoilt)}, "not finite: source"),
        ("finite_state", {"fit": fit_like_toy(learning)}, "need a gradient: source"),
        ("same_seed", {"fit": fit_like_toy(random)}, "the two states differ in source"),
        ("global_state", {"fit": fit_like_toy(random)}, "the global generator of torch"),
        ("other_seed", {"fit": fit_like_toy(seeded)}, "the two states differ in source"),
        ("inputs_kept", {"fit": fit_in_place}, "changes the tensors"),
        ("rebuilding", {"fit": fit_like_toy(renamed)}, "fit returns a Other"),
        ("no_pairs", {"fit": fit_none}, "it learns from no pairs"),
        ("one_pair", {"fit": fit_strangely}, "it raises ZeroDivisionError"),
    ],
)
def test_breaches_are_named(rule, changes, found):
    broken = type("Toy", (Toy,), {"__doc__": "A toy.", **changes})
    if found is None:
        check_method(broken, [rule])
        return
    with pytest.raises(ContractError, match=r"the method [Tt]o") as caught:
        check_method(broken, [rule])
    assert isinstance(caught.value, AssertionError)
    assert caught.value.rule == rule
    assert found in str(caught.value)


def test_not_a_method():
    with pytest.raises(ContractError, match="the method dict breaks the rule 'declaration': it is not a subclass"):
        check_method(dict)


def test_custom_alignment_is_saved_and_loaded():
    changes = {"__doc__": "A toy.", "alignment": Other, "fit": fit_like_toy(renamed)}
    check_method(type("Toy", (Toy,), changes), ["rebuilding", "save_and_load"])
