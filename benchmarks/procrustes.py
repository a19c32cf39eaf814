"""P@1 of closed-form Procrustes on real vectors, beside reference values that it must meet within 0.3 points.

    python benchmarks/procrustes.py --data DIR        (or LNMAP_BENCH_DATA=DIR)

DIR holds vectors/{en,fr,fi}.vec.gz and dictionaries/muse/{en-fr,fr-en,en-fi,fi-en}.{0-5000,5000-6500}.txt. Each
direction is trained and scored on its own dictionary files, never on the other one read backwards.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import lnmap

RULES = ("1k-unique", "5k-unique", "5k-all")
REFERENCE = {  # P@1 on the same files, measured with other code before this package was written
    "en-fr": (73.8, 79.2, 79.3),
    "fr-en": (74.5, 80.6, 79.8),
    "en-fi": (32.9, 37.9, 39.6),
    "fi-en": (40.1, 47.2, 49.1),
}
WITHIN = 0.3
PARTS = ("0-5000", "5000-6500")


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--data", type=Path, default=os.environ.get("LNMAP_BENCH_DATA"))
    folder = arguments.parse_args().data
    if folder is None:
        arguments.error("give the data folder with --data or LNMAP_BENCH_DATA")
    vectors = {name: lnmap.read(folder / f"vectors/{name}.vec.gz", policy="muse") for name in ("en", "fr", "fi")}
    print("Words (policy `muse`): " + ", ".join(f"{name} {len(side):,}" for name, side in vectors.items()) + "\n")
    print("| pair | seed | pairs | P@1 | reference | difference | 95 % interval | P@5 | P@10 | test words | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    worst = 0.0
    for pair, expected in REFERENCE.items():
        source, target = (vectors[name] for name in pair.split("-"))
        train, test = (lnmap.read_lexicon(folder / f"dictionaries/muse/{pair}.{part}.txt") for part in PARTS)
        for rule, reference in zip(RULES, expected, strict=True):
            started = time.perf_counter()
            model = lnmap.align(source, target, train, take=rule, method="procrustes", device="cpu")
            found = model.evaluate(test)
            seconds = time.perf_counter() - started
            difference = found.precision(1) - reference
            worst = max(worst, abs(difference))
            low, high = found.interval()
            cells = (
                pair,
                rule,
                f"{len(model.pairs):,}",
                f"{found.precision(1):.2f}",
                reference,
                f"{difference:+.2f}",
                f"{low:.1f}–{high:.1f}",
                f"{found.precision(5):.2f}",
                f"{found.precision(10):.2f}",
                f"{len(found.rows):,}",
                f"{seconds:.1f}",
            )
            print("|", *(f"{cell} |" for cell in cells), flush=True)
    print(f"\nLargest difference {worst:.2f}; allowed {WITHIN}: {'met' if worst <= WITHIN else 'MISSED'}")
    return int(worst > WITHIN)


if __name__ == "__main__":
    sys.exit(main())
