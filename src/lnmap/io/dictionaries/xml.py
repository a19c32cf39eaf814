"""XML, read piece by piece and safely: no entities, nothing from outside, bounds on depth and size."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

from lnmap.errors import LexiconError
from lnmap.io.dictionaries.contract import check_size
from lnmap.io.source import ByteSource

_CHUNK = 1 << 16
_DEEPEST = 64
_LARGEST = 1 << 20  # characters and elements of one entry
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAME = re.compile(r"<([A-Za-z_][\w.:-]*)")
_PROLOGUE = {"<?": "?>", "<!--": "-->", "<!DOCTYPE": ">", "<!doctype": ">"}


@dataclass
class Element:
    """An element with all that is in it; names have no prefix."""

    tag: str
    attributes: dict[str, str]
    line: int
    content: list[str | Element] = field(default_factory=list)

    def children(self, *tags: str) -> Iterator[Element]:
        """Yield the elements directly inside that have one of these names, or any if none is given."""
        return (one for one in self.content if isinstance(one, Element) and (not tags or one.tag in tags))

    def find(self, *path: str) -> Iterator[Element]:
        """Yield the elements at a path of names."""
        if not path:
            yield self
            return
        for child in self.children(path[0]):
            yield from child.find(*path[1:])

    def text(self, leave_out: Collection[str] = ()) -> str:
        """Return all text inside, but for that of some elements."""
        pieces = (one if isinstance(one, str) else one.text(leave_out) for one in self.content if _kept(one, leave_out))
        return "".join(pieces)

    @property
    def language(self) -> str:
        """The code in `xml:lang` or `lang`, in lower case."""
        return (self.attributes.get("xml:lang") or self.attributes.get("lang") or "").lower()


def is_xml_text(word: str) -> bool:
    """Whether XML can hold a word."""
    return not _NOT_XML.search(word)


def escaped(word: str) -> str:
    """Escape a word for XML text and attributes."""
    return escape(word, {'"': "&quot;", "\r": "&#13;", "\t": "&#9;", "\n": "&#10;"})


def root_of(head: bytes) -> str | None:
    """Return the name of the first element, where the beginning of a file is XML."""
    text, at = _decoded(head), 0
    while True:
        at += len(text[at:]) - len(text[at:].lstrip("\ufeff \t\r\n"))
        opener = next((one for one in _PROLOGUE if text.startswith(one, at)), None)
        if opener is None:
            found = _NAME.match(text, at)
            return found[1].rpartition(":")[2] if found else None
        end = text.find(_PROLOGUE[opener], at)
        if opener.upper() == "<!DOCTYPE" and "[" in text[at:end]:
            end = text.find(">", max(text.find("]", at), at))
        if end < 0:
            return None
        at = end + len(_PROLOGUE[opener])


def elements(source: ByteSource, tag: str, leave_out: Collection[str] = ()) -> Iterator[Element]:
    """Yield all elements of one name, each when it has been read; nested ones stay inside.

    :param leave_out: elements in which none is looked for.
    """
    parser = _Parser(source, tag, leave_out)
    while True:
        data = source.read(_CHUNK)
        check_size(source)
        parser.feed(data)
        while parser.done:
            yield parser.done.popleft()
        if not data:
            return


class _Parser:
    """Build elements of one name from what expat reports."""

    def __init__(self, source: ByteSource, tag: str, leave_out: Collection[str]) -> None:
        self.source, self.tag, self.leave_out = source, tag, leave_out
        self.done: deque[Element] = deque()
        self._open: list[Element] = []
        self._names: list[str] = []
        self._size = self._left_out = 0
        self._expat: Any = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._text
        self._expat.EntityDeclHandler = self._refuser("declares entities, which are never expanded; remove them")
        self._expat.ExternalEntityRefHandler = self._refuser("refers to another file, which is never read; remove that")

    def feed(self, data: bytes) -> None:
        try:
            self._expat.Parse(data, not data)
        except expat.ExpatError as error:
            place = f"line {error.lineno}, column {error.offset + 1}"
            reason = expat.ErrorString(error.code)
            raise LexiconError(
                f"{self.source.path} is broken XML ({reason} at {place}); fetch or export it again"
            ) from None
        except (ValueError, LookupError) as error:  # an encoding that Python does not know
            raise LexiconError(
                f"{self.source.path} is XML that cannot be decoded ({error}); save it as UTF-8"
            ) from None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        self._names.append(name)
        if len(self._names) > _DEEPEST:
            raise LexiconError(f"{self.source.path} nests elements more than {_DEEPEST} deep; this is no dictionary")
        self._left_out += name in self.leave_out
        if self._open or (name == self.tag and not self._left_out):
            made = Element(name, attributes, self._expat.CurrentLineNumber)
            if self._open:
                self._open[-1].content.append(made)
            else:
                self._size = 0
            self._open.append(made)
            self._grow(1 + sum(map(len, attributes.values())))

    def _end(self, _: str) -> None:
        self._left_out -= self._names.pop() in self.leave_out
        if self._open:
            made = self._open.pop()
            if not self._open:
                self.done.append(made)

    def _text(self, text: str) -> None:
        if self._open:
            self._open[-1].content.append(text)
            self._grow(len(text))

    def _grow(self, amount: int) -> None:
        self._size += amount
        if self._size > _LARGEST:
            line = self._open[0].line
            raise LexiconError(
                f"{self.source.path} has an entry of over {_LARGEST:,} characters at line {line}; remove it"
            )

    def _refuser(self, reason: str) -> Callable[..., Any]:
        def refuse(*_: Any) -> Any:
            raise LexiconError(f"{self.source.path} {reason}")

        return refuse


def _decoded(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head[: len(head) // 2 * 2].decode("utf-16", "replace")
    return head.decode("utf-8", "replace")


def _kept(one: str | Element, leave_out: Collection[str]) -> bool:
    return isinstance(one, str) or one.tag not in leave_out
