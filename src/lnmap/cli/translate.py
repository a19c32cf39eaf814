"""lnmap translate: translate words with a model."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lnmap.cli import options
from lnmap.cli.reading import load_model
from lnmap.cli.terminal import console, count
from lnmap.errors import InputError, OptionError

if TYPE_CHECKING:
    from lnmap.model.answers import Candidate, Translation

FORMATS = ("text", "tsv", "json")
_COLUMNS = ("csls", "cosine", "confidence", "given", "mark", "rank")
_BATCH = 256  # words translated at a time
_CHUNK = 1 << 16  # bytes read from stdin at a time


def translate(
    folder: options.ModelFolder,
    words: Annotated[list[str], options.argument("WORD", "Words, or - to read them from stdin.")],
    k: Annotated[int, options.value("N", "How many translations per word.", "-k")] = 5,
    reverse: options.Reverse = False,
    criterion: options.Criterion = "csls",
    min_confidence: options.MinConfidence = None,
    given: options.Given = True,
    marks: options.Marks = None,
    no_marks: options.NoMarks = False,
    format: Annotated[
        str, options.value("text|tsv|json", "tsv: one line per translation; json: one JSON object per line and word.")
    ] = "text",
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

    What people said comes first and has no confidence, because nothing is
    estimated: seed pairs are marked "given", pairs marked on the page of
    'lnmap serve' "right" or "added". Pairs marked "wrong" are left out.
    --no-given shows the model's own answers only.

    Words from stdin are answered as they arrive:
    lnmap translate en-fr - --format tsv < words.txt > answers.tsv

    A word outside the vocabulary is translated by its subwords if the vectors
    came from a fastText .bin that is still in its place or given with
    --vectors. The exit code is 1 when none of the words is known.
    """
    from lnmap.retrieve import CRITERIA

    scoring, shown = options.choose("criterion", criterion, CRITERIA), options.choose("format", format, FORMATS)
    if console.as_json and shown != "text":
        raise OptionError("--json prints one JSON value, --format lines; give one of them")
    chosen = options.choose_marks(marks, no_marks)
    model, direction = load_model(folder, device, 512, chosen), options.direction_of(reverse)
    if vectors is not None:
        model.use_subwords(direction.asked, vectors)
    answers: list[Translation] = []
    asked = unknown = 0
    for batch in _batches(words):
        found = model.translate(batch, k, direction, scoring, min_confidence, given)
        if console.as_json:
            answers += found
        else:
            _show(found, scoring, shown, first=not asked)
        asked += len(found)
        unknown += sum(not answer.known for answer in found)
    if not asked:
        raise InputError("there is no word to translate; give words, or one per line on stdin")
    if console.as_json:
        console.json([translation_dict(answer, scoring) for answer in answers])
    if unknown:
        console.note(f"{unknown:,} of {count(asked, 'word')} not in the vocabulary")
    return int(unknown == asked)


def translation_dict(answer: Translation, criterion: str = "csls") -> dict[str, Any]:
    """Return a translation as a JSON value, with the names that the API of the page uses.

    :param criterion: what the candidates were scored by; their scores have its name.
    """

    def describe(candidates: Iterable[Candidate]) -> list[dict[str, Any]]:
        return [candidate_dict(candidate, criterion) for candidate in candidates]

    found: dict[str, Any] = {
        "word": answer.query,
        "known": answer.known,
        "subwords": answer.subwords,
        "candidates": describe(answer.candidates),
        "spellings": list(answer.spellings),
    }
    if answer.dropped:
        found["dropped"] = describe(answer.dropped)
    if answer.no_translation:
        found |= {"no_translation": True, "withheld": describe(answer.withheld)}
    return found


def candidate_dict(candidate: Candidate, criterion: str = "csls") -> dict[str, Any]:
    """Return a candidate as a JSON value."""
    numbers = {criterion: candidate.score, "cosine": candidate.cosine}
    rounded = {name: None if number is None else round(number, 6) for name, number in numbers.items()}
    sure = None if candidate.confidence is None else round(candidate.confidence, 4)
    rest = {"confidence": sure, "given": candidate.given, "rank": candidate.rank, "mark": candidate.mark}
    return {"word": candidate.word, **rounded, **rest}


def show_translations(answers: Sequence[Translation]) -> None:
    """Print one line per word."""
    width = max((len(answer.query) for answer in answers), default=0)
    for answer in answers:
        console.result(f"{answer.query:<{width}}  {_describe(answer)}")


def _show(answers: Sequence[Translation], criterion: str, format: str, first: bool) -> None:
    """Print some answers, and pass them on at once to a program that waits for them."""
    if format == "text":
        show_translations(answers)
    elif format == "json":
        for answer in answers:
            console.result(json.dumps(translation_dict(answer, criterion), ensure_ascii=False))
    else:
        for line in _table(answers, criterion, first):
            console.result(line)
    sys.stdout.flush()


def _table(answers: Sequence[Translation], criterion: str, first: bool) -> Iterator[str]:
    """Yield a line per candidate, and one with nothing but the word where there is none."""
    from lnmap.io.dictionaries.tables import tsv_lines

    columns = dict.fromkeys((criterion, *_COLUMNS[1:]))
    rows: list[list[Any]] = []
    for answer in answers:
        query = " ".join(answer.query.split("\t"))  # a tab would begin a column
        for one in answer.candidates:
            found = candidate_dict(one, criterion)
            rows.append([query, one.word, *(found[name] for name in columns)])
        if not answer.candidates:
            rows.append([query, *[None] * (1 + len(columns))])
    lines = tsv_lines(rows, ["source", "target", *columns])
    return (line.removesuffix("\n") for line in islice(lines, int(not first), None))


def _describe(answer: Translation) -> str:
    found = "  ".join(map(str, answer.candidates))
    if answer.no_translation:
        best = max(answer.withheld, key=lambda candidate: candidate.confidence or 0.0, default=None)
        found = f"no translation (the surest candidate is {best})" if best else "no translation (all marked wrong)"
    near = f"; perhaps {', '.join(answer.spellings)}?" if answer.spellings else ""
    if not answer.known:
        found = f"not in the vocabulary{near}"
    return f"{found}  (by its subwords{near})" if answer.subwords else found


def _batches(words: Iterable[str]) -> Iterator[list[str]]:
    """Yield the words to translate, some at a time; those from stdin as they arrive."""
    waiting: list[str] = []
    for text in words:
        if text != "-":
            waiting.append(text)
            continue
        for arrived in _read_stdin():
            waiting += arrived
            while waiting:
                yield waiting[:_BATCH]
                waiting = waiting[_BATCH:]
    if waiting:
        yield waiting


def _read_stdin() -> Iterator[list[str]]:
    """Yield the words of the lines that have arrived, without waiting for more."""
    raw = getattr(sys.stdin, "buffer", None)
    if raw is None:  # not a file: it has arrived as a whole
        yield [word for line in sys.stdin if (word := line.strip("\r\n"))]
        return
    begun = b""
    while chunk := raw.read1(_CHUNK):
        *lines, begun = (begun + chunk).split(b"\n")
        yield _words(lines)
    yield _words([begun])


def _words(lines: Iterable[bytes]) -> list[str]:
    texts = (line.decode("utf-8", "surrogateescape").strip("\r\n") for line in lines)
    return [word for word in texts if word]
