"""What a benchmark is made of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PairFiles:
    """The files of one directed pair of languages.

    :param source: word vectors, in any format that `lnmap.read` takes; so is `target`.
    :param train: dictionary to take the seed from; `test` is the one to score on.
    :param limit: how many of the most frequent words to read; None reads all.
    :param policy: the reading policy that the benchmark was made for.
    """

    source: Path
    target: Path
    train: Path
    test: Path
    limit: int | None
    policy: str = "muse"
