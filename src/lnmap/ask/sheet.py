"""The answer sheet: questions as a table to print or mail, and the filled-in table read back.

The first column is named after the language that is asked about, `source` or `target`; `answer` is to be filled in; the
candidates stand under their numbers. What counts is in the line itself, so lines may be missing, added or in another
order, columns too, and the model may have changed meanwhile.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lnmap.ask.answers import chosen
from lnmap.ask.questions import CANDIDATES, WHY, Question
from lnmap.direction import Direction, Side
from lnmap.errors import InputError
from lnmap.io.atomic import atomic_file
from lnmap.io.dictionaries.tables import csv_lines, unguarded
from lnmap.model.marks import Judgement
from lnmap.model.model import Model, Way

_ANSWER, _WHY = "answer", "why"
_SEPARATORS = ";,\t"
_NUMBER = re.compile(r"[1-9][0-9]?")
_DECIMAL = re.compile(r"^([0-9]+)[.,]0+$")  # a column of numbers with gaps is often saved so
# What a spreadsheet makes of formulas, and of '1-3' or '3/1': an error (also '#NOM?', '#WERT!'), or a date.
_ERROR = re.compile(r"#(N/A|[^\W\d_][^\s]*[!?])")
_DATE = re.compile(r"\d{1,2}[-./ ]+[^\W\d_]{3,4}\.?([-./ ]+\d{2,4})?|[^\W\d_]{3,4}\.?[-./ ]+\d{2,4}")
_LARGEST = 64 << 20  # bytes
_HEAD, _LONGEST = 50, 10_000  # lines in which the columns may be named, and letters of one


@dataclass(frozen=True)
class SheetLine:
    """What one line says: a word, and its answers with the marks that they become."""

    number: int
    word: str
    answers: Sequence[tuple[str, Judgement]]


@dataclass
class Sheet:
    """A filled-in sheet.

    :param lines: the lines with an answer.
    :param empty: how many lines have none.
    :param problems: (line number, reason) of the lines that cannot be used.
    """

    direction: Direction
    lines: list[SheetLine] = field(default_factory=list)
    empty: int = 0
    problems: list[tuple[int, str]] = field(default_factory=list)


def write_sheet(path: str | Path, questions: Sequence[Question], direction: Way = Direction.FORWARD) -> None:
    """Write questions as CSV that any spreadsheet opens, whole or not at all."""
    many = max((len(question.candidates) for question in questions), default=CANDIDATES)
    header = [str(Direction(direction).asked), _ANSWER, *map(str, range(1, many + 1)), _WHY]
    with atomic_file(Path(path), "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.writelines(csv_lines((_cells(question, many) for question in questions), header))


def _cells(question: Question, many: int) -> list[str]:
    found = [one.word for one in question.candidates]
    return [question.word, "", *found, *[""] * (many - len(found)), WHY[question.why]]


def read_sheet(path: str | Path, model: Model) -> Sheet:
    """Read a filled-in sheet, as any spreadsheet may have saved it; lines that cannot be used are listed.

    :param model: has the words that the sheet may ask about.
    """
    path = Path(path)
    text = _decoded(path)
    separator, place = _head(text, path)
    side = next(side for side in Side if str(side) in place)
    sheet = Sheet(Direction.FORWARD if side is Side.SOURCE else Direction.BACKWARD)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    number = 1
    try:
        for cells in reader:
            if _columns(cells) is None:
                _take(
                    sheet, number, {name: unguarded(cells[at]) for name, at in place.items() if at < len(cells)}, model
                )
            number = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path} is broken CSV at line {number} ({error}); save it again") from None
    return sheet


def _take(sheet: Sheet, number: int, cells: Mapping[str, str], model: Model) -> None:
    """Add what a line says to the sheet.

    :param cells: by the names of their columns.
    """
    asked = model.side(sheet.direction.asked)
    word, answer = cells.get(str(sheet.direction.asked), ""), _DECIMAL.sub(r"\1", cells.get(_ANSWER, "").strip())
    row = next((row for one in (word, word.strip()) if (row := asked.find(one)) is not None), None)
    if not answer:
        sheet.empty += row is not None
    elif row is None:
        problem = f"{word.strip()!r} is not in the vocabulary" if word.strip() else "there is an answer, but no word"
        sheet.problems.append((number, problem))
    else:
        numbers = [int(name) for name in cells if _NUMBER.fullmatch(name)]
        candidates = [cells.get(str(one), "").strip() for one in range(1, max(numbers, default=0) + 1)]
        try:
            if answer not in candidates and (_ERROR.fullmatch(answer) or _DATE.fullmatch(answer)):
                raise InputError(f"{answer!r} is what the spreadsheet made of an answer; type it again, as text")
            sheet.lines.append(SheetLine(number, asked.words[row], chosen(answer, candidates)))
        except InputError as error:
            sheet.problems.append((number, error.problem))


def _decoded(path: Path) -> str:
    """Read a text of any encoding that says what it is, else UTF-8."""
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"{path} is too large for an answer sheet ({path.stat().st_size:,} bytes)")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"the answer sheet {path} cannot be read ({error.strerror})") from error
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text; save the table as CSV UTF-8") from None


def _head(text: str, path: Path) -> tuple[str, dict[str, int]]:
    """Return what separates the columns, and their places by name."""
    for line in text.splitlines()[:_HEAD]:
        for separator in _SEPARATORS:
            if place := _columns(next(csv.reader([line[:_LONGEST]], delimiter=separator), [])):
                return separator, place
    raise InputError(f"{path} is no answer sheet: no line names the columns 'source' or 'target', and 'answer'")


def _columns(cells: Sequence[str]) -> dict[str, int] | None:
    """Return the places of the columns by their names, if a line names them; the first of a name counts."""
    names = {_DECIMAL.sub(r"\1", cell.strip().lower()): place for place, cell in reversed(list(enumerate(cells)))}
    sides = names.keys() & {str(side) for side in Side}
    return names if len(sides) == 1 and _ANSWER in names else None
