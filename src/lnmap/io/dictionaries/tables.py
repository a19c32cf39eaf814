"""Tables: lines of pairs separated by tabs or blanks, CSV for spreadsheets, and JSON lines."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from lnmap.errors import LexiconError, OutputError
from lnmap.io.dictionaries.content import Dictionary
from lnmap.io.dictionaries.contract import Languages, Row, TextFormat
from lnmap.io.dictionaries.text import TOO_LONG, sample, text_lines
from lnmap.io.source import ByteSource

_BLANKS = re.compile(" +")
_HEAD = ["source", "target"]
_HINT = re.compile(r"\"?sep=([;,\t])\"?")
_QUOTED = re.compile(r'"([^"]|"")*"\t"([^"]|"")*"')
_OURS = b'\xef\xbb\xbf"'  # how the tables written here begin
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
        mark = sys.maxsize  # the place of the column, if there is one
        for number, line in enumerate(text_lines(source), 1):
            if number == 1 and _is_head(line):
                mark = (_columns(line.split("\t")) or {}).get("mark", mark)
                continue
            if not line.strip() or _is_comment(line):
                continue
            fields = _fields(line)
            if line == TOO_LONG:
                yield Row(number, problem="line too long")
            elif "\t" not in line and len(fields) != 2:
                yield Row(number, problem=f"{len(fields)} word{'s' * (len(fields) > 1)} instead of two")
            elif mark < len(fields) and fields[mark] == "wrong":
                yield Row(number, problem="marked wrong")
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
        head = source.peek(1 << 16)
        separator, ours = _separator(sample(head)) or ",", head.startswith(_OURS)
        lines = _Counted(text_lines(source))
        reader = csv.reader(lines, delimiter=separator)
        named, place, number = False, {"source": 0, "target": 1}, 0
        while True:
            before = number
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                problem = f"{source.path} is broken CSV at line {reader.line_num} ({error}); save it again"
                raise LexiconError(problem) from None
            number = reader.line_num
            if lines.ended and lines.quotes % 2 and number > before + 1:
                problem = f"{source.path} is broken CSV: a quote at line {before + 1} is never closed; save it again"
                raise LexiconError(problem)
            if before == 0 and _hint(cells):
                number = 0  # the next line may name the columns
            elif before == 0 and (columns := _columns(cells)):
                named, place = True, columns
            elif any(cell.strip() for cell in cells):
                yield _row(number, cells, place, named, ours)


class _Counted:
    """Lines of a table, with the number of quotes in them."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines, self.quotes, self.ended = lines, 0, False

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.quotes += line.count('"')
            yield line + "\n"
        self.ended = True


def _row(number: int, cells: Sequence[str], place: Mapping[str, int], named: bool, ours: bool) -> Row:
    """Return what a line of a table says.

    :param place: the numbers of the columns that count, by name.
    :param named: whether the file names its columns, as those that were written here do.
    :param ours: whether it begins like a file that was written here: its words may hold any bytes.
    """

    def cell(name: str) -> str:
        found = cells[place[name]] if place.get(name, len(cells)) < len(cells) else ""
        found = unguarded(found) if named else found
        return found if ours and named else found.strip()

    if any("\0" in one for one in cells):
        return Row(number, problem="line too long")
    if cell("mark").strip().lower() == "wrong":
        return Row(number, problem="marked wrong")
    words = cell("source"), cell("target")
    if not ours and any("\udc80" <= letter <= "\udcff" for letter in words[0] + words[1]):
        return Row(number, problem="not UTF-8 text; save the table as CSV UTF-8")
    return Row(number, *words)


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


def unguarded(cell: str) -> str:
    """Return a cell of a table written here without the apostrophe that guards it."""
    return cell[1:] if cell[:1] == "'" and _marked(cell) != cell else cell


def _separator(lines: Sequence[str]) -> str | None:
    """Return what separates the columns of a CSV file, semicolons, commas or tabs between quotes; None if nothing does.

    The first line says it, or names the columns; else every line has it, and is not two words already.
    """
    hint = _HINT.fullmatch(lines[0])
    if hint:
        return hint[1]
    if any("\t" in line for line in lines):
        quoted = all(_QUOTED.match(line) for line in lines)
        return "\t" if quoted else None if any("\t" in line and '"' not in line for line in lines) else _split(lines)
    return _split(lines)


def _split(lines: Sequence[str]) -> str | None:
    for separator in ";,":
        try:
            rows = [row for row in csv.reader((line + "\n" for line in lines), delimiter=separator) if row]
        except csv.Error:
            continue
        every = bool(rows) and min(map(len, rows)) > 1
        if rows and (_columns(rows[0]) or (every and not _are_pairs(lines))):
            return separator
    return None


def _hint(cells: Sequence[str]) -> bool:
    """Whether this is the line by which spreadsheets tell each other the separator."""
    return bool(cells) and cells[0].startswith("sep=") and not any(cells[1:])


def _are_pairs(lines: Sequence[str]) -> bool:
    """Whether every line is two words already, with a comma in them: `1,000 1.000`."""
    return all(len(_fields(line)) == 2 and '"' not in line for line in lines)


def _columns(cells: Sequence[str]) -> dict[str, int] | None:
    """Return the places of the columns by their names, if a line names those of the two words."""
    names = {cell.strip().lower(): place for place, cell in reversed(list(enumerate(cells)))}
    return names if names.keys() >= {*_HEAD} else None


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
