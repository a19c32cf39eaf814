"""What a benchmark is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lnmap.progress import Progress


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

    @property
    def paths(self) -> tuple[Path, Path, Path, Path]:
        """List the four files."""
        return self.source, self.target, self.train, self.test


@dataclass(frozen=True)
class Origin:
    """Where something comes from, and where it goes when it is fetched by hand."""

    address: str
    path: Path


class Benchmark(Protocol):
    """One benchmark: what it is, and how its files are found and fetched."""

    name: str
    title: str
    licence: str
    languages: tuple[str, ...]  # each paired with English

    def place(self, pair: str) -> PairFiles:
        """Say where the files of a directed pair lie, or would lie."""

    def origins(self, pairs: Sequence[str]) -> list[Origin]:
        """List what is fetched for these pairs."""

    def size(self, pairs: Sequence[str]) -> int:
        """Count the bytes that are still to be written for these pairs."""

    def get(self, pairs: Sequence[str], progress: Progress, accept_changed: bool) -> None:
        """Fetch and make what is missing for these pairs."""
