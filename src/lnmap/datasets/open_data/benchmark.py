"""The benchmark `open`: fetch packages, extract vectors, make dictionaries, write the licences beside them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from lnmap.datasets.archives import read_member
from lnmap.datasets.benchmark import Benchmark, Origin, languages_of, write_pairs
from lnmap.datasets.open_data.dictionaries import Scores, equal_scores, shared_senses, split
from lnmap.datasets.open_data.notice import write_licences, write_notice
from lnmap.datasets.open_data.packages import PinnedPackage
from lnmap.datasets.open_data.sources import PACKAGES, PAIRS, VECTORS, WORDNET
from lnmap.datasets.open_data.stardict import read_articles
from lnmap.datasets.open_data.wordnets import english_senses, other_senses
from lnmap.embeddings import Embeddings
from lnmap.errors import DownloadError, MissingExtraError
from lnmap.io import load_store, save_store
from lnmap.progress import Progress

EDITION = "v1"  # changes when the same packages give other files
_GRAMMAR_WORDS = 100  # the most frequent words of a language are mostly function words with few translations
_BYTES_PER_WORD = 640  # 300 numbers of 16 bits, and the word


class Open(Benchmark):
    """English with French, Finnish, Japanese and Russian."""

    name = "open"
    title = "vectors and word pairs from public Python packages, fetched by pip"
    licence = "free licences, one per source: NOTICE.md"
    languages = tuple(PAIRS)
    vectors = f"{EDITION}/vectors/{{}}"
    train = f"{EDITION}/dictionaries/{{}}.train.tsv"
    test = f"{EDITION}/dictionaries/{{}}.test.tsv"

    @property
    def downloads(self) -> Path:
        """Folder of the packages."""
        return self.folder / "packages"

    def origins(self, pairs: Sequence[str]) -> list[Origin]:
        """List the packages."""
        languages = languages_of(pairs)
        packages = _packages(languages, languages[1:])
        return [Origin(f"pip: {one.name}=={one.version}", self.downloads / one.file) for one in packages]

    def size(self, pairs: Sequence[str]) -> int:
        """Count the bytes of the packages and vectors that are missing."""
        fetched = sum(package.size for package in self._needed(pairs) if not (self.downloads / package.file).is_file())
        return fetched + sum(VECTORS[name].words * _BYTES_PER_WORD for name in self._without_vectors(pairs))

    def get(self, pairs: Sequence[str], progress: Progress, accept_changed: bool) -> None:
        """Fetch packages and extract what is missing; `accept_changed` has no effect, as their hashes are fixed."""
        needed = self._needed(pairs)
        if not needed:
            return
        for package in ("msgpack", "mmh3"):
            if find_spec(package) is None:
                raise MissingExtraError(package, "data", "making the benchmark 'open'")
        here = {package.name: package.fetch(self.downloads, progress) for package in needed}
        write_notice(self.folder / EDITION, languages_of(pairs))
        for language in self._without_vectors(pairs):
            with progress.task(f"extracting {language} vectors", None):
                found = VECTORS[language].read(here[VECTORS[language].package])
                save_store(found, self._vectors(language), dtype="float16")
        for language in self._without_dictionaries(pairs):
            with progress.task(f"making the dictionaries of en-{language}", None):
                self._make_dictionaries(language, here[PAIRS[language].package], here[WORDNET])

    def _vectors(self, language: str) -> Path:
        return self.folder / self.vectors.format(language)

    def _without_vectors(self, pairs: Sequence[str]) -> list[str]:
        return [language for language in languages_of(pairs) if not self._vectors(language).exists()]

    def _without_dictionaries(self, pairs: Sequence[str]) -> list[str]:
        """List the languages that lack a dictionary in either direction: both are made together."""
        return [
            other
            for other in languages_of(pairs)[1:]
            if not all(path.is_file() for pair in (f"en-{other}", f"{other}-en") for path in self.place(pair).paths[2:])
        ]

    def _needed(self, pairs: Sequence[str]) -> list[PinnedPackage]:
        return _packages(self._without_vectors(pairs), self._without_dictionaries(pairs))

    def _make_dictionaries(self, language: str, package: Path, wordnet: Path) -> None:
        ours, theirs = load_store(self._vectors("en")), load_store(self._vectors(language))
        from_english, into_english = split(_scores(language, ours, theirs, package, wordnet), ours.index, theirs.index)
        write_licences(self.folder / EDITION, PAIRS[language], package, wordnet)
        for pair, made in ((f"en-{language}", from_english), (f"{language}-en", into_english)):
            files = self.place(pair)
            write_pairs(files.train, made.train)
            write_pairs(files.test, made.test)


def _packages(vectors: Sequence[str], dictionaries: Sequence[str]) -> list[PinnedPackage]:
    """List the packages that the vectors and dictionaries of these languages are made from."""
    names = [VECTORS[language].package for language in vectors]
    names += [name for language in dictionaries for name in (WORDNET, PAIRS[language].package)]
    return [PACKAGES[name] for name in dict.fromkeys(names)]


def _scores(language: str, ours: Embeddings, theirs: Embeddings, package: Path, wordnet: Path) -> Scores:
    """Score the word pairs of a language, leaving out function words."""
    source = PAIRS[language]
    try:
        stop = set(read_member(wordnet, "stopwords/english").decode("utf-8").split())
        ranks = {word: row for word, row in ours.index.items() if word not in stop and len(word) > 1}
        others = {word: row for word, row in theirs.index.items() if row >= _GRAMMAR_WORDS}
        if source.package == WORDNET:
            return shared_senses(english_senses(wordnet), other_senses(package, source.file), ranks, others)
        articles = read_articles(package, source.file)
        pairs = ((word.lower(), other.lower()) for word, translations in articles for other in translations)
        return equal_scores(pairs, ranks, others)
    except (ValueError, KeyError, IndexError) as error:
        raise DownloadError(
            f"{package} does not hold the words that were expected ({type(error).__name__}: {error})"
        ) from error
