"""What spelling says about translations: shared n-grams and learnt letters, on development pairs, never test pairs.

    python benchmarks/letters.py --data DIR --pairs en-el el-en en-he he-en en-fr en-fi
    python benchmarks/letters.py --open FOLDER --pairs en-ru ru-en en-ja

DIR and FOLDER are those of auto.py. GeoMM is trained on 1 000 unique pairs; the candidates of a development word are
its 20 CSLS neighbours. `AUC`: how often a right candidate has a higher value than a wrong one, of any word. `first`:
how often a right candidate has the highest value, of words that have one among the 20. `P@1`: per cent of all words, if
CSLS, the difference in length and the value itself are weighed together; weights are learnt on the other half of the
words. The rows `N pairs` learn letters from the first N pairs of the seed; `folded` compares romanised letters.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from auto import files

import lnmap
from lnmap.direction import Side
from lnmap.experiments.worker import unused_pairs
from lnmap.model.model import as_tensor
from lnmap.retrieve import BilingualSpace
from lnmap.spelling import Letters, Spelling, fold

TASKS = ("en-el", "el-en", "en-he", "he-en", "en-fr", "en-fi")
CANDIDATES = 20


class Task:
    """Development words, their candidates (q, 20), and which of them are right."""

    def __init__(self, args: argparse.Namespace, pair: str) -> None:
        (source, target), every, tests = files(args, pair)
        self.seed = every.take("1k-unique", source, target)
        gold: dict[int, set[int]] = {}
        for s, t in unused_pairs(every, self.seed, tests)[0].rows(source, target).tolist():
            gold.setdefault(s, set()).add(t)
        found = lnmap.align(source, target, self.seed, method="geomm", device="cpu").alignment
        x, y = (as_tensor(side.vectors, torch.device("cpu")) for side in (source, target))
        hits = BilingualSpace(found.map_source(x), found.map_target(y)).search(torch.tensor(sorted(gold)), CANDIDATES)
        self.vocabularies, self.csls = (source.words, target.words), hits.scores.numpy()
        asked = zip(sorted(gold), hits.rows.tolist(), strict=True)
        self.right = np.array([[t in gold[s] for t in row] for s, row in asked])
        self.left = [source.words[s] for s in sorted(gold) for _ in range(CANDIDATES)]
        self.candidates = [target.words[t] for row in hits.rows.tolist() for t in row]
        lengths = [-abs(len(a) - len(b)) for a, b in zip(self.left, self.candidates, strict=True)]
        self.lengths = np.array(lengths, float).reshape(self.right.shape)

    def values(self) -> Iterator[tuple[str, np.ndarray | None]]:
        """Yield what is compared, and its values of shape (q, 20)."""
        yield "CSLS and length", None
        spelling = Spelling.of(*self.vocabularies)
        x, y = (spelling.columns(side, words) for side, words in zip(Side, (self.left, self.candidates), strict=True))
        yield "n-grams", (x * y).sum(dim=1).numpy().reshape(self.right.shape)
        for count in (0, 25, 100, 1000):
            yield f"{count} pairs", self.odds(count)
        self.seed = [(fold(s), fold(t)) for s, t in self.seed]
        self.left, self.candidates = ([fold(word) for word in words] for words in (self.left, self.candidates))
        yield "1000 pairs, folded", self.odds(1000)

    def odds(self, count: int) -> np.ndarray:
        pairs = list(self.seed)[:count]
        letters = Letters.fit([source for source, _ in pairs], [target for _, target in pairs])
        return letters.log_odds(self.left, self.candidates).reshape(self.right.shape)

    def scores(self, values: np.ndarray | None) -> list[str]:
        """Return AUC, first and P@1."""
        if values is None:
            return ["", "", f"{self.weighed([self.csls, self.lengths]):.1f}"]
        order, ranks = np.unique(values, return_inverse=True, return_counts=True)[1:]
        middle = (np.cumsum(ranks) - (ranks - 1) / 2)[order.reshape(self.right.shape)]
        right = self.right.sum()
        auc = (middle[self.right].sum() - right * (right + 1) / 2) / (right * (self.right.size - right))
        some = self.right.any(axis=1)
        best = values[some] == values[some].max(axis=1, keepdims=True)
        first = ((best & self.right[some]).sum(axis=1) / best.sum(axis=1)).mean()
        both = [self.csls, self.lengths, values, np.logaddexp(0, values)]
        return [f"{auc:.3f}", f"{100 * first:.1f}", f"{self.weighed(both):.1f}"]

    def weighed(self, features: list[np.ndarray]) -> float:
        """P@1 of a linear sum learnt by listwise softmax on each half for the other."""
        x = np.stack(features, axis=-1)
        x, right = torch.tensor((x - x.mean((0, 1))) / x.std((0, 1))).double(), torch.tensor(self.right)
        halves = torch.arange(len(x)) % 2
        hits = 0.0
        for half in (0, 1):
            learnt = (halves != half) & right.any(dim=1)
            weights = torch.zeros(x.shape[-1], dtype=torch.float64, requires_grad=True)
            optimiser = torch.optim.LBFGS([weights], max_iter=60, line_search_fn="strong_wolfe")

            def loss(a=x[learnt], b=right[learnt], w=weights, o=optimiser) -> torch.Tensor:
                o.zero_grad()
                value = (
                    -(a @ w).log_softmax(1).masked_fill(~b, -torch.inf).logsumexp(1).mean() + 1e-3 * w.square().sum()
                )
                value.backward()
                return value

            optimiser.step(loss)
            asked = halves == half
            best = (x[asked] @ weights.detach()).argmax(dim=1, keepdim=True)
            hits += float(right[asked].gather(1, best).sum())
        return 100 * hits / len(x)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--open", type=Path)
    parser.add_argument("--pairs", nargs="+", default=TASKS)
    args = parser.parse_args()
    torch.set_num_threads(1)
    print("| pair | words | among 20 | value | AUC | first | P@1 |\n|---|---|---|---|---|---|---|")
    for pair in args.pairs:
        task = Task(args, pair)
        about = f"{pair} | {len(task.right):,} | {100 * task.right.any(axis=1).mean():.1f}"
        for name, values in task.values():
            print(f"| {about} | {name} | {' | '.join(task.scores(values))} |", flush=True)


if __name__ == "__main__":
    main()
