"""LNMap (Mohiuddin, Bari, Joty 2020): non-linear mapping between the latent spaces of two autoencoders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from lnmap.methods.base import Cost, Method, Run, require_pairs
from lnmap.methods.lnmap.algorithm import Algorithm1
from lnmap.methods.lnmap.alignment import LatentAlignment
from lnmap.methods.lnmap.options import PROFILES, LNMapOptions
from lnmap.methods.lnmap.published import Published, TrainedAutoencoders
from lnmap.normalize import fit_both

_LEAST_PAIRS = 10
_FEW_WORDS = 100


class LNMap(Method):
    """Autoencoders, mappers M and N, and self-training on dictionaries induced in the latent space."""

    name = "lnmap"
    title = "LNMap: latent-space non-linear mapping"
    citation = "Mohiuddin et al. 2020, EMNLP"
    supervision = "seed + unaligned words"
    checkpoints = True
    two_seeds = True
    Options = LNMapOptions
    profiles = PROFILES
    departures = {
        None: "linear in effect: exact linear autoencoders, mappers from a closed form that scores pairs (GeoMM's), a "
        "ranking loss, at most five short iterations, as many as help to find held-out seed words",
        "paper": "Adam for encoders and decoders, because the text's SGD does not train them (coder_optimizer=sgd is "
        "the text); at most ten iterations, where the text has no limit; mappers start as identities, as in the "
        "released code",
        "release": "no dropout while pairs are induced, as in the code's first version (noisy_induction=true is the "
        "last one)",
    }
    revisions = {None: 2, "default": 2, "paper": 2}
    alignment = LatentAlignment
    costs = {None: Cost(one=84), "paper": Cost(2_139, 86), "paper linear": Cost(983, 21)}  # paper with linear codes
    quick = {"code": 60, "hidden": 64, "mapper_hidden": 64, "epochs": 4, "iterations": 2, "batch": 128}
    finds = 90.0

    @classmethod
    def cost(cls, profile: str | None, options: Mapping[str, Any]) -> Cost | None:
        """Return what a fit takes; the kind of autoencoder makes a difference."""
        return cls.costs.get(f"{profile} {options.get('autoencoder')}") or cls.costs.get(profile)

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LatentAlignment:
        """Train both directions (one, if the run is one-way)."""
        require_pairs(self, pairs, _LEAST_PAIRS)
        self._warn(len(source), len(target), pairs, run)
        norms, x, y = fit_both(self.options.normalize, source, target)
        with torch.random.fork_rng([run.device] if run.device.type == "cuda" else []):  # leaves torch's draws alone
            nets = self._algorithm()(x, y, pairs, self.options, run).train()
        return LatentAlignment(norms, nets, self.options)

    def _algorithm(self) -> type[Algorithm1]:
        if self.options.updates != "ranking":
            return Published
        return Algorithm1 if self.options.autoencoder == "linear" else TrainedAutoencoders

    def _warn(self, n: int, m: int, pairs: Tensor, run: Run) -> None:
        """Report what is unusual about the data and what is done about it."""
        smaller = min(n, m)
        if smaller < _FEW_WORDS:
            run.progress.note(
                f"one vocabulary has only {smaller} words: too few to learn from; do not trust the result"
            )
        elif smaller < self.options.queries:
            run.progress.note(
                f"one vocabulary has {smaller:,} words, fewer than K = {self.options.queries:,}: all are used"
            )
        repeated = len(pairs) - len(pairs[:, 0].unique())
        if repeated:
            run.progress.note(f"{repeated:,} seed pairs give a source word another translation; all are trained on")
