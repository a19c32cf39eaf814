"""lnmap isometry: compare the shapes of two spaces before any alignment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from lnmap.cli import options
from lnmap.cli.reading import read_language
from lnmap.cli.terminal import console, count

if TYPE_CHECKING:
    from lnmap.isometry import Isometry


def isometry(
    source: options.SourceVectors,
    target: options.TargetVectors,
    words: Annotated[
        int, options.value("N", "How many of the most frequent words of each language to compare.")
    ] = 5000,
    pairs: Annotated[
        str | None, options.value("FILE", "Word pairs for the relational similarity, or 'identical' or 'numerals'.")
    ] = None,
    limit: options.Limit = None,
    policy: options.Policy = "muse",
    no_cache: options.NoCache = False,
) -> None:
    """Measure how alike the shapes of two languages' spaces are, before any alignment.

    Example: lnmap isometry en.vec fr.vec --pairs en-fr.txt

    Prints the Gromov-Hausdorff distance (as intended and as published), the
    relational similarity and the eigenvector similarity. Published values were
    measured on 200,000 words: --limit 200000.
    """
    from lnmap.io import POLICIES, read_lexicon
    from lnmap.isometry import check_words, measure_isometry
    from lnmap.lexicon import SEEDS_WITHOUT_DICTIONARY

    options.choose("policy", policy, POLICIES)
    check_words("--words", words)
    make = SEEDS_WITHOUT_DICTIONARY.get(pairs or "")
    lexicon = None if pairs is None or make else read_lexicon(pairs)
    x = read_language("source", source, policy, limit, not no_cache)
    y = read_language("target", target, policy, limit, not no_cache)
    found = measure_isometry(x, y, make(x, y) if make else lexicon, words=words, progress=console)
    if console.as_json:
        console.json(found.to_dict())
    else:
        _show(found)


def _show(found: Isometry) -> None:
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
