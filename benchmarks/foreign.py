"""Which words of a vocabulary belong to the other language: lists to be read by people who know both languages.

    python benchmarks/foreign.py --data DIR --pairs fr-en en-fr fi-en el-en he-en --words 60

DIR/vectors/{en,fr,...}.vec.gz hold the vectors; of a pair fr-en, English words in the French vocabulary are listed.
`itself`: how many of those English words have themselves among their French translations, by the MUSE training pairs
less all test pairs of both directions (DIR/dictionaries/muse), and by the Open Multilingual Wordnet (.../omw).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import torch

import lnmap
from lnmap.experiments.worker import unused_pairs
from lnmap.foreign import foreignness
from lnmap.model.model import as_tensor

WORDNETS = {"fr-en": "en-fra", "fi-en": "en-fin"}
CLASSES = ((0.9, 1.01), (0.5, 0.9), (0.2, 0.5), (0.0, 0.2))


def translations(folder: Path, pair: str) -> Iterator[tuple[str, set[tuple[str, str]]]]:
    """Yield the name and the pairs of each dictionary from the other language, other words first."""
    own, other = pair.split("-")
    file = str(folder / "dictionaries/muse/{}.{}.txt")
    tests = [lnmap.read_lexicon(file.format(way, "5000-6500")) for way in (pair, f"{other}-{own}")]
    train = lnmap.read_lexicon(file.format(f"{other}-{own}", "0-5000"))
    yield "MUSE", set(unused_pairs(train, lnmap.Lexicon([]), tests)[0])
    if pair in WORDNETS:
        lines = (folder / f"dictionaries/omw/{WORDNETS[pair]}.omw.tsv").read_text(encoding="utf-8").lower().splitlines()
        yield "wordnets", {tuple(line.split("\t")[:2]) for line in lines}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--pairs", nargs="+", default=("fr-en", "en-fr", "fi-en", "el-en", "he-en"))
    parser.add_argument("--words", type=int, default=60, help="words listed of each class, most frequent first")
    args = parser.parse_args()
    torch.set_num_threads(1)
    for pair in args.pairs:
        own, other = (lnmap.read(args.data / f"vectors/{name}.vec.gz", policy="muse") for name in pair.split("-"))
        started = time.perf_counter()
        found = foreignness(own.words, as_tensor(own.vectors, torch.device("cpu")), other.words).tolist()
        seconds = time.perf_counter() - started
        shared = [(word, value) for word, value in zip(own.words, found, strict=True) if word in other.index]
        print(f"\n{pair}: {len(shared):,} of {len(own):,} words are in both vocabularies ({seconds:.1f} s)")
        for low, high in CLASSES:
            words = [word for word, value in shared if low <= value < high and any(map(str.isalpha, word))]
            print(f"* {low:g} to {min(high, 1):g}, {len(words):,} words: {' '.join(words[: args.words])}")
        for name, pairs in translations(args.data, pair):
            known = {source for source, translated in pairs if translated in own.index}
            for low, high in CLASSES:
                words = [word for word, value in shared if low <= value < high and word in known and word.isalpha()]
                itself = sum((word, word) in pairs for word in words)
                share = 100 * itself / max(len(words), 1)
                print(f"* {name}, {low:g} to {min(high, 1):g}: {len(words):,} words, itself {share:.0f} %")
        if pair == "fr-en":
            top = [word for word in other.words if word.isalpha()][:300]
            here = [f"{word} {found[own.index[word]]:.2f}" for word in top if word in own.index]
            print(f"* of the 300 most frequent English words {len(here)} are here: {', '.join(here)}")


if __name__ == "__main__":
    main()
