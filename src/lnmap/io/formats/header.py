"""Sniffing: what a file is, told from its first bytes and not from its name."""

from __future__ import annotations

import re
import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lnmap.errors import VectorFileError
from lnmap.io.numbers import NOT_FINITE, NUMBER

HEAD = 1 << 20
FASTTEXT_MAGIC = struct.pack("<i", 793712314)
MOST_DIMENSIONS = 100_000
LONGEST_BINARY_WORD = 1 << 16

_BOM = b"\xef\xbb\xbf"
_HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*")
_CONTROL = re.compile(rb"[\x00-\x08]")
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
class Layout:
    """How a file holds its vectors.

    :param kind: the format.
    :param dim: number of coordinates.
    :param rows: number of words the header promises, None without a header.
    :param start: number of bytes before the first word.
    :param line_bytes: mean length of a line, estimated.
    """

    kind: Literal["text", "word2vec-binary", "fasttext"]
    dim: int = 0
    rows: int | None = None
    start: int = 0
    line_bytes: int = 0


def sniff(head: bytes, whole: bool, path: Path) -> Layout:
    """Tell the layout from the first bytes; `whole` says that there are no others."""
    if not head.strip(b" \t\r\n\x00"):
        found = "is empty" if not head else "holds only blanks"
        raise VectorFileError(f"{path} {found}; expected lines of a word and its numbers")
    if head.startswith(FASTTEXT_MAGIC):
        return Layout("fasttext")
    for magic, what in _OTHER_FILES.items():
        if head.startswith(magic):
            raise VectorFileError(f"{path} is {what}")
    if head.lstrip()[:15].lower().startswith((b"<!doctype", b"<html")):
        raise VectorFileError(f"{path} is a web page, not word vectors; the download went wrong: fetch it again")
    return _sniff_words(head, whole, path)


def _sniff_words(head: bytes, whole: bool, path: Path) -> Layout:
    start = len(_BOM) if head.startswith(_BOM) else 0
    first, newline, _ = head[start:].partition(b"\n")
    if not newline and not whole:
        raise VectorFileError(
            f"{path} has no line end in its first {len(head):,} bytes; this is no file of word vectors"
        )
    header = _HEADER.fullmatch(first)
    rows, promised = (int(header[1]), int(header[2])) if header else (None, None)
    if header:
        start += len(first) + 1
        _check_header(rows or 0, promised or 0, path)
        if whole and len(head) <= start:
            raise VectorFileError(f"{path} ends after its header, which promises {rows:,} words; fetch it again")
    lines = _sample_lines(head[start:], whole)
    counts = Counter(count for count in map(_values_after_word, lines) if count)
    if promised and not _any_text(lines, promised):
        if _is_binary(head[start:], rows or 0, promised, whole):
            return Layout("word2vec-binary", promised, rows, start, 4 * promised + 10)
        if not counts:
            raise VectorFileError(_no_vectors(lines, path))
    if not counts and not promised:
        raise VectorFileError(_no_vectors(lines, path))
    dim = promised or counts.most_common(1)[0][0]
    if counts and dim not in counts:
        found = counts.most_common(1)[0][0]
        raise VectorFileError(
            f"the header of {path} promises {dim} values a word, but its lines hold {found}; correct the header's "
            f"second number to {found} or fetch the file again"
        )
    if dim > MOST_DIMENSIONS:
        raise VectorFileError(f"{path} has {dim:,} values on a line; at most {MOST_DIMENSIONS:,} are expected")
    return Layout("text", dim, rows, start, max(1, sum(map(len, lines)) // len(lines)) + 1)


def _check_header(rows: int, dim: int, path: Path) -> None:
    if not rows or not dim:
        raise VectorFileError(f"the header of {path} promises {rows} words of {dim} values; there is nothing to read")
    if dim > MOST_DIMENSIONS:
        raise VectorFileError(
            f"the header of {path} promises {dim:,} values a word; at most {MOST_DIMENSIONS:,} are expected: "
            "check that it is a file of word vectors"
        )


def _sample_lines(text: bytes, whole: bool) -> list[bytes]:
    """Give the first complete lines."""
    lines = text.split(b"\n", _SAMPLE)
    if len(lines) > _SAMPLE or not whole:
        lines = lines[:-1]
    return [line for line in (line.replace(b"\t", b" ").strip(b" \r") for line in lines) if line] or [b""]


def _values_after_word(line: bytes) -> int:
    """Count the numbers after the first field, 0 when other fields stand there."""
    fields = [field for field in line.split(b" ")[1:] if field]
    return len(fields) if all(map(_is_number, fields)) else 0


def _any_text(lines: list[bytes], dim: int) -> bool:
    """Say whether some line ends in `dim` numbers written as text."""
    split = ([field for field in line.split(b" ") if field] for line in lines)
    return any(len(fields) > dim and all(map(_is_number, fields[-dim:])) for fields in split)


def _is_number(field: bytes) -> bool:
    return bool(NUMBER.fullmatch(field) or NOT_FINITE.fullmatch(field))


def _is_binary(data: bytes, rows: int, dim: int, whole: bool) -> bool:
    """Say whether records of a word, a blank and `dim` floats stand here.

    The numbers must hold bytes that no text holds, or the records must end exactly where the file does.
    """
    place, seen, strange = 0, 0, False
    while seen < rows and place < len(data):
        blank = data.find(b" ", place, place + LONGEST_BINARY_WORD)
        end = blank + 1 + 4 * dim
        if blank < 0 or end > len(data):
            return strange or bool(blank > 0 and _CONTROL.search(data, blank))
        strange = strange or bool(_CONTROL.search(data, blank, end))
        place = end + (data[end : end + 1] == b"\n")
        seen += 1
    return strange or (whole and seen == rows and place == len(data))


def _no_vectors(lines: list[bytes], path: Path) -> str:
    shown = lines[0][:40].decode("utf-8", "replace")
    return f"{path} holds no word vectors: expected lines of a word and its numbers, found {shown!r}"
