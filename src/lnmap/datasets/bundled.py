"""Data that comes with the package: one real pair of languages, small enough to try everything on."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files

from lnmap.embeddings import Embeddings
from lnmap.io import load_store, read_lexicon
from lnmap.lexicon import Lexicon


@dataclass(frozen=True)
class BundledPair:
    """English and French: 10 000 words a language, and word pairs to train and to test on.

    No word of either language stands in both `train` and `test`, so scores are honest in both directions.
    Where all of it comes from, and under which licences, is told by `pair/NOTICE.md`.
    """

    source: Embeddings
    target: Embeddings
    train: Lexicon
    test: Lexicon


def bundled_pair() -> BundledPair:
    """Load the English-French pair that comes with the package."""
    with as_file(files(__package__) / "pair") as folder:
        return BundledPair(
            source=load_store(folder / "en"),
            target=load_store(folder / "fr"),
            train=read_lexicon(folder / "train.tsv"),
            test=read_lexicon(folder / "test.tsv"),
        )
