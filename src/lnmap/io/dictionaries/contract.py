"""The contract of a dictionary format: what it is called, what it can hold, how it is written and read."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Callable, Iterator
from typing import IO, ClassVar, NamedTuple

from lnmap.errors import LexiconError
from lnmap.io.dictionaries.content import UNKNOWN_LANGUAGES, Dictionary
from lnmap.io.source import ByteSource

MOST_BYTES = 1 << 30  # of a dictionary, unpacked
HEAD = 1 << 16  # bytes by which formats are told apart
Languages = tuple[str, str] | None  # codes of the source and the target language, where they are known
Write = Callable[[IO[bytes]], None]
_SURROGATES = re.compile("[\ud800-\udfff]")


class Row(NamedTuple):
    """What was found at one place of a file: a pair, or a reason why there is none."""

    number: int
    source: str = ""
    target: str = ""
    problem: str = ""


class Format(ABC):
    """A file format of dictionaries; each is one small class in a file of its own.

    :cvar name: as users write it.
    :cvar title: one line for people: what it is.
    :cvar opens: the program that opens it.
    :cvar suffix: how names of such files end.
    :cvar media: the media type of a download.
    :cvar both_apart: whether each direction is a dictionary of its own; else the pairs of both are joined.
    :cvar sorted_by_alphabet: whether the order is that of the language's alphabet.
    :cvar cannot_hold: what words may not contain, for the note about pairs that were left out.
    :cvar unit: what the numbers of its rows count.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    opens: ClassVar[str] = ""
    suffix: ClassVar[str] = ""
    media: ClassVar[str] = "application/octet-stream"
    writes: ClassVar[bool] = True
    both_apart: ClassVar[bool] = False
    sorted_by_alphabet: ClassVar[bool] = False
    cannot_hold: ClassVar[str] = ""
    unit: ClassVar[str] = "line"

    def holds(self, word: str) -> bool:
        """Whether a word can be written so that the same word is read back."""
        return True

    def files(self, dictionary: Dictionary) -> list[tuple[str, Write]]:
        """Return the names of the files to write and what writes each; they are written in this order.

        One file gets the name that the caller chose; several become a folder or an archive.
        """
        raise NotImplementedError

    def ending(self, both: bool) -> str:
        """Return how the name of a file ends that holds one direction or both."""
        nothing = Dictionary([], [] if both else None, UNKNOWN_LANGUAGES, "")
        return self.suffix if len(self.files(nothing)) == 1 else ".zip"

    def recognise(self, head: bytes) -> bool:
        """Whether a file that begins with these bytes is of this format."""
        return False

    def read(self, source: ByteSource, languages: Languages) -> Iterator[Row]:
        """Yield what a file holds, in file order."""
        raise NotImplementedError


class TextFormat(Format):
    """A format that is one file of text."""

    errors: ClassVar[str] = "surrogateescape"  # a word may hold bytes that are no UTF-8; they are written as they came

    def text(self, dictionary: Dictionary) -> Iterator[str]:
        """Yield the file piece by piece."""
        raise NotImplementedError

    def files(self, dictionary: Dictionary) -> list[tuple[str, Write]]:
        def write(file: IO[bytes]) -> None:
            for piece in self.text(dictionary):
                file.write(piece.encode("utf-8", self.errors))

        return [(dictionary.name + self.suffix, write)]


def is_unicode(word: str) -> bool:
    """Whether a word is Unicode text; bytes that were no UTF-8 are not."""
    return not _SURROGATES.search(word)


def check_size(source: ByteSource) -> None:
    """Refuse a file that is larger than any dictionary."""
    if source.unpacked > MOST_BYTES:
        raise LexiconError(f"{source.path} holds more than {MOST_BYTES:,} bytes; this is no dictionary")
