"""The binary format of word2vec: a text header, then for each word its bytes, a blank and float32 values."""

from __future__ import annotations

from typing import Any

import numpy as np

from lnmap.errors import VectorFileError
from lnmap.io.blocks import BLOCK
from lnmap.io.collect import Collector, drop_not_finite
from lnmap.io.sniff import LONGEST_BINARY_WORD, Layout
from lnmap.io.sources import ByteSource
from lnmap.io.tolerant import decode
from lnmap.progress import Progress

_SMALLEST = 1 << 16


def read_binary(source: ByteSource, layout: Layout, collector: Collector, progress: Progress) -> dict[str, Any]:
    """Feed the records of a binary file to a collector and report on the reading."""
    options = collector.options
    promised = layout.rows or 0
    wanted = promised if options.limit_counts == "words" else min(promised, options.limit or promised)
    source.read(layout.start)
    rest, seen, ended = b"", 0, False
    piece = BLOCK if options.limit is None else min(BLOCK, max(_SMALLEST, options.limit * layout.line_bytes))
    with progress.task(f"reading {source.path.name}", source.size) as task:
        before = 0
        while seen < wanted and not collector.full and not ended:
            chunk = source.read(piece)
            ended = not chunk
            words, numbers, rest = _records(rest + chunk, layout.dim, wanted - seen, source)
            _collect(words, numbers, layout.dim, seen + 1, collector)
            seen += len(words)
            task.advance(source.consumed - before)
            before = source.consumed
    report: dict[str, Any] = {"lines": seen, "header_words": promised}
    if ended and seen < wanted:
        report["warning"] = f"the header promises {promised:,} words, the file ends after {seen:,}; it may be cut short"
    return report


def _records(data: bytes, dim: int, most: int, source: ByteSource) -> tuple[list[bytes], bytes, bytes]:
    """Split off whole records: their words, their numbers' bytes, and what is left."""
    words: list[bytes] = []
    numbers: list[bytes] = []
    place = 0
    while len(words) < most:
        blank = data.find(b" ", place)
        end = blank + 1 + 4 * dim
        if blank < 0 or end > len(data):
            if blank < 0 and len(data) - place > LONGEST_BINARY_WORD:
                raise VectorFileError(
                    f"{source.path} breaks off in the middle: no blank ends the word after {place:,} bytes of a block; "
                    "fetch it again"
                )
            break
        words.append(data[place:blank].lstrip(b"\n"))
        numbers.append(data[blank + 1 : end])
        place = end
    return words, b"".join(numbers), data[place:]


def _collect(words: list[bytes], numbers: bytes, dim: int, first: int, collector: Collector) -> None:
    if not words:
        return
    vectors = np.frombuffer(numbers, dtype="<f4").reshape(len(words), dim).astype(np.float32, copy=False)
    decoded, vectors = drop_not_finite([decode(word) for word in words], vectors, first, collector)
    if "" in decoded:
        kept = [row for row, word in enumerate(decoded) if word]
        for _ in range(len(decoded) - len(kept)):
            collector.skip(first, "empty word")
        decoded, vectors = [decoded[row] for row in kept], vectors[kept]
    if decoded:
        collector.add(decoded, vectors)
