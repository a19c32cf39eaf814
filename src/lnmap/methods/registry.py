"""The registry: lnmap's own methods, and those that other packages offer through the entry point group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import isabstract
from string import digits, whitespace
from typing import TYPE_CHECKING, Any, get_args

from lnmap.methods.facts import Facts, read_facts
from lnmap.methods.options import Options

if TYPE_CHECKING:
    from lnmap.methods.base import Alignment, Method

GROUP = "lnmap.methods"
_VALUE = bool | int | float | str


@dataclass(frozen=True)
class BrokenPlugin:
    """A method of another package that cannot be used, and why."""

    name: str
    package: str
    problem: str

    def __str__(self) -> str:
        return f"the method {self.name!r} of the package {self.package} cannot be used: {self.problem}"


class Registry(MutableMapping[str, "type[Method]"]):
    """Methods by name, imported when one is first asked for.

    Other packages are imported once a name is asked for that is not lnmap's own.
    """

    def __init__(self, *own: str) -> None:
        """Take lnmap's own methods, each named by its module in this package and its class."""
        self._own = own
        self._broken: list[BrokenPlugin] | None = None
        self.packages: dict[str, str] = {}  # of each method that is not lnmap's own

    @cached_property
    def _methods(self) -> dict[str, type[Method]]:
        places = (name.rsplit(".", 1) for name in self._own)
        methods = (getattr(import_module(f"{__package__}.{module}"), cls) for module, cls in places)
        return {method.name: method for method in methods}

    def facts(self) -> list[Facts]:
        """Return what a list of all methods shows; lnmap's own are not imported for it."""
        own = {facts.name: facts for facts in map(read_facts, self._own)}
        self._find_plugins()
        imported = self._methods if "_methods" in vars(self) else {}
        others = (method for name, method in imported.items() if name not in own)
        return [*own.values(), *(Facts(*(getattr(method, field) for field in Facts._fields)) for method in others)]

    def __getitem__(self, name: str) -> type[Method]:
        return self._methods[name] if name in self._methods else self._all()[name]

    def __setitem__(self, name: str, method: type[Method]) -> None:
        self._methods[name] = method

    def __delitem__(self, name: str) -> None:
        del self._methods[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return f"Registry({', '.join(self)})"

    @property
    def broken(self) -> list[BrokenPlugin]:
        """Methods of other packages that cannot be used."""
        self._find_plugins()
        return self._broken or []

    def alignment(self, kind: str) -> type[Alignment] | None:
        """Return the class of alignments of a kind, if a method has it."""
        if kind not in self._kinds():
            self._all()
        return self._kinds().get(kind)

    def _kinds(self) -> dict[str, type[Alignment]]:
        return {method.alignment.kind: method.alignment for method in self._methods.values()}

    def _all(self) -> dict[str, type[Method]]:
        self._find_plugins()
        return self._methods

    def _find_plugins(self) -> None:
        """Add the methods of other packages, once."""
        if self._broken is None:
            self._broken = []
            for entry in entry_points(group=GROUP):
                package = entry.dist.name if entry.dist else entry.module
                problem = self._add(entry, package)
                if problem:
                    self._broken.append(BrokenPlugin(entry.name, package, problem))

    def _add(self, entry: EntryPoint, package: str) -> str | None:
        """Load and add a method; return what keeps it out, if anything does."""
        if entry.name in self._methods:
            return f"the name is taken by a method of {self.packages.get(entry.name, 'lnmap itself')}"
        try:
            method = entry.load()
        except (Exception, SystemExit) as error:  # whatever another package's code raises
            return explain(error)
        problem = declaration_problem(method)
        if problem:
            return problem
        if method.name != entry.name:
            return f"its class is named {method.name!r}; entry point and class must have the same name"
        if self.alignment(method.alignment.kind) not in (None, method.alignment):
            return f"its alignments are of the kind {method.alignment.kind!r}, which another method uses"
        self._methods[entry.name], self.packages[entry.name] = method, package
        return None


def explain(error: BaseException) -> str:
    """Return an error of another package's code as one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def declaration_problem(method: Any) -> str | None:
    """Return what is wrong with how a class describes itself, None if nothing is."""
    from lnmap.methods.base import Alignment, Method, Supervision

    if not (isinstance(method, type) and issubclass(method, Method)):
        return "it is not a subclass of lnmap.methods.base.Method"
    name, kinds = _text(method, "name"), get_args(Supervision)
    rules = [
        (not isabstract(method), "it does not define fit"),
        (name and name == name.lower() and not set(name) & set(whitespace), "its name is not one lower-case word"),
        (_text(method, "title"), "it has no title"),
        (set(_text(method, "citation")) & set(digits), "it has no citation with a year"),
        (_text(method, "__doc__"), "it has no docstring"),
        (method.supervision in kinds, f"its supervision is none of {', '.join(map(repr, kinds))}"),
        (_derives(method.Options, Options), "its Options do not derive from lnmap.methods.options.Options"),
        (_derives(method.alignment, Alignment), "its alignment does not derive from lnmap.methods.base.Alignment"),
        (_text(method.alignment, "kind"), "its alignment has no kind"),
        (isinstance(method.departures, Mapping), "its departures are no mapping of profiles to lines"),
    ]
    try:
        return next((problem for kept, problem in rules if not kept), None) or _options_problem(method)
    except Exception as error:
        return f"its options or profiles cannot be used: {explain(error)}"


def _options_problem(method: type[Method]) -> str | None:
    if "__dataclass_fields__" not in vars(method.Options):
        return "its Options are not a dataclass"
    for spec in fields(method.Options):
        help_text = str(spec.metadata.get("help", ""))
        if not help_text.strip() or "\n" in help_text:
            return f"its option {spec.name!r} has no help of one line; declare it with lnmap.methods.options.option"
        if not isinstance(spec.default, _VALUE):
            return f"its option {spec.name!r} needs a default that is a truth value, a number or a text"
    for values in (*method.profiles.values(), method.quick):
        method.Options().with_values(values)
        wrong = [name for name, value in values.items() if not isinstance(value, _VALUE)]
        if wrong:
            return f"a profile sets {wrong[0]!r} to what is no truth value, number or text"
    return None


def _text(thing: Any, name: str) -> str:
    value = getattr(thing, name, "")
    return value.strip() if isinstance(value, str) else ""


def _derives(thing: Any, base: type) -> bool:
    return isinstance(thing, type) and issubclass(thing, base)
