"""How sure `auto` is of rarer and rarer words, and how often it is right, by two kinds of dictionary: a Markdown table.

    python benchmarks/rare_words.py --data DIR

DIR holds vectors/LANGUAGE.vec.gz, dictionaries/muse/PAIR.{0-5000,5000-6500}.txt and dictionaries/omw/en-CODE.omw.tsv,
words that share synsets in the Open Multilingual Wordnet. Of these, words of the seed and words of a MUSE test pair are
left out. The test words of MUSE are looked at to see where its rare words differ from those of a wordnet; nothing is
chosen by them.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Iterable
from pathlib import Path

import lnmap
from lnmap.direction import Direction
from lnmap.evaluate import Evaluation
from lnmap.lexicon import Lexicon

CODES = {"fr": "fra", "fi": "fin"}
EDGES = (0, 1000, 5000, 20_000, 50_000)  # of frequency ranks
FEWEST = 30  # words that a band needs


def muse(folder: Path, pair: str, part: str) -> Lexicon:
    """Read a MUSE dictionary."""
    return lnmap.read_lexicon(folder / f"dictionaries/muse/{pair}.{part}.txt")


def synonyms(path: Path, model: lnmap.Model, tests: Iterable[Lexicon], direction: Direction) -> Lexicon:
    """Return the pairs of a wordnet, the language asked for first, without words of the seed and of test pairs."""
    rows = (line.rstrip("\n").lower().split("\t") for line in path.open(encoding="utf-8"))
    pairs = [(row[0], row[1]) for row in rows if not set("_ ") & set(row[0] + row[1])]
    tested = {frozenset(pair) for gold in tests for pair in gold}
    ways = (
        (pairs, model.pairs) if direction is Direction.FORWARD else ([(b, a) for a, b in pairs], model.pairs.reversed())
    )
    left_out = {word for word, _ in ways[1]} | {a for a, b in ways[0] if frozenset((a, b)) in tested}
    return Lexicon([pair for pair in ways[0] if pair[0] not in left_out])


def bands(score: Evaluation) -> list[str]:
    """Return words, per cent right and per cent sure of each band."""
    cells = []
    for low, high in itertools.pairwise(EDGES):
        rows = [row for row in score.rows if low <= row.frequency_rank < high]
        if len(rows) < FEWEST:
            cells.append("-")
            continue
        right = statistics.mean(row.rank == 0 for row in rows)
        sure = statistics.mean(row.confidence or 0.0 for row in rows)
        cells.append(f"{100 * right:.0f} / {100 * sure:.0f} ({len(rows):,})")
    return cells


def main() -> None:
    """Print a row per direction and dictionary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--take", default="1k-unique", help="seed rule")
    args = parser.parse_args()
    heads = [f"ranks {low + 1:,}-{high:,}" for low, high in itertools.pairwise(EDGES)]
    print(f"| right / sure, % (words) | {' | '.join(heads)} |\n|---|{'---:|' * len(heads)}")
    for language, code in CODES.items():
        pair, opposite = f"en-{language}", f"{language}-en"
        source, target = (lnmap.read(args.data / f"vectors/{one}.vec.gz", policy="muse") for one in ("en", language))
        model = lnmap.align(source, target, muse(args.data, pair, "0-5000"), method="auto", take=args.take)
        tests = {Direction.FORWARD: muse(args.data, pair, "5000-6500")}
        tests[Direction.BACKWARD] = muse(args.data, opposite, "5000-6500")
        for direction, name in zip(Direction, (pair, opposite), strict=True):
            omw = synonyms(args.data / f"dictionaries/omw/en-{code}.omw.tsv", model, tests.values(), direction)
            for title, gold in (("MUSE", tests[direction]), ("wordnets", omw)):
                print(f"| {name}, {title} | {' | '.join(bands(model.evaluate(gold, direction)))} |", flush=True)


if __name__ == "__main__":
    main()
