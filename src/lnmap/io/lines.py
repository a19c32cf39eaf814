"""Lines: a byte stream cut at line ends into blocks of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterator

BLOCK = 8 << 20  # polars was fastest on pieces of this size: parsed columns stay in the processor's cache
OVERLONG = b" \x00 line too long\n"
_SHOWN = 100


def line_blocks(
    readinto: Callable[[memoryview], int], size: Callable[[], int], longest: int, head: bytes = b""
) -> Iterator[bytes]:
    """Yield blocks of whole lines, each ending in a line feed.

    A line longer than `longest` would have to be held whole; it is replaced by its beginning and the mark OVERLONG,
    which no reader takes for numbers.

    :param readinto: fills as much of a buffer as it can and returns the number of bytes; none at the end.
    :param size: returns the wanted size of the next block, at most BLOCK.
    :param longest: most bytes that are held while looking for a line end.
    :param head: put in front of each block; here that costs no further copy.
    """
    start = used = len(head)
    buffer = bytearray(start + longest + BLOCK)  # one buffer for all: fresh memory costs more than reading into it
    buffer[:start] = head
    view = memoryview(buffer)
    dropping = False
    while count := readinto(view[used : used + size()]):
        end = used + count
        if dropping:
            after = buffer.find(b"\n", start, end) + 1
            if not after:
                continue
            end, dropping = _shift(view, after, end, start), False
        cut = buffer.rfind(b"\n", used, end) + 1
        if cut:
            yield bytes(view[:cut])
        used = _shift(view, max(cut, start), end, start)
        if used - start > longest:
            yield bytes(view[: start + min(_SHOWN, longest)]) + OVERLONG
            used, dropping = start, True
    if used > start:
        yield bytes(view[:used]) + b"\n"


def _shift(view: memoryview, begin: int, end: int, start: int) -> int:
    """Move bytes to `start` and return where they end."""
    if begin != start:
        view[start : start + end - begin] = view[begin:end]
    return start + end - begin
