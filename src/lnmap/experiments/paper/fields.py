"""Named values out of a file, each asked for by name and type, so that a mistake is reported with its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lnmap.errors import InputError

_MISSING = object()
_KINDS = {str: "text", int: "a whole number", float: "a number", list: "a list", dict: "a mapping"}


class Fields:
    """A mapping read from a file, and where it stands there."""

    def __init__(self, data: Any, where: str) -> None:
        if not isinstance(data, dict) or not all(isinstance(name, str) for name in data):
            raise InputError(f"{where}: expected a mapping of names to values, got {type(data).__name__}")
        self.where = where
        self.names = list(data)
        self._data: dict[str, Any] = data
        self._used: set[str] = set()

    def get(self, name: str, kind: type, default: Any = _MISSING) -> Any:
        """Give the value of a name; a missing one is an error unless there is a default."""
        self._used.add(name)
        value = self._data.get(name, default)
        if value is _MISSING:
            known = ", ".join(self.names) or "nothing"
            raise InputError(f"{self.where}: {name!r} is missing; found {known}")
        if name in self._data and not isinstance(value, kind):
            raise InputError(f"{self.where}: {name} must be {_KINDS.get(kind, kind.__name__)}, got {value!r}")
        return value

    def choice(self, name: str, allowed: Iterable[str]) -> str:
        """Give the value of a name that must be one of some."""
        value = self.get(name, str)
        if value not in (names := list(allowed)):
            raise InputError(f"{self.where}: unknown {name} {value!r}; choose from {', '.join(names)}")
        return str(value)

    def part(self, name: str, optional: bool = False) -> Fields:
        """Give the mapping below a name."""
        return Fields(self.get(name, dict, {} if optional else _MISSING), f"{self.where}, {name}")

    def require_all_used(self) -> None:
        """Refuse names that nobody asked for."""
        unknown = [name for name in self.names if name not in self._used]
        if unknown:
            raise InputError(f"{self.where}: unknown {', '.join(unknown)}; expected {', '.join(sorted(self._used))}")
