"""What a check returns: numbers, and warnings about some of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

_SHOWN = 5


@dataclass(frozen=True)
class Warned:
    """Something that is probably wrong.

    :param kind: a stable name for programs, such as 'coverage'.
    :param message: what was found and what to do, one line.
    :param examples: words or pairs.
    """

    kind: str
    message: str
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.message} ({', '.join(self.examples)})" if self.examples else self.message


@dataclass
class Report:
    """Numbers by topic, and warnings, the gravest first."""

    numbers: dict[str, dict[str, Any]] = field(default_factory=dict)
    warnings: list[Warned] = field(default_factory=list)

    def count(self, topic: str, **numbers: Any) -> None:
        """Add numbers of a topic."""
        self.numbers.setdefault(topic, {}).update(numbers)

    def warn(self, kind: str, message: str, examples: Iterable[str] = ()) -> None:
        """Add a warning, with the first of its examples."""
        self.warnings.append(Warned(kind, message, tuple(examples)[:_SHOWN]))

    def to_dict(self) -> dict[str, Any]:
        """Return everything under stable names."""
        warnings = [{"kind": one.kind, "message": one.message, "examples": list(one.examples)} for one in self.warnings]
        return {**self.numbers, "warnings": warnings}
