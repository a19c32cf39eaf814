"""Adversarial start and Procrustes refinement without any seed (Conneau et al. 2018, unsupervised)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnmap.methods.adversarial import (
    QUICK,
    AdversarialOptions,
    Game,
    check_vocabularies,
    forward_matches,
    is_aligned,
    play,
    random_rotation,
    until_aligned,
)
from lnmap.methods.base import Cost, LinearAlignment, Method, Run, require_equal_dimensions
from lnmap.methods.options import option
from lnmap.methods.procrustes import rotate_pairs, rotation
from lnmap.normalize import RENORM, fit_both


@dataclass(frozen=True)
class MuseUnsupOptions(AdversarialOptions):
    """Options of `muse-unsup`."""

    normalize: str = option(RENORM, "normalisation recipe of both languages; the original's own is 'none'")
    refinements: int = option(5, "Procrustes refinements after the game", low=0)
    max_rank: int = option(15_000, "both words of a pair refined on are among this many most frequent words", low=1)
    orthogonal_start: bool = option(True, "refine from the rotation nearest to the game's best map, not from that map")


class MuseUnsup(Method):
    """A rotation learnt against a discriminator, then refined on its own forward CSLS matches."""

    name = "muse-unsup"
    title = "Adversarial training and refinement (MUSE, unsupervised)"
    citation = "Conneau et al. 2018, ICLR"
    supervision = "none"
    orthogonal = True
    keeps_target = True
    Options = MuseUnsupOptions
    profiles = {
        "original": {
            "normalize": "none",
            "epochs": 5,
            "iterations": 31_250,
            "batch": 32,
            "dis_hidden": 2048,
            "dis_lr": 0.1,
            "map_lr": 0.1,
            "map_beta": 0.001,
            "least_lr": 1e-6,
            "muse_ranks": True,
            "orthogonal_start": False,
            "restarts": 0,
            "least_gain": 0.0,
        }
    }
    departures = {
        None: "normalised vectors; fewer and larger steps against a narrower discriminator; a collapsed game is played "
        "again, at most twice, and a weak result refused; refinement starts from the rotation nearest to the game's "
        "best map; targets of any rank count for the criterion",
        "original": "none known but the random draws and rounding; a vocabulary below 75,000 words is not refused",
    }
    revisions = {"original": 2}
    costs = {None: Cost(506, both=123), "original": Cost(21_317, both=128)}
    quick = {**QUICK, "refinements": 1}
    finds = 0.0  # a discriminator needs thousands of steps to learn anything

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> LinearAlignment:
        """Play until the vocabularies find each other; `pairs` are not looked at."""
        options: MuseUnsupOptions = self.options
        require_equal_dimensions(self, source, target)
        check_vocabularies(self, source, target, run)
        norms, x, y = fit_both(options.normalize, source, target)
        by_chance = 0.0
        if options.least_gain:
            by_chance = self._refine(x, y, random_rotation(x.shape[1], run), run, attempt=0)[1]

        def attempt(number: int) -> tuple[Tensor, bool, str]:
            game = Game(x, y, options, run.generator(number))
            play([game], run, number)
            w, score = self._refine(x, y, game.best, run, number)
            return w, *is_aligned(score, by_chance, options)

        return LinearAlignment.onto_target(norms, until_aligned(self, run, attempt))

    def _refine(self, x: Tensor, y: Tensor, w: Tensor, run: Run, attempt: int) -> tuple[Tensor, float]:
        """Solve Procrustes on forward CSLS matches in turns; return the map of the best criterion, and it."""
        options: MuseUnsupOptions = self.options
        if options.orthogonal_start:
            w = rotation(torch.eye(len(w), dtype=w.dtype, device=w.device), w)  # the orthogonal matrix nearest to it
        best, best_score = w, -torch.inf
        for number in range(options.refinements + 1):
            found, score = forward_matches(x @ w, y, options.max_rank, options, run.memory)
            run.record(attempt=attempt, refinement=number, pairs=len(found), criterion=score)
            if score > best_score:
                best, best_score = w, score
            if number < options.refinements:
                w = rotate_pairs(x, y, found)
        return best, best_score
