"""Groups of test words in results: read or measured, averaged, and laid out as tables."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lnmap.evaluate import Groups, WordResult, measure_groups
from lnmap.evaluate.groups import ALL, ANSWER_IDENTICAL, BANDS, GOLD_IDENTICAL, MEASURES, rounded, text_of, title_of

if TYPE_CHECKING:
    from lnmap.experiments.report.collect import TableReport

Sheet = tuple[list[str], list[list[str]]]  # heads and rows; seed rule, system and profile come first
TEXT = 3  # columns of words
_P1_NOTE = (
    "P@1 of groups of test words, mean over directions and seeds. A word is its own translation if one of its gold "
    "translations is spelt like it, whatever the letter case; ranks are those of the word translated among all words "
    "of its language, 1 for the most frequent. The last column is a number of words, mean over directions and seeds."
)
_CONFIDENCE_NOTE = (
    "Confidence of the first answer beside P@1, mean over directions and seeds. ECE, the expected calibration error, "
    "is the mean gap between confidence and share of right answers over ten bins of equal width, weighted by answers: "
    "0 is best. The error of few answers is large by chance."
)


def rows_of(words: Mapping[str, Any]) -> list[WordResult]:
    """Rebuild what each test word got from the columns of a file of results."""
    names = ("source", "gold", "answer", "rank", "frequency_rank")
    sure = words.get("confidence") or [None] * len(words["source"])  # older files have none
    columns = zip(*(words[name] for name in names), sure, strict=True)
    return [WordResult(s, tuple(gold), (answer,), rank, place, own) for s, gold, answer, rank, place, own in columns]


def groups_of(run: Mapping[str, Any]) -> Groups:
    """Return the groups of a run: as they were stored, else from its words; none where there is neither."""
    stored: Groups | None = run.get("scores", {}).get("groups")
    if stored is not None or "words" not in run:
        return stored or {}
    return rounded(measure_groups(rows_of(run["words"])))


def mean_groups(many: Sequence[Groups]) -> Groups:
    """Average each measure over those that have words in the group; one that some of them lack is left out."""
    found: Groups = {}
    for name in dict.fromkeys(name for one in many for name in one):
        parts = [one[name] for one in many if one.get(name, {}).get("n")]
        shared = [measure for measure in MEASURES if parts and all(measure in part for part in parts)]
        found[name] = {"n": statistics.mean(one.get(name, {}).get("n", 0) for one in many)}
        found[name] |= {measure: statistics.mean(part[measure] for part in parts) for measure in shared}
    return found


def flat(groups: Groups) -> dict[str, float]:
    """Return all measures under names such as `p@1_gold_differs`, without those of all words that a run has anyway."""
    every = {f"{m}_{name}": value for name, measures in groups.items() for m, value in measures.items()}
    return {name: value for name, value in every.items() if name not in (f"n_{ALL}", f"p@1_{ALL}")}


def group_parts(table: TableReport) -> list[tuple[str, Sheet, str]]:
    """Return the tables about groups of words that the results are enough for: title, heads and rows, explanation."""
    parts = [
        ("P@1 by group of words", _p1_sheet(table), _P1_NOTE),
        ("Is the confidence right?", _confidence_sheet(table), _CONFIDENCE_NOTE),
    ]
    return [part for part in parts if part[1][1]]


def sized(groups: Iterable[Groups]) -> list[str]:
    """Return the groups whose sizes tell about the data: words that are their own translation, and the bands."""
    return [name for name in _known(groups) if name in (GOLD_IDENTICAL, *BANDS)]


def _p1_sheet(table: TableReport) -> Sheet:
    """Lay out P@1 of every group, one row per system and seed rule."""
    lines = _lines(table)
    names = [
        name
        for name in _known(groups for _, groups in lines)
        if any("p@1" in groups.get(name, {}) for _, groups in lines)
    ]
    answered = (f"words {title_of(ANSWER_IDENTICAL)}", ANSWER_IDENTICAL, "n")
    return _sheet(lines, [*((title_of(name), name, "p@1") for name in names), answered])


def _confidence_sheet(table: TableReport) -> Sheet:
    """Lay out how far the confidence is right, one row per system and seed rule that has one."""
    lines = [line for line in _lines(table) if "ece" in line[1].get(ALL, {})]
    bands = [name for name in _known(groups for _, groups in lines) if name in BANDS]
    alike = title_of(ANSWER_IDENTICAL)
    columns = [(MEASURES[measure], ALL, measure) for measure in MEASURES]
    columns += [(f"ECE, {title_of(name)}", name, "ece") for name in bands]
    columns += [(f"{MEASURES[measure]}, {alike}", ANSWER_IDENTICAL, measure) for measure in MEASURES]
    return _sheet(lines, columns)


def _lines(table: TableReport) -> list[tuple[list[str], Groups]]:
    """Return the words of each row and the means over its directions, where all of them have groups."""
    found = []
    for line in (line for take in table.takes for line in table.lines(take)):
        groups = [{} if cell is None else cell.groups for cell in line.cells]
        if all(groups):
            means = mean_groups(groups)
            means[ALL]["p@1"] = means[ALL]["p@1"] if line.ours is None else line.ours  # rounded as in the table above
            found.append((line.names, means))
    return found


def _known(many: Iterable[Groups]) -> list[str]:
    """Return the names of all groups, bands last and in order."""
    known = dict.fromkeys(name for groups in many for name in groups)
    return [name for name in known if name not in BANDS] + [name for name in BANDS if name in known]


def _sheet(lines: Sequence[tuple[list[str], Groups]], columns: Sequence[tuple[str, str, str]]) -> Sheet:
    rows = [
        [*names, *(text_of(measure, groups.get(group, {}).get(measure)) for _, group, measure in columns)]
        for names, groups in lines
    ]
    return ["seed", "system", "profile", *(head for head, _, _ in columns)], rows
