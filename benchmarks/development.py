"""How many test pairs would be development pairs if all unused training pairs were: a Markdown table.

    python benchmarks/development.py --data DIR

DIR holds vectors/LANGUAGE.vec.gz and dictionaries/muse/PAIR.{0-5000,5000-6500}.txt. MUSE splits each direction into
training and test words for itself, so that a test pair of one direction, turned round, may be a training pair of the
other.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import lnmap
from lnmap.experiments.tables.reading import opposite
from lnmap.experiments.worker import unused_pairs


def main() -> None:
    """Print a row per direction."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pairs", nargs="+", default=["en-fr", "en-fi"])
    parser.add_argument("--take", default="1k-unique", help="seed rule")
    args = parser.parse_args()
    print("| test pairs of | in the vocabularies | unused training pairs, turned round | development pairs now |")
    print("|---|---:|---:|---:|")
    for pair in args.pairs:
        words = {name: lnmap.read(args.data / f"vectors/{name}.vec.gz", policy="muse") for name in pair.split("-")}
        ways = (pair, opposite(pair))
        tests, before, now = {}, {}, {}
        for way in ways:
            source, target = (words[name] for name in way.split("-"))
            train, tests[way] = (
                lnmap.read_lexicon(args.data / f"dictionaries/muse/{way}.{part}.txt")
                for part in ("0-5000", "5000-6500")
            )
            before[way] = train, train.take(args.take, source, target)
        for way in ways:
            now[way], _ = unused_pairs(*before[way], tests.values())
            before[way], _ = unused_pairs(*before[way], [])
        for way in ways:
            source, target = (words[name] for name in way.split("-"))
            known = {(s, t) for s, t in tests[way] if source.find(s) is not None and target.find(t) is not None}
            old, new = (known & set(sets[opposite(way)].reversed()) for sets in (before, now))
            print(f"| {way} | {len(known):,} | {len(old):,} ({100 * len(old) / len(known):.0f} %) | {len(new)} |")


if __name__ == "__main__":
    main()
