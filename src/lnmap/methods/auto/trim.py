"""Trim: find seed pairs that are no translations, because the others say so.

Each part of the seed is looked at by a rotation that was fitted on the rest. The translation of a word that is held out
is then nearer than nearly all other words of the seed; a wrong one is anywhere. So the pairs that are farther than half
of the others tell how many are wrong, and those that stand where wrong ones prevail are left out of training. A seed
that has hardly any such pairs stays as it is.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lnmap.errors import TrainingError
from lnmap.methods.base import Run
from lnmap.methods.procrustes import rotation
from lnmap.normalize import RENORM, learn_both

_LEAST = 40  # words of a seed that can be looked at
_FOLDS = 10
_ROUNDS = 3
_OTHERS = 1000  # pairs of the seed that one is compared with
_NEIGHBOURS = 10
# Up to 4 % of the pairs of clean seeds seem wrong on development data, 6 % of a hundred pairs.
_CLEAN, _BAD_LUCK = 0.1, 0.6
# Of clean seeds 69 % or more are as near as this, of half wrong ones 24 % or more, of random pairs 9 to 18 %.
_NEAR, _FEW_NEAR = 0.1, 0.2
_STEPS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
_SHOWN = 3


@torch.no_grad()
def trimmed(source: Tensor, target: Tensor, seed: Tensor, run: Run) -> Tensor:
    """Return which pairs of a seed (k, 2) to train on, (k,); say which not, and refuse one that looks random."""
    kept = torch.ones(len(seed), dtype=torch.bool, device=seed.device)
    if len(seed[:, 0].unique()) < _LEAST:
        return kept
    norms = learn_both(RENORM, source, target)
    x, z = norms[0].apply(source[seed[:, 0]]), norms[1].apply(target[seed[:, 1]])
    fold = _folds(seed[:, 0], run)
    places = _places(x, z, fold, kept, run)
    if float((places <= _NEAR).float().mean()) < _FEW_NEAR:
        raise TrainingError(
            f"the {len(seed):,} seed pairs do not look like translations: most say no more about the others than "
            "random pairs do; check the pairs, and that each file of vectors is of the language it is given for"
        )
    for _ in range(_ROUNDS):
        wrong = 2 * float((places > 0.5).float().mean())
        if wrong < _CLEAN + _BAD_LUCK * len(seed) ** -0.5:
            return torch.ones_like(kept)
        kept = places <= _cut(places, wrong)
        places = _places(x, z, fold, kept, run)
    _report(seed, kept, places, run)
    return kept


def _folds(words: Tensor, run: Run) -> Tensor:
    """Return the fold of each pair (k,); pairs of one word are in one."""
    different, place = words.unique(return_inverse=True)
    drawn = torch.randperm(len(different), generator=torch.Generator().manual_seed(run.seed)) % _FOLDS
    return drawn.to(words.device)[place]


def _places(x: Tensor, z: Tensor, fold: Tensor, kept: Tensor, run: Run) -> Tensor:
    """Return what share of other words is nearer than the own one of held-out pairs x (k, d_s), z (k, d_t): (k,)."""
    others = torch.randperm(len(x), generator=torch.Generator().manual_seed(run.seed))[:_OTHERS].to(x.device)
    found = torch.zeros(len(x), device=x.device)
    for number in range(_FOLDS):
        held = (fold == number).nonzero()[:, 0]
        rest = (fold != number) & kept
        if not len(held) or not rest.any():
            continue
        mapped = x @ rotation(x[rest], z[rest])
        there, back = _share(mapped, z, held, others), _share(z, mapped, held, others)
        found[held] = (there + back) / 2
    return found


def _share(asked: Tensor, answers: Tensor, held: Tensor, others: Tensor) -> Tensor:
    """Return what share of other answers suits words better than their own, by CSLS: (h,)."""
    k = min(_NEIGHBOURS, len(others))
    scores = asked[held] @ answers[others].T  # (h, o)
    means = (answers[others] @ asked[others].T).topk(k, dim=1).values.mean(dim=1)  # of the others (o,)
    own = (answers[held] @ asked[others].T).topk(k, dim=1).values.mean(dim=1)  # of the own answers (h,)
    best = (asked[held] * answers[held]).sum(dim=1) - own / 2
    return ((scores - means / 2) > best[:, None]).float().mean(dim=1)


def _cut(places: Tensor, wrong: float) -> float:
    """Return the place up to which a pair is more likely right than wrong; wrong ones are as many everywhere."""
    low = 0.0
    for high in _STEPS:
        share = float(((places > (low or -1)) & (places <= high)).float().mean())
        if share < 2 * wrong * (high - low):
            break
        low = high
    return low or _STEPS[0]


def _report(seed: Tensor, kept: Tensor, places: Tensor, run: Run) -> None:
    """Say what was left out, with the worst pairs as examples."""
    left = int((~kept).sum())
    run.record(stage="trim", pairs=len(seed), left_out=left)
    example = ""
    if run.words is not None:
        worst = seed[places.argsort(descending=True)[:_SHOWN]].tolist()
        example = ", such as " + ", ".join(f"{run.words[0][s]!r} - {run.words[1][t]!r}" for s, t in worst)
    run.progress.note(
        f"{left:,} of {len(seed):,} seed pairs do not fit the others and are left out of training{example}; "
        "look through the pairs"
    )
