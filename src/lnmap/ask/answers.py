"""Answers: what a speaker says becomes marks beside the model; what she does not know is skipped."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lnmap.ask.questions import Question
from lnmap.direction import Direction, Side
from lnmap.errors import InputError
from lnmap.io.atomic import append_line
from lnmap.model.marks import Judgement, LatestMarks, Marks, Pair, ordered

SKIPPED = "skipped.jsonl"
_NUMBERS = re.compile(r"\d+(\W+\d+)+")  # several, which a spreadsheet may have taken for one, or for a date
_DIGITS = 4  # of a number that is looked at
BETWEEN = ",;\u060c\u061b\u3001\uff0c\uff1b"  # commas and semicolons of any script


@dataclass(frozen=True)
class Answered:
    """What an answer has changed, so that it can be undone.

    :param before: the pairs that were marked, with the marks they had.
    :param skipped: the word is not to be asked about again.
    """

    word: str
    before: tuple[tuple[Pair, Judgement], ...]
    skipped: bool = False


class Skipped:
    """The words that a speaker skipped, in a journal beside the model; the last line about a word counts."""

    def __init__(self, folder: Path) -> None:
        self.path = Path(folder) / SKIPPED

    def words(self, side: Side | str) -> list[str]:
        """Return the skipped words of one language."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InputError(f"the skipped words in {self.path} cannot be read ({error.strerror})") from error
        found: dict[str, bool] = {}
        for line in lines:
            try:
                row = json.loads(line)
                if row["side"] == str(Side(side)) and isinstance(row["word"], str):
                    found[row["word"]] = bool(row["skipped"])
            except (ValueError, KeyError, TypeError, RecursionError):
                continue  # spoilt by a crash or an editor
        return [word for word, skipped in found.items() if skipped]

    def add(self, word: str, side: Side | str, skipped: bool = True) -> None:
        """Note that a word was skipped, or no longer is; when this returns, no crash can lose it."""
        row = {"word": word, "side": str(Side(side)), "skipped": skipped}
        append_line(self.path, json.dumps(row).encode())


class Answers:
    """The answers to questions of one direction; each counts at once, as a mark does.

    :param folder: the model folder whose marks they become.
    """

    def __init__(self, folder: str | Path, direction: Direction | str = Direction.FORWARD) -> None:
        self.direction = Direction(direction)
        self._marks, self._skipped = Marks(Path(folder)), Skipped(Path(folder))

    @property
    def marks(self) -> LatestMarks:
        """The marks that count now, to be put into `model.marks`."""
        return self._marks.latest()[0]

    @property
    def skipped(self) -> list[str]:
        """The words that were skipped, in this session or an earlier one."""
        return self._skipped.words(self.direction.asked)

    def answer(self, question: Question, text: str) -> Answered:
        """Record what the speaker said; see `chosen`."""
        return self.record(question.word, chosen(text, [one.word for one in question.candidates]))

    def skip(self, word: str) -> Answered:
        """Leave a word out of the next questions."""
        self._skipped.add(word, self.direction.asked)
        return Answered(word, (), skipped=True)

    def undo(self, made: Answered) -> None:
        """Take an answer back: the marks are again what they were."""
        for (source, target), mark in made.before:
            self._marks.add(source, target, mark)
        if made.skipped:
            self._skipped.add(made.word, self.direction.asked, skipped=False)

    def record(self, word: str, answers: Sequence[tuple[str, Judgement]]) -> Answered:
        """Mark the pairs of a word and its answers; those that have the mark already are left as they are.

        A word without a right answer is skipped from now on.
        """
        latest, before = self.marks, []
        for answer, mark in answers:
            pair = ordered((word, answer), self.direction)
            known = latest.get(pair)
            if known is None or known.mark != mark:
                self._marks.add(*pair, mark)
                before.append((pair, known.mark if known else "none"))
        if any(mark != "wrong" for _, mark in answers):
            return Answered(word, tuple(before))
        return replace(self.skip(word), before=tuple(before))


def chosen(text: str, candidates: Sequence[str]) -> list[tuple[str, Judgement]]:
    """Return the words that an answer names, with their marks.

    A number stands for a candidate, which is marked right; another word is added. Several have commas or semicolons
    between them; other signs between numbers ('1.3', '1/3') are refused, and so is what is nothing but signs ('?',
    '-'), by which people mean that they do not know. '0', however many times it is typed, marks all candidates wrong.
    """
    if (bare := text.strip()).isdecimal() and not any(map(int, bare)):
        return [(word, "wrong") for word in candidates if word]
    found: dict[str, Judgement] = {}
    for part in re.split(rf"[{BETWEEN}\n]", text):
        word = " ".join(part.split())
        if word.isdecimal():
            named = dict(enumerate(candidates, 1)).get(int(word[:_DIGITS]))
            if not named:
                raise InputError(f"there is no candidate {word[:_DIGITS]}")
            found[named] = "right"
        elif _NUMBERS.fullmatch(word) and word not in candidates:
            several = ", ".join(re.findall(r"\d+", word))
            raise InputError(f"{word!r} is no word; several candidates have commas between them: {several}")
        elif word and word not in candidates and all(map(_is_sign, word)):
            raise InputError(f"{word!r} is no word; leave the answer open if nobody knows it")
        elif word:
            found[word] = "right" if word in candidates else "added"
    if not found:
        raise InputError(f"{text!r} is no answer; expected the number of a candidate, or a word")
    return list(found.items())


def _is_sign(character: str) -> bool:
    return unicodedata.category(character)[0] in "PZ"
