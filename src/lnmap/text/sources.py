"""Lines of text from files, folders, packed files and stdin; plain, HTML, or JSON lines with a field "text"."""

from __future__ import annotations

import codecs
import html.parser
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from lnmap.errors import InputError
from lnmap.io.source import ByteSource
from lnmap.text.words import DAMAGED

STDIN = "-"
_BLOCK = 1 << 18
_LONGEST = 1 << 16  # characters of a line that are held; a longer one is cut at a blank
_LONGEST_OBJECT = 1 << 24  # of a JSON line, which is an article or a book
_HEAD = 4096
_UTF8 = ("utf-8", "utf-8-sig")
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_NO_TEXT = (".css", ".js", ".map", ".svg", ".vec", ".counts.tsv", ".safetensors")  # in a folder, these are no text
_BREAKS = {
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
}
_BREAKS |= {"li", "main", "ol", "p", "section", "table", "td", "th", "title", "tr", "ul"}
_UNSEEN = {"head", "nav", "pre", "script", "style", "svg", "template"}


class Bytes(Protocol):
    """Where bytes are taken from."""

    def read(self, count: int, /) -> bytes:
        """Take up to `count` bytes; none means the end."""


def find_files(texts: Sequence[str | Path]) -> list[tuple[Path | None, bool]]:
    """List the files to read, None for stdin, and whether each was named itself; folders in order of names."""
    found: list[tuple[Path | None, bool]] = []
    for text in texts:
        path = Path(text)
        if str(text) == STDIN:
            found.append((None, True))
        elif path.is_dir():
            inside = sorted(one for one in path.rglob("*") if one.is_file() and not _ignored(one.relative_to(path)))
            if not inside:
                raise InputError(f"the folder {path} holds no files; give one with text")
            found += [(one, False) for one in inside]
        else:
            found.append((path, True))
    if not found:
        raise InputError("there is no text to read; name files or folders, or - for stdin")
    return found


def size_of(files: Sequence[tuple[Path | None, bool]]) -> int | None:
    """Return the bytes of all files, or None where one is a pipe."""
    if any(path is None or not path.exists() for path, _ in files):
        return None
    return sum(path.stat().st_size for path, _ in files if path is not None)


class Reader:
    """Read texts line by line, and remember what was wrong with them.

    :param encoding: of files without a byte-order mark.
    """

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding
        self.left_out: list[Path] = []
        self.damaged: list[str] = []

    def lines(self, path: Path | None, named: bool) -> Iterator[str]:
        """Yield the lines of a file, of stdin for None; a binary file is an error if it was named itself."""
        if path is None:
            stdin: Any = sys.stdin.buffer
            yield from self._decoded("stdin", stdin, stdin.peek(_HEAD))
            return
        with ByteSource(path, InputError) as source:
            head = source.peek(_HEAD)
            if b"\0" in head and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                if named:
                    raise InputError(f"{path} is a binary file, not text; give plain text, HTML or JSON lines")
                self.left_out.append(path)
            else:
                yield from self._decoded(str(path), source, head)

    def notes(self) -> Iterator[str]:
        """Yield what a person should know about the files."""
        if self.left_out:
            yield f"{len(self.left_out):,} binary files were left out, {self.left_out[0]} first"
        if self.damaged:
            yield f"{len(self.damaged):,} files hold damaged words, which were left out, {self.damaged[0]} first"

    def _decoded(self, name: str, source: Bytes, head: bytes) -> Iterator[str]:
        """Yield the lines of a stream in the form that its first bytes show."""
        start = head.lstrip(codecs.BOM_UTF8 + b" \t\r\n")[:200].lower()
        objects = start.startswith(b"{") and b'"' in start
        encoding, watched = _encoding_of(head, self.encoding), _Watched(source)
        lines = self._checked(name, _split(watched, encoding, _LONGEST_OBJECT if objects else _LONGEST))
        if objects:
            yield from _json_texts(name, lines)
        elif start.startswith((b"<!doctype html", b"<html")) or b"<html" in start:
            yield from _html_texts(lines)
        else:
            yield from lines
        if watched.utf8 and codecs.lookup(encoding).name not in _UTF8:
            raise InputError(f"{name} is in utf-8, not in {encoding}", advice="leave out {encoding}")

    def _checked(self, name: str, lines: Iterator[str]) -> Iterator[str]:
        """Pass lines on; where most that are not plain ASCII are damaged, the encoding is another one."""
        count, bad, fine, first = 0, 0, 0, 0
        for line in lines:
            count += 1
            if DAMAGED in line:
                bad += 1
                first = first or count
            elif not line.isascii():
                fine += 1
            yield line
        if bad > fine:
            raise InputError(
                f"{name} is not in {self.encoding}: {bad:,} of {count:,} lines hold other bytes, line {first} first",
                advice="name its encoding, such as {encoding:windows-1252}",
            )
        if bad:
            self.damaged.append(name)


class _Watched:
    """Bytes that are passed on; other encodings than UTF-8 hardly ever make valid UTF-8 with letters beyond ASCII."""

    def __init__(self, source: Bytes) -> None:
        self._source, self._decoder = source, codecs.getincrementaldecoder("utf-8")()
        self._valid, self._beyond = True, False

    @property
    def utf8(self) -> bool:
        """Whether what was read is UTF-8 and not plain ASCII."""
        return self._valid and self._beyond

    def read(self, count: int, /) -> bytes:
        """Take up to `count` bytes."""
        block = self._source.read(count)
        if self._valid and not (block.isascii() and self._decoder.getstate()[0] == b""):
            self._beyond = True
            try:
                self._decoder.decode(block, final=not block)
            except UnicodeDecodeError:
                self._valid = False
        return block


def _encoding_of(head: bytes, encoding: str) -> str:
    try:
        codecs.lookup(encoding)
    except LookupError as error:
        raise InputError(f"there is no encoding {encoding!r}; utf-8, windows-1252 and iso-8859-2 are some") from error
    return next((name for mark, name in _MARKS.items() if head.startswith(mark)), encoding)


def _split(source: Bytes, encoding: str, longest: int) -> Iterator[str]:
    """Yield lines; one longer than any memory is cut at blanks."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    held = ""
    while block := source.read(_BLOCK):
        held += decoder.decode(block)
        *lines, held = held.replace("\r\n", "\n").split("\n")
        yield from lines
        while len(held) > longest:
            cut = held.rfind(" ", 0, longest) + 1 or longest
            yield held[:cut]
            held = held[cut:]
    yield held + decoder.decode(b"", final=True)


def _json_texts(name: str, lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines of the field "text" of each object."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            text = json.loads(line)["text"]
        except (ValueError, KeyError, TypeError, RecursionError):
            text = None
        if not isinstance(text, str):
            raise InputError(f'{name}, line {number}: expected a JSON object with a field "text", one per line')
        yield from text.splitlines()


class _Page(html.parser.HTMLParser):
    """Collect the text of a page, with a line end where a block begins or ends."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.unseen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in _UNSEEN:
            self.unseen.append(tag)
        elif tag == "body":
            self.unseen.clear()
        self.parts.append("\n" if tag in _BREAKS else " ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.unseen:
            del self.unseen[self.unseen.index(tag) :]
        self.parts.append("\n" if tag in _BREAKS else "")

    def handle_data(self, data: str) -> None:
        if not self.unseen:
            self.parts.append(data.replace("\n", " "))

    def take(self) -> list[str]:
        """Return the whole lines so far."""
        *lines, rest = "".join(self.parts).split("\n")
        self.parts = [rest]
        return lines


def _html_texts(lines: Iterator[str]) -> Iterator[str]:
    page = _Page()
    for line in lines:
        broken = len(page.rawdata) > _LONGEST  # a comment or script without an end would be searched again and again
        try:
            page.feed(line + "\n")
        except AssertionError:  # what html.parser raises for some broken markup
            broken = True
        if broken:
            page.rawdata = ""
        yield from page.take()
    yield from "".join(page.parts).split("\n")


def _ignored(path: Path) -> bool:
    return path.name.lower().endswith(_NO_TEXT) or any(part.startswith(".") for part in path.parts)
