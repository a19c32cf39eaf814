"""Adversarial training in the codes of two autoencoders (Mohiuddin & Joty 2019).

Two facts of the released code are kept, because they decide what is learnt: the encoders do not move once the game
begins, and the cycle loss sees a detached mapped code, so it trains only the map that goes back. Its reconstruction
loss trains only decoders, which nothing uses afterwards, and is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from lnmap.direction import Direction
from lnmap.methods.adversarial import (
    QUICK,
    AdversarialOptions,
    Game,
    check_vocabularies,
    forward_matches,
    is_aligned,
    mean_cosine,
    numbered,
    play,
    random_rotation,
    uniform,
    until_aligned,
)
from lnmap.methods.base import Alignment, Cost, LinearAlignment, Method, Run, State, require_finite
from lnmap.methods.options import option
from lnmap.methods.procrustes import rotate_pairs, rotation
from lnmap.methods.vecmap.mapping import MultiStepOptions, multi_step
from lnmap.normalize import RENORM, fit_both, unit
from lnmap.retrieve import neighbourhood_means, top_k


@dataclass(frozen=True)
class AaeOptions(AdversarialOptions):
    """Options of `aae`."""

    normalize: str = option(RENORM, "normalisation recipe of both languages")
    code: int = option(350, "length of the codes", low=1)
    ae_steps: int = option(4_000, "Adam steps of each autoencoder; the original makes 195 325", low=0)
    ae_batch: int = option(128, "words in a step of an autoencoder", low=1)
    ae_lr: float = option(1e-3, "learning rate of the autoencoders (Adam)", low=0)
    ae_start: str = option(
        "isometry", "the encoders' start: keep all distances, or draw evenly", ("isometry", "uniform")
    )
    iterations: int = option(3_000, "steps of each map per epoch", low=1)
    batch: int = option(32, "words of each language in a step", low=1)
    dis_lr: float = option(0.3, "learning rate of the discriminators (SGD)", low=0)
    map_lr: float = option(0.3, "learning rate of the maps (SGD)", low=0)
    smoothing: float = option(0.2, "label smoothing of the discriminators", low=0)
    most_frequent: int = option(50_000, "words are drawn from this many most frequent ones", low=1)
    map_beta: float = option(0.01, "pull of the maps towards orthogonality after each step", low=0)
    cycle: float = option(5.0, "weight of the cycle loss, L1", low=0)
    joint_cycle: bool = option(
        False,
        "take the cycle loss on the words of the map step and at the same time, then pull both maps towards "
        "orthogonality; otherwise on words of its own after that step, without a second pull",
    )
    search_all: bool = option(False, "search the first dictionary among all words, not among max_rank of each side")
    rounds: int = option(20, "most Procrustes rounds in code space", low=1)
    least_rounds: int = option(1, "Procrustes rounds before one that gains too little is the last", low=1)
    normalize_again: bool = option(False, f"normalise the vectors by {RENORM} once more before they are re-weighted")
    symmetric_rounds: int = option(5, "most rounds of symmetric re-weighting on the vectors, after the first", low=1)
    least_symmetric_rounds: int = option(1, "rounds of it before one that gains too little is the last", low=1)
    tolerance: float = option(1e-3, "a round that gains less mean CSLS than this may be the last", low=0)
    carry_gain: bool = option(False, "re-weighting, too, must gain on the best mean CSLS of the Procrustes rounds")
    max_rank: int = option(15_000, "words matched in a round are among this many most frequent ones", low=1)


class TwoWayAlignment(Alignment):
    """Two linear alignments, one for each direction of translation."""

    kind = "two-way"

    def __init__(self, forward: LinearAlignment, backward: LinearAlignment) -> None:
        self.ways = {Direction.FORWARD: forward, Direction.BACKWARD: backward}

    def map_source(self, x: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_s) -> (n, c)."""
        return self.ways[direction].map_source(x)

    def map_target(self, y: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_t) -> (n, c)."""
        return self.ways[direction].map_target(y)

    def state(self) -> State:
        """Return the forward alignment and the two maps of the other."""
        values, tensors = self.ways[Direction.FORWARD].state()
        backward = self.ways[Direction.BACKWARD]
        return values, tensors | {"backward.source": backward.source, "backward.target": backward.target}

    @classmethod
    def from_state(cls, values: dict[str, Any], tensors: dict[str, Tensor]) -> TwoWayAlignment:
        """Rebuild from `state()`."""
        forward = LinearAlignment.from_state(values, tensors)
        return cls(forward, LinearAlignment(forward.norms, tensors["backward.source"], tensors["backward.target"]))

    def to(self, device: torch.device | str) -> TwoWayAlignment:
        """Move to a device."""
        for way in self.ways.values():
            way.to(device)
        return self


class Aae(Method):
    """Autoencoders, two games with a cycle, Procrustes rounds on the codes, symmetric re-weighting on the vectors."""

    name = "aae"
    title = "Adversarial autoencoder with cycle consistency"
    citation = "Mohiuddin & Joty 2019, NAACL"
    supervision = "none"
    Options = AaeOptions
    profiles = {
        "original": {
            "ae_start": "uniform",
            "ae_steps": 195_325,  # 25 epochs of 1,000,000 / 128, rounded up
            "epochs": 5,
            "iterations": 31_250,
            "dis_hidden": 2048,
            "dis_lr": 0.1,
            "map_lr": 0.1,
            "least_lr": 1e-6,
            "muse_ranks": True,
            "joint_cycle": True,
            "search_all": True,
            "rounds": 100,
            "least_rounds": 22,
            "normalize_again": True,
            "symmetric_rounds": 19,  # 20 with the first
            "least_symmetric_rounds": 12,
            "tolerance": 1e-6,
            "carry_gain": True,
            "restarts": 0,
            "least_gain": 0.0,
        }
    }
    departures = {
        None: "the autoencoders start at an isometry and have nothing to learn; the game has fewer and larger steps, "
        "narrower discriminators, and words of its own for the cycle loss; a collapsed game is played again, at most "
        "twice, and a weak result refused; fewer rounds of refinement, on vectors normalised once; targets of any rank "
        "count for the criterion",
        "original": "none known but the random draws and rounding, and that the encoders do not move in the game (with "
        "PyTorch before 2.0, what was left of Adam's momentum moved them in its first steps); a vocabulary below "
        "50,000 words is not refused",
    }
    revisions = {"original": 2}
    alignment = TwoWayAlignment
    costs = {None: Cost(535, both=84), "original": Cost(52_420, both=95)}
    quick = {**QUICK, "code": 60, "ae_steps": 5, "rounds": 2, "symmetric_rounds": 1}
    finds = 0.0  # a discriminator needs thousands of steps to learn anything

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> Alignment:
        """Play until the vocabularies find each other; `pairs` are not looked at."""
        check_vocabularies(self, source, target, run)
        norms, x, y = fit_both(self.options.normalize, source, target)
        found = until_aligned(self, run, lambda number: self._attempt(x, y, run, number))
        if self.options.normalize_again:
            norms, x, y = fit_both(f"{self.options.normalize},{RENORM}", source, target)
        maps = [self._reweight(*sides, *start, run) for sides, start in zip(((x, y), (y, x)), found, strict=False)]
        for number, pair in enumerate(maps):
            require_finite(self.name, **{f"map {number}": pair[0]})
        forward = LinearAlignment(norms, *maps[0])
        return forward if run.one_way else TwoWayAlignment(forward, LinearAlignment(norms, maps[1][1], maps[1][0]))

    def _attempt(self, x: Tensor, y: Tensor, run: Run, number: int) -> tuple[list[tuple[Tensor, float]], bool, str]:
        """Train autoencoders and maps; return what `_refine` found for each direction and whether it is aligned."""
        options: AaeOptions = self.options
        generator = run.generator(number)
        codes_x, codes_y = (encode(vectors, options, generator, run) for vectors in (x, y))
        games = [Game(codes_x, codes_y, options, generator), Game(codes_y, codes_x, options, generator)]
        play(games, run, number, self._turn)
        by_chance = 0.0
        if options.least_gain:
            by_chance = self._refine(codes_x, codes_y, random_rotation(options.code, run), run, number, "chance")[2]
        found, aligned, why = [], True, ""
        for direction, game in enumerate(games[:1] if run.one_way else games):
            what = f"direction {direction}"
            rows, mean_csls, score = self._refine(game.source, game.target, game.best, run, number, what)
            found.append((rows, mean_csls))
            aligned, why = is_aligned(score, by_chance, options)
            if not aligned:
                break
        return found, aligned, why

    def _turn(self, game: Game, other: Game) -> None:
        """Take a map step of one game, and one of the other on the cycle loss."""
        if not self.options.joint_cycle:
            game.fool()
            other.step(cycle_gradient(game.draw(game.source), game.w, other.w), self.options.cycle)
            return
        z = game.draw(game.source)
        gradients = game.fooling_gradient(z), cycle_gradient(z, game.w, other.w)
        game.step(gradients[0])
        other.step(gradients[1], self.options.cycle)
        for moved in (game, other):
            moved.orthogonalize()

    def _refine(
        self, x: Tensor, y: Tensor, w: Tensor, run: Run, attempt: int, what: str
    ) -> tuple[Tensor, float, float]:
        """Solve Procrustes on CSLS matches until their mean CSLS stops growing.

        :return: the last matches, the best mean CSLS, and the criterion if it is asked for.
        """
        options: AaeOptions = self.options
        if options.search_all:
            w = rotate_pairs(x, y, forward_matches(x @ w, y, options.max_rank, options, run.memory)[0])
        best = 0.0 if options.carry_gain else -torch.inf
        rows = torch.empty(0, 2, dtype=torch.long, device=x.device)
        for number in range(1, options.rounds + 1):
            rows, score = csls_matches(x @ w, y, options.max_rank, run.memory)
            w = rotate_pairs(x, y, rows)
            run.record(attempt=attempt, stage="procrustes", what=what, round=number, pairs=len(rows), mean_csls=score)
            if score - best >= options.tolerance:
                best = score
            elif number >= options.least_rounds:
                break
        return rows, best, mean_cosine(x @ w, y, options, run.memory) if options.least_gain else 0.0

    def _reweight(self, x: Tensor, y: Tensor, rows: Tensor, best: float, run: Run) -> tuple[Tensor, Tensor]:
        """Whiten, rotate, re-weight both sides by S^0.5, de-whiten, on the vectors; again while mean CSLS grows."""
        options: AaeOptions = self.options
        steps, best = MultiStepOptions(), best if options.carry_gain else -torch.inf
        maps = multi_step(x[rows[:, 0]], y[rows[:, 1]], steps)
        for number in range(1, options.symmetric_rounds + 1):
            rows, score = csls_matches(x @ maps[0], y @ maps[1], options.max_rank, run.memory)
            run.record(stage="symmetric", round=number, pairs=len(rows), mean_csls=score)
            if score - best >= options.tolerance:
                best = score
            elif number >= options.least_symmetric_rounds:
                break
            maps = multi_step(x[rows[:, 0]], y[rows[:, 1]], steps)
        return maps


def cycle_gradient(z: Tensor, there: Tensor, back: Tensor) -> Tensor:
    """Return the gradient (c, c) of the L1 loss |z - z W F| of codes (b, c) on F, the map back."""
    mapped = z @ there
    residual = mapped @ back - z  # (b, c)
    return mapped.T @ residual.sign() / residual.numel()


def csls_matches(x: Tensor, y: Tensor, max_rank: int, memory: int) -> tuple[Tensor, float]:
    """Return the CSLS matches (k, 2) of source words among `max_rank` frequent words, and their mean CSLS."""
    x, y = unit(x[:max_rank]), unit(y[:max_rank])
    r_x, r_y = neighbourhood_means(x, y, memory=memory), neighbourhood_means(y, x, memory=memory)
    scores, rows = top_k(x, y, 1, r_y / -2, memory=memory)
    return numbered(rows[:, 0]), float((2 * scores[:, 0] - r_x).mean())


def encode(x: Tensor, options: AaeOptions, generator: torch.Generator, run: Run) -> Tensor:
    """Train a linear autoencoder d -> c -> d with biases on vectors (n, d) and return their codes (n, c).

    Codes no shorter than the vectors allow exact solutions; `isometry` starts at one and has nothing to train.
    """
    d, c = x.shape[1], options.code
    encoder, decoder = uniform((d, c), d**-0.5, generator), uniform((c, d), c**-0.5, generator)
    offsets = uniform((c,), d**-0.5, generator), uniform((d,), c**-0.5, generator)
    steps = options.ae_steps
    if options.ae_start == "isometry":
        encoder = rotation(encoder.T, torch.eye(c, dtype=x.dtype, device=x.device))  # nearest (d, c) isometry
        decoder = encoder.T.clone()
        offsets = torch.zeros_like(offsets[0]), torch.zeros_like(offsets[1])
        steps = steps if c < d else 0
    parameters = [tensor.requires_grad_(True) for tensor in (encoder, decoder, *offsets)]
    adam = torch.optim.Adam(parameters, lr=options.ae_lr)
    with run.progress.task("autoencoder", steps) as task:
        for _ in range(steps):
            batch = x[torch.randint(len(x), (options.ae_batch,), generator=generator, device=x.device)]
            loss = functional.mse_loss((batch @ encoder + offsets[0]) @ decoder + offsets[1], batch)
            adam.zero_grad()
            loss.backward()
            adam.step()
            task.advance()
    with torch.no_grad():
        codes = x @ encoder + offsets[0]
        run.record(stage="autoencoder", loss=float(functional.mse_loss(codes @ decoder + offsets[1], x)))
    return codes
