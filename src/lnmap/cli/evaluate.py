"""lnmap evaluate: score a model on a test dictionary, or compare two."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lnmap.cli import options
from lnmap.cli.reading import load_model
from lnmap.cli.terminal import console

if TYPE_CHECKING:
    from lnmap.evaluate import Comparison, Evaluation

_LOW_COVERAGE = 30.0


def evaluate(
    folder: options.ModelFolder,
    pairs: Annotated[Path, options.value("FILE", "Test dictionary, the language translated from first.")],
    languages: options.Languages = None,
    reverse: options.Reverse = False,
    swap: Annotated[bool, options.flag("--swap", "Swap the two columns of the file.")] = False,
    criterion: options.Criterion = "csls",
    rows: Annotated[Path | None, options.value("FILE.tsv", "Write the answers to each test word to this file.")] = None,
    against: Annotated[Path | None, options.value("DIR2", "Compare with another model on the same words.")] = None,
    device: options.Device = "cpu",
    memory: options.Memory = 512,
) -> None:
    """Score a model on a test dictionary: how often a right word comes first, or near the top.

    Example: lnmap evaluate en-fr --pairs en-fr.test.txt

    P@1 is given for groups of words, too: without words that are their own
    translation, and by frequency. If the model has a confidence, ECE says how
    far it is from the share of right answers (0 is best).

    With --reverse the first column of the file is the target language; add
    --swap for a file that has the source language first.
    """
    from lnmap.evaluate import compare
    from lnmap.io import read_lexicon
    from lnmap.retrieve import CRITERIA

    scoring = options.choose("criterion", criterion, CRITERIA)
    gold = read_lexicon(pairs, languages)
    gold = gold.reversed() if swap else gold
    scores = {}
    for place in (folder, *([against] if against else [])):
        model = load_model(place, device, memory)
        scores[str(place)] = model.evaluate(gold, options.direction_of(reverse), scoring)
        _warn(str(place), scores[str(place)])
    score, *others = scores.values()
    if rows is not None:
        _write_rows(rows, score)
    comparison = compare(score, others[0]) if others else None
    if console.as_json:
        more = {} if comparison is None else {"against": others[0].to_dict(), "comparison": _as_dict(comparison)}
        console.json({**score.to_dict(), **more})
        return
    show_scores(scores)
    _show_groups(scores)
    if comparison is not None:
        low, high = comparison.interval
        console.result(
            f"difference of P@1: {comparison.difference:+.1f} (95 % interval {low:+.1f} to {high:+.1f}, "
            f"sign test p = {comparison.p_value:.2g}) on {comparison.n:,} words both were tested on"
        )


def show_scores(scores: Mapping[str, Evaluation]) -> None:
    """Print one row of scores per evaluation."""
    rows = [{"": name, **score.cells} for name, score in scores.items()]
    console.table(list(rows[0]), [list(row.values()) for row in rows])


def _show_groups(scores: Mapping[str, Evaluation]) -> None:
    """Print the groups of words of each evaluation, with what is known of its confidence."""
    from lnmap.evaluate.groups import MEASURES, text_of, title_of

    measured = {name: score.groups for name, score in scores.items()}
    groups = dict.fromkeys(group for own in measured.values() for group in own)
    found = [(group, name, own[group]) for group in groups for name, own in measured.items() if group in own]
    known = [measure for measure in MEASURES if any(measure in own for *_, own in found)]
    several = len(scores) > 1
    rows = [
        [title_of(group), *[name] * several, int(own["n"]), *(text_of(measure, own.get(measure)) for measure in known)]
        for group, name, own in found
    ]
    console.table(["", *["model"] * several, "words", *(MEASURES[measure] for measure in known)], rows)


def _as_dict(found: Comparison) -> dict[str, Any]:
    return {
        "difference": round(found.difference, 2),
        "interval": [round(end, 2) for end in found.interval],
        "p_value": found.p_value,
        "n": found.n,
    }


def _warn(name: str, score: Evaluation) -> None:
    if score.seen_pairs:
        console.note(
            f"{name} was trained on {score.seen_pairs:,} of the {score.test_pairs:,} test pairs; "
            "its scores are too good for those words"
        )
    if score.coverage < _LOW_COVERAGE:
        console.note(
            f"only {score.coverage:.0f} % of the test words could be tested; is the language translated from in the "
            "first column? --swap swaps the columns"
        )


def _write_rows(path: Path, score: Evaluation) -> None:
    from lnmap.io import write_lexicon

    heads = ["source", "gold", "answers", "rank", "frequency_rank"]
    rows: list[list[Any]] = [
        [row.source, " | ".join(row.gold), " | ".join(row.answers), row.rank + 1, row.frequency_rank + 1]
        for row in score.rows
    ]
    if all(row.confidence is not None for row in score.rows):
        heads.append("confidence")
        rows = [[*cells, row.confidence] for cells, row in zip(rows, score.rows, strict=True)]
    write_lexicon(path, rows, heads)
