"""The dictionary beside the vocabularies: coverage, letter case, exchanged columns, repeated pairs, scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lnmap.check.report import Report
from lnmap.direction import Side
from lnmap.embeddings import Embeddings, is_word
from lnmap.foreign import script, script_of
from lnmap.lexicon import Lexicon

_LITTLE = 0.2  # share of pairs in the vocabularies; below it something is wrong or little text
_FEW = 30  # pairs: fewer hardly help
_MANY = 0.1  # share of the unknown words that have another letter case; of pairs that are repeated
_MIXED = 0.05  # share of a column in another script
_HEAD = 20_000  # most frequent words, which tell the script


def look_at_pairs(source: Embeddings, target: Embeddings, pairs: Lexicon, report: Report) -> None:
    """Look at a dictionary."""
    known, turned = len(pairs.rows(source, target)), len(pairs.reversed().rows(source, target))
    repeated = len(pairs) - len(set(pairs.pairs))
    report.count(
        "pairs",
        pairs=len(pairs),
        known=known,
        words=len({source.find(one) for one, other in pairs if target.find(other) is not None} - {None}),
        exchanged=turned,
        repeated=repeated,
        same_word=sum(one.lower() == other.lower() for one, other in pairs),
        several_words=sum(" " in one or " " in other for one, other in pairs),
    )
    if not len(pairs):
        report.count("pairs", source_unknown=0, target_unknown=0)
        report.warn("pairs", "the dictionary has no pairs; check the file")
        return
    if wrong := pairs.exchanged(source, target):
        report.warn("exchanged", wrong)
    for place, (side, own) in enumerate(((Side.SOURCE, source), (Side.TARGET, target))):
        _look_at_column(side, own, list(dict.fromkeys(pair[place] for pair in pairs)), report)
    if known < _LITTLE * len(pairs) and not wrong:
        report.warn(
            "coverage",
            f"only {known:,} of {len(pairs):,} pairs have both words in the vocabularies; more text, or vectors of "
            "more words, would use the others",
            (f"{one} - {other}" for one, other in pairs if source.find(one) is None or target.find(other) is None),
        )
    if known < _FEW:
        report.warn(
            "few",
            f"{known:,} pair{'s' * (known != 1)} can be trained on; {_FEW} or more help, and a few hundred help much",
        )
    if repeated > _MANY * len(pairs):
        twice = (f"{one} - {other}" for (one, other), n in Counter(pairs.pairs).most_common() if n > 1)
        report.warn("repeated pairs", f"{repeated:,} of {len(pairs):,} pairs are repeated; they count once", twice)


def _look_at_column(side: Side, own: Embeddings, words: Sequence[str], report: Report) -> None:
    """Look at the different words of one column."""
    unknown = [word for word in words if own.find(word) is None]
    cased = [word for word in unknown if any(form in own for form in (word.capitalize(), word.upper(), word.title()))]
    report.count("pairs", **{f"{side}_unknown": len(unknown), f"{side}_other_case": len(cased)})
    if len(cased) > _MANY * len(unknown) and cased:
        report.warn(
            "case",
            f"{len(cased):,} {side} words of the dictionary are in the vocabulary in another letter case; read the "
            "vectors in lower case (policy muse)",
            cased,
        )
    letters = [word for word in words if is_word(word)]
    here, there = script(letters), script(own.words[:_HEAD])
    if here and there and here != there:
        report.warn(
            "column script",
            f"the {side} words of the dictionary are in {here.lower()} letters, those of the vectors in "
            f"{there.lower()} ones; check that the files belong together",
            letters,
        )
    strange = [word for word in letters if script_of(word) != here]
    if len(strange) > _MIXED * len(letters):
        report.warn(
            "mixed column",
            f"{len(strange):,} of {len(letters):,} {side} words of the dictionary are not in {here.lower()} letters; "
            "look through them",
            strange,
        )
