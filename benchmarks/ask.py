"""What an answer is worth: P@1 by the number of answers, for the order of `lnmap ask`, random order and by frequency.

The order `told` knows all translations: it shows about how much any choice of so many answers can give.

    python benchmarks/ask.py --data DIR --pairs en-fr en-fi --out results.json --svg curves.svg

DIR holds vectors/LANGUAGE.vec.gz and dictionaries/muse/PAIR.0-5000.txt. The training dictionary is the speaker; the
test dictionaries are not read. Of its words that have vectors, as one of their translations has, some hundred are
kept out to score on, and the speaker answers for the others: with the best candidate shown that the dictionary has,
else with its first translation. The model starts from the most frequent pairs and is trained again at each number of
answers that is scored, or after every `--step` answers.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import torch

import lnmap
from lnmap.ask import next_words
from lnmap.ask.choosing import choose, normalized, weights
from lnmap.embeddings import Embeddings, is_word

POINTS = (0, 50, 100, 200, 500, 1000)
ORDERS = ("ask", "random", "frequency", "told")
SEED, DEVELOPMENT, CANDIDATES, FIRST = 30, 800, 5, 50
FITTING = 0.25  # of the words, those whose translations fit the others best: the order `told` takes no other


class Speaker:
    """A training dictionary, parted into the seed, words to score on, and words that can be asked about."""

    def __init__(self, source: Embeddings, target: Embeddings, pairs: lnmap.Lexicon, split: int) -> None:
        self.source, self.target = source, target
        known: dict[str, list[str]] = {}
        for word, answer in pairs:
            rows = source.find(word), target.find(answer)
            if is_word(word) and rows[0] is not None and rows[1] is not None:
                known.setdefault(source.words[rows[0]], []).append(target.words[rows[1]])
        words = sorted(known, key=source.index.__getitem__)
        held_out = set(random.Random(split).sample(words, DEVELOPMENT))
        self.development = lnmap.Lexicon([(word, one) for word in held_out for one in known[word]])
        self.known = {word: known[word] for word in words if word not in held_out}
        self.held_out = held_out

    def seed(self) -> list[tuple[str, str]]:
        """Return the most frequent pairs of which no word is in two."""
        chosen: dict[str, str] = {}
        for word, answers in self.known.items():
            free = [one for one in answers if one not in chosen.values()]
            if free and len(chosen) < SEED:
                chosen[word] = free[0]
        return list(chosen.items())

    def answer(self, model: lnmap.Model, words: list[str]) -> Iterator[tuple[str, str]]:
        """Answer each word: with the best candidate shown that is right, else with the first translation."""
        for found in model.translate(words, CANDIDATES):
            right = [one for one in found.words if one in self.known[found.query]]
            yield found.query, (right or self.known[found.query])[0]


def told(speaker: Speaker) -> list[tuple[str, str]]:
    """Return the pairs that a rotation of all pairs maps best, in the order of `ask`."""
    x, y = (normalized(torch.from_numpy(side.vectors.copy())) for side in (speaker.source, speaker.target))
    pairs = [(word, answer) for word, answers in speaker.known.items() for answer in answers]
    rows = torch.tensor([(speaker.source.index[word], speaker.target.index[answer]) for word, answer in pairs])
    u, _, v = torch.linalg.svd(x[rows[:, 0]].T @ y[rows[:, 1]])
    fit = ((x[rows[:, 0]] @ (u @ v)) * y[rows[:, 1]]).sum(dim=1)
    seed = dict(speaker.seed())
    best: dict[str, str] = {}
    for place in fit.argsort(descending=True).tolist():
        best.setdefault(*pairs[place])
    few = {*list(best)[: int(FITTING * len(best))]} - {*seed}
    free = torch.tensor([word in few for word in speaker.source.words])
    known = torch.tensor([speaker.source.index[word] for word in seed])
    chosen = choose(x, known, free, weights(len(x)))
    return [(word, best[word]) for word in map(speaker.source.words.__getitem__, chosen)]


def curve(speaker: Speaker, order: str, method: str, step: int, points: tuple[int, ...]) -> dict[str, list[float]]:
    """Return P@1 at each number of answers, and the share of chosen words that the speaker does not know."""
    pairs, scores, unknown, answered = speaker.seed(), [], [], 0
    rng, everything = random.Random(0), told(speaker) if order == "told" else []
    while True:
        model = lnmap.align(speaker.source, speaker.target, lnmap.Lexicon(pairs), method=method)
        if answered in points:
            scores.append(model.evaluate(speaker.development).precision(1))
        if answered >= points[-1]:
            return {"p@1": scores, "unknown": unknown}
        done = {word for word, _ in pairs}
        left = [word for word in speaker.known if word not in done]
        many = min(step, *(point - answered for point in points if point > answered))
        if order == "ask":
            others = [word for word in speaker.source.words if word not in speaker.known]
            words = [question.word for question in next_words(model, many, skip=others)]
            first = [question.word for question in next_words(model, FIRST, skip=speaker.held_out)]
            unknown.append(sum(word not in speaker.known for word in first) / FIRST)
        elif order != "told":
            words = left[:many] if order == "frequency" else rng.sample(left, many)
        if order == "told":
            pairs += everything[answered : answered + many]
        else:
            pairs += speaker.answer(model, words)
        answered += many


def worth(score: float, points: tuple[int, ...], scores: list[float]) -> float:
    """Return how many answers of another order reach a score, between the points on a straight line."""
    for (n, low), (m, high) in pairwise(zip(points, scores, strict=True)):
        if low <= score < high:
            return n + (m - n) * (score - low) / (high - low)
    return 0.0 if score < scores[0] else float(points[-1])


def table(results: dict[str, dict[str, list[float]]], points: tuple[int, ...]) -> Iterator[str]:
    """Yield a Markdown table: a row per pair and order."""
    yield "| pair | order | " + " | ".join(f"{point:,}" for point in points) + " |"
    yield "|---|---|" + "---:|" * len(points)
    for pair, orders in results.items():
        for order in filter(orders.__contains__, ORDERS):
            yield f"| {pair} | {order} | " + " | ".join(f"{score:.1f}" for score in orders[order]) + " |"


def draw(results: dict[str, dict[str, list[float]]], points: tuple[int, ...]) -> str:
    """Draw one panel per pair."""
    import matplotlib

    from lnmap.experiments.report.drawing import STYLE, Board, curves, labels_right
    from lnmap.experiments.report.theme import series

    colours = {order: series(place) for place, order in enumerate(ORDERS)}
    with matplotlib.rc_context(fname=STYLE):
        board = Board("P@1 by the number of answers")
        for place, (pair, orders) in enumerate(results.items()):
            axes = board.axes(place % 2 * 360, place // 2 * 230, 230, 160, pair)
            lines = {order: list(zip(points, orders[order], strict=True)) for order in ORDERS if order in orders}
            axes.set(xlabel="answers", ylabel="P@1, %", xlim=(0, points[-1]))
            curves(board, axes, lines, colours)
            labels_right(axes, [(line[-1][1], name, colours[name]) for name, line in lines.items()])
        return board.svg()


def main() -> None:
    """Print a table, and what 200 answers are worth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pairs", nargs="+", default=["en-fr", "en-fi", "en-he", "en-el"])
    parser.add_argument("--method", default="procrustes")
    parser.add_argument("--limit", type=int, default=10_000, help="words per language")
    parser.add_argument(
        "--step", type=int, default=1000, help="answers between two trainings, if fewer than to the next point"
    )
    parser.add_argument("--splits", type=int, default=1, help="how often the dictionary is parted anew")
    parser.add_argument("--orders", nargs="+", default=ORDERS[:3], choices=ORDERS)
    parser.add_argument("--points", type=int, nargs="+", default=POINTS)
    parser.add_argument("--out", type=Path, help="results as JSON; pairs that are there already are not run again")
    parser.add_argument("--svg", type=Path, help="curves to draw")
    args = parser.parse_args()
    points = tuple(args.points)
    kept = json.loads(args.out.read_text()) if args.out and args.out.exists() else {}
    for pair in args.pairs:
        if pair in kept:
            continue
        source, target = (
            lnmap.read(args.data / f"vectors/{name}.vec.gz", policy="muse", limit=args.limit)
            for name in pair.split("-")
        )
        pairs = lnmap.read_lexicon(args.data / f"dictionaries/muse/{pair}.0-5000.txt")
        found: dict[str, list[dict[str, list[float]]]] = {order: [] for order in args.orders}
        for split in range(args.splits):
            speaker = Speaker(source, target, pairs, split)
            for order in args.orders:
                found[order].append(curve(speaker, order, args.method, args.step, points))
                print(pair, split, order, found[order][-1]["p@1"], file=sys.stderr, flush=True)
        kept[pair] = {
            order: [sum(column) / len(column) for column in zip(*(one["p@1"] for one in runs), strict=True)]
            for order, runs in found.items()
        }
        shares = [share for run in found.get("ask", []) for share in run["unknown"]]
        kept[pair] |= {"unknown": sum(shares) / max(1, len(shares)), "words": len(speaker.known)}
        if args.out:
            args.out.write_text(json.dumps(kept, indent=1))
    print("\n".join(table(kept, points)))
    for pair, one in kept.items() if 200 in points and {"ask", "frequency"} <= {*args.orders} else ():
        same = worth(one["ask"][points.index(200)], points, one["frequency"])
        print(
            f"\n{pair}: 200 answers are worth {same:.0f} by frequency; {one['words']:,} words can be asked about, ",
            end="",
        )
        print(f"{one['unknown']:.0%} of the words chosen are others", end="")
    print()
    if args.svg:
        args.svg.write_text(draw(kept, points), encoding="utf-8")


if __name__ == "__main__":
    main()
