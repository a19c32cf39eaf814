"""Ask: the next words to ask a speaker about, and her answers, as the API sends and takes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lnmap.ask import WHY, Answers, Skipped, next_words
from lnmap.ask.answers import Answered, chosen
from lnmap.direction import Direction, Side
from lnmap.errors import InputError
from lnmap.model.marks import Judgement
from lnmap.serve import schemas
from lnmap.serve.errors import ApiError
from lnmap.serve.loaded import LoadedModel
from lnmap.serve.lookup import rounded
from lnmap.serve.models import ServedModel
from lnmap.serve.said import Said


def questions(said: Said, folder: Path, count: int, direction: Direction) -> schemas.Questions:
    """Return the words whose translations would help most, after all that was said."""
    found = next_words(said.model, count, direction, skip=Skipped(folder).words(direction.asked))
    return schemas.Questions(
        questions=[
            schemas.Question(
                word=one.word,
                rank=one.rank,
                why=WHY[one.why],
                candidates=[
                    schemas.Choice(word=other.word, confidence=rounded(other.confidence)) for other in one.candidates
                ],
            )
            for one in found
        ]
    )


def record(served: ServedModel, given: schemas.NewAnswer) -> schemas.Answered:
    """Keep an answer as marks, or skip the word; both are on the disk when this returns."""
    loaded, direction = served.loaded, given.direction
    word = _spelt(loaded, given.word, direction.asked)
    named = _named(given.answer, given.candidates) if given.answer is not None else []
    answers = [(_spelt(loaded, answer, direction.answering), mark) for answer, mark in named]
    made = Answers(served.marks.path.parent, direction).record(word, answers)
    right = [answer for answer, mark in answers if mark != "wrong"]
    return schemas.Answered(
        word=word,
        direction=direction,
        answers=right,
        without_vector=[answer for answer in right if loaded.find(answer, direction.answering) is None],
        before=[schemas.PairMark(source=source, target=target, mark=mark) for (source, target), mark in made.before],
        skipped=made.skipped,
    )


def undo(served: ServedModel, made: schemas.MadeAnswer) -> None:
    """Take an answer back: the marks are again what they were."""
    before = tuple(((one.source, one.target), one.mark) for one in made.before)
    Answers(served.marks.path.parent, made.direction).undo(Answered(made.word, before, made.skipped))


def _named(text: str, candidates: Sequence[str]) -> list[tuple[str, Judgement]]:
    """Return the words that an answer names; a candidate that is not there is not found."""
    try:
        return chosen(text, candidates)
    except InputError as error:  # the schema has refused all else that is no answer
        raise ApiError(404, "unknown_candidate", str(error)) from error


def _spelt(loaded: LoadedModel, word: str, side: Side) -> str:
    row = loaded.find(word, side)
    return word.strip() if row is None else loaded.model.side(side).words[row]
