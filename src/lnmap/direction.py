"""Direction and Side: which way is translated, and which of the two languages is meant."""

from __future__ import annotations

from enum import Enum

from lnmap.errors import OptionError


class _Word(str, Enum):
    """A fixed choice of words; each is a plain string in files and messages."""

    def __str__(self) -> str:
        return str(self.value)

    @classmethod
    def _missing_(cls, value: object) -> _Word:
        words = " or ".join(repr(str(word)) for word in cls)
        raise OptionError(f"unknown {cls.__name__.lower()} {value!r}; choose {words}")


class Side(_Word):
    """One of the two languages of a model."""

    SOURCE = "source"
    TARGET = "target"

    @property
    def other(self) -> Side:
        """The other language."""
        return Side.TARGET if self is Side.SOURCE else Side.SOURCE


class Direction(_Word):
    """Which way is translated: forward is from the source language to the target language."""

    FORWARD = "forward"
    BACKWARD = "backward"

    @property
    def opposite(self) -> Direction:
        """The other way."""
        return Direction.BACKWARD if self is Direction.FORWARD else Direction.FORWARD

    @property
    def asked(self) -> Side:
        """The language that is translated from."""
        return Side.SOURCE if self is Direction.FORWARD else Side.TARGET

    @property
    def answering(self) -> Side:
        """The language that is translated to."""
        return self.asked.other
