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
    AdversarialOptions,
    Game,
    check_vocabularies,
    is_aligned,
    matches_by_csls,
    mean_cosine,
    play,
    random_rotation,
    uniform,
    until_aligned,
)
from lnmap.methods.base import Alignment, LinearAlignment, Method, Run, State, require_finite
from lnmap.methods.options import option
from lnmap.methods.procrustes import rotation
from lnmap.methods.vecmap.mapping import MultiStepOptions, multi_step
from lnmap.normalize import RENORM, Normalizer


@dataclass(frozen=True)
class AaeOptions(AdversarialOptions):
    """Options of `aae`."""

    normalize: str = option(RENORM, "normalisation recipe of both languages")
    code: int = option(350, "length of the codes", low=1)
    ae_steps: int = option(4_000, "Adam steps of each autoencoder; the original makes 195 000", low=0)
    ae_batch: int = option(128, "words in a step of an autoencoder", low=1)
    ae_lr: float = option(1e-3, "learning rate of the autoencoders (Adam)", low=0)
    ae_start: str = option(
        "isometry", "the encoders' start: keep all distances, or draw evenly", ("isometry", "uniform")
    )
    iterations: int = option(3_000, "steps of each map an epoch", low=1)
    batch: int = option(32, "words of each language in a step", low=1)
    dis_lr: float = option(0.3, "learning rate of the discriminators (SGD)", low=0)
    map_lr: float = option(0.3, "learning rate of the maps (SGD)", low=0)
    smoothing: float = option(0.2, "label smoothing of the discriminators", low=0)
    most_frequent: int = option(50_000, "words are drawn from this many most frequent ones", low=1)
    map_beta: float = option(0.01, "pull of the maps towards orthogonality after each step", low=0)
    cycle: float = option(5.0, "weight of the cycle loss, L1", low=0)
    rounds: int = option(20, "most Procrustes rounds in code space", low=1)
    symmetric_rounds: int = option(5, "most rounds of symmetric re-weighting on the vectors themselves", low=1)
    tolerance: float = option(1e-3, "a round that gains less mean CSLS than this is the last", low=0)
    max_rank: int = option(15_000, "words matched in a round are among this many most frequent ones", low=1)


class TwoWayAlignment(Alignment):
    """Two linear alignments, one for each direction of translation."""

    kind = "two-way"

    def __init__(self, forward: LinearAlignment, backward: LinearAlignment) -> None:
        self.forward, self.backward = forward, backward

    def map_source(self, x: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_s) -> (n, c)."""
        return (self.forward if direction is Direction.FORWARD else self.backward).map_source(x)

    def map_target(self, y: Tensor, direction: Direction = Direction.FORWARD) -> Tensor:
        """(n, d_t) -> (n, c)."""
        return (self.forward if direction is Direction.FORWARD else self.backward).map_target(y)

    def state(self) -> State:
        """The forward alignment and the two maps of the other."""
        values, tensors = self.forward.state()
        return values, tensors | {"backward.source": self.backward.source, "backward.target": self.backward.target}

    @classmethod
    def from_state(cls, values: dict[str, Any], tensors: dict[str, Tensor]) -> TwoWayAlignment:
        """Rebuild from `state()`."""
        forward = LinearAlignment.from_state(values, tensors)
        return cls(forward, LinearAlignment(forward.norms, tensors["backward.source"], tensors["backward.target"]))

    def to(self, device: torch.device | str) -> TwoWayAlignment:
        """Move to a device."""
        self.forward.to(device)
        self.backward.to(device)
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
            "ae_steps": 195_313,
            "epochs": 5,
            "iterations": 31_250,
            "dis_hidden": 2048,
            "dis_lr": 0.1,
            "map_lr": 0.1,
            "rounds": 100,
            "symmetric_rounds": 20,
            "tolerance": 1e-6,
        }
    }

    def fit(self, source: Tensor, target: Tensor, pairs: Tensor, run: Run) -> Alignment:
        """Play until the vocabularies find each other; `pairs` are not looked at."""
        options: AaeOptions = self.options
        limits = {name: getattr(options, name) for name in ("most_frequent", "criterion_words", "max_rank")}
        check_vocabularies(self, source, target, run, **limits)
        norms = Normalizer(options.normalize), Normalizer(options.normalize)
        x, y = norms[0].fit(source), norms[1].fit(target)
        dictionaries = until_aligned(self, run, options.restarts, lambda number: self._attempt(x, y, run, number))
        maps = [self._reweight(*sides, rows, run) for sides, rows in zip(((x, y), (y, x)), dictionaries, strict=False)]
        for number, pair in enumerate(maps):
            require_finite(self.name, **{f"map {number}": pair[0]})
        forward = LinearAlignment(norms, *maps[0])
        return forward if run.one_way else TwoWayAlignment(forward, LinearAlignment(norms, maps[1][1], maps[1][0]))

    def _attempt(self, x: Tensor, y: Tensor, run: Run, number: int) -> tuple[list[Tensor], bool, str]:
        """Train autoencoders and maps; give the dictionary of each direction and whether it is one."""
        options: AaeOptions = self.options
        generator = run.generator(number)
        codes = [encode(vectors, options, generator, run) for vectors in (x, y)]
        games = [Game(codes[0], codes[1], options, generator), Game(codes[1], codes[0], options, generator)]
        play(games, run, number, self._cycle)
        chance = self._rounds(codes[0], codes[1], random_rotation(options.code, run), run, number, "chance")[1]
        by_chance = mean_cosine(codes[0] @ chance, codes[1], options.criterion_words, run.memory)
        dictionaries = []
        for direction, game in enumerate(games[:1] if run.one_way else games):
            rows, w = self._rounds(game.source, game.target, game.best, run, number, f"direction {direction}")
            score = mean_cosine(game.source @ w, game.target, options.criterion_words, run.memory)
            aligned, why = is_aligned(score, by_chance, options)
            dictionaries.append(rows)
            if not aligned:
                return dictionaries, False, why
        return dictionaries, True, why

    def _cycle(self, game: Game, other: Game) -> None:
        """Cycle loss |z - F(G z)|, of which only F, the map back, is trained."""
        z = game.draw(game.source)
        there = z @ game.w
        residual = there @ other.w - z  # (b, c)
        gradient = there.T @ residual.sign() / residual.numel()
        other.step(gradient, self.options.cycle)

    def _rounds(self, x: Tensor, y: Tensor, w: Tensor, run: Run, attempt: int, what: str) -> tuple[Tensor, Tensor]:
        """Procrustes on the forward CSLS matches until their mean CSLS stops growing: last matches and rotation."""
        last = -torch.inf
        rows = torch.empty(0, 2, dtype=torch.long, device=x.device)
        for number in range(1, self.options.rounds + 1):
            rows, score = matches_by_csls(x @ w, y, self.options.max_rank, run.memory)
            w = rotation(x[rows[:, 0]], y[rows[:, 1]])
            run.record(attempt=attempt, stage="procrustes", what=what, round=number, pairs=len(rows), mean_csls=score)
            if score - last < self.options.tolerance:
                break
            last = score
        return rows, w

    def _reweight(self, x: Tensor, y: Tensor, rows: Tensor, run: Run) -> tuple[Tensor, Tensor]:
        """Whiten, rotate, re-weight both sides by S^0.5, de-whiten, on the vectors; again while mean CSLS grows."""
        steps, last = MultiStepOptions(), -torch.inf
        maps = multi_step(x[rows[:, 0]], y[rows[:, 1]], steps)
        for number in range(1, self.options.symmetric_rounds + 1):
            rows, score = matches_by_csls(x @ maps[0], y @ maps[1], self.options.max_rank, run.memory)
            run.record(stage="symmetric", round=number, pairs=len(rows), mean_csls=score)
            if score - last < self.options.tolerance:
                break
            maps, last = multi_step(x[rows[:, 0]], y[rows[:, 1]], steps), score
        return maps


def encode(x: Tensor, options: AaeOptions, generator: torch.Generator, run: Run) -> Tensor:
    """Train a linear autoencoder d -> c -> d with biases on vectors (n, d) and give their codes (n, c).

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
