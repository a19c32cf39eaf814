"""lnmap induce: write a whole dictionary."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lnmap.cli import options
from lnmap.cli.reading import load_model
from lnmap.cli.terminal import console, count
from lnmap.errors import OptionError

if TYPE_CHECKING:
    from lnmap.io import WrittenDictionary
    from lnmap.model import Model


def induce(
    folder: options.ModelFolder,
    out: Annotated[
        Path,
        options.value(
            "FILE", "The dictionary to write, - for stdout; a folder, or FILE.zip, if the format has several files."
        ),
    ],
    format: Annotated[
        str | None,
        options.value(
            "NAME",
            "tsv, csv, json, hunalign, stardict, yomitan, lift, apertium, moses, tmx or html; by default how FILE "
            "ends, else tsv.",
        ),
    ] = None,
    both: Annotated[bool, options.flag("--both", "Write both directions in one go.")] = False,
    languages: Annotated[
        str | None,
        options.value("SRC,TGT", "Codes of the two languages (en,fr); by default guessed by the names of the files."),
    ] = None,
    mode: Annotated[
        str, options.value("mutual|forward|backward|union", "mutual keeps pairs that choose each other.")
    ] = "mutual",
    translations: Annotated[int, options.value("N", "How many translations a word may have, in either language.")] = 1,
    least: Annotated[float | None, options.value("X", "Leave out pairs with a score below X.")] = None,
    most: Annotated[int | None, options.value("N", "Keep the N best pairs.", "--max")] = None,
    max_rank: Annotated[int | None, options.value("N", "Use only the N most frequent words of each language.")] = None,
    min_confidence: options.MinConfidence = None,
    given: options.Given = True,
    marks: options.Marks = None,
    no_marks: options.NoMarks = False,
    words_only: Annotated[
        bool, options.flag("--words-only/--all-tokens", "Leave out numbers, punctuation and markup, or keep them.")
    ] = True,
    rank_by: Annotated[
        str | None,
        options.value(
            "csls|cosine|confidence",
            "The score that pairs are sorted and cut by; by default the confidence if a judge gives it, else CSLS.",
        ),
    ] = None,
    reverse: options.Reverse = False,
    device: options.Device = "cpu",
    memory: options.Memory = 512,
) -> None:
    """Write a whole bilingual dictionary, best pairs first.

    Example: lnmap induce en-fr --out en-fr.tsv --max 5000

    Several translations per word, those more probable than not:
    lnmap induce en-fr --out en-fr.tsv --translations 5 --min-confidence 0.5

    For a dictionary program on a phone, both directions:
    lnmap induce en-fr --out en-fr.zip --format stardict --both --translations 3

    The columns of a table are source, target, csls and cosine, confidence
    (the probability that the pair is right) where the model has learnt it,
    and given: true for what people said, which comes first, all of it, without
    a confidence: the seed pairs and the pairs marked right or added on the page
    of 'lnmap serve' (column mark). A word that has its translations from there
    gets no others, and the next best takes the place of a pair marked wrong.
    --no-given writes the model's own pairs only, without that column.

    To another program: lnmap induce en-fr --out - --format json | jq .target

    Other formats group the translations of a word, mark given ones where they
    can, and those for readers are sorted by the language's own alphabet.
    """
    from lnmap.induce import MODES, RANKINGS
    from lnmap.io import write_dictionary
    from lnmap.io.dictionaries import find_format, parse_languages

    kept, ranking = (
        options.choose("mode", mode, MODES),
        None if rank_by is None else options.choose("rank-by", rank_by, RANKINGS),
    )
    chosen, codes = find_format(format, out), parse_languages(languages)
    piped = str(out) == "-"
    if piped and console.as_json:
        raise OptionError("--out - writes the dictionary to stdout, where --json writes a report; give one of them")
    for name, number in (("translations", translations), ("max", most), ("max-rank", max_rank)):
        options.require_positive(name, number)
    model = load_model(folder, device, memory, options.choose_marks(marks, no_marks))
    ways = [options.direction_of(reverse), *([options.direction_of(not reverse)] if both else [])]
    lexicons = [
        model.induce(
            kept,
            count=translations,
            rank_by=ranking,
            max_rank=max_rank,
            least=least,
            limit=most,
            direction=way,
            min_confidence=min_confidence,
            given=given,
            words_only=words_only,
        )
        for way in ways
    ]
    codes = codes or _guess(model, folder)
    written = write_dictionary(
        sys.stdout.buffer if piped else out,
        lexicons[0],
        lexicons[1] if both else None,
        format=chosen.name,
        languages=codes[::-1] if codes and reverse else codes,
        title=folder.resolve().name,
        columns=_columns(model, given),
    )
    _report(written)


def _columns(model: Model, given: bool) -> list[str]:
    """Return the columns of a table: those that this model can fill."""
    optional = {"confidence": model.calibrated, "given": given, "mark": given and bool(model.marks)}
    return ["source", "target", "csls", "cosine", *(name for name, there in optional.items() if there)]


def _guess(model: Model, folder: Path) -> tuple[str, str] | None:
    """Guess the codes of the two languages; None unless both are found."""
    from lnmap.direction import Side
    from lnmap.model.languages import guess_languages

    found = guess_languages(model, folder.resolve().name)
    source, target = found[Side.SOURCE], found[Side.TARGET]
    return (source, target) if source and target and source != target else None


def _report(written: WrittenDictionary) -> None:
    if not written.pairs and not written.left_out:
        console.note("no pair passed; lower --least or --min-confidence, or raise --max-rank")
    if written.left_out:
        left = count(written.left_out, "pair")
        console.note(f"{left} left out: {written.format} cannot hold words with {written.cannot_hold}")
    if written.plain_order:
        console.note("sorted letter by letter; for the language's own alphabet: pip install 'lnmap[alphabet]'")
    told = f", {written.given:,} of them given" if written.given else ""
    if written.path is None:
        return
    facts: dict[str, Any] = {"file": str(written.path), "format": written.format, "pairs": written.pairs}
    facts |= {"given": written.given, "left_out": written.left_out}
    console.answer(facts, f"{written.pairs:,} pairs written to {written.path}{told}")
