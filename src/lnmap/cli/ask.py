"""lnmap ask: ask a speaker about the words whose translations would help most."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lnmap.cli import options
from lnmap.cli.reading import load_model
from lnmap.cli.terminal import console, count
from lnmap.cli.translate import candidate_dict
from lnmap.errors import InputError, OptionError

if TYPE_CHECKING:
    from lnmap.ask import Question
    from lnmap.ask.answers import Answered
    from lnmap.direction import Direction
    from lnmap.embeddings import Embeddings
    from lnmap.model import Model

_MOST_CANDIDATES = 9  # each has a digit
_AHEAD = 10  # questions chosen at a time
_SOME = 5  # words shown of many
_STOP, _UNDO, _EXPLAIN = ".", "<", "?"
_HELP = (
    "digit: that candidate   word: another one   1, word: several   0: none is right\n"
    "Enter: skip   <: undo   .: stop   ?: this help"
)


def ask(
    folder: options.ModelFolder,
    out: Annotated[Path | None, options.value("FILE.csv", "Write the questions as a table to fill in.")] = None,
    answers: Annotated[Path | None, options.value("FILE.csv", "Read a table that was filled in.")] = None,
    number: Annotated[int, options.value("N", "How many words to ask about.", "--count")] = 50,
    candidates: Annotated[int, options.value("N", "How many candidates per word, at most 9.")] = 5,
    reverse: Annotated[bool, options.flag("--reverse", "Ask about words of the target language.")] = False,
    max_rank: Annotated[int, options.value("N", "Ask only about the N most frequent words.")] = 20_000,
    again: Annotated[bool, options.flag("--again", "Ask about skipped words again.")] = False,
) -> int:
    """Ask a speaker about the words whose translations would help most.

    Example: lnmap ask en-fr

    Shows one word after the other with candidates. Answer with the digit of a
    candidate, with a word, or with several (1, 3 or chat, matou); 0 if no candidate
    is right, Enter to skip the word, < to undo, . to stop. Every answer is
    on the disk at once and counts at once, as a mark on the page does.

    On paper, or by mail: lnmap ask en-fr --out sheet.csv --count 200

    and back, however the spreadsheet has saved it:
    lnmap ask en-fr --answers sheet.csv

    For programs: lnmap ask en-fr --count 10 --json
    """
    for name, value in (("count", number), ("candidates", candidates), ("max-rank", max_rank)):
        options.require_positive(name, value)
    if candidates > _MOST_CANDIDATES:
        raise OptionError(f"--candidates {candidates} is more than there are digits; give at most {_MOST_CANDIDATES}")
    if out is not None and answers is not None:
        raise OptionError("--out writes a sheet and --answers reads one; give one of them")
    talking = out is None and answers is None and not console.as_json
    if talking and not sys.stdin.isatty():
        raise InputError(
            "stdin is no terminal, so nobody can be asked; write a sheet with --out FILE.csv, or print --json"
        )
    model = load_model(folder)
    if answers is not None:
        return _read(model, folder, answers)
    session = _Session(model, folder, options.direction_of(reverse), candidates, max_rank, again)
    if talking:
        session.talk(number)
        return 0
    questions = session.next(number)
    if not questions:
        session.say_nothing_left()
    if out is None:
        console.json([question_dict(question) for question in questions])
    elif questions:
        _write(questions, out, session.direction)
    return 0


def question_dict(question: Question) -> dict[str, Any]:
    """Return a question as a JSON value."""
    found = [candidate_dict(candidate) for candidate in question.candidates]
    return {"word": question.word, "rank": question.rank, "why": question.why, "candidates": found}


class _Session:
    """Questions and answers of one direction."""

    def __init__(
        self, model: Model, folder: Path, direction: Direction, candidates: int, max_rank: int, again: bool
    ) -> None:
        from lnmap.ask import Answers

        self.model, self.folder, self.direction = model, folder, direction
        self.candidates, self.max_rank, self.again = candidates, max_rank, again
        self.answers = Answers(folder, direction)
        self.done: list[tuple[Question, Answered]] = []

    def next(self, number: int) -> list[Question]:
        """Return the next questions, by the marks of now."""
        from lnmap.ask import next_words

        self.model.marks = self.answers.marks
        skipped = [made.word for _, made in self.done if made.skipped] if self.again else self.answers.skipped
        return next_words(
            self.model, number, self.direction, candidates=self.candidates, skip=skipped, max_rank=self.max_rank
        )

    def say_nothing_left(self) -> None:
        """Say why there is no question."""
        skipped = 0 if self.again else len(self.answers.skipped)
        more = f"; {count(skipped, 'word')} skipped, which --again asks about" if skipped else ""
        console.note(f"nothing is left to ask{more}")

    def talk(self, number: int) -> None:
        """Ask until that many words are answered, nothing is left, or the speaker stops."""
        waiting: list[Question] = []
        console.say(_HELP)
        while (left := number - self._count(skipped=False)) > 0:
            waiting = waiting or self.next(min(_AHEAD, left))
            if not waiting:
                self.say_nothing_left()
                break
            text = _prompt(waiting[0], number - left + 1, number)
            if text is None or text == _STOP:
                break
            if text == _UNDO:
                self._undo(waiting)
            elif text == _EXPLAIN:
                console.say(_HELP)
            else:
                self._take(waiting, text)
        self._report()

    def _take(self, waiting: list[Question], text: str) -> None:
        """Record what was said of the first question."""
        question = waiting[0]
        try:
            made = self.answers.answer(question, text) if text else self.answers.skip(question.word)
        except InputError as error:
            console.say(f"  {error.problem}")
            return
        self.done.append((waiting.pop(0), made))
        answering = self.model.side(self.direction.answering)
        for answer in _unknown(answering, made, self.direction):
            near = answering.spellings(answer)
            perhaps = f"; perhaps {', '.join(near)}?" if near else ""
            console.say(f"  {_shown(answer)} has no vector: it is kept, but nothing is learnt from it{perhaps}")

    def _undo(self, waiting: list[Question]) -> None:
        """Take the last answer back and ask again."""
        if not self.done:
            console.say("  there is nothing to undo")
            return
        question, made = self.done.pop()
        self.answers.undo(made)
        waiting.insert(0, question)

    def _count(self, skipped: bool) -> int:
        return sum(made.skipped is skipped for _, made in self.done)

    def _report(self) -> None:
        answered, skipped = (self._count(skipped=one) for one in (False, True))
        console.result(f"{count(answered, 'word')} answered, {skipped:,} skipped; the answers count from now on")
        if answered:
            _say_how_to_train(self.model, self.folder)


def _prompt(question: Question, place: int, number: int) -> str | None:
    """Show a question and return what was typed; None if there is no more input."""
    from lnmap.ask import WHY

    lines = [f"\n{place}/{number}  {_shown(question.word)}   ({WHY[question.why]})"]
    for digit, one in enumerate(question.candidates, 1):
        sure = "" if one.confidence is None else f"{one.confidence:>5.0%}"
        lines.append(f"  {digit} {sure}  {_shown(one.word)}")
    console.result("\n".join(lines))
    try:
        return input("> ").strip()
    except (EOFError, KeyboardInterrupt):
        return None


def _shown(word: str) -> str:
    """Return a word without what could break a line or steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in word)


def _unknown(answering: Embeddings, made: Answered, direction: Direction) -> list[str]:
    """Return the answers that have no vector."""
    from lnmap.model.marks import ordered

    words = [ordered(pair, direction)[1] for pair, _ in made.before]
    return [word for word in words if answering.find(word) is None]


def _write(questions: Sequence[Question], out: Path, direction: Direction) -> None:
    from lnmap.ask import write_sheet

    write_sheet(out, questions, direction)
    facts = {"file": str(out), "questions": len(questions)}
    console.answer(facts, f"{count(len(questions), 'question')} written to {out}; fill in the column 'answer'")


def _read(model: Model, folder: Path, path: Path) -> int:
    """Record the answers of a sheet and report the lines that cannot be used."""
    from lnmap.ask import Answers, read_sheet

    sheet = read_sheet(path, model)
    answers = Answers(folder, sheet.direction)
    made = [answers.record(line.word, line.answers) for line in sheet.lines]
    answering = model.side(sheet.direction.answering)
    unknown = [word for one in made for word in _unknown(answering, one, sheet.direction)]
    facts = {"file": str(path), "answered": len(made), "new": sum(bool(one.before) for one in made)}
    facts |= {"empty": sheet.empty, "without_vector": unknown}
    problems = [{"line": number, "reason": reason} for number, reason in sheet.problems]
    new = f"{facts['new']:,} of them new"
    console.answer(
        {**facts, "problems": problems},
        f"{count(len(made), 'word')} answered ({new}), {sheet.empty:,} left open; the answers count from now on",
    )
    for number, reason in sheet.problems:
        console.say(f"line {number}: {reason}")
    if unknown:
        some = ", ".join(map(_shown, unknown[:_SOME]))
        console.note(f"{count(len(unknown), 'answer')} kept, but without a vector to learn from ({some})")
    if facts["new"]:
        _say_how_to_train(model, folder)
    return int(bool(problems))


def _say_how_to_train(model: Model, folder: Path) -> None:
    from lnmap.serve.retrain import retrain_command

    console.say(f"to let other words profit, train again: {retrain_command(model, folder, local=True)}")
