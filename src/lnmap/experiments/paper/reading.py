"""Read a table from YAML: every method, profile, option, pair and number is checked on the way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lnmap.errors import InputError, LnmapError, MissingExtraError, OptionError
from lnmap.experiments.paper.fields import Fields
from lnmap.experiments.paper.records import Cell, Row, Table
from lnmap.lexicon import parse_rule
from lnmap.methods import METHODS, make_method

NO_SEED = "none"
PAIRS = {  # those of the paper, by data set
    "muse": [f"en-{other}" for other in ("ms", "fi", "et", "tr", "el", "fa", "he", "ta", "bn", "hi")]
    + [f"en-{other}" for other in ("es", "de", "it", "ar", "ru")],
    "vecmap": [f"en-{other}" for other in ("es", "it", "de", "fi")],
}


def read_table(path: Path | str) -> Table:
    """Read a table from a YAML file."""
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError("pyyaml", "reproduce", "reading tables of experiments") from error
    path = Path(path)
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise InputError(f"{path}: not a readable YAML file: {' '.join(str(error).split())}") from error
    return _table(Fields(data, path.name), path.stem)


def _table(fields: Fields, name: str) -> Table:
    """Build a table; every mistake is reported with the place it was found at."""
    dataset = fields.choice("dataset", PAIRS)
    pairs = tuple(fields.get("pairs", list))
    for pair in pairs:
        _require(pair in PAIRS[dataset], fields, f"unknown pair {pair!r}; {dataset} has {', '.join(PAIRS[dataset])}")
    _require(len(pairs) == len(set(pairs)) > 0, fields, "pairs must be a list without repetitions")
    misprints = fields.get("misprints", dict, {})
    gh = fields.part("gh", optional=True)
    systems = fields.part("systems")
    results = fields.part("results")
    table = Table(
        name=name,
        number=fields.get("number", int),
        title=fields.get("title", str),
        citation=fields.get("citation", str),
        dataset=dataset,
        vectors=fields.get("vectors", str),
        metric=fields.get("metric", str),
        pairs=pairs,
        gh={pair: _number(gh.get(pair, object), {}, gh)[0] for pair in (pairs if gh.names else ())},
        rows=tuple(
            _row(results.part(take).part(system), take, system, systems, pairs, misprints)
            for take in results.names
            for system in results.part(take).names
        ),
    )
    for part in (fields, gh):
        part.require_all_used()
    unused = set(systems.names) - set(table.systems)
    _require(not unused, systems, f"no row of results for {', '.join(sorted(unused))}")
    return table


def _row(
    fields: Fields, take: str, system: str, systems: Fields, pairs: tuple[str, ...], misprints: dict[str, float]
) -> Row:
    """Build one row and its cells."""
    about = systems.part(system)
    method, profile = about.get("method", str), about.get("profile", str, None)
    options, by_direction = about.get("options", dict, {}), about.part("options_by_direction", optional=True)
    label, cited = about.get("label", str), about.get("cited", str, None)
    _check_seed(fields, take, method)
    printed, cells = fields.part("cells"), []
    for pair in pairs:
        both = printed.get(pair, list)
        _require(len(both) == 2, printed, f"{pair} must hold two numbers, from and to English, got {both}")
        for direction, text in zip((pair, "-".join(reversed(pair.split("-")))), both, strict=True):
            own = {**options, **by_direction.get(direction, dict, {})}
            _check_method(about, method, profile, own)
            number, as_printed = _number(text, misprints, printed)
            cells.append(Cell(pair, direction, take, system, method, profile, own, number, as_printed))
    average = fields.get("average", object, None)
    average = None if average is None else _number(average, misprints, fields)[0]
    for part in (about, by_direction, fields, printed):
        part.require_all_used()
    return Row(take, system, label, cited, method, profile, options, tuple(cells), average)


def _check_method(fields: Fields, method: str, profile: str | None, options: Mapping[str, Any]) -> None:
    """Refuse a method, profile or option that does not exist."""
    try:
        make_method(method, profile, dict(options))
    except (LnmapError, TypeError) as error:
        raise OptionError(f"{fields.where}: {error}") from error


def _check_seed(fields: Fields, take: str, method: str) -> None:
    """Refuse an unknown seed rule, and one that the method cannot be trained with."""
    if take != NO_SEED:
        try:
            parse_rule(take)
        except OptionError as error:
            raise OptionError(f"{fields.where}: {error}, or {NO_SEED}") from error
    if method in METHODS:
        fits = (METHODS[method].supervision == "none") == (take == NO_SEED)
        _require(fits, fields, f"method {method!r} does not go with the seed rule {take!r}")


def _number(value: Any, misprints: Mapping[str, float], fields: Fields) -> tuple[float, str]:
    """Give a published number and its text."""
    number = misprints.get(value) if isinstance(value, str) else value
    sane = isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number <= 100
    _require(sane, fields, f"expected a number from 0 to 100, got {value!r}; declare a misprint under 'misprints'")
    return float(number), str(value)  # type: ignore[arg-type]


def _require(condition: bool, fields: Fields, message: str) -> None:
    if not condition:
        raise InputError(f"{fields.where}: {message}")
