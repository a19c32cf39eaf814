"""The contract of a reader: one class per file format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from lnmap.io.collect import Collector
from lnmap.io.source import ByteSource

HEAD = 1 << 20  # bytes a reader may look at to recognise its format
MOST_DIMENSIONS = 100_000


class Reader(ABC):
    """A file of one format, open at its first byte."""

    format: ClassVar[str]  # recorded in results
    cached: ClassVar[bool] = False  # parsing is slow enough for the result to be kept
    mapped: ClassVar[bool] = False  # the file is not read through `source`, which then cannot hash it

    def __init__(self, source: ByteSource) -> None:
        self.source = source

    @classmethod
    @abstractmethod
    def recognise(cls, source: ByteSource) -> Reader | None:
        """Return a reader if `source.peek(HEAD)` begins a file of this format, else None."""

    @abstractmethod
    def read(self, collector: Collector) -> dict[str, Any]:
        """Add all rows to the collector, or as many as its options ask for, and return what results record.

        Progress is reported by `source`; a reader that does not read through it calls `source.advance` itself.

        :return: `lines` (rows seen), `header_words` (rows promised) if known, and `warning` if something looks wrong.
        """


def decode(word: bytes) -> str:
    """Decode a word; bytes that are not UTF-8 survive encoding with the same error handler."""
    return word.decode("utf-8", "surrogateescape")
