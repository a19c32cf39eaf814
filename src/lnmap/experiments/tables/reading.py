"""Read a table from YAML and check every method, profile, option, pair and number in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lnmap import datasets
from lnmap.errors import InputError, LnmapError, MissingExtraError, OptionError
from lnmap.experiments.tables.records import Row, System, Table
from lnmap.experiments.trial import DEVELOPMENT, NO_SEED, TEST, Trial
from lnmap.lexicon import parse_rule
from lnmap.methods import METHODS, make_method

_MISSING = object()
_KINDS = {str: "text", int: "a whole number", list: "a list", dict: "a mapping", bool: "true or false"}


def read_table(path: Path | str, directions: Sequence[str] = (), takes: Sequence[str] | None = None) -> Table:
    """Read a table from a YAML file.

    :param directions: the directions of a table that names no pairs and no data set.
    :param takes: seed rules instead of those of the file, unless it holds published numbers.
    """
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError("pyyaml", "reproduce", "reading tables of experiments") from error
    path = Path(path)
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise InputError(f"{path}: not a readable YAML file: {' '.join(str(error).split())}") from error
    return _Reader(_Fields(data, path.name), path.stem, directions).table(takes)


class _Fields:
    """A mapping read from a file, and its place there. Values are asked for by name and type."""

    def __init__(self, data: Any, where: str) -> None:
        if not isinstance(data, dict) or not all(isinstance(name, str) for name in data):
            raise InputError(f"{where}: expected a mapping of names to values, got {type(data).__name__}")
        self.where, self.names = where, list(data)
        self._data: dict[str, Any] = data
        self._used: set[str] = set()

    def get(self, name: str, kind: type, default: Any = _MISSING) -> Any:
        """Return the value of a name; a missing one is an error unless there is a default."""
        self._used.add(name)
        value = self._data.get(name, default)
        if value is _MISSING:
            raise InputError(f"{self.where}: {name!r} is missing; found {', '.join(self.names) or 'nothing'}")
        if name in self._data and not isinstance(value, kind):
            raise InputError(f"{self.where}: {name} must be {_KINDS.get(kind, kind.__name__)}, got {value!r}")
        return value

    def choice(self, name: str, allowed: Iterable[str], default: Any = _MISSING) -> Any:
        """Return the value of a name that must be one of some."""
        value, known = self.get(name, str, default), list(allowed)
        self.require(value in known or value == default, f"unknown {name} {value!r}; choose from {', '.join(known)}")
        return value

    def part(self, name: str, optional: bool = False) -> _Fields:
        """Return the mapping below a name."""
        return _Fields(self.get(name, dict, {} if optional else _MISSING), f"{self.where}, {name}")

    def require(self, condition: bool, problem: str) -> None:
        """Raise an error that names the place unless the condition holds."""
        if not condition:
            raise InputError(f"{self.where}: {problem}")

    def require_all_used(self) -> None:
        """Refuse unknown names."""
        unknown = ", ".join(name for name in self.names if name not in self._used)
        self.require(not unknown, f"unknown {unknown}; expected {', '.join(sorted(self._used))}")


class _Reader:
    """Builds one table."""

    def __init__(self, fields: _Fields, name: str, directions: Sequence[str]) -> None:
        self.fields, self.name = fields, name
        self.dataset: str | None = fields.choice("dataset", datasets.BENCHMARKS, None)
        self.misprints = fields.get("misprints", dict, {})
        self.directions = self._directions(directions)
        self.pairs = tuple(dict.fromkeys(pair_of(direction) for direction in self.directions))
        words = fields.get("words", dict, {})
        for number in words.values():
            whole = isinstance(number, int) and not isinstance(number, bool) and number > 0
            fields.require(whole, f"words must map languages to numbers above 0, got {number!r}")
        self.common = {
            "dataset": self.dataset,
            "words": words,
            "score": fields.choice("score", (TEST, DEVELOPMENT), TEST),
            "one_way": fields.get("one_way", bool, True),
        }

    def table(self, takes: Sequence[str] | None) -> Table:
        """Build the table; every mistake is reported with its place."""
        fields, published = self.fields, "results" in self.fields.names
        systems = self._systems()
        gh = fields.part("gh", optional=True)
        table = Table(
            name=self.name,
            title=fields.get("title", str),
            dataset=self.dataset,
            pairs=self.pairs,
            rows=tuple(self._published_rows(systems) if published else self._planned_rows(systems, takes)),
            number=fields.get("number", int, _MISSING if published else None),
            citation=fields.get("citation", str, _MISSING if published else None),
            vectors=fields.get("vectors", str, _MISSING if published else None),
            metric=fields.get("metric", str, _MISSING if published else "P@1"),
            gh={pair: self._number(gh.get(pair, object), gh) for pair in (self.pairs if gh.names else ())},
            seeds=fields.get("seeds", int, 3),
        )
        fields.require_all_used()
        gh.require_all_used()
        unused = set(systems) - set(table.systems)
        fields.part("systems", True).require(not unused, f"no row of results for {', '.join(sorted(unused))}")
        return table

    def _directions(self, given: Sequence[str]) -> list[str]:
        """Return the directions: as written, or both of each pair, or all of the data set or the user's data."""
        known = datasets.pairs(self.dataset) if self.dataset else None
        written = self.fields.get("directions", list, [])
        pairs = self.fields.get("pairs", list, [])
        for pair in [*pairs, *written]:
            form = isinstance(pair, str) and len(pair.split("-")) == 2
            there = ", ".join(known[::2]) if known else "pairs such as en-fi"
            fits = form and (known is None or pair in known)
            self.fields.require(fits, f"unknown pair {pair!r}; {self.dataset or 'a table'} has {there}")
        found = written or [direction for pair in pairs for direction in (pair, opposite(pair))]
        self.fields.require(len(found) == len(set(found)), "pairs must be a list without repetitions")
        return found or known or list(given)

    def _systems(self) -> dict[str, System]:
        parts = self.fields.part("systems", optional="every_method" in self.fields.names)
        found = {name: self._system(name, parts.part(name)) for name in parts.names}
        if self.fields.get("every_method", bool, False):
            found |= {name: System(name, name, name) for name in METHODS if name not in found}
        return found

    def _system(self, name: str, fields: _Fields) -> System:
        by_direction = fields.part("options_by_direction", optional=True)
        system = System(
            name=name,
            label=fields.get("label", str, name),
            method=fields.get("method", str),
            profile=fields.get("profile", str, None),
            options=fields.get("options", dict, {}),
            by_direction={direction: by_direction.get(direction, dict) for direction in by_direction.names},
            second=fields.get("second", bool, False),
            cited=fields.get("cited", str, None),
        )
        for direction in by_direction.names:
            by_direction.require(direction in self.directions, f"unknown {direction}")
        two_seeds = system.method not in METHODS or METHODS[system.method].two_seeds
        fields.require(two_seeds or not system.second, f"{system.method} learns both directions from one seed")
        for own in ({}, *system.by_direction.values()):
            try:
                make_method(system.method, system.profile, {**system.options, **own})
            except (LnmapError, TypeError) as error:
                raise OptionError(f"{fields.where}: {error}") from error
        fields.require_all_used()
        return system

    def _planned_rows(self, systems: Mapping[str, System], takes: Sequence[str] | None) -> Iterable[Row]:
        """Yield a row for each system and seed rule; systems without a seed have one."""
        rules = list(takes or self.fields.get("takes", list))
        self.fields.get("takes", list, [])
        for take in rules:
            self._check_rule(self.fields, take)
        for system in systems.values():
            for take in [NO_SEED] if METHODS[system.method].supervision == "none" else rules:
                self._check_seed(self.fields, take, system)
                yield Row(take, system, tuple(self._cells(system, take, [None] * len(self.directions))))

    def _published_rows(self, systems: Mapping[str, System]) -> Iterable[Row]:
        """Yield a row for each one that was published."""
        results = self.fields.part("results")
        for take in results.names:
            rows = results.part(take)
            for name in rows.names:
                self.fields.part("systems").get(name, dict)
                yield self._published_row(rows.part(name), take, systems[name])

    def _published_row(self, fields: _Fields, take: str, system: System) -> Row:
        self._check_seed(fields, take, system)
        cells, printed = fields.part("cells"), []
        for pair in self.pairs:
            both = cells.get(pair, list)
            cells.require(len(both) == 2, f"{pair} must hold two numbers, from and to English, got {both}")
            printed += both
        average = fields.get("average", object, None)
        row = Row(
            take=take,
            system=system,
            cells=tuple(self._cells(system, take, [self._number(text, cells) for text in printed])),
            printed=tuple(str(text) for text in printed),
            average=None if average is None else self._number(average, fields),
        )
        fields.require_all_used()
        cells.require_all_used()
        return row

    def _cells(self, system: System, take: str, published: Sequence[float | None]) -> Iterable[Trial]:
        for direction, number in zip(self.directions, published, strict=True):
            yield Trial(
                table=self.name,
                system=system.name,
                label=system.label,
                pair=pair_of(direction),
                direction=direction,
                take=take,
                method=system.method,
                profile=system.profile,
                options={**system.options, **system.by_direction.get(direction, {})},
                published=number,
                second=system.second,
                **self.common,
            )

    def _check_seed(self, fields: _Fields, take: str, system: System) -> None:
        """Refuse an unknown seed rule, and one that the method cannot be trained with."""
        self._check_rule(fields, take)
        fits = (METHODS[system.method].supervision == "none") == (take == NO_SEED)
        fields.require(fits, f"method {system.method!r} does not go with the seed rule {take!r}")

    def _check_rule(self, fields: _Fields, take: str) -> None:
        fields.require(isinstance(take, str), f"a seed rule must be text, got {take!r}")
        if take != NO_SEED:
            try:
                parse_rule(take)
            except OptionError as error:
                raise OptionError(f"{fields.where}: {error}, or {NO_SEED}") from error

    def _number(self, value: Any, fields: _Fields) -> float:
        number = self.misprints.get(value) if isinstance(value, str) else value
        sane = isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number <= 100
        problem = f"expected a number from 0 to 100, got {value!r}; declare a misprint under 'misprints'"
        fields.require(sane, problem)
        return float(number)  # type: ignore[arg-type]


def opposite(direction: str) -> str:
    """Return the other direction of a pair: `fi-en` for `en-fi`."""
    return "-".join(reversed(direction.split("-")))


def pair_of(direction: str) -> str:
    """Return the pair of a direction: English first, as in the paper, or else in alphabetical order."""
    return "-".join(sorted(direction.split("-"), key=lambda name: (name != "en", name)))
