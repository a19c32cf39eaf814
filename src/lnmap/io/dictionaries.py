"""Dictionaries: files of word pairs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lnmap.errors import LexiconError, OutputError
from lnmap.io.sources import ByteSource
from lnmap.lexicon import Lexicon
from lnmap.storage import atomic_file

MOST_BYTES = 1 << 30
_CHUNK = 1 << 20
_BLANKS = re.compile(" +")
_BOM = "\ufeff"


def read_lexicon(path: str | Path) -> Lexicon:
    """Read word pairs, one a line.

    A line with a tab is split at tabs, so that its words may hold blanks; further columns (scores) are ignored. Any
    other line is split at blanks and must hold two words. Empty lines are passed over, and so are comments: lines that
    begin with `# ` and are not exactly two words, for `#` is a word of many vocabularies. A first line that names the
    columns (`source`, `target`, then others) is no pair. Other lines are skipped and listed in `origin["skipped"]`.
    """
    path = Path(path)
    pairs: list[tuple[str, str]] = []
    skipped: list[list[Any]] = []
    for number, line in enumerate(_text(path).split("\n"), 1):
        line = line.rstrip("\r")
        if not line.strip() or _is_comment(line) or (number == 1 and _is_head(line)):
            continue
        fields = _fields(line)
        reason = _complaint(line, fields)
        if reason:
            skipped.append([number, reason])
        else:
            pairs.append((fields[0], fields[1]))
    if not pairs:
        raise LexiconError(_nothing(path, skipped))
    return Lexicon(pairs, {"path": str(path), "pairs": len(pairs), "skipped": skipped})


def write_lexicon(
    path: str | Path, rows: Iterable[Sequence[Any]], header: Sequence[str] = ("source", "target")
) -> None:
    """Write rows as tab-separated text under a line of column names; numbers get six digits."""
    path = Path(path)
    with atomic_file(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        file.write("\t".join(header) + "\n")
        for row in rows:
            file.write("\t".join(map(_cell, row)) + "\n")


def _text(path: Path) -> str:
    with ByteSource(path, LexiconError) as source:
        if source.is_npz:
            raise LexiconError(f"{path} is a numpy archive; expected lines of two words")
        chunks = []
        size = 0
        while chunk := source.read(_CHUNK):
            size += len(chunk)
            if size > MOST_BYTES:
                raise LexiconError(f"{path} holds more than {MOST_BYTES:,} bytes; this is no dictionary")
            chunks.append(chunk)
    data = b"".join(chunks)
    if not data.strip():
        raise LexiconError(f"{path} is empty; expected lines of two words")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise LexiconError(f"{path} is UTF-16 text; convert it to UTF-8")
    if b"\0" in data:
        raise LexiconError(f"{path} is a binary file; expected lines of two words")
    text = data.decode("utf-8", "surrogateescape").removeprefix(_BOM)
    if text.lstrip()[:15].lower().startswith(("<!doctype", "<html")):
        raise LexiconError(f"{path} is a web page, not a dictionary; the download went wrong: fetch it again")
    return text


def _is_comment(line: str) -> bool:
    return line.startswith("# ") and "\t" not in line and len(_fields(line)) != 2


def _is_head(line: str) -> bool:
    return line.split("\t")[:2] == ["source", "target"] and line.count("\t") > 1


def _fields(line: str) -> list[str]:
    if "\t" in line:
        return [field.strip(" ") for field in line.split("\t")]
    return _BLANKS.split(line.strip(" "))


def _complaint(line: str, fields: list[str]) -> str:
    if "\t" in line:
        return "" if fields[0] and fields[1] else "an empty word"
    return "" if len(fields) == 2 else f"{len(fields)} word{'s' * (len(fields) > 1)} instead of two"


def _nothing(path: Path, skipped: list[list[Any]]) -> str:
    if not skipped:
        return f"{path} holds only comments and empty lines; expected lines of two words"
    number, reason = skipped[0]
    return f"{path} holds no word pairs: {len(skipped):,} lines skipped (first: line {number}, {reason})"


def _cell(value: Any) -> str:
    text = f"{value:.6f}" if isinstance(value, float) else str(value)
    if "\t" in text or "\n" in text:
        raise OutputError(f"{text!r} holds a tab or line feed and cannot stand in a table of tab-separated values")
    return text
