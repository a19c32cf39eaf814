"""One side: vectors that look broken, scripts that mix, words of the other language."""

from __future__ import annotations

from collections import Counter

import numpy as np
import torch

from lnmap.check.report import Report
from lnmap.direction import Side
from lnmap.embeddings import Embeddings, is_word
from lnmap.foreign import foreignness, script, script_of
from lnmap.model.device import as_tensor

_HEAD = 20_000  # most frequent words that are looked at
_SOME = 0.01  # share of broken vectors that is worth a warning
_ALIKE = 1e-3  # variance beside the square of the mean's length: below this all vectors are one
_MIXED, _FOREIGN = 0.1, 0.05  # shares of words; English and French of MUSE hold 3 % of words of each other
_SURE = 0.5


def look_at_vectors(side: Side, vectors: Embeddings, report: Report) -> None:
    """Look for vectors that are zero, repeated, or all alike."""
    head = vectors.vectors[:_HEAD]
    zeros = int(vectors.origin.get("zeros_patched", 0)) + int((~head.any(axis=1)).sum())
    skipped = int(vectors.origin.get("skipped", 0))
    constant = int((np.ptp(head, axis=0) == 0).sum())
    repeated = _repeated(vectors)
    report.count(
        str(side),
        words=len(vectors),
        dim=vectors.dim,
        zero_vectors=zeros,
        lines_skipped=skipped,
        constant_columns=constant,
        repeated_vectors=len(repeated),
    )
    whole = f"of the {side} vectors"
    if skipped > _SOME * len(vectors):
        report.warn("lines", f"{skipped:,} lines {whole} cannot be read; the file may be damaged or no file of vectors")
    if zeros > _SOME * len(vectors):
        report.warn("zeros", f"{zeros:,} {whole} are zero; train or fetch them again")
    if constant:
        report.warn("constant", f"{constant} of {vectors.dim} columns {whole} hold one value only; they say nothing")
    if len(repeated) > _SOME * len(head):
        report.warn("repeated vectors", f"{len(repeated):,} {whole} repeat that of a more frequent word", repeated)
    mean = head.mean(axis=0, dtype=np.float64)
    if len(head) > 1 and float(head.var(axis=0, dtype=np.float64).sum()) < _ALIKE * float(mean @ mean):
        report.warn("alike", f"all {whole} are nearly the same; train them again, with more text or a larger step")


def look_at_words(side: Side, own: Embeddings, other: Embeddings, report: Report) -> None:
    """Look for a second script, and for words of the other language."""
    words = [word for word in own.words[:_HEAD] if is_word(word)]
    usual = script(words)
    strange = [word for word in words if script_of(word) != usual]
    head = own.head(min(_HEAD, len(own)))
    likely = foreignness(head.words, as_tensor(head.vectors, torch.device("cpu")), list(other.words))
    foreign = [head.words[row] for row in (likely > _SURE).nonzero()[:, 0].tolist()]
    report.count(str(side), script=usual.lower(), other_scripts=len(strange), foreign_words=len(foreign))
    seen = len(words)
    if len(strange) > _MIXED * seen:
        second = Counter(script_of(word) for word in strange).most_common(1)[0][0].lower()
        report.warn(
            "scripts",
            f"{len(strange) / seen:.0%} of the {side} words are not in {usual.lower()} letters, most of them in "
            f"{second} ones; filter the text by language",
            strange,
        )
    if len(foreign) > _FOREIGN * seen:
        report.warn(
            "foreign",
            f"{len(foreign) / seen:.0%} of the {side} words seem to be of the other language; filter the text by "
            "language",
            foreign,
        )


def _repeated(vectors: Embeddings) -> list[str]:
    """Return the words among the most frequent ones whose vector another one has too."""
    seen: set[bytes] = set()
    found = []
    for word, row in zip(vectors.words[:_HEAD], vectors.vectors[:_HEAD], strict=True):
        key = row.tobytes()
        if key in seen:
            found.append(word)
        seen.add(key)
    return found
