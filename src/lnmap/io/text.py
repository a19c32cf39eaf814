"""Text files of word vectors: word2vec, fastText and GloVe, streamed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lnmap.errors import VectorFileError
from lnmap.io.blocks import BLOCK, line_blocks, longest_line
from lnmap.io.collect import Collector
from lnmap.io.fast import head_line, parse_block
from lnmap.io.sniff import Layout
from lnmap.io.sources import ByteSource
from lnmap.progress import Finding, Progress

_SMALLEST_BLOCK = 1 << 18
_PATIENCE = 1000  # bad lines beyond the good ones before giving up


def read_text(source: ByteSource, layout: Layout, collector: Collector, progress: Progress) -> dict[str, Any]:
    """Feed the lines of a text file to a collector and report on the reading."""
    return _TextReader(source, layout, collector, progress).run()


class _TextReader:
    def __init__(self, source: ByteSource, layout: Layout, collector: Collector, progress: Progress) -> None:
        self.source = source
        self.layout = layout
        self.collector = collector
        self.progress = progress
        self.lines = 0
        self.good = 0
        limit = collector.options.limit
        self.line_limit = limit if collector.options.limit_counts == "lines" else None

    def run(self) -> dict[str, Any]:
        self.source.read(self.layout.start)
        dim = self.layout.dim
        total = self.source.size if self.collector.options.limit is None else None
        with self.progress.task(f"reading {self.source.path.name}", total) as task:
            before = 0
            stopped = False
            for block in line_blocks(self.source.readinto, self._block_bytes, longest_line(dim), head_line(dim)):
                self._take(block)
                task.advance(self.source.consumed - before)
                before = self.source.consumed
                stopped = self.collector.full or self.lines == self.line_limit
                if stopped:
                    break
        self._judge()
        return self._report(ended=not stopped)

    def _block_bytes(self) -> int:
        """Ask for no more bytes than the limit is likely to need."""
        options = self.collector.options
        if options.limit is None:
            return BLOCK
        done = self.lines if self.line_limit is not None else len(self.collector.words)
        wanted = (options.limit - done + 1) * self.layout.line_bytes * 9 // 8
        return min(BLOCK, max(_SMALLEST_BLOCK, wanted))

    def _take(self, block: bytes) -> None:
        if self.line_limit is not None:
            block = _first_lines(block, 1 + self.line_limit - self.lines)
        parsed = parse_block(block, self.layout.dim)
        first = self.lines + (1 if self.layout.rows is None else 2)
        for place, reason in parsed.skipped:
            self.collector.skip(first + place, reason)
        self.lines += parsed.lines
        self.good += len(parsed.words)
        if self.collector.skipped > self.good + _PATIENCE:
            self._judge()
        if parsed.words:
            self.collector.add(parsed.words, parsed.vectors)

    def _judge(self) -> None:
        """Refuse a file most of whose lines are no word vectors."""
        if self.collector.skipped <= self.good:
            return
        place, reason = self.collector.samples[0]
        raise VectorFileError(
            f"{self.source.path} is no file of word vectors: {self.collector.skipped:,} of {self.lines:,} lines do not "
            f"hold a word and {self.layout.dim} numbers (line {place}: {reason}); check the file"
        )

    def _report(self, ended: bool) -> dict[str, Any]:
        report: dict[str, Any] = {"lines": self.lines, "header_words": self.layout.rows}
        promised = self.layout.rows
        if ended and promised is not None and promised != self.lines:
            hint = "; it may be cut short" if promised > self.lines else ""
            report["warning"] = f"the header promises {promised:,} words, the file holds {self.lines:,} lines{hint}"
        return report


def tell_findings(origin: Mapping[str, Any], name: str, progress: Progress) -> None:
    """Tell the user what was wrong with a file, now or when it was cached."""
    if origin["skipped"]:
        place, reason = origin["skipped_samples"][0]
        lines = f"{origin['skipped']:,} of {origin['lines']:,} lines"
        progress.note(Finding(f"{name}: {lines} skipped (first: line {place}, {reason})"))
    if "warning" in origin:
        progress.note(Finding(f"{name}: {origin['warning']}"))


def _first_lines(block: bytes, count: int) -> bytes:
    """Cut a block after `count` lines."""
    if block.count(b"\n") <= count:
        return block
    end = -1
    for _ in range(count):
        end = block.index(b"\n", end + 1)
    return block[: end + 1]
