"""Every setting of LNMap, and the profiles that fix them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lnmap.errors import OptionError
from lnmap.methods.options import Options, option
from lnmap.normalize import RENORM


@dataclass(frozen=True)
class LNMapOptions(Options):
    """Options of `lnmap`; the values here are those of the profile `default`."""

    normalize: str = option(RENORM, "normalisation recipe of both languages")
    # networks (Section 3.1, appendix)
    autoencoder: str = option("linear", "kind of autoencoder", choices=("nonlinear", "linear"))
    mapper: str = option("nonlinear", "kind of mapper", choices=("nonlinear", "linear", "procrustes"))
    code: int = option(350, "size of the latent code z", low=1)
    hidden: int = option(400, "hidden size of the autoencoders", low=1)
    mapper_hidden: int = option(400, "hidden size of the mappers", low=1)
    dropout: float = option(0.0, "dropout in the autoencoders' hidden layers", low=0)
    mapper_dropout: float = option(0.0, "dropout in the mappers' hidden layer", low=0)
    # autoencoder training (Eq. 7)
    ae_start: str = option(
        "exact", "start of a linear autoencoder: random, or exact reconstruction", ("random", "exact")
    )
    ae_words: int = option(200_000, "most frequent words the autoencoders are trained on", low=1)
    ae_epochs: int = option(25, "epochs of autoencoder training; an exact one needs none", low=0)
    ae_least: int = option(1000, "least steps of autoencoder training: small vocabularies get more epochs", low=0)
    ae_draws: int = option(0, "words drawn an epoch, with replacement; 0 for one pass over all words", low=0)
    ae_batch: int = option(512, "batch size of autoencoder training", low=1)
    ae_rate: float = option(1e-3, "Adam learning rate of the autoencoders", low=0)
    # mapping (Eq. 8-11)
    start: str = option(
        "closed", "each iteration goes on from the last, or from the autoencoders and a closed form", ("last", "closed")
    )
    start_ridge: float = option(1.0, "pull of the closed form towards the rotation, in mean variances", low=0)
    closed_iterations: int = option(2, "first iterations that use the closed form as it is, without training", low=0)
    updates: str = option("joint", "one step on the total loss, or one a loss", choices=("joint", "successive"))
    reduction: str = option("sum", "squared error: mean over dimensions or sum", choices=("mean", "sum"))
    back_translation: float = option(1.0, "weight lambda_1 of the back-translation loss", low=0)
    reconstruction: float = option(1.0, "weight lambda_2 of the reconstruction loss", low=0)
    ranking: float = option(1.0, "weight of the ranking loss against hard negatives", low=0)
    negatives: int = option(50, "hard negatives a pair has on each side", low=1)
    temperature: float = option(0.1, "temperature of the ranking loss", low=1e-3)
    refresh: int = option(25, "steps after which the negatives are sought again", low=1)
    steps: int = option(10, "training steps an iteration with the ranking loss", low=1)
    epochs: int = option(30, "epochs over the dictionary an iteration, without the ranking loss", low=1)
    batch: int = option(1024, "batch size of mapping", low=1)
    encoder_rate: float = option(1e-3, "Adam learning rate of encoder and decoder while mapping", low=0)
    mapper_optimizer: str = option("adam", "optimiser of the mappers", choices=("sgd", "adam"))
    mapper_rate: float = option(1e-3, "learning rate of the mappers", low=0)
    decay_epochs: int = option(0, "the mappers' rate is divided by 10 every so many epochs; 0 for never", low=0)
    # self-training (Algorithm 1)
    iterations: int = option(6, "self-training iterations at most", low=1)
    increment: int = option(2000, "C: how many more induced pairs each iteration may use", low=0)
    queries: int = option(15_000, "K: most frequent words of each side that new pairs are sought among", low=1)
    pool: int = option(15_000, "most frequent words that compete in that search", low=1)
    rank_by: str = option("csls", "score that orders induced pairs", choices=("csls", "cosine"))
    least: float = option(0.1, "CSLS an induced pair must have to be used; -2 for any", low=-2)
    noisy_induction: bool = option(False, "keep dropout on while pairs are induced, as the released code does")
    keep_duplicates: bool = option(False, "count a pair twice that is both in the seed and induced")
    tolerance: float = option(1e-6, "stop when the mean similarity changes by less; 0 runs all iterations", low=0)
    warm_start: bool = option(False, "start the second direction from what the first one left behind")

    def __post_init__(self) -> None:
        """Check each option, and those that must fit together."""
        super().__post_init__()
        if self.mapper == "nonlinear" and self.start == "closed" and self.mapper_hidden < self.code:
            raise OptionError(
                f"option mapper_hidden={self.mapper_hidden}: a closed-form start needs at least code={self.code}; "
                "raise mapper_hidden, lower code, or set start=last"
            )


RELEASE: dict[str, Any] = {
    "autoencoder": "nonlinear",
    "dropout": 0.25,
    "mapper_dropout": 0.1,
    "ae_start": "random",
    "ae_epochs": 25,
    "ae_least": 0,
    "ae_draws": 100_000,
    "ae_batch": 128,
    "ae_rate": 1e-4,
    "start": "last",
    "closed_iterations": 0,
    "updates": "joint",
    "reduction": "mean",
    "ranking": 0.0,
    "epochs": 100,
    "batch": 128,
    "encoder_rate": 1e-4,
    "mapper_optimizer": "sgd",
    "mapper_rate": 1e-4,
    "decay_epochs": 30,
    "iterations": 10,
    "pool": 30_000,
    "rank_by": "cosine",
    "least": -2.0,
    "keep_duplicates": True,
    "tolerance": 0.0,
    "warm_start": True,
}

PAPER: dict[str, Any] = {
    **RELEASE,
    "dropout": 0.0,
    "mapper_dropout": 0.0,
    "ae_draws": 0,
    "updates": "successive",
    "reduction": "sum",
    "pool": 15_000,
    "rank_by": "csls",
    "iterations": 20,
    "keep_duplicates": False,
    "tolerance": 1e-6,
    "warm_start": False,
}

PROFILES: dict[str, dict[str, Any]] = {"default": {}, "paper": PAPER, "release": RELEASE}
