"""The benchmarks whose files lie on their publishers' servers: MUSE and VecMap."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from lnmap.datasets.download import Remote, adopt, download
from lnmap.datasets.home import data_folder
from lnmap.datasets.ledger import Ledger
from lnmap.datasets.records import Origin, PairFiles
from lnmap.datasets.transport import PassingError, remote_size
from lnmap.datasets.unpack import unpack
from lnmap.errors import DownloadError
from lnmap.io import read_lexicon
from lnmap.io.atomic import atomic_file
from lnmap.progress import Progress

_DICTIONARIES = "https://dl.fbaipublicfiles.com/arrival/dictionaries"
_FASTTEXT = "https://dl.fbaipublicfiles.com/fasttext/vectors-wiki"
_VECMAP = "http://ixa2.si.ehu.es/martetxe/vecmap"
_ARCHIVE = "dictionaries.tar.gz"


class _Downloaded:
    """What both benchmarks do alike."""

    name: str

    @property
    def folder(self) -> Path:
        """Give the folder of the benchmark."""
        return data_folder() / self.name

    def remotes(self, pairs: Sequence[str]) -> list[Remote]:
        """List the files to be downloaded for these pairs."""
        raise NotImplementedError

    def origins(self, pairs: Sequence[str]) -> list[Origin]:
        """List what is fetched for these pairs."""
        return [Origin(remote.address, self.folder / remote.path) for remote in self.remotes(pairs)]

    def size(self, pairs: Sequence[str]) -> int:
        """Ask the servers how large the missing files are; what is unknown counts nothing."""
        missing = [remote for remote in self.remotes(pairs) if not (self.folder / remote.path).is_file()]
        return sum(_left(remote, self.folder) for remote in missing)

    def get(self, pairs: Sequence[str], progress: Progress, accept_changed: bool) -> None:
        """Download what is missing, and check what somebody else has put there."""
        ledger = Ledger(self.folder)
        command = f"lnmap data get {self.name} --pairs {','.join(pairs)}"
        for remote in self.remotes(pairs):
            if (self.folder / remote.path).is_file():
                adopt(remote, self.folder, ledger, progress, command, accept_changed)
            else:
                download(remote, self.folder, ledger, progress, command, accept_changed)


class Muse(_Downloaded):
    """MUSE dictionaries and fastText vectors, as in the paper's Tables 1, 2 and 4."""

    name = "muse"
    title = "MUSE dictionaries, fastText Wikipedia vectors (200,000 words a language)"
    licence = "dictionaries CC BY-NC 4.0, vectors CC BY-SA 3.0"
    languages: tuple[str, ...] = (
        "ms",
        "fi",
        "et",
        "tr",
        "el",
        "fa",
        "he",
        "ta",
        "bn",
        "hi",
        "es",
        "de",
        "it",
        "ar",
        "ru",
    )

    def place(self, pair: str) -> PairFiles:
        """Say where the files of a directed pair lie."""
        source, target = (self.folder / "vectors" / f"wiki.{name}.vec" for name in pair.split("-"))
        words = self.folder / "dictionaries"
        return PairFiles(source, target, words / f"{pair}.0-5000.txt", words / f"{pair}.5000-6500.txt", 200_000)

    def remotes(self, pairs: Sequence[str]) -> list[Remote]:
        """List dictionaries first: they are small, and tell soon when something is wrong."""
        names = [f"{pair}.{part}.txt" for pair in pairs for part in ("0-5000", "5000-6500")]
        found = [Remote(f"{_DICTIONARIES}/{name}", f"dictionaries/{name}", "pairs") for name in names]
        for language in _languages(pairs):
            name = f"wiki.{language}.vec"
            found.append(Remote(f"{_FASTTEXT}/{name}", f"vectors/{name}", "vectors"))
        return found


class VecMap(_Downloaded):
    """The data set of Dinu et al. (2015) as Artetxe et al. extended it, as in the paper's Table 3."""

    name = "vecmap"
    title = "VecMap data set: CBOW vectors (200,000 words a language), Europarl dictionaries"
    licence = "not stated by the publishers: for research"
    languages: tuple[str, ...] = ("es", "it", "de", "fi")

    def place(self, pair: str) -> PairFiles:
        """Say where the files of a directed pair lie."""
        source, target = (self.folder / "vectors" / f"{name}.emb.txt.gz" for name in pair.split("-"))
        words = self.folder / "dictionaries"
        return PairFiles(source, target, words / f"{pair}.train.txt", words / f"{pair}.test.txt", None, "vecmap")

    def remotes(self, pairs: Sequence[str]) -> list[Remote]:
        """List the archive of all dictionaries, and the vectors."""
        vectors = [f"{language}.emb.txt.gz" for language in _languages(pairs)]
        found = [Remote(f"{_VECMAP}/{_ARCHIVE}", _ARCHIVE, "gzip")]
        return found + [Remote(f"{_VECMAP}/{name}", f"vectors/{name}", "gzip") for name in vectors]

    def get(self, pairs: Sequence[str], progress: Progress, accept_changed: bool) -> None:
        """Download what is missing, unpack the dictionaries, and turn them round for the pairs into English."""
        super().get(pairs, progress, accept_changed)
        for pair in pairs:
            for path in self.place(pair).paths[2:]:
                if not path.is_file():
                    _dictionary(self.folder / _ARCHIVE, pair, path)


def _dictionary(archive: Path, pair: str, path: Path) -> None:
    """Write one dictionary; the archive holds those from English only."""
    if pair.startswith("en-"):
        unpack(archive, path.parent, [path.name])
        return
    given = path.with_name("-".join(reversed(pair.split("-"))) + path.name.removeprefix(pair))
    if not given.is_file():
        unpack(archive, path.parent, [given.name])
    with atomic_file(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        file.writelines(f"{target}\t{source}\n" for source, target in read_lexicon(given))


def _left(remote: Remote, folder: Path) -> int:
    """Count the bytes of a file that are not here yet."""
    part = folder / f"{remote.path}.part"
    return max(_whole(remote, folder) - (part.stat().st_size if part.is_file() else 0), 0)


def _whole(remote: Remote, folder: Path) -> int:
    for pause in (1.0, 2.0, None):
        try:
            return remote_size(remote.address) or 0
        except PassingError as error:
            if pause is None:
                raise DownloadError(
                    f"{error}; without a network, fetch the files on another machine: "
                    f"'lnmap data where {folder.name}' lists their addresses and where to put them"
                ) from error
            time.sleep(pause)
    return 0


def _languages(pairs: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(language for pair in pairs for language in pair.split("-")))
