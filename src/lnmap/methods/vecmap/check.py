"""Whether an alignment learnt without a seed is one: partners must stand out more than chance makes them.

A wrong alignment, too, pairs each word with something near: self-learning fits even random dictionaries, so a mean
similarity or a count of mutual neighbours tells little. What a wrong alignment lacks are partners much nearer than the
next candidates. How much nearer is compared with the same loop started from random pairs of the same words.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lnmap.errors import TrainingError
from lnmap.induce import induce
from lnmap.methods.base import Method, Run
from lnmap.methods.procrustes import rotate_pairs
from lnmap.methods.vecmap.learning import SelfLearningOptions, induce_pairs

_CHANCE_ITERATIONS = 10  # a random start has settled by then: 20 change its distinctness by 4 %
_NEAREST = 1e-6


def distinctness(x: Tensor, z: Tensor, memory: int) -> float:
    """Return how much farther than its partner a word's k nearest candidates are, as a share of the partner's distance.

    Mean over mutual CSLS neighbours of mapped words x (n, c), z (m, c): ((1 - r_x) + (1 - r_z)) / (2 (1 - cos)) - 1,
    which is CSLS / (2 (1 - cos)).
    """
    found = induce(x, z, memory=memory)
    if not len(found):
        return 0.0
    return float(found.csls.mean() / (2 * (1 - found.cosine.mean())).clamp_min(_NEAREST))


def chance(x: Tensor, z: Tensor, options: SelfLearningOptions, run: Run) -> float:
    """Return the distinctness that self-learning reaches from random pairs of the words x (n, d_s), z (m, d_t)."""
    generator = run.generator(1)
    n = min(len(x), len(z))
    pairs = torch.stack(
        [torch.randint(len(side), (n,), generator=generator, device=x.device) for side in (x, z)], dim=1
    )
    for _ in range(_CHANCE_ITERATIONS):
        pairs = induce_pairs(x @ rotate_pairs(x, z, pairs), z, options, 1.0, generator, run.memory)[0]
    return distinctness(x @ rotate_pairs(x, z, pairs), z, run.memory)


def require_distinct(method: Method, x: Tensor, z: Tensor, pairs: Tensor, run: Run) -> None:
    """Refuse a dictionary (k, 2) of normalised words x (n, d_s), z (m, d_t) that is no better than chance."""
    options = method.options
    w = rotate_pairs(x, z, pairs)
    x, z = x[: options.check_words], z[: options.check_words]
    found, by_chance = distinctness(x @ w, z, run.memory), chance(x, z, options, run)
    run.record(distinctness=found, chance=by_chance)
    if not found >= options.least_distinctness * by_chance:
        raise TrainingError(
            f"{method.name} found no alignment: translations stand out from other words {found / by_chance:.2f} times "
            f"as much as by chance, {options.least_distinctness:g} times are needed",
            advice="give a seed dictionary to {method:vecmap-semi}, or try another {seed}",
        )
