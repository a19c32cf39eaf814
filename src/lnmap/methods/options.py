"""Options of a method: a frozen dataclass whose fields carry their help; values may be given as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from lnmap.errors import OptionError

T = TypeVar("T", bound="Options")
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def option(default: Any, help: str, choices: Iterable[str] | None = None, low: float | None = None) -> Any:
    """Declare an option: default, one line of help, and what values it takes."""
    return field(default=default, metadata={"help": help, "choices": tuple(choices or ()), "low": low})


@dataclass(frozen=True)
class Options:
    """Base of all option sets, and the options of a method that has none; checks every value on construction."""

    def __post_init__(self) -> None:
        """Check choices and lower bounds."""
        for spec in fields(self):
            value, low = getattr(self, spec.name), spec.metadata.get("low")
            choices = spec.metadata.get("choices")
            if choices and value not in choices:
                raise OptionError(f"option {spec.name}={value!r}: choose from {', '.join(choices)}")
            if low is not None and value is not None and value < low:
                raise OptionError(f"option {spec.name}={value!r}: must be at least {low:g}")
            if spec.name == "normalize":
                from lnmap.normalize import parse_recipe  # it needs torch, a list of methods does not

                parse_recipe(value)

    def with_values(self: T, values: Mapping[str, Any]) -> T:
        """Change some options; strings are read as the type of the option's default."""
        known = {spec.name: spec for spec in fields(self)}
        changes = {}
        for name, value in values.items():
            if name not in known:
                raise OptionError(f"unknown option {name!r}; this method has: {', '.join(known) or 'none'}")
            changes[name] = _read(name, value, known[name].default) if isinstance(value, str) else value
        return replace(self, **changes)

    def describe(self) -> list[dict[str, Any]]:
        """List name, value, choices and help of each option."""
        return [
            {
                "name": spec.name,
                "value": getattr(self, spec.name),
                "choices": list(spec.metadata.get("choices", ())),
                "help": spec.metadata.get("help", ""),
            }
            for spec in fields(self)
        ]


def _read(name: str, text: str, default: Any) -> Any:
    """Read an option's text as the type of its default."""
    if not isinstance(default, bool | int | float):
        return text
    if text.lower() in ("none", "") and not isinstance(default, bool):
        return None
    try:
        if isinstance(default, bool):
            return _FLAGS[text.lower()]
        return int(text.replace("_", "")) if isinstance(default, int) else float(text)
    except (KeyError, ValueError):
        kind = {bool: "true or false", int: "a whole number", float: "a number"}[type(default)]
        raise OptionError(f"option {name}={text!r}: expected {kind}") from None
