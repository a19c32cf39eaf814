"""lnmap methods and info: what there is to choose from, and what a model holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lnmap.cli.options import Debug, Json, ModelFolder, Quiet
from lnmap.cli.terminal import console
from lnmap.direction import Side
from lnmap.errors import OptionError

if TYPE_CHECKING:
    from lnmap.methods.base import Method
    from lnmap.model import Model

_ORIGIN = ["path", "seed", "format", "policy", "limit", "take", "read"]  # shown of where data came from
_ORIGIN += ["skipped", "duplicates", "zeros_patched", "warning"]


def methods(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One method, to see its options.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """List the systems that can align two languages, or the options of one.

    Example: lnmap methods lnmap
    """
    from lnmap.methods import DEFAULT_METHOD, METHODS

    if name is not None and name not in METHODS:
        raise OptionError(f"unknown method {name!r}; choose from {', '.join(METHODS)}")
    if as_json:
        found = {key: _method_dict(cls, key == DEFAULT_METHOD) for key, cls in METHODS.items()}
        console.json(list(found.values()) if name is None else found[name])
    elif name is None:
        columns = ("name", "system", "learns from", "citation")
        rows = [(key, cls.title, cls.supervision, cls.citation) for key, cls in METHODS.items()]
        console.table(columns, rows)
        console.result(f"The default is {DEFAULT_METHOD}. 'lnmap methods NAME' lists the options of one.")
    else:
        _show_method(METHODS[name])


def info(folder: ModelFolder) -> None:
    """Show what a model was made from: data, method, options, seed, versions, and the training log.

    Example: lnmap info en-fr
    """
    from lnmap.model import load

    model = load(folder)
    if console.as_json:
        pairs = {"pairs": dict(model.pairs.origin), "n_pairs": len(model.pairs)}
        console.json({**model.info, **pairs, "confidence": _outcomes(model), "log": model.log})
        return
    console.table(("", ""), _facts(model))
    if model.log:
        names = list(dict.fromkeys(name for row in model.log for name in row if not name.startswith("moved_")))
        console.table(names, [[row.get(name, "") for name in names] for row in model.log])


def _method_dict(cls: type[Method], default: bool) -> dict[str, Any]:
    return {
        "name": cls.name,
        "title": cls.title,
        "supervision": cls.supervision,
        "citation": cls.citation,
        "default": default,
        "options": cls.Options().describe(),
        "profiles": cls.profiles,
    }


def _show_method(cls: type[Method]) -> None:
    console.result(f"{cls.name}: {cls.title}. {cls.citation}. Learns from: {cls.supervision}.")
    options = cls.Options().describe()
    rows = [
        (option["name"], _plain(option["value"]), "|".join(option["choices"]), option["help"]) for option in options
    ]
    console.table(("option (--set name=value)", "default", "choices", "what it does"), rows)
    for profile, values in cls.profiles.items():
        console.result(f"--profile {profile}: {_values(values) or 'the defaults above'}")


def _facts(model: Model) -> list[tuple[str, str]]:
    known = model.info
    facts = [
        ("method", " ".join(filter(None, (str(known.get("method")), known.get("profile"))))),
        ("options", _values(known.get("options", {}))),
        ("seed", f"{known.get('seed')}{', one way' if known.get('one_way') else ''}"),
        ("trained", f"{known.get('created')} on {known.get('device')} in {known.get('seconds')} s"),
        ("versions", _values(known.get("versions", {}))),
    ]
    for side in Side:
        embeddings = model.side(side)
        words = ", ".join(embeddings.words[:3])
        facts.append((side, f"{len(embeddings):,} words x {embeddings.dim} ({words}, ...){_origin(embeddings.origin)}"))
    facts.append(("seed pairs", f"{len(model.pairs):,}{_origin(model.pairs.origin)}"))
    judged = _outcomes(model)
    learnt = judged and f"learnt from {judged['forward']:,} and {judged['backward']:,} answers"
    return [*facts, ("confidence", learnt or "not calibrated")]


def _outcomes(model: Model) -> dict[str, int] | None:
    """Return how many judged answers each direction's confidence was learnt from."""
    if model.confidence is None:
        return None
    return {str(direction): one.outcomes for direction, one in model.confidence.items()}


def _origin(origin: Mapping[str, Any]) -> str:
    shown = {name: origin[name] for name in _ORIGIN if origin.get(name) and not isinstance(origin[name], list)}
    return f" {_values(shown)}" if shown else ""


def _values(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_plain(value)}" for name, value in values.items())


def _plain(value: Any) -> str:
    """Format a value as --set reads it."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
