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
    updates: str = option(
        "ranking",
        "how a dictionary is trained on: from a closed form, on the total and a ranking loss; or as published, on the "
        "total loss, or on one loss after the other",
        choices=("ranking", "joint", "successive"),
    )
    # networks (Section 3.1, appendix)
    autoencoder: str = option("linear", "kind of autoencoder", choices=("nonlinear", "linear"))
    mapper: str = option(
        "nonlinear",
        "kind of mapper; residual is a matrix and, added to it, a tanh layer that really bends",
        choices=("nonlinear", "residual", "linear", "procrustes"),
    )
    code: int = option(350, "size of the latent code z", low=1)
    hidden: int = option(400, "hidden size of the autoencoders", low=1)
    mapper_hidden: int = option(400, "hidden size of the mappers", low=1)
    dropout: float = option(0.0, "dropout in the autoencoders' hidden layers", low=0)
    mapper_dropout: float = option(0.0, "dropout in the mappers' hidden layer", low=0)
    # step 1 (Eq. 7); a linear autoencoder is exact without training if updates=ranking
    ae_epochs: int = option(25, "epochs of autoencoder training", low=0)
    ae_least: int = option(1000, "least steps of autoencoder training: small vocabularies get more epochs", low=0)
    ae_draws: int = option(0, "words drawn per epoch, with replacement; 0 for one pass over all words", low=0)
    ae_batch: int = option(512, "batch size of autoencoder training", low=1)
    ae_rate: float = option(1e-3, "learning rate of the autoencoders", low=0)
    coder_optimizer: str = option(
        "adam", "optimiser of encoders and decoders, if they are trained; the paper's text says sgd", ("adam", "sgd")
    )
    # step 3.i (Eq. 8-11)
    reduction: str = option("sum", "squared error: mean over dimensions or sum", choices=("mean", "sum"))
    back_translation: float = option(1.0, "weight lambda_1 of the back-translation loss", low=0)
    reconstruction: float = option(1.0, "weight lambda_2 of the reconstruction loss", low=0)
    ranking: float = option(1.0, "weight of the ranking loss, if updates=ranking", low=0)
    batch: int = option(1024, "batch size of mapping", low=1)
    encoder_rate: float = option(1e-3, "learning rate of encoder and decoder while mapping", low=0)
    mapper_rate: float = option(1e-3, "learning rate of the mappers", low=0)
    closed_iterations: int = option(3, "first iterations that use the closed form as it is, without training", low=0)
    steps: int = option(10, "training steps per iteration, if updates=ranking", low=1)
    epochs: int = option(100, "epochs over the dictionary per iteration, if updates are as published", low=1)
    # steps 3.ii and 3.iii
    iterations: int = option(5, "self-training iterations at most", low=1)
    increment: int = option(2000, "C: how many more induced pairs each iteration may use", low=0)
    queries: int = option(15_000, "K: most frequent words of each side that new pairs are sought among", low=1)
    pool: int = option(15_000, "most frequent words that compete in that search", low=1)
    rank_by: str = option("csls", "score that orders induced pairs", choices=("csls", "cosine"))
    least: float = option(0.1, "CSLS an induced pair must have to be used; -2 for any", low=-2)
    rehearse: bool = option(
        True, "train without a fifth of the seed first, and keep the ridge and the iterations that rank it best"
    )
    tolerance: float = option(1e-6, "stop when the mean similarity changes by less; 0 runs all iterations", low=0)
    noisy_induction: bool = option(False, "keep dropout on while pairs are induced, as the released code does")
    keep_duplicates: bool = option(False, "count a pair twice that is both in the seed and induced")
    warm_start: bool = option(False, "start the second direction from what the first one left behind")

    def __post_init__(self) -> None:
        """Check each option, and those that must fit together."""
        super().__post_init__()
        if self.mapper == "nonlinear" and self.updates == "ranking" and self.mapper_hidden < self.code:
            raise OptionError(
                f"option mapper_hidden={self.mapper_hidden}: a closed-form start needs at least code={self.code}; "
                "raise mapper_hidden or lower code"
            )


RELEASE: dict[str, Any] = {
    "updates": "joint",
    "autoencoder": "nonlinear",
    "dropout": 0.25,
    "mapper_dropout": 0.1,
    "ae_epochs": 25,
    "ae_least": 0,
    "ae_draws": 100_000,
    "ae_batch": 128,
    "ae_rate": 1e-4,
    "reduction": "mean",
    "batch": 128,
    "encoder_rate": 1e-4,
    "mapper_rate": 1e-4,
    "closed_iterations": 0,
    "epochs": 100,
    "iterations": 10,
    "pool": 30_000,
    "rank_by": "cosine",
    "least": -2.0,
    "rehearse": False,
    "tolerance": 0.0,
    "keep_duplicates": True,
    "warm_start": True,
}

PAPER: dict[str, Any] = {
    **RELEASE,
    "updates": "successive",
    "dropout": 0.0,
    "mapper_dropout": 0.0,
    "ae_draws": 0,
    "reduction": "sum",
    "iterations": 10,  # as in the released code: the text has no limit, and its test is seldom met
    "pool": 15_000,
    "rank_by": "csls",
    "tolerance": 1e-6,
    "keep_duplicates": False,
    "warm_start": False,
}

PROFILES: dict[str, dict[str, Any]] = {"default": {}, "paper": PAPER, "release": RELEASE}
