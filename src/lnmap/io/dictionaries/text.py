"""Lines of text: what files of pairs, hunalign, Moses and JSON lines have in common."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from lnmap.errors import LexiconError
from lnmap.io.dictionaries.contract import check_size
from lnmap.io.formats.header import is_web_page
from lnmap.io.lines import OVERLONG, line_blocks
from lnmap.io.source import ByteSource

TOO_LONG = "\0"  # stands for a line that is too long to be held
_CHUNK = _LONGEST_LINE = 1 << 20
_BOM = "\ufeff"
_SAMPLE = 50


def text_lines(source: ByteSource, most: int | None = None) -> Iterator[str]:
    """Yield the lines of a file, holding one piece of it at a time.

    :param most: how many bytes the file may hold; None for the limit of a dictionary.
    """
    path, blank, end = source.path, True, "\n"
    if source.is_npz:
        raise LexiconError(f"{path} is a numpy archive; expected lines of two words")
    for number, block in enumerate(line_blocks(source.readinto, lambda: _CHUNK, _LONGEST_LINE)):
        if most is None or source.unpacked > most:
            check_size(source)
        if blank and block.strip():
            blank = False
            _check_start(block, source)
            end = _line_end(block.decode("latin-1"))
        overlong = block.endswith(OVERLONG)
        if b"\0" in block.removesuffix(OVERLONG):
            raise LexiconError(f"{path} is a binary file; expected lines of two words")
        text = block.removesuffix(b"\n").decode("utf-8", "surrogateescape")
        lines = (text if number else text.removeprefix(_BOM)).split(end)
        yield from (line.rstrip("\r") for line in ([*lines[:-1], TOO_LONG] if overlong else lines))
    if blank:
        raise LexiconError(f"{path} is empty; expected lines of two words")


def sample(head: bytes) -> list[str]:
    """Return the first whole lines that are not blank, to tell formats apart by."""
    text = head.decode("utf-8", "surrogateescape").removeprefix(_BOM)
    end = _line_end(text)
    whole = text if text.endswith(end) or end not in text else text[: text.rfind(end)]
    return list(islice((line.rstrip("\r") for line in whole.split(end) if line.strip()), _SAMPLE))


def _line_end(text: str) -> str:
    """Return what ends the lines: a carriage return alone in tables that are saved "for Macintosh"."""
    text = text.rstrip("\r\n")
    return "\r" if "\n" not in text and "\r" in text else "\n"


def _check_start(block: bytes, source: ByteSource) -> None:
    if block.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise LexiconError(f"{source.path} is UTF-16 text; convert it to UTF-8")
    if is_web_page(block):
        raise LexiconError(f"{source.path} is a web page, not a dictionary; the download went wrong: fetch it again")
