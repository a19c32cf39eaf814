"""The start of a file of words: an optional line `words dimensions`, then text lines or binary records."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lnmap.errors import VectorFileError
from lnmap.io.formats.decimals import NOT_FINITE, NUMBER
from lnmap.io.formats.reader import HEAD, MOST_DIMENSIONS
from lnmap.io.source import ByteSource

_BOM = b"\xef\xbb\xbf"
_HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*")
_SAMPLE = 50
_OTHER_FILES = {
    b"\x93NUMPY": "a numpy array without words; save words and vectors together as .npz, or pass (words, array)",
    b"\x80": "a pickle, which is never loaded; load it with gensim and pass the KeyedVectors object",
    b"\xff\xfe": "UTF-16 text; convert it to UTF-8",
    b"\xfe\xff": "UTF-16 text; convert it to UTF-8",
    b"\x28\xb5\x2f\xfd": "zstandard-compressed; unpack it first",
    b"\x89HDF": "an HDF5 file; export word vectors as text first",
    b"%PDF": "a PDF document; give a file of word vectors",
}


@dataclass(frozen=True)
class Header:
    """What the first bytes of a file say.

    :param rows: number of words promised, None without a header line.
    :param dim: number of values per word promised, None without a header line.
    :param start: number of bytes before the first word.
    :param body: the bytes after `start` that were looked at.
    :param whole: whether those are all there are.
    """

    rows: int | None
    dim: int | None
    start: int
    body: bytes
    whole: bool

    @cached_property
    def lines(self) -> list[bytes]:
        """The first complete lines that are not blank."""
        lines = self.body.split(b"\n", _SAMPLE)
        if len(lines) > _SAMPLE or not self.whole:
            lines = lines[:-1]
        return [line for line in (line.replace(b"\t", b" ").strip(b" \r") for line in lines) if line] or [b""]

    @property
    def has_text_rows(self) -> bool:
        """Return whether a line ends in the promised number of numbers, written as text."""
        split = ([field for field in line.split(b" ") if field] for line in self.lines)
        dim = self.dim or 0
        return bool(dim) and any(len(fields) > dim and all(map(is_number, fields[-dim:])) for fields in split)


def read_header(source: ByteSource) -> Header:
    """Parse the first bytes of a file; refuse those of files that hold no word vectors."""
    head, path = source.peek(HEAD), source.path
    _refuse_other_files(head, path)
    start = len(_BOM) if head.startswith(_BOM) else 0
    first, newline, _ = head[start:].partition(b"\n")
    if not newline and not source.ended:
        raise VectorFileError(
            f"{path} has no line end in its first {len(head):,} bytes; this is no file of word vectors"
        )
    found = _HEADER.fullmatch(first)
    if not found:
        return Header(None, None, start, head[start:], source.ended)
    rows, dim = int(found[1]), int(found[2])
    if not rows or not dim:
        raise VectorFileError(f"the header of {path} promises {rows} words of {dim} values; there is nothing to read")
    if dim > MOST_DIMENSIONS:
        raise VectorFileError(
            f"the header of {path} promises {dim:,} values per word; at most {MOST_DIMENSIONS:,} are expected: "
            "check that it is a file of word vectors"
        )
    start += len(first) + 1
    if source.ended and len(head) <= start:
        raise VectorFileError(f"{path} ends after its header, which promises {rows:,} words; fetch it again")
    return Header(rows, dim, start, head[start:], source.ended)


def _refuse_other_files(head: bytes, path: Path) -> None:
    if not head.strip(b" \t\r\n\x00"):
        found = "is empty" if not head else "holds only blanks"
        raise VectorFileError(f"{path} {found}; expected lines of a word and its numbers")
    for magic, what in _OTHER_FILES.items():
        if head.startswith(magic):
            raise VectorFileError(f"{path} is {what}")
    if is_web_page(head):
        raise VectorFileError(f"{path} is a web page, not word vectors; the download went wrong: fetch it again")


def is_web_page(head: bytes) -> bool:
    """Return whether a file begins as HTML does."""
    return head.removeprefix(_BOM).lstrip()[:15].lower().startswith((b"<!doctype", b"<html"))


def is_number(field: bytes) -> bool:
    """Return whether a field is a number written as text, finite or not."""
    return bool(NUMBER.fullmatch(field) or NOT_FINITE.fullmatch(field))
