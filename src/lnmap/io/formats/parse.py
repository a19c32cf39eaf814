"""Parsing blocks of text lines: the fast parsers take a clean block whole, the tolerant one goes line by line.

All give the same bits. A fast parser returns None for a block that is unusual in any way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from lnmap.embeddings import all_finite
from lnmap.io.collect import Matrix
from lnmap.io.formats.decimals import NOT_FINITE, NUMBER, NUMBERS, parse_rows
from lnmap.io.formats.reader import decode
from lnmap.io.lines import OVERLONG

_BLANKS = re.compile(rb" +")
_OTHER_BLANKS = (b"\r", b"\x0b", b"\x0c")
_SHOWN = 30


class Parsed(NamedTuple):
    """What a block of lines held."""

    words: list[str]
    vectors: Matrix  # (rows, d), all finite
    lines: int
    skipped: Sequence[tuple[int, str]] = ()  # line within the block, from 0, and reason


@lru_cache(maxsize=4)
def head_line(dim: int) -> bytes:
    """Return the names of the columns: the word, `dim` numbers, and the nothing after a trailing blank."""
    return " ".join(["word", *map(str, range(dim)), "rest"]).encode("ascii") + b"\n"


def parse_block(block: bytes, dim: int) -> Parsed:
    """Parse a block of whole lines under a head line, in the fastest way that is exact for it."""
    clean = block.replace(b"\t", b" ") if b"\t" in block else block
    if b"\r" in clean:
        clean = clean.replace(b"\r\n", b"\n")
    parsed = _parse_polars(clean, dim) if _polars() is not None else _parse_numpy(clean, dim)
    return parsed or parse_tolerant(block[len(head_line(dim)) :], dim)


@lru_cache(maxsize=1)
def _polars() -> Any:
    try:
        import polars
    except ImportError:
        return None
    return polars


@lru_cache(maxsize=4)
def _schema(dim: int) -> dict[str, Any]:
    polars = _polars()
    return {"word": polars.String, **{str(column): polars.Float32 for column in range(dim)}, "rest": polars.String}


def _parse_polars(block: bytes, dim: int) -> Parsed | None:
    if b"\r" in block:  # polars drops these from the ends of fields
        return None
    polars = _polars()
    try:
        table = polars.read_csv(block, separator=" ", quote_char=None, schema=_schema(dim))
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException):
        return None
    word, *numbers, rest = table.get_columns()
    if word.null_count() or rest.null_count() != len(table):
        return None
    vectors = np.empty((len(table), dim), np.float32)
    for column, series in enumerate(numbers):
        vectors[:, column] = series.to_numpy()  # a missing number becomes NaN
    if not all_finite(vectors):
        return None
    return Parsed(word.to_list(), vectors, len(table))


def _parse_numpy(block: bytes, dim: int) -> Parsed | None:
    if any(blank in block for blank in _OTHER_BLANKS):  # numpy would take these for separators
        return None
    lines = block.split(b"\n")[1:-1]
    words, rows = [], []
    for line in lines:
        word, _, numbers = line.rstrip(b" ").partition(b" ")
        if not word or numbers.count(b" ") != dim - 1:
            return None
        words.append(decode(word))
        rows.append(numbers)
    vectors = parse_rows(rows, dim)
    if vectors is None or not all_finite(vectors):
        return None
    return Parsed(words, vectors, len(lines))


def parse_tolerant(block: bytes, dim: int) -> Parsed:
    """Parse lines whose last `dim` fields are numbers; the word is what stands before. Skip other lines."""
    lines = block.split(b"\n")[:-1]
    split = [_split_line(line, dim) for line in lines]
    skipped = [(place, reason) for place, (_, _, reason) in enumerate(split) if reason]
    good = [(place, word, numbers) for place, (word, numbers, reason) in enumerate(split) if not reason]
    vectors = parse_rows([numbers for _, _, numbers in good], dim) if good else np.empty((0, dim), np.float32)
    if vectors is None:  # cannot happen for fields that match NUMBERS, but a row too few must never shift the others
        raise AssertionError("matched numbers did not parse")
    finite = np.asarray(np.isfinite(vectors).all(axis=1))
    skipped += [(good[row][0], "a value too large for float32") for row in np.flatnonzero(~finite)]
    words = [decode(good[row][1]) for row in np.flatnonzero(finite)]
    return Parsed(words, vectors[finite], len(lines), tuple(sorted(skipped)))


def _split_line(line: bytes, dim: int) -> tuple[bytes, bytes, str]:
    """Split a line into word and numbers, or return the reason why that fails."""
    text = line.replace(b"\t", b" ").rstrip(b" \r")
    if not text:
        return b"", b"", "empty line"
    if text.endswith(OVERLONG[:-1]):
        return b"", b"", "line too long"
    fields = text.rsplit(b" ", dim)
    if b"" in fields[1:]:
        fields = _BLANKS.sub(b" ", text).rsplit(b" ", dim)
    if len(fields) <= dim:
        return b"", b"", f"wrong number of values: {len(fields) - 1} instead of {dim}"
    word, numbers = fields[0].strip(b" "), b" ".join(fields[1:])
    if not NUMBERS.fullmatch(numbers):
        return b"", b"", _complaint(fields[1:])
    return (word, numbers, "") if word else (b"", b"", "empty word")


def _complaint(fields: list[bytes]) -> str:
    bad = next(text for text in fields if not NUMBER.fullmatch(text))
    if NOT_FINITE.fullmatch(bad):
        return "NaN or infinite value"
    return f"not a number: {bad[:_SHOWN].decode('utf-8', 'replace')!r}"
