"""How the settings of `lnmap vectors` depend on the size of the text: a Markdown table.

    python benchmarks/text_sizes.py WORKS --data DIR --out FOLDER 0.3 0.3:seed=1 4:windows=5,dim=100,epochs=6

WORKS is a folder with one file per Hebrew work; DIR holds vectors/en.vec.gz and dictionaries/muse. Each run names the
size of its text in millions of words, then settings (two windows as windows=5+10; neighbours is 0 unless named). The
works are shuffled once and taken from the start, so a larger text holds the smaller ones. Seed: the 1,000 most frequent
Hebrew words of he-en.0-5000 that the smallest text has, no word twice. Scored: Hebrew words of the other training
pairs, less all test pairs. FOLDER keeps texts, vectors and CPU seconds, so that a run is trained once.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path

import numpy as np

import lnmap
from lnmap.experiments.worker import unused_pairs
from lnmap.progress import Silent
from lnmap.text import TrainingOptions, make_vectors
from lnmap.text.corpus import read_corpus
from lnmap.text.words import Tokenizer

SMALLEST = "0.3"
HEAD = "tokens|words|windows|numbers|passes|rate|min count|seed|CPU s|method|P@1|P@10|of|P@1, own|of|P@1 of all"


def write_text(works: Path, size: str, path: Path) -> Path:
    """Write the first works of the shuffle, about `size` million words of them."""
    if not path.exists():
        files = sorted(works.rglob("*.txt"))
        random.Random(0).shuffle(files)
        texts, words = [], 0
        while words < float(size) * 1e6:
            texts.append(files[len(texts)].read_text(encoding="utf-8"))
            words += len(texts[-1].split())
        path.write_text("\n".join(texts), encoding="utf-8")
    return path


def read_pairs(data: Path, text: Path, english: lnmap.Embeddings) -> tuple[lnmap.Lexicon, lnmap.Lexicon, set[str]]:
    """Return the seed, the pairs to score, and the words of the smallest text."""
    corpus = read_corpus([text], text.with_suffix(".words"), Tokenizer(), "utf-8", Silent())
    words = [word for word, count in corpus.counts.most_common() if count >= TrainingOptions().min_count]
    file = str(data / "dictionaries/muse/{}.txt")
    train = lnmap.read_lexicon(file.format("he-en.0-5000"))
    tests = [lnmap.read_lexicon(file.format(f"{way}.5000-6500")) for way in ("he-en", "en-he")]
    seed = train.take("1k-unique", lnmap.Embeddings(words, np.ones((len(words), 1), np.float32)), english)
    others = [pair for pair in unused_pairs(train, seed, tests)[0] if pair[1] in english]
    return seed, lnmap.Lexicon(others), set(words)


def make(works: Path, folder: Path, run: str) -> tuple[Path, TrainingOptions, dict]:
    """Train the vectors of a run unless they are there; return their file, the settings and what was counted."""
    size, _, settings = run.partition(":")
    chosen = dict(setting.split("=") for setting in settings.split(",") if setting)
    windows = tuple(map(int, chosen.pop("windows", "5+10").split("+")))
    rate = float(chosen.pop("rate", TrainingOptions.rate))
    numbers = {"neighbours": 0, **{name: int(value) for name, value in chosen.items()}}
    options = TrainingOptions(windows=windows, rate=rate, **numbers)
    out = folder / f"{run.replace(':', '-')}.vec"
    facts = out.with_suffix(".json")
    if not facts.exists():
        text = write_text(works, size, folder / f"{size}.txt")
        started = time.process_time()
        made = make_vectors(text, out, options=options).to_dict()
        facts.write_text(json.dumps({**made, "cpu": time.process_time() - started}))
    return out, options, json.loads(facts.read_text())


def main() -> None:
    """Print a row per run and method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("works", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--methods", nargs="+", default=["geomm"])
    parser.add_argument("runs", nargs="+")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    english = lnmap.read(args.data / "vectors/en.vec.gz")
    smallest = write_text(args.works, SMALLEST, args.out / f"{SMALLEST}.txt")
    seed, pairs, common = read_pairs(args.data, smallest, english)
    print(f"|{HEAD}|\n|{'---|' * len(HEAD.split('|'))}")
    for run in args.runs:
        path, options, made = make(args.works, args.out, run)
        for method in args.methods:
            model = lnmap.align(path, english, seed, method=method, one_way=True, device="cpu")
            score = model.evaluate(pairs)
            ranks = np.array([row.rank for row in score.rows if row.source in common])
            cells = [
                f"{made['tokens']:,}",
                f"{made['words']:,}",
                "+".join(map(str, options.windows)),
                options.dim,
                options.epochs,
                options.rate,
                options.min_count,
                options.seed,
                f"{made['cpu']:.0f}",
                method,
                f"{100 * (ranks < 1).mean():.1f}",
                f"{100 * (ranks < 10).mean():.1f}",
                len(ranks),
                f"{score.precision(1):.1f}",
                len(score.rows),
                f"{score.precision(1, of_all=True):.1f}",
            ]
            print(f"|{'|'.join(map(str, cells))}|", flush=True)


if __name__ == "__main__":
    main()
