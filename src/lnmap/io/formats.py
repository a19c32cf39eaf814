"""Rows of words and vectors as the bytes of a text or binary file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lnmap.errors import OutputError
from lnmap.io.collect import Matrix

# What a reader would split, join or strip: such words do not come back as they were.
_NOT_IN_TEXT = re.compile(r"[\n\t]|^ | $|  |^$")
_NOT_IN_BINARY = re.compile(r" |^\n|^$")


def text_rows(words: Sequence[str], vectors: Matrix) -> bytes:
    """Give lines of a word and its numbers, with the fewest digits that give the same float32 back."""
    names = _encoded(words, _NOT_IN_TEXT, "a text file")
    try:
        import polars
    except ImportError:
        numbers = [(" %.9g" * len(row) % tuple(row)).encode("ascii") for row in vectors.tolist()]
    else:
        table = polars.DataFrame(vectors, schema=[str(column) for column in range(vectors.shape[1])])
        text: Any = table.write_csv(include_header=False, separator=" ")
        numbers = [b" " + line for line in text.encode("ascii").split(b"\n")]
    return b"".join(part for name, row in zip(names, numbers, strict=False) for part in (name, row, b"\n"))


def binary_rows(words: Sequence[str], vectors: Matrix) -> bytes:
    """Give records of a word, a blank, float32 numbers and a line feed, as word2vec writes them."""
    names = _encoded(words, _NOT_IN_BINARY, "a word2vec binary file")
    rows = vectors.astype("<f4", copy=False)
    return b"".join(part for name, row in zip(names, rows, strict=True) for part in (name, b" ", row.tobytes(), b"\n"))


def _encoded(words: Sequence[str], unfit: re.Pattern[str], what: str) -> list[bytes]:
    """Encode words, refusing those the format cannot hold."""
    for word in words:
        if unfit.search(word):
            raise OutputError(f"{what} cannot hold the word {word!r}; write a store instead")
    try:
        return [word.encode("utf-8", "surrogateescape") for word in words]
    except UnicodeEncodeError as error:
        raise OutputError(f"{what} cannot hold the word {error.object!r}; write a store instead") from error
