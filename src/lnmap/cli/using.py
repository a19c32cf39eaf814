"""Commands that use a model: translate, evaluate, induce, export."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lnmap.cli.options import (
    Criterion,
    Debug,
    Device,
    Json,
    Memory,
    MinConfidence,
    ModelFolder,
    Quiet,
    Reverse,
    choose,
    direction_of,
    in_bytes,
)
from lnmap.cli.show import comparison_dict, show_comparison, show_scores, show_translations, translation_dict
from lnmap.cli.terminal import console, count
from lnmap.direction import Direction, Side
from lnmap.errors import InputError, OptionError

if TYPE_CHECKING:
    from lnmap.evaluate import Evaluation
    from lnmap.model.model import Model

_LOW_COVERAGE = 30.0


def load_model(folder: Path, device: str = "cpu", memory: int = 512) -> Model:
    """Load a model folder so that its work is shown."""
    from lnmap.model import load
    from lnmap.model.device import pick_device

    model = load(folder, pick_device(device))
    model.progress, model.memory = console, in_bytes(memory)
    return model


def translate(
    folder: ModelFolder,
    words: Annotated[list[str], typer.Argument(metavar="WORD...", help="Words, or - to read them from stdin.")],
    k: Annotated[int, typer.Option("-k", metavar="N", help="Translations a word.")] = 5,
    reverse: Reverse = False,
    criterion: Criterion = "csls",
    min_confidence: MinConfidence = None,
    vectors: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.bin", help="fastText model the language was read from, for words outside the vocabulary."
        ),
    ] = None,
    device: Device = "cpu",
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> int:
    """Translate words, best candidates first.

    Example: lnmap translate en-fr dog house

    The number after a word is its score; a model made with --calibrate adds
    the probability that the word is right. With --min-confidence a word whose
    candidates are all less sure is answered with "no translation".

    A word outside the vocabulary is translated by its subwords where the
    vectors came from a fastText .bin that is still in its place, or is given
    with --vectors. The exit code is 1 when none of the words is known.
    """
    from lnmap.retrieve import CRITERIA

    choose("criterion", criterion, CRITERIA)
    model = load_model(folder, device)
    if vectors is not None:
        model.use_subwords(direction_of(reverse).asked, vectors)
    asked = [word for given in words for word in (_lines() if given == "-" else [given])]
    if not asked:
        raise InputError("there is no word to translate; give words, or one a line on stdin")
    answers = model.translate(asked, k, direction_of(reverse), choose("criterion", criterion, CRITERIA), min_confidence)
    if as_json:
        console.json([translation_dict(answer) for answer in answers])
    else:
        show_translations(answers)
    unknown = sum(not answer.known for answer in answers)
    if unknown:
        console.note(f"{unknown:,} of {count(len(answers), 'word')} not in the vocabulary")
    return int(unknown == len(answers))


def evaluate(
    folder: ModelFolder,
    pairs: Annotated[Path, typer.Option(metavar="FILE", help="Test dictionary, the language translated from first.")],
    reverse: Reverse = False,
    swap: Annotated[bool, typer.Option("--swap", help="The file's two columns are the other way round.")] = False,
    criterion: Criterion = "csls",
    rows: Annotated[Path | None, typer.Option(metavar="FILE.tsv", help="Write what each test word got.")] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="DIR2", help="Compare with another model on the same words.")
    ] = None,
    device: Device = "cpu",
    memory: Memory = 512,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Score a model on a test dictionary: how often the right word comes first, or near the top.

    Example: lnmap evaluate en-fr --pairs en-fr.test.txt

    With --reverse the file's first column is the target language;
    --swap turns a file round that has the source language first.
    """
    from lnmap.evaluate import compare
    from lnmap.io import read_lexicon
    from lnmap.retrieve import CRITERIA

    choose("criterion", criterion, CRITERIA)
    gold = read_lexicon(pairs)
    gold = gold.reversed() if swap else gold
    scores = {}
    for place in (folder, *([against] if against else [])):
        model = load_model(place, device, memory)
        scores[str(place)] = model.evaluate(gold, direction_of(reverse), choose("criterion", criterion, CRITERIA))
        _warn(str(place), scores[str(place)])
    score, *others = scores.values()
    if rows is not None:
        _write_rows(rows, score)
    comparison = compare(score, others[0]) if others else None
    if as_json:
        extra = (
            {} if comparison is None else {"against": others[0].to_dict(), "comparison": comparison_dict(comparison)}
        )
        console.json({**score.to_dict(), **extra})
        return
    show_scores(scores)
    if comparison is not None:
        show_comparison(comparison)


def induce(
    folder: ModelFolder,
    out: Annotated[Path, typer.Option(metavar="FILE.tsv", help="The dictionary: source, target and scores.")],
    mode: Annotated[
        str, typer.Option(metavar="mutual|forward|backward|union", help="mutual keeps words that choose each other.")
    ] = "mutual",
    translations: Annotated[
        int, typer.Option(metavar="N", help="How many translations a word may have, in either language.")
    ] = 1,
    least: Annotated[float | None, typer.Option(metavar="X", help="Leave out pairs that score less.")] = None,
    most: Annotated[int | None, typer.Option("--max", metavar="N", help="Keep the N best pairs.")] = None,
    max_rank: Annotated[int | None, typer.Option(metavar="N", help="Only the N most frequent words.")] = None,
    min_confidence: MinConfidence = None,
    rank_by: Annotated[str, typer.Option(metavar="csls|cosine", help="The score that orders and cuts.")] = "csls",
    reverse: Reverse = False,
    device: Device = "cpu",
    memory: Memory = 512,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a whole bilingual dictionary, best pairs first.

    Example: lnmap induce en-fr --out en-fr.tsv --max 5000
    Several translations a word, those more probable than not:
    lnmap induce en-fr --out en-fr.tsv --translations 5 --min-confidence 0.5

    The columns are source, target, csls and cosine; a model made with
    --calibrate adds confidence, the probability that the pair is right.
    """
    from lnmap.induce import MODES
    from lnmap.io import write_lexicon

    choose("mode", mode, MODES)
    ranking = choose("rank-by", rank_by, ("csls", "cosine"))
    for name, number in (("translations", translations), ("max", most), ("max-rank", max_rank)):
        _at_least_one(name, number)
    model = load_model(folder, device, memory)
    entries = model.induce(
        choose("mode", mode, MODES),
        count=translations,
        rank_by=ranking,
        max_rank=max_rank,
        least=least,
        limit=most,
        direction=direction_of(reverse),
        min_confidence=min_confidence,
    )
    columns = ("source", "target", "csls", "cosine", *(("confidence",) if model.confidence else ()))
    write_lexicon(out, ([getattr(entry, name) for name in columns] for entry in entries), columns)
    if not entries:
        console.note("no pair passed; lower --least or --min-confidence, or raise --max-rank")
    if as_json:
        console.json({"file": str(out), "pairs": len(entries)})
    else:
        console.result(f"{len(entries):,} pairs written to {out}")


def export(
    folder: ModelFolder,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="New folder for the vectors of both languages.")],
    format: Annotated[str, typer.Option(metavar="vec|bin|store|npz", help="File format.")] = "vec",
    limit: Annotated[int | None, typer.Option(metavar="N", help="Only the N most frequent words a language.")] = None,
    reverse: Reverse = False,
    device: Device = "cpu",
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the vectors of both languages in one space, for other programs.

    Example: lnmap export en-fr --out en-fr.vectors --format vec

    FOLDER gets source.vec and target.vec (or .bin, .npz, store folders);
    it appears whole or not at all.
    """
    from lnmap.io import FORMATS, write_stream
    from lnmap.io.atomic import atomic_folder, writing
    from lnmap.io.store import refuse_existing

    choose("format", format, FORMATS)
    _at_least_one("limit", limit)
    with writing("the vectors", out):
        refuse_existing(out)
    model, direction = load_model(folder, device), direction_of(reverse)
    names = {side: str(side) if format == "store" else f"{side}.{format}" for side in Side}
    written: dict[str, Any] = {}
    with atomic_folder(out) as work:
        for side in Side:
            n = min(len(model.side(side)), limit or sys.maxsize)
            dim = int(model.map(model.side(side).vectors[:1], side, direction).shape[1])
            with console.task(f"writing {names[side]}", n) as task:
                blocks = _mapped(model, side, direction, n, task)
                write_stream(work / names[side], choose("format", format, FORMATS), n, dim, blocks)
            written[side] = {"path": str(out / names[side]), "words": n, "dim": dim}
    if as_json:
        console.json(written)
        return
    for entry in written.values():
        console.result(f"{entry['path']}: {entry['words']:,} words x {entry['dim']}")


def _mapped(model: Model, side: Side, direction: Direction, n: int, task: Any) -> Iterator[tuple[Sequence[str], Any]]:
    """Yield the first n words of a language and their mapped vectors, a block at a time."""
    words, start = model.side(side).words, 0
    for block in model.mapped(side, direction):
        vectors = block[: n - start].cpu().numpy()
        yield words[start : start + len(vectors)], vectors
        start += len(vectors)
        task.advance(len(vectors))
        if start == n:
            return


def _lines() -> list[str]:
    return [word for line in sys.stdin if (word := line.strip("\r\n"))]


def _at_least_one(name: str, number: int | None) -> None:
    if number is not None and number < 1:
        raise OptionError(f"--{name} {number} leaves nothing; give 1 or more")


def _warn(name: str, score: Evaluation) -> None:
    if score.seen_pairs:
        console.note(
            f"{name} was trained on {score.seen_pairs:,} of the {score.test_pairs:,} test pairs; "
            "its scores are too good for those words"
        )
    if score.coverage < _LOW_COVERAGE:
        console.note(
            f"only {score.coverage:.0f} % of the test words could be tested; is the language translated from in the "
            "first column? --swap turns the file round"
        )


def _write_rows(path: Path, score: Evaluation) -> None:
    from lnmap.io import write_lexicon

    rows = (
        (row.source, " | ".join(row.gold), " | ".join(row.answers), row.rank + 1, row.frequency_rank + 1)
        for row in score.rows
    )
    write_lexicon(path, rows, ("source", "gold", "answers", "rank", "frequency_rank"))
