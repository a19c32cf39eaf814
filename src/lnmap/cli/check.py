"""lnmap check: look at vectors and a dictionary before training."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lnmap.cli import options
from lnmap.cli.reading import read_language
from lnmap.cli.terminal import console, count

if TYPE_CHECKING:
    from lnmap.check import Report
    from lnmap.embeddings import Embeddings
    from lnmap.lexicon import Lexicon

_MOST = 2  # lines of warnings that align shows


def check(
    source: options.SourceVectors,
    target: options.TargetVectors,
    pairs: Annotated[str, options.value("FILE", "Seed dictionary.")],
    languages: options.Languages = None,
    limit: options.Limit = None,
    policy: options.Policy = "muse",
    no_cache: options.NoCache = False,
) -> None:
    """Look at vectors and a dictionary before training, and say what to expect.

    Example: lnmap check en.vec fr.vec --pairs en-fr.txt

    Warns of low coverage, other letter case, exchanged columns, mixed scripts,
    words of the other language, repeated and wrong pairs, and broken vectors;
    measures how alike the spaces are, and how many dictionary words a plain
    rotation finds when they are held out.
    """
    from lnmap.check import check as look
    from lnmap.io import POLICIES, read_lexicon

    options.choose("policy", policy, POLICIES)
    lexicon = read_lexicon(pairs, languages)
    x = read_language("source", source, policy, limit, not no_cache)
    y = read_language("target", target, policy, limit, not no_cache)
    report = look(x, y, lexicon, progress=console)
    if console.as_json:
        console.json(report.to_dict())
    else:
        _show(report)


def warn_before_training(
    source: Embeddings, target: Embeddings, pairs: Lexicon, files: tuple[Path, Path], name: str
) -> None:
    """Show what a quick check warns of, in two lines at most; exchanged columns are about to be refused."""
    from lnmap.check import check_quickly

    if pairs.exchanged(source, target):
        return
    found = [str(one) for one in check_quickly(source, target, pairs).warnings]
    if len(found) > _MOST:
        command = shlex.join(["lnmap", "check", *map(str, files), "--pairs", name])
        found[_MOST - 1 :] = [f"{len(found) - _MOST + 1} more warnings; see: {command}"]
    for line in found:
        console.note(line)


def _show(report: Report) -> None:
    numbers = report.numbers
    known, sides = numbers["pairs"], (numbers["source"], numbers["target"])
    rows: list[tuple[str, Any]] = [
        ("pairs with both words in the vocabularies", f"{known['known']:,} of {known['pairs']:,}"),
        ("dictionary words without a vector", _both(known["source_unknown"], known["target_unknown"])),
        ("pairs that look wrong", known.get("look_wrong", "too few pairs to tell")),
        ("repeated pairs", known["repeated"]),
        ("entries of several words", known["several_words"]),
        ("words of the other language", _both(*(side["foreign_words"] for side in sides))),
        ("words in another script", _both(*(side["other_scripts"] for side in sides))),
        ("frequent words in both vocabularies", f"{numbers['both']['shared_words']:.0%}"),
    ]
    shapes = numbers.get("shapes", {})
    if shapes.get("relational") is not None:
        rows.append(("relational similarity (1: same shape)", f"{shapes['relational']:.2f}"))
    if shapes:
        rows.append(("Gromov-Hausdorff distance (0: same shape)", f"{shapes['gh']:.2f}"))
    expected = numbers.get("expected", {})
    if expected.get("p@1") is not None:
        low, high = expected["interval"]
        words = count(expected["words"], "word")
        rows.append(("P@1 of a plain rotation", f"{expected['p@1']} ({low}-{high}), {words} held out"))
    console.table(("", ""), rows)
    for one in report.warnings:
        console.result(f"warning: {one}")
    if not report.warnings:
        console.result("nothing looks wrong")


def _both(source: int, target: int) -> str:
    return f"{source:,} source, {target:,} target"
