"""Text files of word vectors: word2vec, fastText and GloVe."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lnmap.errors import VectorFileError
from lnmap.io.collect import Collector
from lnmap.io.formats.header import is_number, read_header
from lnmap.io.formats.parse import head_line, parse_block
from lnmap.io.formats.reader import MOST_DIMENSIONS, Reader
from lnmap.io.lines import BLOCK, line_blocks
from lnmap.io.source import ByteSource

_SMALLEST_BLOCK = 1 << 18
_LONGEST_WORD, _LONGEST_NUMBER = 1 << 20, 64  # bytes; a longer line is skipped
_PATIENCE = 1000  # bad lines beyond the good ones before giving up


class TextReader(Reader):
    """Read lines of a word and its numbers, skipping and counting those that hold something else."""

    format = "text"
    cached = True

    def __init__(self, source: ByteSource, rows: int | None, dim: int, start: int, line_bytes: int) -> None:
        super().__init__(source)
        self.rows, self.dim, self.start, self.line_bytes = rows, dim, start, line_bytes
        self.lines = self.good = 0

    @classmethod
    def recognise(cls, source: ByteSource) -> Reader:
        """Recognise lines that end in numbers, and explain what is wrong with any other file."""
        header = read_header(source)
        path, lines = source.path, header.lines
        counts = Counter(count for count in map(_numbers_after_word, lines) if count)
        if not counts and not header.has_text_rows:
            shown = lines[0][:40].decode("utf-8", "replace")
            raise VectorFileError(
                f"{path} holds no word vectors: expected lines of a word and its numbers, found {shown!r}"
            )
        usual = counts.most_common(1)[0][0] if counts else 0
        dim = header.dim or usual
        if counts and dim not in counts:
            raise VectorFileError(
                f"the header of {path} promises {dim} values per word, but its lines hold {usual}; correct the "
                f"header's second number to {usual} or fetch the file again"
            )
        if dim > MOST_DIMENSIONS:
            raise VectorFileError(f"{path} has {dim:,} values on a line; at most {MOST_DIMENSIONS:,} are expected")
        return cls(source, header.rows, dim, header.start, sum(map(len, lines)) // len(lines) + 1)

    def read(self, collector: Collector) -> dict[str, Any]:
        """Parse the lines in blocks."""
        source, options = self.source, collector.options
        source.read(self.start)
        longest = _LONGEST_WORD + _LONGEST_NUMBER * self.dim
        stopped = False
        for block in line_blocks(source.readinto, lambda: self._block_bytes(collector), longest, head_line(self.dim)):
            self._take(block, collector)
            stopped = collector.full or self.lines == options.line_limit
            if stopped:
                break
        self._check(collector)
        report: dict[str, Any] = {"lines": self.lines, "header_words": self.rows}
        if not stopped and self.rows is not None and self.rows != self.lines:
            hint = "; it may be cut short" if self.rows > self.lines else ""
            report["warning"] = f"the header promises {self.rows:,} words, the file holds {self.lines:,} lines{hint}"
        return report

    def _block_bytes(self, collector: Collector) -> int:
        """Return the size of the next block: no more bytes than the limit is likely to need."""
        options = collector.options
        if options.limit is None:
            return BLOCK
        done = len(collector.words) if options.line_limit is None else self.lines
        return min(BLOCK, max(_SMALLEST_BLOCK, (options.limit - done + 1) * self.line_bytes * 9 // 8))

    def _take(self, block: bytes, collector: Collector) -> None:
        limit = collector.options.line_limit
        if limit is not None:
            lines = block.split(b"\n", 1 + limit - self.lines)  # the block's head line comes first
            block = b"\n".join([*lines[:-1], b""])
        parsed = parse_block(block, self.dim)
        first = self.lines + (1 if self.rows is None else 2)
        for place, reason in parsed.skipped:
            collector.skip(first + place, reason)
        self.lines += parsed.lines
        self.good += len(parsed.words)
        if collector.skipped > self.good + _PATIENCE:
            self._check(collector)
        if parsed.words:
            collector.add(parsed.words, parsed.vectors)

    def _check(self, collector: Collector) -> None:
        """Refuse a file most of whose lines are no word vectors."""
        if collector.skipped <= self.good:
            return
        place, reason = collector.samples[0]
        raise VectorFileError(
            f"{self.source.path} is no file of word vectors: {collector.skipped:,} of {self.lines:,} lines do not "
            f"hold a word and {self.dim} numbers (line {place}: {reason}); check the file"
        )


def _numbers_after_word(line: bytes) -> int:
    """Count the numbers after the first field; 0 if there are other fields."""
    fields = [field for field in line.split(b" ")[1:] if field]
    return len(fields) if all(map(is_number, fields)) else 0
