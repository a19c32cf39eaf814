"""The benchmark `open`: whatever it needs comes out of public packages, so that pip is the only network it needs."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from lnmap.datasets.extract.archives import Package
from lnmap.datasets.extract.bilingual import Dictionaries, Pair, Scores, equal_scores, shared_senses, split
from lnmap.datasets.extract.stardict import read_articles
from lnmap.datasets.extract.wordnets import english_senses, other_senses
from lnmap.datasets.home import data_folder
from lnmap.datasets.notices import write_notices
from lnmap.datasets.packages import PinnedPackage, fetch_package
from lnmap.datasets.recipes import OMW, PAIRS, VECTORS, packages_for, read_vectors
from lnmap.datasets.records import Origin, PairFiles
from lnmap.embeddings import Embeddings
from lnmap.errors import DownloadError
from lnmap.io import load_store, save_store
from lnmap.io.atomic import TEMPORARY, atomic_file
from lnmap.progress import Progress

EDITION = "v1"  # changes when the same packages give other files
_GRAMMAR_WORDS = 100  # the most frequent words of a language hold its grammar, and few translations
_BYTES_A_WORD = 640  # 300 numbers of 16 bits, and the word


class Open:
    """English with French, Finnish, Japanese and Russian."""

    name = "open"
    title = "vectors and word pairs out of public Python packages: nothing but pip is needed"
    licence = "free licences, one a source: NOTICE.md"
    languages = tuple(PAIRS)

    @property
    def folder(self) -> Path:
        """Give the folder of this edition."""
        return data_folder() / self.name / EDITION

    @property
    def downloads(self) -> Path:
        """Give the folder of the packages."""
        return data_folder() / self.name / "packages"

    def place(self, pair: str) -> PairFiles:
        """Say where the files of a directed pair lie."""
        source, target = (self.folder / "vectors" / name for name in pair.split("-"))
        words = self.folder / "dictionaries"
        return PairFiles(source, target, words / f"{pair}.train.tsv", words / f"{pair}.test.tsv", None)

    def origins(self, pairs: Sequence[str]) -> list[Origin]:
        """List the packages."""
        wanted = packages_for(_languages(pairs))
        return [Origin(f"pip: {package.name}=={package.version}", self.downloads / package.file) for package in wanted]

    def size(self, pairs: Sequence[str]) -> int:
        """Count the bytes of the packages and files that are missing."""
        missing = [language for language in _languages(pairs) if not self._vectors(language).exists()]
        packages = sum(p.size for p in self._needed(pairs) if not p.is_in(self.downloads))
        return packages + sum(VECTORS[language].words * _BYTES_A_WORD for language in missing)

    def get(self, pairs: Sequence[str], progress: Progress, accept_changed: bool) -> None:
        """Fetch the packages and extract what is missing; `accept_changed` means nothing, for they cannot change."""
        needed = self._needed(pairs)
        if not needed:
            return
        self._sweep()
        here = {package.name: fetch_package(package, self.downloads, progress) for package in needed}
        for language in _languages(pairs):
            if not self._vectors(language).exists():
                with progress.task(f"extracting {language} vectors", None):
                    found = read_vectors(language, Package(here[VECTORS[language].package.name]))
                    save_store(found, self._vectors(language), dtype="float16")
        for language in _languages(pairs):
            if language in PAIRS and not self._has_dictionaries(language):
                with progress.task(f"making the dictionaries of en-{language}", None):
                    self._make_dictionaries(language, here)
        write_notices(self.folder, here)

    def _sweep(self) -> None:
        """Remove what a run that was killed has left; nobody else is at work here."""
        for folder in (self.downloads, self.folder / "vectors", self.folder / "dictionaries"):
            for left in folder.glob(f"{TEMPORARY}*"):
                shutil.rmtree(left, ignore_errors=True)
                left.unlink(missing_ok=True)

    def _vectors(self, language: str) -> Path:
        return self.folder / "vectors" / language

    def _has_dictionaries(self, language: str) -> bool:
        pairs = (f"en-{language}", f"{language}-en")
        return all(path.is_file() for pair in pairs for path in self.place(pair).paths[2:])

    def _needed(self, pairs: Sequence[str]) -> list[PinnedPackage]:
        """List the packages that something missing is made from, and those of the licences to be written."""
        languages = _languages(pairs)
        missing = [name for name in languages if not self._vectors(name).exists()]
        wanted = {VECTORS[name].package.name: VECTORS[name].package for name in missing}
        lacking = [name for name in languages if name in PAIRS and not self._has_dictionaries(name)]
        if missing or lacking:
            sources = [OMW, *(PAIRS[name].package for name in PAIRS if name in lacking or self._has_dictionaries(name))]
            wanted.update({package.name: package for package in sources})
        return list(wanted.values())

    def _make_dictionaries(self, language: str, here: dict[str, Path]) -> None:
        ours, theirs = load_store(self._vectors("en")), load_store(self._vectors(language))
        there, back = split(_scores(language, ours, theirs, here), ours.index, theirs.index)
        self._write(f"en-{language}", there)
        self._write(f"{language}-en", back)

    def _write(self, pair: str, made: Dictionaries) -> None:
        files = self.place(pair)
        for path, pairs in ((files.train, made.train), (files.test, made.test)):
            with atomic_file(path, "w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{source}\t{target}\n" for source, target in pairs)


def _scores(language: str, ours: Embeddings, theirs: Embeddings, here: dict[str, Path]) -> Scores:
    """Score the word pairs of a language, wherever they come from; words of the grammar are left out."""
    source = PAIRS[language]
    package, wordnet = Package(here[source.package.name]), Package(here[OMW.name])
    try:
        stop = set(wordnet.read("/stopwords/english").decode("utf-8").split())
        ranks = {word: row for word, row in ours.index.items() if word not in stop and len(word) > 1}
        others = {word: row for word, row in theirs.index.items() if row >= _GRAMMAR_WORDS}
        if source.package is OMW:
            senses = other_senses(package, source.file)
            return shared_senses(english_senses(wordnet), senses, ranks, others)
        return equal_scores(_single_words(read_articles(package, source.file)), ranks, others)
    except (ValueError, KeyError, IndexError) as error:
        raise DownloadError(
            f"{package.path} does not hold the words that were expected ({type(error).__name__}: {error})"
        ) from error


def _single_words(articles: Iterable[tuple[str, list[str]]]) -> Iterable[Pair]:
    return ((word.lower(), other.lower()) for word, others in articles for other in others)


def _languages(pairs: Sequence[str]) -> list[str]:
    """List the languages of pairs, English first."""
    return sorted({language for pair in pairs for language in pair.split("-")}, key=lambda name: (name != "en", name))
