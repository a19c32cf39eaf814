"""What the tests compare with: retrieval in plain NumPy and float64, and the counting of two published scorers.

Nothing here is fast, blocked or shared with the package. The scorers are written from the descriptions of MUSE
(Conneau et al. 2018) and VecMap (Artetxe et al. 2018).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Pairs = Sequence[tuple[str, str]]
Matrix = np.ndarray


def unit(x: Matrix) -> Matrix:
    x = np.asarray(x, dtype=np.float64)
    return x / np.maximum(np.sqrt((x * x).sum(axis=1, keepdims=True)), 1e-12)


def nearest_mean(cosines: Matrix, k: int) -> Matrix:
    """Mean of the k largest values of each row."""
    return np.sort(cosines, axis=1)[:, -k:].mean(axis=1)


def scores(source: Matrix, target: Matrix, criterion: str, k: int = 10) -> Matrix:
    """Score every source row against every target row, (n, m), by the formula of the criterion."""
    cosines = unit(source) @ unit(target).T
    if criterion == "cosine":
        return cosines
    if criterion == "csls":
        return 2 * cosines - nearest_mean(cosines, k)[:, None] - nearest_mean(cosines.T, k)[None, :]
    return cosines - np.log(np.exp(30 * cosines).sum(axis=0))[None, :] / 30


def ranks(found: Matrix, gold: Sequence[Sequence[int]]) -> list[int]:
    """Place of the best gold column of each row; of equal scores the earlier column goes first."""
    places = []
    for row, wanted in zip(found, gold, strict=True):
        order = np.argsort(-row, kind="stable").tolist()
        places.append(min(order.index(column) for column in wanted))
    return places


def induced(found: Matrix, mode: str) -> set[tuple[int, int]]:
    """Pairs of rows that choose each other, or that are chosen from one side or from either, by CSLS."""
    forward = {(row, int(best)) for row, best in enumerate(found.argmax(axis=1))}
    backward = {(int(best), row) for row, best in enumerate(found.argmax(axis=0))}
    kept = {"mutual": forward & backward, "union": forward | backward, "forward": forward, "backward": backward}
    return kept[mode]


def muse(found: Matrix, source: Sequence[str], target: Sequence[str], pairs: Pairs) -> dict[int, str]:
    """P@1, P@5 and P@10 as MUSE counts them, to its five decimals.

    Every line whose two words are known is a question; a source word is right when one of its lines is. The mean is
    taken over source words.
    """
    rows = {word: row for row, word in enumerate(source)}
    columns = {word: column for column, word in enumerate(target)}
    known = [(rows[s], columns[t]) for s, t in pairs if s in rows and t in columns]
    printed = {}
    for k in (1, 5, 10):
        right: dict[int, int] = {}
        for row, column in known:
            first = np.argsort(-found[row], kind="stable")[:k]
            right[row] = min(right.get(row, 0) + int((first == column).sum()), 1)
        printed[k] = f"{100 * np.mean(list(right.values())):.5f}"
    return printed


def vecmap(found: Matrix, source: Sequence[str], target: Sequence[str], pairs: Pairs) -> tuple[str, str]:
    """Coverage and accuracy as VecMap counts and prints them.

    A source word is out of the vocabulary when none of its lines has two known words. Coverage is the share of source
    words that are not; accuracy is that of the first answers to these.
    """
    rows = {word: row for row, word in enumerate(source)}
    columns = {word: column for column, word in enumerate(target)}
    gold: dict[int, set[int]] = {}
    missing, present = set(), set()
    for s, t in pairs:
        if s in rows and t in columns:
            gold.setdefault(rows[s], set()).add(columns[t])
            present.add(s)
        else:
            missing.add(s)
    coverage = len(gold) / (len(gold) + len(missing - present))
    accuracy = np.mean([1 if int(found[row].argmax()) in right else 0 for row, right in gold.items()])
    return f"{coverage:7.2%}", f"{accuracy:7.2%}"
