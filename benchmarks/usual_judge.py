"""Learn the usual judge from development words: its weights for judge/usual.py, and what they are worth elsewhere.

    lnmap data get open
    python benchmarks/usual_judge.py --data DIR > weights.txt

DIR holds vectors/LANGUAGE.vec.gz and dictionaries/muse/PAIR.{0-5000,5000-6500}.txt of English with French, Finnish,
Greek and Hebrew; Japanese and Russian are those of `open`. For each direction `auto` is trained with 1 000 pairs and
asked for development words: training pairs that are not in the seed and in no test dictionary. Both tables have P@1 of
weights that were learnt from the other languages, the first one without products of features. Ten minutes of two cores.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

import lnmap
from lnmap.datasets import catalogue
from lnmap.direction import Direction
from lnmap.experiments.tables.reading import opposite
from lnmap.experiments.worker import unused_pairs
from lnmap.judge.logit import Weights, _clipped, _newton
from lnmap.judge.panel import KIND, describe
from lnmap.judge.space import LIST, JudgedSpace, _top
from lnmap.judge.usual import USUAL
from lnmap.lexicon import Lexicon

OURS, OPEN = ("fr", "fi", "el", "he"), ("ja", "ru")
WORDS = 30_000  # of each language of `open`
MOST = 1200  # development words of a direction
PAIRED = (
    "csls", "behind back", "kernel", "kernel back", "procrustes", "letters", "alike", "length apart", "frequency",
    "rarer", "frequency apart",
)  # fmt: skip
RIDGE, RIDGE_PRODUCT, FIXED = 3.0, 50.0, 1e6
PRODUCTS = tuple(pair for pair in itertools.combinations_with_replacement(PAIRED, 2) if pair != ("alike", "alike"))


class Asked(NamedTuple):
    """Development words of a direction: features (n, k, f), which may be answers and which are right, each (n, k)."""

    features: Tensor
    there: Tensor
    right: Tensor


def load(data: Path, pair: str) -> tuple[list[lnmap.Embeddings], Lexicon, list[Lexicon]]:
    """Return both vocabularies, the training pairs, and the test pairs of both ways."""
    names, ways = pair.split("-"), (pair, opposite(pair))
    if set(names) & set(OPEN):
        here, back = (catalogue.files("open", way) for way in ways)
        vectors = [lnmap.read(path, limit=WORDS) for path in (here.source, here.target)]
        parts = [here.train, here.test, back.test]
    else:
        vectors = [lnmap.read(data / f"vectors/{name}.vec.gz", policy="muse") for name in names]
        files = ((pair, "0-5000"), *((way, "5000-6500") for way in ways))
        parts = [data / f"dictionaries/muse/{way}.{part}.txt" for way, part in files]
    train, *tests = map(lnmap.read_lexicon, parts)
    return vectors, train, tests


def ask(job: tuple[Path, str]) -> tuple[str, list[np.ndarray]]:
    """Train with 1 000 pairs, and describe the candidates of development words: the fields of `Asked`."""
    torch.set_num_threads(1)
    (source, target), train, tests = load(*job)
    seed = train.take("1k-unique", source, target)
    gold = torch.as_tensor(unused_pairs(train, seed, tests)[0].rows(source, target))
    space = lnmap.align(source, target, seed, method="auto", one_way=True).space()
    assert isinstance(space, JudgedSpace)
    words = gold[:, 0].unique()
    words = words[torch.randperm(len(words), generator=torch.Generator().manual_seed(1))[:MOST]]
    query = space._query(words, None)
    hits = space.plain.search(words, LIST)
    candidates, there = space._with_spelt_alike(query, hits.rows)
    features = describe(space.judges.panel, space.plain, Direction.FORWARD, query, candidates, _top(hits, query))
    size = len(target.words)
    right = torch.isin(words[:, None] * size + candidates, gold[:, 0] * size + gold[:, 1]) & there
    names = space.judges.panel.names(Direction.FORWARD)
    order = [names.index(name) for name in (*USUAL.names, KIND)]
    return job[1], [one.numpy() for one in (features[..., order], there, right)]


def fit(asked: list[Asked], products: tuple[tuple[str, str], ...]) -> Weights:
    """Learn the weights of features, and of products of two; that of the kind of word stays one."""
    names = (*USUAL.names, KIND)
    x = _clipped(torch.cat([one.features for one in asked])).double()
    pairs = [x[..., names.index(one)] * x[..., names.index(other)] for one, other in products]
    right = torch.cat([one.right for one in asked])
    good = torch.cat([right, ~right.any(dim=1, keepdim=True)], dim=1).double()
    start = torch.cat([USUAL.of(names)[:-2], torch.ones(1), torch.zeros(len(products)), torch.tensor([USUAL.none])])
    ridge = torch.tensor([RIDGE] * len(USUAL.names) + [FIXED] + [RIDGE_PRODUCT] * len(products))
    there = torch.cat([one.there for one in asked])
    w = _newton(
        torch.stack([*x.unbind(-1), *pairs], dim=-1), there, good, start.double(), ridge.double(), 0 * x[..., 0]
    )
    values, together = w[: len(names)].tolist(), w[len(names) : -1].tolist()
    weights = tuple((*pair, value) for pair, value in zip(products, together, strict=True))
    return Weights(names, tuple(values), float(w[-1]), weights)


def precision(weights: Weights, asked: Asked) -> float:
    """Return P@1 in per cent."""
    x, names = _clipped(asked.features).double(), weights.names
    scores = x @ weights.of(names)[:-1] + ((x @ weights.together(names)) * x).sum(dim=-1)
    best = scores.masked_fill(~asked.there, -torch.inf).argmax(dim=1, keepdim=True)
    return 100 * float(asked.right.gather(1, best).double().mean())


def main() -> None:
    """Print two rows of a table, and the weights that all languages teach."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    args = parser.parse_args()
    ways = [way for language in (*OURS, *OPEN) for way in (f"en-{language}", f"{language}-en")]
    found = {}
    with multiprocessing.Pool(2, maxtasksperchild=1) as pool:
        for way, fields in pool.imap_unordered(ask, [(args.data, way) for way in ways]):
            print(f"asked {way}", file=sys.stderr, flush=True)
            found[way] = Asked(*map(torch.from_numpy, fields))
    print(f"| learnt from the other five languages | {' | '.join(ways)} | mean |\n|---|{'---:|' * (len(ways) + 1)}")
    for title, products in (("features", ()), ("and their products", PRODUCTS)):
        scores = []
        for language in (*OURS, *OPEN):
            weights = fit([asked for way, asked in found.items() if language not in way.split("-")], products)
            scores += [precision(weights, found[way]) for way in (f"en-{language}", f"{language}-en")]
        cells = " | ".join(f"{score:.1f}" for score in scores)
        print(f"| {title} | {cells} | {sum(scores) / len(scores):.2f} |", flush=True)
    weights = fit(list(found.values()), PRODUCTS)
    for name, value in zip(weights.names, weights.values, strict=True):
        print(f'    "{name}": {value:.2f},')
    for one, other, value in weights.products:
        print(f'    ("{one}", "{other}"): {value:.2f},')
    print(f"none: {weights.none:.2f}")


if __name__ == "__main__":
    main()
