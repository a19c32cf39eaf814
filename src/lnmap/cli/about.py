"""lnmap methods and info: what there is to choose from, and what a model holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from lnmap.cli import options
from lnmap.cli.terminal import console
from lnmap.direction import Side

if TYPE_CHECKING:
    from lnmap.methods.base import Method
    from lnmap.model import Model

_ORIGIN = ["path", "seed", "format", "policy", "limit", "take", "read"]  # shown of where data came from
_ORIGIN += ["skipped", "duplicates", "zeros_patched", "warning"]


def methods(name: Annotated[str | None, options.argument("NAME", "One method, to see its options.")] = None) -> None:
    """List the systems that can align two languages, or one's options, profiles and departures from the original.

    Example: lnmap methods lnmap
    """
    from lnmap.methods import DEFAULT_METHOD, METHODS, find_method

    if name is not None:
        cls = find_method(name)
        if console.as_json:
            console.json(_method_dict(cls))
        else:
            _show_method(cls)
    elif console.as_json:
        console.json([*map(_method_dict, METHODS.values()), *map(vars, METHODS.broken)])
    else:
        columns = ("name", "system", "learns from", "citation")
        console.table(columns, METHODS.facts())
        for plugin in METHODS.broken:
            console.result(f"{str(plugin)[0].upper()}{str(plugin)[1:]}.")
        console.result(f"The default is {DEFAULT_METHOD}. 'lnmap methods NAME' lists the options of one.")


def info(folder: options.ModelFolder) -> None:
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


def _method_dict(cls: type[Method]) -> dict[str, Any]:
    from lnmap.methods import DEFAULT_METHOD, METHODS

    return {
        "name": cls.name,
        "title": cls.title,
        "supervision": cls.supervision,
        "citation": cls.citation,
        "default": cls.name == DEFAULT_METHOD,
        "package": METHODS.packages.get(cls.name, "lnmap"),
        "options": cls.Options().describe(),
        "profiles": cls.profiles,
        "departures": [{"profile": profile, "departure": text} for profile, text in cls.departures.items()],
    }


def _show_method(cls: type[Method]) -> None:
    console.result(f"{cls.name}: {cls.title}. {cls.citation}. Learns from: {cls.supervision}.")
    rows = [(o["name"], _plain(o["value"]), "|".join(o["choices"]), o["help"]) for o in cls.Options().describe()]
    if rows:
        console.table(("option (--set name=value)", "default", "choices", "what it does"), rows)
    for profile, values in cls.profiles.items():
        console.result(f"--profile {profile}: {_values(values) or 'the defaults above'}")
    if cls.departures:
        console.result("How each differs from the published system:")
    for name, text in cls.departures.items():
        console.result(f"  {name or 'defaults'}: {text}")


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
    return {str(direction): count for direction, count in model.outcomes.items()} or None


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
