"""word2vec's binary format: a header line, then for each word its bytes, a blank and float32 values."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from lnmap.errors import VectorFileError
from lnmap.io.collect import Collector
from lnmap.io.formats.header import Header, read_header
from lnmap.io.formats.reader import Reader, decode
from lnmap.io.lines import BLOCK
from lnmap.io.source import ByteSource

_SMALLEST = 1 << 16
_LONGEST_WORD = 1 << 16
_CONTROL = re.compile(rb"[\x00-\x08]")


class Word2vecReader(Reader):
    """Read records of a word and its values."""

    format = "word2vec-binary"

    def __init__(self, source: ByteSource, rows: int, dim: int, start: int) -> None:
        super().__init__(source)
        self.rows, self.dim, self.start = rows, dim, start

    @classmethod
    def recognise(cls, source: ByteSource) -> Reader | None:
        """Recognise records whose values are not text."""
        header = read_header(source)
        if header.rows is None or header.dim is None or header.has_text_rows or not _holds_records(header):
            return None
        return cls(source, header.rows, header.dim, header.start)

    def read(self, collector: Collector) -> dict[str, Any]:
        """Add the records in pieces."""
        limit = collector.options.limit
        wanted = min(self.rows, collector.options.line_limit or self.rows)
        piece = BLOCK if limit is None else min(BLOCK, max(_SMALLEST, limit * (4 * self.dim + 10)))
        self.source.read(self.start)
        rest, seen, ended = b"", 0, False
        while seen < wanted and not collector.full and not ended:
            chunk = self.source.read(piece)
            ended = not chunk
            words, values, rest = self._split(rest + chunk, wanted - seen)
            if words:
                vectors = np.frombuffer(values, "<f4").reshape(len(words), self.dim).astype(np.float32)
                collector.add_checked(words, vectors, seen + 1, empty_words=False)
            seen += len(words)
        report: dict[str, Any] = {"lines": seen, "header_words": self.rows}
        if ended and seen < wanted:
            found = f"the file ends after {seen:,}; it may be cut short"
            report["warning"] = f"the header promises {self.rows:,} words, {found}"
        return report

    def _split(self, data: bytes, most: int) -> tuple[list[str], bytes, bytes]:
        """Split off whole records: their words, the bytes of their values, and what is left."""
        words: list[str] = []
        values: list[bytes] = []
        place = 0
        while len(words) < most:
            blank = data.find(b" ", place)
            end = blank + 1 + 4 * self.dim
            if blank < 0 and len(data) - place > _LONGEST_WORD:
                raise VectorFileError(
                    f"{self.source.path} breaks off in the middle: no blank ends the word after {place:,} bytes of a "
                    "block; fetch it again"
                )
            if blank < 0 or end > len(data):
                break
            words.append(decode(data[place:blank].lstrip(b"\n")))
            values.append(data[blank + 1 : end])
            place = end
        return words, b"".join(values), data[place:]


def _holds_records(header: Header) -> bool:
    """Return whether records of a word, a blank and the values stand after the header line.

    The values must hold bytes that no text holds, or the records must end exactly where the file does.
    """
    data, rows, width = header.body, header.rows or 0, 4 * (header.dim or 0)
    place, seen, strange = 0, 0, False
    while seen < rows and place < len(data):
        blank = data.find(b" ", place, place + _LONGEST_WORD)
        end = blank + 1 + width
        if blank < 0 or end > len(data):
            return strange or bool(blank > 0 and _CONTROL.search(data, blank))
        strange = strange or bool(_CONTROL.search(data, blank, end))
        place = end + (data[end : end + 1] == b"\n")
        seen += 1
    return strange or (header.whole and seen == rows and place == len(data))
