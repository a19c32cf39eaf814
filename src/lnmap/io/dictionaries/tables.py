"""Tables: lines of pairs separated by tabs or blanks, CSV for spreadsheets, and JSON lines."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from lnmap.errors import LexiconError, OutputError
from lnmap.io.dictionaries.content import Dictionary
from lnmap.io.dictionaries.contract import Languages, Row, TextFormat
from lnmap.io.dictionaries.text import TOO_LONG, sample, text_lines
from lnmap.io.source import ByteSource

_BLANKS = re.compile(" +")
_HEAD = ["source", "target"]
_RUN = "=+-@|%"  # what begins a formula, in any width


class Tsv(TextFormat):
    """Tab-separated values with a line of column names; any lines of two words are read."""

    name, suffix, media = "tsv", ".tsv", "text/tab-separated-values"
    title = "table separated by tabs, best pairs first"
    opens = "lnmap, spreadsheets"
    cannot_hold = "a tab or a line feed"

    def holds(self, word: str) -> bool:
        return not re.search("[\t\n\r]", word)

    def text(self, dictionary: Dictionary) -> Iterator[str]:
        rows = ([getattr(pair, name) for name in dictionary.columns] for pair in dictionary.pairs())
        return tsv_lines(rows, dictionary.columns)

    def recognise(self, head: bytes) -> bool:
        return True  # the last one asked: whatever is wrong with a file is said when it is read

    def read(self, source: ByteSource, languages: Languages) -> Iterator[Row]:
        """Read word pairs, one per line; see `read_lexicon`."""
        for number, line in enumerate(text_lines(source), 1):
            if not line.strip() or _is_comment(line) or (number == 1 and _is_head(line)):
                continue
            fields = _fields(line)
            if line == TOO_LONG:
                yield Row(number, problem="line too long")
            elif "\t" not in line and len(fields) != 2:
                yield Row(number, problem=f"{len(fields)} word{'s' * (len(fields) > 1)} instead of two")
            else:
                yield Row(number, fields[0], fields[1])


class Csv(TextFormat):
    """Comma-separated values as spreadsheets write and read them."""

    name, suffix, media = "csv", ".csv", "text/csv"
    title = "table for spreadsheets, best pairs first"
    opens = "LibreOffice, Excel"
    cannot_hold = "a carriage return"

    def holds(self, word: str) -> bool:
        return "\r" not in word

    def text(self, dictionary: Dictionary) -> Iterator[str]:
        rows = ([getattr(pair, name) for name in dictionary.columns] for pair in dictionary.pairs())
        return csv_lines(rows, dictionary.columns)

    def recognise(self, head: bytes) -> bool:
        lines = sample(head)
        return bool(lines) and _separator(lines) is not None

    def read(self, source: ByteSource, languages: Languages) -> Iterator[Row]:
        separator = _separator(sample(source.peek(1 << 16))) or ","
        reader = csv.reader((line + "\n" for line in text_lines(source)), delimiter=separator)
        ours = False
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                problem = f"{source.path} is broken CSV at line {reader.line_num} ({error}); save it again"
                raise LexiconError(problem) from None
            number = reader.line_num
            if number == 1 and _is_named(cells):
                ours = True
            elif any("\0" in cell for cell in cells):
                yield Row(number, problem="line too long")
            elif any(cells):
                first, second = (_unguarded(cell) if ours else cell.strip(" ") for cell in (*cells, "")[:2])
                yield Row(number, first, second)


class Json(TextFormat):
    """One JSON object per line."""

    name, suffix, media = "json", ".jsonl", "application/x-ndjson"
    title = "JSON lines, best pairs first"
    opens = "programs, `jq`"

    def text(self, dictionary: Dictionary) -> Iterator[str]:
        for pair in dictionary.pairs():
            yield json.dumps({name: getattr(pair, name) for name in dictionary.columns}) + "\n"

    def recognise(self, head: bytes) -> bool:
        return {*_HEAD} <= set(first_object(head) or ())

    def read(self, source: ByteSource, languages: Languages) -> Iterator[Row]:
        for number, found in json_lines(source):
            source_word, target_word = (found.get(name) if isinstance(found, dict) else None for name in _HEAD)
            if isinstance(source_word, str) and isinstance(target_word, str):
                yield Row(number, source_word, target_word)
            else:
                yield Row(number, problem="no object with the words 'source' and 'target'")


def first_object(head: bytes) -> dict[str, Any] | None:
    """Return the JSON object in the first line of a file, if there is one."""
    first, end, _ = head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")
    if first[:1] != b"{":
        return None
    try:
        found = json.loads(first)
    except (ValueError, RecursionError):
        # a line longer than what was looked at: its keys are all that can be seen
        return None if end else dict.fromkeys(re.findall(r'"(\w+)":', first.decode("utf-8", "replace")))
    return found if isinstance(found, dict) else None


def json_lines(source: ByteSource, most: int | None = None) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each line that is not blank; None for one that is no JSON."""
    for number, line in enumerate(text_lines(source, most), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                yield number, None


def tsv_lines(rows: Iterable[Sequence[Any]], header: Sequence[str]) -> Iterator[str]:
    """Yield tab-separated lines under column names; numbers get six digits, None is empty."""
    yield "\t".join(header) + "\n"
    for row in rows:
        yield "\t".join(map(_cell, row)) + "\n"


def csv_lines(rows: Iterable[Sequence[Any]], header: Sequence[str]) -> Iterator[str]:
    """Yield comma-separated lines; a word that a spreadsheet could run as a formula gets an apostrophe before it."""
    line = io.StringIO()
    writer = csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    yield "\ufeff"
    for row in chain([header], rows):
        writer.writerow([_marked(cell) if isinstance(cell, str) else _value(cell) for cell in row])
        yield line.getvalue()
        line.seek(0)
        line.truncate()


def guarded(cell: str, guard: str = " ", also: str = '"') -> str:
    """Put `guard` before a cell that a spreadsheet could run, going by its first letter in any width."""
    first = unicodedata.normalize("NFKC", cell.lstrip()[:1])[:1]
    return guard + cell if first and first in _RUN + also else cell


def _marked(cell: str) -> str:
    """Put an apostrophe before what is a formula, or would be but for its apostrophes."""
    return cell if guarded(cell.lstrip("'"), also="") == cell.lstrip("'") else "'" + cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and _marked(cell) != cell else cell


def _separator(lines: Sequence[str]) -> str | None:
    """Return what separates the columns of a CSV file: every line has it, and as many columns as the others."""
    if any("\t" in line and '"' not in line for line in lines):
        return None
    for separator in ",;":
        try:
            rows = [row for row in csv.reader((line + "\n" for line in lines), delimiter=separator) if row]
        except csv.Error:
            continue
        same = len({len(row) for row in rows}) == 1 < len(rows[0]) if rows else False
        if (rows and _is_named(rows[0])) or (same and not _are_pairs(lines)):
            return separator
    return None


def _are_pairs(lines: Sequence[str]) -> bool:
    """Whether every line is two words already, with a comma in them: `1,000 1.000`."""
    return all(len(_fields(line)) == 2 and '"' not in line for line in lines)


def _is_named(cells: Sequence[str]) -> bool:
    return [cell.strip().lower() for cell in cells[:2]] == _HEAD


def _is_comment(line: str) -> bool:
    return line.startswith("# ") and "\t" not in line and len(_fields(line)) != 2


def _is_head(line: str) -> bool:
    return line.split("\t")[:2] == _HEAD and line.count("\t") > 1


def _fields(line: str) -> list[str]:
    if "\t" in line:
        return [field.strip(" ") for field in line.split("\t")]
    return _BLANKS.split(line.strip(" "))


def _value(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def _cell(value: Any) -> str:
    text = guarded(value) if isinstance(value, str) else _value(value)
    if "\t" in text or "\n" in text:
        raise OutputError(f"{text!r} holds a tab or line feed and cannot stand in a table of tab-separated values")
    return text
