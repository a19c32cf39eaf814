"""The contract of a benchmark, and the folder that all of them lie in."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lnmap.io.atomic import atomic_file
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
        """The four files."""
        return self.source, self.target, self.train, self.test


@dataclass(frozen=True)
class Origin:
    """Where a file comes from, and the path it belongs at, also when it is fetched by hand."""

    address: str
    path: Path


class Benchmark(ABC):
    """Directed pairs of English and other languages: `en-fr`, `fr-en`, and so on."""

    name: ClassVar[str]
    title: ClassVar[str]
    licence: ClassVar[str]
    languages: ClassVar[tuple[str, ...]]  # each paired with English
    vectors: ClassVar[str]  # path in the folder, with {} for the language
    train: ClassVar[str]  # path in the folder, with {} for the pair
    test: ClassVar[str]
    limit: ClassVar[int | None] = None
    policy: ClassVar[str] = "muse"

    @property
    def folder(self) -> Path:
        """Folder of this benchmark."""
        return data_folder() / self.name

    @property
    def pairs(self) -> list[str]:
        """All directed pairs."""
        return [pair for other in self.languages for pair in (f"en-{other}", f"{other}-en")]

    def command(self, name: str, pairs: Sequence[str]) -> str:
        """Return the placeholder for a command about these pairs, such as `data get`, in the advice of an error."""
        return f"{{{name}:{self.name} {','.join(pairs)}}}"

    def place(self, pair: str) -> PairFiles:
        """Return the files of a directed pair, whether they exist or not."""
        source, target = (self.folder / self.vectors.format(language) for language in pair.split("-"))
        train, test = (self.folder / path.format(pair) for path in (self.train, self.test))
        return PairFiles(source, target, train, test, self.limit, self.policy)

    @abstractmethod
    def origins(self, pairs: Sequence[str]) -> list[Origin]:
        """List what is fetched for these pairs."""

    @abstractmethod
    def size(self, pairs: Sequence[str]) -> int:
        """Count the bytes still to be written for these pairs."""

    @abstractmethod
    def get(self, pairs: Sequence[str], progress: Progress, accept_changed: bool) -> None:
        """Fetch or make what is missing for these pairs."""


def data_folder() -> Path:
    """Return the user's data folder: $LNMAP_DATA, else $XDG_DATA_HOME/lnmap, else ~/.local/share/lnmap."""
    if own := os.environ.get("LNMAP_DATA"):
        return Path(own)
    shared = os.environ.get("XDG_DATA_HOME")
    return (Path(shared) if shared else Path.home() / ".local" / "share") / "lnmap"


def languages_of(pairs: Iterable[str]) -> list[str]:
    """List the languages of directed pairs, English first."""
    return sorted({language for pair in pairs for language in pair.split("-")}, key=lambda name: (name != "en", name))


def write_pairs(path: Path, pairs: Iterable[tuple[str, str]]) -> None:
    """Write a dictionary, one pair per line."""
    with atomic_file(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        file.writelines(f"{source}\t{target}\n" for source, target in pairs)
