"""Lines of text from files, folders, packed files and stdin; plain, HTML, or JSON lines with a field "text"."""

from __future__ import annotations

import codecs
import html.parser
import json
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from lnmap.errors import InputError
from lnmap.io.source import ByteSource, Pipe
from lnmap.text.decoding import Decoder, checked, is_binary
from lnmap.text.words import DAMAGED

STDIN = "-"
_BLOCK = 1 << 18
_LONGEST = 1 << 16  # characters of a line that are held; a longer one is cut at a blank
_LONGEST_OBJECT = 1 << 24  # of a JSON line, which is an article or a book
_HEAD = 4096
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
_DOCUMENTS = (b"%PDF-", b"{\\rtf", b"%!PS")  # how they begin
_PARTS = ("[Content_Types].xml", "_rels/.rels", "mimetype", "META-INF/container.xml")  # of Word, OpenDocument and EPUB
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

    :param encoding: of files without a byte-order mark that are not UTF-8.
    """

    def __init__(self, encoding: str) -> None:
        checked(encoding)
        self.encoding = encoding
        self.left_out: list[Path] = []
        self.documents: list[Path] = []
        self.damaged: list[str] = []
        self.utf8: list[str] = []

    def lines(self, path: Path | None, named: bool) -> Iterator[str]:
        """Yield the lines of a file, of stdin for None; a binary file is an error if it was named itself."""
        if path is None:
            stdin: Any = sys.stdin.buffer
            pipe = Pipe(stdin, "stdin", InputError)
            head = pipe.peek(_HEAD)
            if is_binary(head, self.encoding) or head.startswith(_DOCUMENTS):
                raise InputError("stdin brings a binary file, not text; give plain text, HTML or JSON lines")
            yield from self._decoded("stdin", pipe, head)
        elif _is_document(path):
            if named:
                raise InputError(f"{path} is a document (PDF, Word or the like), not text; save it as plain text")
            self.documents.append(path)
        else:
            with ByteSource(path, InputError) as source:
                head = source.peek(_HEAD)
                if not is_binary(head, self.encoding):
                    yield from self._decoded(str(path), source, head)
                elif named:
                    raise InputError(f"{path} is a binary file, not text; give plain text, HTML or JSON lines")
                else:
                    self.left_out.append(path)

    def notes(self) -> Iterator[str]:
        """Yield what a person should know about the files."""
        if self.left_out:
            yield f"{_files(self.left_out, 'binary ')} left out{_first(self.left_out)}"
        if self.documents:
            found = f"{_files(self.documents)} left out{_first(self.documents)}"
            yield f"{found}: documents such as PDF or Word; save them as plain text"
        if self.damaged:
            yield f"damaged words were left out of {len(self.damaged):,} of the files{_first(self.damaged)}"
        if self.utf8:
            yield f"{_files(self.utf8)} read as UTF-8, not as {self.encoding}{_first(self.utf8)}"

    def _decoded(self, name: str, source: Bytes, head: bytes) -> Iterator[str]:
        """Yield the lines of a stream in the form that its first bytes show."""
        start = head.lstrip(codecs.BOM_UTF8 + b" \t\r\n")[:200].lower()
        objects = start.startswith(b"{") and b'"' in start
        decoder = Decoder(head, self.encoding)
        lines = self._checked(name, decoder, _split(source, decoder, _LONGEST_OBJECT if objects else _LONGEST))
        if objects:
            yield from _json_texts(name, lines)
        elif start.startswith((b"<!doctype html", b"<html")) or b"<html" in start:
            yield from _html_texts(lines)
        else:
            yield from lines

    def _checked(self, name: str, decoder: Decoder, lines: Iterator[str]) -> Iterator[str]:
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
                f"{name} is not in {decoder.encoding}: {bad:,} of {count:,} lines hold other bytes, line {first} first",
                advice="name its encoding, such as {encoding:windows-1252}",
            )
        if bad:
            self.damaged.append(name)
        if decoder.chosen:
            self.utf8.append(name)


def _split(source: Bytes, decoder: Decoder, longest: int) -> Iterator[str]:
    """Yield lines; one longer than any memory is cut at blanks."""
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


def _is_document(path: Path) -> bool:
    """Whether a file is a PDF, or what a word processor saves; one that cannot be opened is not."""
    if not path.is_file():  # what was read from a pipe would be gone
        return False
    try:
        with path.open("rb") as file:
            head = file.read(8)
        if head.startswith(b"PK"):
            with zipfile.ZipFile(path) as archive:
                return any(part in _PARTS for part in archive.namelist())
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return False
    return head.startswith(_DOCUMENTS)


def _files(names: Sequence[object], kind: str = "") -> str:
    return f"{len(names):,} {kind}{'file was' if len(names) == 1 else 'files were'}"


def _first(names: Sequence[object]) -> str:
    return f" ({names[0]})" if len(names) == 1 else f" ({names[0]} first)"


def _ignored(path: Path) -> bool:
    return path.name.lower().endswith(_NO_TEXT) or any(part.startswith(".") for part in path.parts)
