"""Marks: judgements of word pairs, in a journal beside the model.

`marks.jsonl` only grows, by one line per mark, and each line is on the disk before it is acknowledged. The last line
about a pair counts. Several servers may share a journal: each reads what the others added.
"""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal, get_args

from lnmap.direction import Direction
from lnmap.errors import InputError
from lnmap.io.atomic import append_line, atomic_file
from lnmap.lexicon import Lexicon

JOURNAL = "marks.jsonl"
Judgement = Literal["right", "wrong", "added", "none"]
Pair = tuple[str, str]
COUNTED: tuple[Judgement, ...] = ("right", "wrong", "added")


@dataclass(frozen=True)
class Mark:
    """One judgement of one pair; 'none' takes an earlier one back."""

    source: str
    target: str
    mark: Judgement
    time: str


LatestMarks = Mapping[Pair, Mark]  # the mark of each pair that counts


class JournalMarks(dict[Pair, Mark]):
    """The marks that count after the first lines of a journal.

    :param lines: what each line says, or None; all tables of a journal share them, and they grow.
    :param version: how many of the lines count.
    """

    def __init__(self, marks: LatestMarks, lines: list[tuple[Pair, Judgement] | None], version: int) -> None:
        super().__init__(marks)
        self.lines, self.version = lines, version


def changes(before: LatestMarks, now: LatestMarks) -> list[tuple[Pair, Judgement]] | None:
    """Return what was said between two tables of a journal, in its order; None if one does not follow the other."""
    if not (isinstance(before, JournalMarks) and isinstance(now, JournalMarks)):
        return None
    if before.lines is not now.lines or before.version > now.version:
        return None
    return [line for line in now.lines[before.version : now.version] if line is not None]


def keep_marks(folder: Path, marks: LatestMarks) -> None:
    """Write the journal of a new model that was trained with marks, unless the folder has one."""
    path = Path(folder) / JOURNAL
    if marks and not path.exists():
        with atomic_file(path) as file:
            file.writelines(json.dumps(asdict(mark)).encode() + b"\n" for mark in marks.values())


def ordered(pair: Pair, direction: Direction) -> Pair:
    """Turn (word asked, answer) into (source, target), and back."""
    return pair if direction is Direction.FORWARD else (pair[1], pair[0])


def find_mark(marks: LatestMarks, pair: Pair, direction: Direction) -> Judgement | None:
    """Return the judgement of (word asked, answer), if there is one."""
    mark = marks.get(ordered(pair, direction))
    return mark.mark if mark else None


class Marks:
    """The journal of one model."""

    def __init__(self, folder: Path) -> None:
        self.path = Path(folder) / JOURNAL
        self._lock = threading.Lock()
        self._reset()

    def _reset(self) -> None:
        self._lines: list[tuple[Pair, Judgement] | None] = []
        self._latest = JournalMarks({}, self._lines, 0)
        self._counts: dict[str, int] = {name: 0 for name in COUNTED}
        self._offset, self._inode = 0, -1

    def add(self, source: str, target: str, mark: Judgement) -> Mark:
        """Append a mark; when this returns, no crash can lose it."""
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        made = Mark(source, target, mark, now.replace("+00:00", "Z"))
        append_line(self.path, json.dumps(asdict(made)).encode())
        return made

    def latest(self) -> tuple[LatestMarks, int]:
        """Return the mark of each pair, in the order they were first made, and a number that grows with every line."""
        with self._lock:
            self._read()
            return self._latest, len(self._lines)

    def since(self, version: int) -> tuple[list[Mark], int]:
        """Return what counts now for the pairs marked after a version; a mark taken back is 'none'."""
        with self._lock:
            self._read()
            pairs = dict.fromkeys(line[0] for line in self._lines[version:] if line)
            return [self._latest.get(pair) or Mark(*pair, "none", "") for pair in pairs], len(self._lines)

    def version(self) -> int:
        """Return a number that changes with every mark."""
        return self.latest()[1]

    def counts(self) -> dict[str, int]:
        """Count the pairs by their marks."""
        with self._lock:
            self._read()
            return dict(self._counts)

    def _read(self) -> None:
        """Read the lines that were added since; a journal that was replaced is read afresh."""
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != self._inode or status.st_size < self._offset:
                    self._reset()
                    self._inode = status.st_ino
                if status.st_size == self._offset:
                    return
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            self._reset()
            return
        whole = data[: data.rfind(b"\n") + 1]  # a line without its end is being written, or was never finished
        if whole:
            self._offset += len(whole)
            self._take(whole.split(b"\n")[:-1])

    def _take(self, lines: Sequence[bytes]) -> None:
        """Apply new lines to copies, because readers keep the tables they were given."""
        version = len(self._lines) + len(lines)
        latest, counts = JournalMarks(self._latest, self._lines, version), dict(self._counts)
        for made in map(_parse, lines):
            if made is None:
                self._lines.append(None)
                continue
            pair = made.source, made.target
            self._lines.append((pair, made.mark))
            if before := latest.get(pair):
                counts[before.mark] -= 1
            if made.mark == "none":
                latest.pop(pair, None)
            else:
                latest[pair] = made
                counts[made.mark] += 1
        self._latest, self._counts = latest, counts


def _parse(line: bytes) -> Mark | None:
    """Read a line; None for one that a crash or an editor has spoilt."""
    try:
        row: Any = json.loads(line)
        made = Mark(row["source"], row["target"], row["mark"], str(row["time"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    words = isinstance(made.source, str) and isinstance(made.target, str) and made.source and made.target
    return made if words and made.mark in get_args(Judgement) else None


def read_marks(folder: str | Path, required: bool = False) -> LatestMarks:
    """Return the marks that count of a model folder.

    :param required: whether a folder without a journal is an error, or one where nobody has marked anything yet.
    """
    marks = Marks(Path(folder))
    if required and not marks.path.exists():
        raise InputError(f"{folder} holds no marks ({JOURNAL} is missing); give the folder of a model that was marked")
    try:
        return marks.latest()[0]
    except OSError as error:
        raise InputError(f"the marks in {folder} cannot be read ({error.strerror})") from error


def corrected(lexicon: Lexicon, marks: LatestMarks) -> Lexicon:
    """Return pairs without those marked wrong, and with those marked right or added.

    Its origin has the pairs that left and joined, so that `uncorrected` can undo it.
    """
    wrong = {pair for pair, mark in marks.items() if mark.mark == "wrong"}
    said = [pair for pair, mark in marks.items() if mark.mark != "wrong"]
    before = set(lexicon)
    joined = [pair for pair in said if pair not in before]
    left = [pair for pair in lexicon if pair in wrong]
    kept = [pair for pair in lexicon if pair not in wrong]
    counts = Counter(mark.mark for mark in marks.values())
    changes = {"marks": dict(counts), "joined": joined, "left": left}
    return Lexicon(list(dict.fromkeys([*kept, *said])), {**lexicon.origin, **changes})


def uncorrected(lexicon: Lexicon) -> Lexicon:
    """Return pairs as they were before marks corrected them."""
    joined, left = ([(str(s), str(t)) for s, t in lexicon.origin.get(name, ())] for name in ("joined", "left"))
    added = set(joined)
    origin = {name: value for name, value in lexicon.origin.items() if name not in ("marks", "joined", "left")}
    return Lexicon([*(pair for pair in lexicon if pair not in added), *left], origin)
