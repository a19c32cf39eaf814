"""The spaces: pairs that look wrong, how alike the shapes are, and the P@1 to expect."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from lnmap.check.report import Report
from lnmap.embeddings import Embeddings
from lnmap.errors import LnmapError, TrainingError
from lnmap.evaluate.scores import Evaluation, WordResult
from lnmap.isometry import LEAST, measure_isometry
from lnmap.lexicon import Lexicon
from lnmap.methods.auto.notices import notice_vocabularies, shared
from lnmap.methods.auto.trim import trimmed
from lnmap.methods.base import Run
from lnmap.model.device import as_tensor
from lnmap.pipeline import align
from lnmap.progress import Progress, Silent

Rows = NDArray[np.int64]  # (k, 2)

_HEAD = 20_000  # most frequent words among which answers are looked for
_WORDS = 2000  # per language, whose shapes are compared
_FOLDS = 3
_ENOUGH = 30  # words of the seed that tell something when a part is held out
_METHOD = "procrustes"
_POOR = 5.0  # P@1 below which a method finds little


def look_ahead(source: Embeddings, target: Embeddings, pairs: Lexicon, report: Report, progress: Progress) -> None:
    """Try what can be tried without training."""
    x, y = (side.head(min(_HEAD, len(side))) for side in (source, target))
    share = shared(x.words, y.words)
    report.count("both", shared_words=round(share, 4))
    noticed = Silent()
    notice_vocabularies(Run(words=(x.words, y.words), progress=noticed))
    for note in noticed.notes:
        report.warn("languages", note)
    rows = np.unique(pairs.rows(x, y), axis=0)
    _compare_shapes(x, y, pairs, len(rows), report, progress)
    if len(np.unique(rows[:, 0])) < _ENOUGH:
        report.count("expected", words=0, **{"p@1": None})
        return
    fitting = _without_wrong_pairs(x, y, rows, report)
    if len(fitting):
        _hold_out(x, y, fitting, report, progress)


def _compare_shapes(
    x: Embeddings, y: Embeddings, pairs: Lexicon, known: int, report: Report, progress: Progress
) -> None:
    try:
        found = measure_isometry(
            x, y, pairs if known >= LEAST else None, words=_WORDS, graph_words=_WORDS, progress=progress
        )
    except LnmapError as error:  # a space without a shape, which the vectors have been warned about
        report.warn("shape", f"the shapes cannot be compared: {error}")
        return
    report.count("shapes", **{key: value for key, value in found.to_dict().items() if key != "seconds"})


def _without_wrong_pairs(x: Embeddings, y: Embeddings, rows: Rows, report: Report) -> Rows:
    """Report pairs that do not fit the others, and return those that do; none where all look random."""
    run = Run(words=(x.words, y.words), progress=Silent())
    cpu = torch.device("cpu")
    try:
        kept = trimmed(as_tensor(x.vectors, cpu), as_tensor(y.vectors, cpu), torch.as_tensor(rows), run).numpy()
    except TrainingError as error:
        report.warn("random", str(error))
        return rows[:0]
    wrong = [(x.words[s], y.words[t]) for s, t in rows[~kept]]
    report.count("pairs", look_wrong=len(wrong), wrong_pairs=wrong)
    if wrong:
        message = f"{len(wrong):,} of {len(rows):,} pairs do not fit the others; look through them"
        report.warn("wrong", message, (f"{one} - {other}" for one, other in wrong))
    return rows[kept]


def _hold_out(x: Embeddings, y: Embeddings, rows: Rows, report: Report, progress: Progress) -> None:
    """Train the closed form without a part of the words, and look for those."""
    different, place = np.unique(rows[:, 0], return_inverse=True)
    fold = (np.random.default_rng(0).permutation(len(different)) % _FOLDS)[place]
    pairs = [(x.words[s], y.words[t]) for s, t in rows]
    results: list[WordResult] = []
    with progress.task("holding out pairs", _FOLDS) as task:
        for number in range(_FOLDS):
            seed, test = (
                Lexicon([pair for pair, own in zip(pairs, fold, strict=True) if (own == number) == held])
                for held in (False, True)
            )
            model = align(x, y, seed, method=_METHOD, device="cpu", one_way=True)
            results += model.evaluate(test).rows
            task.advance()
    found = Evaluation(results, len(results), 0, len(pairs))
    low, high = found.interval()
    report.count(
        "expected",
        words=len(results),
        method=_METHOD,
        interval=[round(low, 1), round(high, 1)],
        **{"p@1": round(found.precision(1), 1), "p@10": round(found.precision(10), 1)},
    )
    if found.precision(1) < _POOR:
        report.warn(
            "poor",
            f"of {len(results):,} dictionary words held out, a plain rotation finds {found.precision(1):.1f} %; more "
            "text helps most, then more pairs",
        )
