"""lnmap translate: translate words with a model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lnmap.cli import options
from lnmap.cli.reading import load_model
from lnmap.cli.terminal import console, count
from lnmap.errors import InputError

if TYPE_CHECKING:
    from lnmap.model.answers import Candidate, Translation


def translate(
    folder: options.ModelFolder,
    words: Annotated[list[str], options.argument("WORD", "Words, or - to read them from stdin.")],
    k: Annotated[int, options.value("N", "How many translations per word.", "-k")] = 5,
    reverse: options.Reverse = False,
    criterion: options.Criterion = "csls",
    min_confidence: options.MinConfidence = None,
    given: options.Given = True,
    vectors: Annotated[
        Path | None,
        options.value("FILE.bin", "fastText model the language was read from, for words outside the vocabulary."),
    ] = None,
    device: options.Device = "cpu",
) -> int:
    """Translate words, best candidates first.

    Example: lnmap translate en-fr dog house

    The number after a candidate is its score; the percentage, where the model
    has learnt one, is its confidence: the probability that it is right.
    --min-confidence leaves out candidates below a confidence; a word without
    any left is answered with "no translation".

    What the seed pairs say comes first and is marked "given"; it has no
    confidence, because nothing is estimated. --no-given shows the model's own
    answers only.

    A word outside the vocabulary is translated by its subwords if the vectors
    came from a fastText .bin that is still in its place or given with
    --vectors. The exit code is 1 when none of the words is known.
    """
    from lnmap.retrieve import CRITERIA

    scoring = options.choose("criterion", criterion, CRITERIA)
    model, direction = load_model(folder, device), options.direction_of(reverse)
    if vectors is not None:
        model.use_subwords(direction.asked, vectors)
    asked = [word for text in words for word in (_read_stdin() if text == "-" else [text])]
    if not asked:
        raise InputError("there is no word to translate; give words, or one per line on stdin")
    answers = model.translate(asked, k, direction, scoring, min_confidence, given)
    if console.as_json:
        console.json([translation_dict(answer) for answer in answers])
    else:
        show_translations(answers)
    unknown = sum(not answer.known for answer in answers)
    if unknown:
        console.note(f"{unknown:,} of {count(len(answers), 'word')} not in the vocabulary")
    return int(unknown == len(answers))


def translation_dict(answer: Translation) -> dict[str, Any]:
    """Return a translation as a JSON value."""
    found: dict[str, Any] = {
        "word": answer.query,
        "known": answer.known,
        "translations": [_candidate_dict(candidate) for candidate in answer.candidates],
    }
    if answer.subwords:
        found["subwords"] = True
    if answer.no_translation:
        return {**found, "no_translation": True, "withheld": [_candidate_dict(c) for c in answer.withheld]}
    return found if answer.known else {**found, "spellings": list(answer.spellings)}


def _candidate_dict(candidate: Candidate) -> dict[str, Any]:
    digits = {"score": 6, "cosine": 6, "confidence": 4}
    numbers = {name: getattr(candidate, name) for name in digits}
    found = {name: round(number, digits[name]) for name, number in numbers.items() if number is not None}
    rank = {} if candidate.rank is None else {"rank": candidate.rank}
    return {"word": candidate.word, **found, **rank, "given": candidate.given}


def show_translations(answers: Sequence[Translation]) -> None:
    """Print one line per word."""
    width = max((len(answer.query) for answer in answers), default=0)
    for answer in answers:
        console.result(f"{answer.query:<{width}}  {_describe(answer)}")


def _describe(answer: Translation) -> str:
    found = "  ".join(map(str, answer.candidates))
    if answer.no_translation:
        best = max(answer.withheld, key=lambda candidate: candidate.confidence or 0.0)
        found = f"no translation (the surest candidate is {best})"
    if not answer.known:
        near = f"; perhaps {', '.join(answer.spellings)}?" if answer.spellings else ""
        found = f"not in the vocabulary{near}"
    return f"{found}  (by its subwords)" if answer.subwords else found


def _read_stdin() -> list[str]:
    return [word for line in sys.stdin if (word := line.strip("\r\n"))]
