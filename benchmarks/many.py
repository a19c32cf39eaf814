"""Languages joined through a pivot, beside a dictionary of their own for every two of them.

    python benchmarks/many.py --data DIR [--languages fr fi el he] [--methods procrustes rcsls]
    python benchmarks/many.py --data DIR --methods --direct auto --takes 1k-unique --pairs fr-fi fr-el

DIR holds vectors/LANGUAGE* and, anywhere in dictionaries/, the files from English: en-fr.0-5000.txt and
en-fr.5000-6500.txt, or en-fr.train.tsv and en-fr.test.tsv. A dictionary between two others is joined at the English
words that both have, training files with training files and test files with test files; all translations are kept.
Source words of any training file, and test pairs joined at an English word that one trains with, are not tested.

`pivot` aligns each language with English and composes, `direct` learns from the joined training pairs. Both are scored
on the same words.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import lnmap
from lnmap.evaluate import Evaluation
from lnmap.lexicon import Lexicon

PIVOT = "en"
TRAIN, TEST = ("0-5000.txt", "train.tsv"), ("5000-6500.txt", "test.tsv")
Couple = tuple[str, str]
Scores = dict[str, Evaluation]  # by direction
By = dict[str, list[str]]  # English word: its translations, in file order


class World:
    """Vectors of all languages, and their dictionaries from English."""

    def __init__(self, folder: Path, languages: list[str]) -> None:
        self.languages = languages
        self.vectors = {name: lnmap.read(one(folder, [f"vectors/{name}*"])) for name in (PIVOT, *languages)}
        self.train, self.test = (
            {name: self._read(folder, name, parts) for name in languages} for parts in (TRAIN, TEST)
        )

    def _read(self, folder: Path, name: str, parts: tuple[str, ...]) -> By:
        found = defaultdict(list)
        for english, word in lnmap.read_lexicon(one(folder, [f"dictionaries/**/{PIVOT}-{name}.{p}" for p in parts])):
            found[english].append(word)
        return found

    def with_pivot(self, name: str) -> Lexicon:
        """The training pairs of a language, its own words first."""
        return Lexicon.from_pairs((word, english) for english, words in self.train[name].items() for word in words)

    def between(self, source: str, target: str) -> Lexicon:
        """Training pairs of two languages."""
        return Lexicon.from_pairs(pair for _, pair in joined(self.train[source], self.train[target]))

    def tested(self, source: str, target: str) -> Lexicon:
        """Test pairs of two languages, without what either way may have been trained on."""
        seen = {word for words in self.train[source].values() for word in words}
        trained = self.train[source].keys() | self.train[target].keys()
        pairs = joined(self.test[source], self.test[target])
        return Lexicon.from_pairs(pair for english, pair in pairs if english not in trained and pair[0] not in seen)


def one(folder: Path, patterns: list[str]) -> Path:
    """The first file that matches."""
    found = [path for pattern in patterns for path in sorted(folder.glob(pattern))]
    if not found:
        raise SystemExit(f"{folder} has none of {', '.join(patterns)}")
    return found[0]


def joined(first: By, second: By) -> list[tuple[str, tuple[str, str]]]:
    """Pairs of words with a common English word, and that word."""
    return [(e, pair) for e, words in first.items() for pair in itertools.product(words, second.get(e, ()))]


def through_pivot(world: World, couples: list[Couple], method: str, take: str) -> Iterator[Scores]:
    models = lnmap.align_many(
        world.vectors[PIVOT],
        {name: world.vectors[name] for name in world.languages},
        {name: world.with_pivot(name) for name in world.languages},
        method=method,
        take=take,
        device="cpu",
    )
    for couple in couples:
        first, second = (models[name] for name in couple)
        model = lnmap.compose(first, second)
        for side, own in (("source", first), ("target", second)):  # compose is the pivot's space, nothing else
            np.testing.assert_array_equal(model.aligned(side).vectors, own.aligned("source").vectors)
        yield both_ways(world, couple, model)


def directly(world: World, couples: list[Couple], method: str, take: str) -> Iterator[Scores]:
    for first, second in couples:
        sides, pairs = (world.vectors[first], world.vectors[second]), world.between(first, second)
        model = lnmap.align(*sides, pairs, method=method, take=take, device="cpu")
        print(f"{first}-{second}, {method}: {len(model.pairs):,} joined pairs")
        yield both_ways(world, (first, second), model)


def both_ways(world: World, couple: Couple, model: lnmap.Model) -> Scores:
    first, second = couple
    there = model.evaluate(world.tested(first, second))
    back = model.evaluate(world.tested(second, first), direction="backward")
    return {f"{first}-{second}": there, f"{second}-{first}": back}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--languages", nargs="+", default=["fr", "fi", "el", "he"])
    parser.add_argument("--pairs", nargs="+", help="pairs such as fr-fi, scored in both directions; all by default")
    parser.add_argument("--methods", nargs="*", default=["procrustes"], help="through the pivot and directly")
    parser.add_argument("--direct", nargs="*", default=[], metavar="METHOD", help="only directly")
    parser.add_argument("--takes", nargs="+", default=["1k-unique", "5k-unique"])
    args = parser.parse_args()
    world = World(args.data, args.languages)
    couples = [(one[:2], one[3:]) for one in args.pairs or map("-".join, itertools.combinations(args.languages, 2))]
    columns: dict[str, Scores] = {}
    began = time.process_time()
    ways = [(one, how) for one in args.methods for how in (through_pivot, directly)]
    for (method, how), take in itertools.product([*ways, *((one, directly) for one in args.direct)], args.takes):
        title = f"{method}, {take}, {'pivot' if how is through_pivot else 'direct'}"
        columns[title] = {}
        for scores in how(world, couples, method, take):
            columns[title] |= scores
            print(f"{title}: " + ", ".join(f"{way} {one.precision():.1f}" for way, one in scores.items()), flush=True)
    print(f"\n| direction | test words | {' | '.join(columns)} |\n|---|" + "--:|" * (1 + len(columns)))
    for way, first in next(iter(columns.values())).items():
        cells = (f"{scores[way].precision():.1f} |" for scores in columns.values())
        print(f"| {way} | {len(first.rows):,} |", *cells)
    print("| mean | |", *(f"{np.mean([one.precision() for one in s.values()]):.1f} |" for s in columns.values()))
    print(f"\n{time.process_time() - began:.0f} CPU seconds")


if __name__ == "__main__":
    main()
