"""lnmap induce: write a whole dictionary."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from lnmap.cli import options
from lnmap.cli.reading import load_model
from lnmap.cli.terminal import console


def induce(
    folder: options.ModelFolder,
    out: Annotated[Path, options.value("FILE.tsv", "The dictionary to write.")],
    mode: Annotated[
        str, options.value("mutual|forward|backward|union", "mutual keeps pairs that choose each other.")
    ] = "mutual",
    translations: Annotated[int, options.value("N", "How many translations a word may have, in either language.")] = 1,
    least: Annotated[float | None, options.value("X", "Leave out pairs with a score below X.")] = None,
    most: Annotated[int | None, options.value("N", "Keep the N best pairs.", "--max")] = None,
    max_rank: Annotated[int | None, options.value("N", "Use only the N most frequent words of each language.")] = None,
    min_confidence: options.MinConfidence = None,
    given: options.Given = True,
    words_only: Annotated[
        bool, options.flag("--words-only/--all-tokens", "Leave out numbers, punctuation and markup, or keep them.")
    ] = True,
    rank_by: Annotated[
        str | None,
        options.value(
            "csls|cosine|confidence",
            "The score that pairs are sorted and cut by; by default the confidence where a judge knows it, else CSLS.",
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

    The columns are source, target, csls and cosine, confidence (the
    probability that the pair is right) where the model has learnt it, and
    given: true for the seed pairs, which come first, all of them, without a
    confidence. A word that has its translations from the seed gets no others.
    --no-given writes the model's own pairs only, without that column.
    """
    from lnmap.induce import MODES, RANKINGS
    from lnmap.io import write_lexicon

    kept, ranking = (
        options.choose("mode", mode, MODES),
        None if rank_by is None else options.choose("rank-by", rank_by, RANKINGS),
    )
    for name, number in (("translations", translations), ("max", most), ("max-rank", max_rank)):
        options.require_positive(name, number)
    model = load_model(folder, device, memory)
    entries = model.induce(
        kept,
        count=translations,
        rank_by=ranking,
        max_rank=max_rank,
        least=least,
        limit=most,
        direction=options.direction_of(reverse),
        min_confidence=min_confidence,
        given=given,
        words_only=words_only,
    )
    columns = (
        "source",
        "target",
        "csls",
        "cosine",
        *(("confidence",) if model.calibrated else ()),
        *(("given",) if given else ()),
    )
    write_lexicon(out, ([getattr(entry, name) for name in columns] for entry in entries), columns)
    if not entries:
        console.note("no pair passed; lower --least or --min-confidence, or raise --max-rank")
    seed = sum(entry.given for entry in entries)
    told = f", {seed:,} of them given" if seed else ""
    console.answer(
        {"file": str(out), "pairs": len(entries), "given": seed}, f"{len(entries):,} pairs written to {out}{told}"
    )
