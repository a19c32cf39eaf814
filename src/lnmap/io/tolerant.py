"""The tolerant parser: line by line, naming every line it must skip."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lnmap.io.blocks import OVERLONG
from lnmap.io.numbers import NOT_FINITE, NUMBER, NUMBERS, parse_rows

_BLANKS = re.compile(rb" +")
_SHOWN = 30


@dataclass
class Parsed:
    """What a block of lines held.

    :param words: one word a row.
    :param vectors: float32 array (rows, d), all finite.
    :param lines: number of lines in the block.
    :param skipped: (line within the block, from 0; reason) of each line left out.
    """

    words: list[str]
    vectors: NDArray[np.float32]
    lines: int
    skipped: list[tuple[int, str]] = field(default_factory=list)


def parse_tolerant(block: bytes, dim: int) -> Parsed:
    """Parse whole lines `word number ... number`: the last `dim` fields are numbers, the word is what stands before."""
    lines = block.split(b"\n")[:-1]
    words: list[str] = []
    rows: list[bytes] = []
    places: list[int] = []
    skipped: list[tuple[int, str]] = []
    for place, line in enumerate(lines):
        word, numbers, reason = _split_line(line, dim)
        if reason:
            skipped.append((place, reason))
        else:
            words.append(decode(word))
            rows.append(numbers)
            places.append(place)
    vectors = parse_rows(rows, dim) if rows else np.empty((0, dim), np.float32)
    if vectors is None:  # cannot happen for fields that match NUMBERS, but a row too few must never shift the others
        raise AssertionError("matched numbers did not parse")
    finite: NDArray[np.bool_] = np.asarray(np.isfinite(vectors).all(axis=1))
    if not finite.all():
        skipped += [(places[row], "a value too large for float32") for row in np.flatnonzero(~finite)]
        words = [word for word, good in zip(words, finite, strict=True) if good]
        vectors = vectors[finite]
    return Parsed(words, vectors, len(lines), sorted(skipped))


def decode(word: bytes) -> str:
    """Decode a word; bytes that are not UTF-8 survive a later encoding with the same handler."""
    return word.decode("utf-8", "surrogateescape")


def _split_line(line: bytes, dim: int) -> tuple[bytes, bytes, str]:
    """Split a line into word and numbers, or give the reason why that fails."""
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
    word = fields[0].strip(b" ")
    numbers = text[len(text) - sum(map(len, fields[1:])) - dim + 1 :]
    if numbers.count(b" ") != dim - 1:
        numbers = b" ".join(fields[1:])
    if not NUMBERS.fullmatch(numbers):
        return b"", b"", _complaint(fields[1:])
    return (word, numbers, "") if word else (b"", b"", "empty word")


def _complaint(fields: list[bytes]) -> str:
    """Name the first field that is no finite number."""
    bad = next(text for text in fields if not NUMBER.fullmatch(text))
    if NOT_FINITE.fullmatch(bad):
        return "NaN or infinite value"
    return f"not a number: {bad[:_SHOWN].decode('utf-8', 'replace')!r}"
