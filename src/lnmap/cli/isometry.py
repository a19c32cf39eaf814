"""The command that compares two spaces as they are: isometry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lnmap.cli.options import Debug, Json, Quiet, choose
from lnmap.cli.reading import read_language
from lnmap.cli.terminal import console, count

if TYPE_CHECKING:
    from lnmap.isometry import Isometry


def isometry(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="Word vectors of the source language.")],
    target: Annotated[Path, typer.Argument(metavar="TGT", help="Word vectors of the target language.")],
    words: Annotated[int, typer.Option(metavar="N", help="Most frequent words a language that are compared.")] = 5000,
    pairs: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Word pairs for the relational similarity, or 'identical' or 'numerals'."),
    ] = None,
    limit: Annotated[int | None, typer.Option(metavar="N", help="Read only the N most frequent words.")] = None,
    policy: Annotated[
        str, typer.Option(metavar="muse|vecmap", help="muse lower-cases the words, vecmap leaves them as they are.")
    ] = "muse",
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep no parsed copy of text files.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Measure how alike the shapes of two languages' spaces are, before any alignment.

    Example: lnmap isometry en.vec fr.vec --pairs en-fr.txt

    Gromov-Hausdorff distance as intended and as published, relational and
    eigenvector similarity. Published values read 200,000 words: --limit 200000.
    """
    from lnmap.io import POLICIES, read_lexicon
    from lnmap.isometry import check_words, measure_isometry
    from lnmap.lexicon import SEEDS_WITHOUT_DICTIONARY

    choose("policy", policy, POLICIES)
    check_words("--words", words)
    make = SEEDS_WITHOUT_DICTIONARY.get(pairs or "")
    lexicon = None if pairs is None or make else read_lexicon(pairs)
    sides = [
        read_language(side, path, policy, limit, not no_cache)
        for side, path in (("source", source), ("target", target))
    ]
    lexicon = make(*sides) if make else lexicon
    found = measure_isometry(sides[0], sides[1], lexicon, words=words, progress=console)
    if as_json:
        console.json(found.to_dict())
    else:
        _show(found)


def _show(found: Isometry) -> None:
    """Print a row a measure."""
    words, graph = count(found.words, "word"), count(found.graph_words, "word")
    rows = [
        ("Gromov-Hausdorff distance", f"{found.gh:.4f}", "0", words),
        ("  as published (rows as points)", f"{found.gh_rows:.4f}", "0", words),
        ("eigenvector similarity", f"{found.eigenvector:.2f}", "0", graph),
        ("  as published (smallest eigenvalues)", f"{found.eigenvector_smallest:.2f}", "0", graph),
    ]
    if found.relational is not None:
        rows.insert(2, ("relational similarity", f"{found.relational:.4f}", "1", count(found.pairs, "pair")))
    console.table(("measure", "value", "same shape", "over"), rows)
    console.say(f"measured in {found.seconds:.1f} s" + ("" if found.pairs else "; --pairs adds relational similarity"))
