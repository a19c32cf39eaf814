"""The bundled pair: real data, small enough to try everything on."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files

from lnmap.embeddings import Embeddings
from lnmap.io import load_store, read_lexicon
from lnmap.lexicon import Lexicon


@dataclass(frozen=True)
class BundledPair:
    """English and French: 10 000 words per language, and word pairs to train and to test on.

    No word of either language is in both `train` and `test`, so no test word is seen in training in either direction.
    `pair/NOTICE.md` lists origins and licences.
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
