"""Vectors at the size that people have: real words first, then perturbed copies of them, in frequency order.

    python benchmarks/big_files.py --data DIR --out /tmp/big [--words 200000] [--languages en fr]

DIR holds vectors/LANGUAGE.vec.gz. A copy has the direction of its word and noise of 0.6 times its length, so that the
two have a cosine of 0.86, and is spelt like it with letters added. Times and memory are those of real files; scores of
the copies say nothing.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import numpy as np

import lnmap
from lnmap.embeddings import Embeddings
from lnmap.io import save_store

NOISE = 0.6  # length of what is added to a copy, where its word has length one
LETTERS = "aeioulnrst"


def enlarged(real: Embeddings, words: int, seed: int = 0) -> Embeddings:
    """Return a vocabulary of so many words, the real ones first."""
    rng, letters = np.random.default_rng(seed), random.Random(seed)
    names, known = list(real.words[:words]), set(real.words)
    vectors = np.empty((words, real.dim), dtype=np.float32)
    vectors[: len(names)] = real.vectors[:words]
    for start in range(len(names), words, len(real)):
        block = real.vectors[: min(len(real), words - start)]
        noise = rng.standard_normal(block.shape, dtype=np.float32)
        noise *= NOISE * np.linalg.norm(block, axis=1, keepdims=True) / np.linalg.norm(noise, axis=1, keepdims=True)
        vectors[start : start + len(block)] = block + noise
        for word in real.words[: len(block)]:
            while (name := word + "".join(letters.choices(LETTERS, k=4))) in known:
                pass
            known.add(name)
            names.append(name)
    return Embeddings(names, vectors, {"real": min(len(real), words)})


def main() -> None:
    """Write a store per language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--languages", nargs="+", default=["en", "fr"])
    args = parser.parse_args()
    for number, language in enumerate(args.languages):
        real = lnmap.read(args.data / f"vectors/{language}.vec.gz")
        save_store(enlarged(real, args.words, number), args.out / language)
        print(f"{args.out / language}: {args.words:,} words, {min(len(real), args.words):,} of them real")


if __name__ == "__main__":
    main()
