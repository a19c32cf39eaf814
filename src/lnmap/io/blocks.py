"""Blocks: a byte stream cut at line ends into pieces of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterator

BLOCK = 8 << 20  # polars was fastest on pieces of this size: parsed columns stay in the processor's cache
OVERLONG = b" \x00 line too long\n"
_SHOWN = 100


def longest_line(dim: int) -> int:
    """Bound the bytes of one line: room for a long word and for wordy numbers."""
    return (1 << 20) + 64 * dim


def line_blocks(
    read: Callable[[int], bytes], size: Callable[[], int], longest: int, head: bytes = b""
) -> Iterator[bytes]:
    """Yield blocks of whole lines, each ending in a line feed.

    A line longer than `longest` would have to be held whole; it is replaced by its beginning and the mark OVERLONG,
    which no reader takes for numbers.

    :param read: takes a number of bytes and gives that many or fewer; none at the end.
    :param size: gives the wanted size of the next block.
    :param longest: most bytes that are held while looking for a line end.
    :param head: put in front of each block; here that costs no further copy.
    """
    rest = b""
    while chunk := read(size()):
        if len(rest) > longest:
            yield head + rest[:_SHOWN] + OVERLONG
            rest, chunk = b"", _after_line(chunk, read, size)
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield b"".join((head, rest, memoryview(chunk)[:cut]))
            rest = chunk[cut:]
        else:
            rest += chunk
    if rest:
        yield head + rest + b"\n"


def _after_line(chunk: bytes, read: Callable[[int], bytes], size: Callable[[], int]) -> bytes:
    """Drop bytes to the end of the line and give what was read beyond it."""
    while chunk:
        cut = chunk.find(b"\n") + 1
        if cut:
            return chunk[cut:]
        chunk = read(size())
    return b""
