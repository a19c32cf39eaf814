"""Results of a model as text and as JSON values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lnmap.cli.terminal import console

if TYPE_CHECKING:
    from lnmap.evaluate import Comparison, Evaluation
    from lnmap.model.answers import Candidate, Translation


def translation_dict(answer: Translation) -> dict[str, Any]:
    """Give one translation under stable names."""
    found: dict[str, Any] = {
        "word": answer.query,
        "known": answer.known,
        "translations": [candidate_dict(candidate) for candidate in answer.candidates],
    }
    if answer.subwords:
        found["subwords"] = True
    if answer.no_translation:
        return {**found, "no_translation": True, "withheld": [candidate_dict(c) for c in answer.withheld]}
    return found if answer.known else {**found, "spellings": list(answer.spellings)}


def candidate_dict(candidate: Candidate) -> dict[str, Any]:
    """Give one candidate under stable names."""
    found = {"word": candidate.word, "score": round(candidate.score, 6), "cosine": round(candidate.cosine, 6)}
    return found if candidate.confidence is None else {**found, "confidence": round(candidate.confidence, 4)}


def show_translations(answers: Sequence[Translation]) -> None:
    """Print a line a word: candidates, their scores, and the confidence in them where it is known."""
    width = max((len(answer.query) for answer in answers), default=0)
    for answer in answers:
        found = "  ".join(_candidate(c) for c in answer.candidates)
        if answer.no_translation:
            best = max(answer.withheld, key=lambda c: c.confidence or 0.0)
            found = f"no translation (the surest candidate is {_candidate(best)})"
        if not answer.known:
            near = f"; perhaps {', '.join(answer.spellings)}?" if answer.spellings else ""
            found = f"not in the vocabulary{near}"
        if answer.subwords:
            found += "  (by its subwords)"
        console.result(f"{answer.query:<{width}}  {found}")


def _candidate(found: Candidate) -> str:
    sure = "" if found.confidence is None else f" {found.confidence:.0%}"
    return f"{found.word} {found.score:.2f}{sure}"


def show_scores(scores: Mapping[str, Evaluation]) -> None:
    """Print a row of scores for each named evaluation."""
    rows = [{"": name, **score.cells} for name, score in scores.items()]
    console.table(list(rows[0]), [list(row.values()) for row in rows])


def comparison_dict(found: Comparison) -> dict[str, Any]:
    """Give a comparison under stable names."""
    return {
        "difference": round(found.difference, 2),
        "interval": [round(end, 2) for end in found.interval],
        "p_value": found.p_value,
        "n": found.n,
    }


def show_comparison(found: Comparison) -> None:
    """Print the difference of two systems."""
    low, high = found.interval
    console.result(
        f"difference of P@1: {found.difference:+.1f} (95 % interval {low:+.1f} to {high:+.1f}, "
        f"sign test p = {found.p_value:.2g}) on {found.n:,} words both were tested on"
    )
