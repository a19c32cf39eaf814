"""Dictionaries: files of word pairs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lnmap.errors import LexiconError, OutputError
from lnmap.io.atomic import atomic_file
from lnmap.io.formats.header import is_web_page
from lnmap.io.lines import OVERLONG, line_blocks
from lnmap.io.source import ByteSource
from lnmap.lexicon import Lexicon

MOST_BYTES = 1 << 30
_CHUNK = _LONGEST_LINE = 1 << 20
_TOO_LONG = "\0"
_BLANKS = re.compile(" +")
_BOM = "\ufeff"


def read_lexicon(path: str | Path) -> Lexicon:
    """Read word pairs, one per line.

    A line with a tab is split at tabs, so that its words may hold blanks; further columns (scores) are ignored. Any
    other line is split at blanks and must hold two words. Empty lines are passed over, and so are comments: lines that
    begin with `# ` and are not exactly two words, for `#` is a word of many vocabularies. A first line that names the
    columns (`source`, `target`, then others) is no pair. Other lines are skipped and listed in `origin["skipped"]`.
    """
    path = Path(path)
    pairs: list[tuple[str, str]] = []
    skipped: list[list[Any]] = []
    for number, line in enumerate(_lines(path), 1):
        line = line.rstrip("\r")
        if not line.strip() or _is_comment(line) or (number == 1 and _is_head(line)):
            continue
        fields = _fields(line)
        if line == _TOO_LONG:
            skipped.append([number, "line too long"])
        elif "\t" not in line and len(fields) != 2:
            skipped.append([number, f"{len(fields)} word{'s' * (len(fields) > 1)} instead of two"])
        elif not fields[0] or not fields[1]:
            skipped.append([number, "an empty word"])
        else:
            pairs.append((fields[0], fields[1]))
    if not pairs and not skipped:
        raise LexiconError(f"{path} holds only comments and empty lines; expected lines of two words")
    if not pairs:
        number, reason = skipped[0]
        raise LexiconError(
            f"{path} holds no word pairs: {len(skipped):,} lines skipped (first: line {number}, {reason})"
        )
    return Lexicon(pairs, {"path": str(path), "pairs": len(pairs), "skipped": skipped})


def write_lexicon(
    path: str | Path, rows: Iterable[Sequence[Any]], header: Sequence[str] = ("source", "target")
) -> None:
    """Write rows as tab-separated text under a line of column names; numbers get six digits, None is empty.

    Words that a spreadsheet could run as a formula get a blank before them, which `read_lexicon` strips.
    """
    path = Path(path)
    with atomic_file(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        file.write("\t".join(header) + "\n")
        for row in rows:
            file.write("\t".join(map(_cell, row)) + "\n")


def guarded(cell: str, guard: str = " ", also: str = '"') -> str:
    """Put `guard` before a cell that a spreadsheet could run, going by its first letter in any width."""
    first = unicodedata.normalize("NFKC", cell.lstrip()[:1])[:1]
    return guard + cell if first and first in "=+-@|%" + also else cell


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file, holding one piece of it at a time; a line that is too long ends in a NUL."""
    blank = True
    with ByteSource(path, LexiconError) as source:
        if source.is_npz:
            raise LexiconError(f"{path} is a numpy archive; expected lines of two words")
        for number, block in enumerate(line_blocks(source.readinto, lambda: _CHUNK, _LONGEST_LINE)):
            if source.unpacked > MOST_BYTES:
                raise LexiconError(f"{path} holds more than {MOST_BYTES:,} bytes; this is no dictionary")
            if blank and block.strip():
                blank = False
                _check_start(block, path)
            overlong = block.endswith(OVERLONG)
            if b"\0" in block.removesuffix(OVERLONG):
                raise LexiconError(f"{path} is a binary file; expected lines of two words")
            text = block.removesuffix(b"\n").decode("utf-8", "surrogateescape")
            lines = (text if number else text.removeprefix(_BOM)).split("\n")
            yield from ([*lines[:-1], _TOO_LONG] if overlong else lines)
    if blank:
        raise LexiconError(f"{path} is empty; expected lines of two words")


def _check_start(block: bytes, path: Path) -> None:
    if block.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise LexiconError(f"{path} is UTF-16 text; convert it to UTF-8")
    if is_web_page(block):
        raise LexiconError(f"{path} is a web page, not a dictionary; the download went wrong: fetch it again")


def _is_comment(line: str) -> bool:
    return line.startswith("# ") and "\t" not in line and len(_fields(line)) != 2


def _is_head(line: str) -> bool:
    return line.split("\t")[:2] == ["source", "target"] and line.count("\t") > 1


def _fields(line: str) -> list[str]:
    if "\t" in line:
        return [field.strip(" ") for field in line.split("\t")]
    return _BLANKS.split(line.strip(" "))


def _cell(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    text = guarded(value) if isinstance(value, str) else f"{value:.6f}" if isinstance(value, float) else str(value)
    if "\t" in text or "\n" in text:
        raise OutputError(f"{text!r} holds a tab or line feed and cannot stand in a table of tab-separated values")
    return text
