"""Which combination of systems and spelling finds held-out seed words best.

CSLS needs the mean similarity of every word to its neighbours, for every combination. The similarities of each
candidate are therefore computed once, block by block, and all combinations are weighed from the same block.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from lnmap.methods.base import Run
from lnmap.normalize import unit
from lnmap.retrieve import NEIGHBOURS, BilingualSpace

SPELLING = (0.0, 0.1, 0.2, 0.25, 0.3, 0.45, 0.6)  # weights that are tried, where the systems' weights sum to one
USUAL = 0.25  # good on all development data
ENOUGH = 100  # held-out words that may change it
_POOL = 8000  # most frequent words that a word's neighbours are sought among while the choice is made
_RANKS = 10  # a right answer further down counts nothing
_ROWS = 1024


class Candidate(NamedTuple):
    """The words of both languages as one system, or the spelling, sees them: (n, c) and (m, c)."""

    name: str
    source: Tensor
    target: Tensor


@dataclass(frozen=True)
class Choice:
    """Systems of equal weight, the weight of the spelling, and the per cent of `words` held-out words they found."""

    members: tuple[str, ...]
    spelling: float
    found: float | None
    rank: float = 0.0
    words: int = 0

    def weights(self, candidates: Sequence[Candidate]) -> list[float]:
        """Return the weight of each candidate."""
        systems = {name: 1 / len(self.members) for name in self.members}
        return [self.spelling if c.name == "spelling" else systems.get(c.name, 0.0) for c in candidates]

    def space(self, candidates: Sequence[Candidate], run: Run) -> BilingualSpace:
        """Return both vocabularies as the combination sees them."""
        used = [(c, math.sqrt(w)) for c, w in zip(candidates, self.weights(candidates), strict=True) if w]
        source = torch.cat([unit(c.source) * w for c, w in used], dim=1)
        target = torch.cat([unit(c.target) * w for c, w in used], dim=1)
        return BilingualSpace(source, target, memory=run.memory, progress=run.progress)


@torch.no_grad()
def choose(candidates: Sequence[Candidate], held: Tensor, known: Tensor, run: Run) -> Choice:
    """Try every combination on held-out pairs (h, 2), log the table, and return the best.

    Judged by the mean reciprocal rank, over both directions, of the first right answer: less a matter of luck than the
    number of words whose first answer is right.

    :param known: all pairs known to be right (k, 2).
    """
    units = [Candidate(c.name, unit(c.source), unit(c.target)) for c in candidates]
    systems = [c.name for c in units if c.name != "spelling"]
    members = [tuple(systems[:number]) for number in range(1, len(systems) + 1)]  # each builds on those before it
    spelt = SPELLING if len(systems) < len(units) else (0.0,)
    choices = [Choice(names, weight, None) for names, weight in product(members, spelt)]
    weights = torch.tensor([choice.weights(units) for choice in choices], device=held.device)  # (w, c)
    ranks = [_ranks(units, weights, held, known, run)]
    swapped = [Candidate(c.name, c.target, c.source) for c in units]
    ranks.append(_ranks(swapped, weights, held.flip(1), known.flip(1), run))
    scores = torch.cat([torch.where(r <= _RANKS, 1 / r, 0.0) for r in ranks], dim=1)  # (w, words of both sides)
    first = torch.stack([(r == 1).float().mean(dim=1) for r in ranks]).mean(dim=0) * 100
    judged = [
        Choice(choice.members, choice.spelling, float(found), float(score.mean()), len(score) // 2)
        for choice, found, score in zip(choices, first, scores, strict=True)
    ]
    for choice in judged:
        names = " + ".join(choice.members)
        run.record(stage="choice", systems=names, spelling=choice.spelling, found=choice.found, rank=choice.rank)
    best = judged[_best(judged, scores)]
    weight = f" and spelling with weight {best.spelling:g}" if best.spelling else ""
    run.progress.note(
        f"chosen on {len(held):,} held-out pairs: {' + '.join(best.members)}{weight} ({best.found:.1f} % found)"
    )
    return best


def _best(judged: Sequence[Choice], scores: Tensor) -> int:
    """Return the combination of the highest score; of those that differ in their spelling only, the most usual as good.

    Held-out words are few, and more frequent than the words asked for later: their vectors are better, and fewer of
    them are names. So the weight of spelling leaves its usual value no further than they demand: of the weights within
    two standard errors of the best, the one nearest to it is taken. Fewer than a hundred words, the most frequent of
    all, decide nothing: every system takes part, and spelling with its usual weight.
    """
    few = scores.shape[1] < 2 * ENOUGH
    top = len(judged) - 1 if few else max(range(len(judged)), key=lambda i: judged[i].rank)
    lost = scores[top] - scores  # (w, words)
    error = lost.std(dim=1) / math.sqrt(lost.shape[1])
    as_good = [
        i
        for i, choice in enumerate(judged)
        if choice.members == judged[top].members and (few or float(lost[i].mean()) <= 2 * float(error[i]))
    ]
    return min(as_good, key=lambda i: abs(judged[i].spelling - USUAL))


def _ranks(units: Sequence[Candidate], weights: Tensor, held: Tensor, known: Tensor, run: Run) -> Tensor:
    """Rank of the first right answer of each held-out source word, for each combination: (w, h)."""
    words = held[:, 0].unique()
    queries = [Candidate(c.name, c.source[words], c.target) for c in units]
    means = _target_means(units, weights, run)  # (w, m)
    right = torch.zeros(len(words), len(units[0].target), dtype=torch.bool, device=held.device)
    place = torch.searchsorted(words, known[:, 0].contiguous()).clamp_max(len(words) - 1)
    own = words[place] == known[:, 0]
    right[place[own], known[own, 1]] = True
    found = []
    for start, scores in _blocks(queries, weights):
        scores = 2 * scores - means[:, None]  # CSLS, but for what is the same for all answers of a word
        rows = right[start : start + scores.shape[1]]
        best = scores.masked_fill(~rows, -math.inf).amax(dim=2, keepdim=True)
        found.append((scores > best).sum(dim=2) + 1)
    return torch.cat(found, dim=1)


def _target_means(units: Sequence[Candidate], weights: Tensor, run: Run) -> Tensor:
    """CSLS mean of each target word over its nearest frequent source words, for each combination: (w, m)."""
    turned = [Candidate(c.name, c.target, c.source[:_POOL]) for c in units]
    k = min(NEIGHBOURS, len(turned[0].target))
    found = []
    with run.progress.task("weighing", len(turned[0].source)) as task:
        for _, scores in _blocks(turned, weights):
            found.append(scores.topk(k, dim=2).values.mean(dim=2))
            task.advance(scores.shape[1])
    return torch.cat(found, dim=1)


def _blocks(units: Sequence[Candidate], weights: Tensor) -> Iterator[tuple[int, Tensor]]:
    """Yield (first row, cosines (w, b, m)) of source with target words, for each combination."""
    n = len(units[0].source)
    share = weights / weights.sum(dim=1, keepdim=True)  # (w, c): all parts have length one
    size = max(1, min(_ROWS, (1 << 26) // (len(weights) * len(units[0].target))))
    for start in range(0, n, size):
        parts = torch.stack([c.source[start : start + size] @ c.target.T for c in units])  # (c, b, m)
        yield start, torch.einsum("wc,cbm->wbm", share, parts)
