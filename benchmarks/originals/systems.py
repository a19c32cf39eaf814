"""Every system: its original and how that is called, and what of ours stands beside it, with the same options."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import peers
import programs
from programs import AAE_EPOCH, BLISS_EPOCHS, GEOMM, MUSE_EPOCH, NORMALIZE, VECMAP, Arguments


@dataclass(frozen=True)
class System:
    """An original program and ours."""

    name: str
    peer: peers.Peer
    program: str  # what capture.py runs; `map_embeddings.py` and `geomm.py` write mapped vectors themselves
    arguments: Arguments
    setting: str
    method: str
    profile: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    random: bool = False
    whole: str = ""  # our option that must be the size of the smaller vocabulary


NOISY = {"noisy_induction": True}  # the program leaves dropout on while it looks for new pairs

SHORT_LOOP = ("--vocabulary_cutoff", "4000", "--stochastic_interval", "10")

SYSTEMS = {
    system.name: system
    for system in (
        System("vecmap-sup", peers.VECMAP, VECMAP, programs.vecmap("supervised"), "`--supervised`", "vecmap-sup"),
        System("artetxe2018aaai", peers.VECMAP, VECMAP, programs.vecmap("aaai2018"), "`--aaai2018`", "artetxe2018aaai"),
        System("artetxe2017", peers.VECMAP, VECMAP, programs.vecmap("acl2017_seed"), "`--acl2017_seed`", "artetxe2017"),
        System(
            "artetxe2017-fp64",
            peers.VECMAP,
            VECMAP,
            programs.vecmap("acl2017_seed", "--precision", "fp64"),
            "`--acl2017_seed --precision fp64`",
            "artetxe2017",
        ),
        System(
            "vecmap-semi",
            peers.VECMAP,
            VECMAP,
            programs.vecmap("semi_supervised", verbose=True),
            "`--semi_supervised`",
            "vecmap-semi",
            "original",
            random=True,
        ),
        System(
            "artetxe2018acl",
            peers.VECMAP,
            VECMAP,
            programs.vecmap("unsupervised", with_seed=False, verbose=True),
            "`--unsupervised`",
            "artetxe2018acl",
            "original",
            random=True,
        ),
        System(
            "rcsls-10",
            peers.FASTTEXT,
            "fasttext",
            programs.rcsls(10),
            "`--lr 10 --niter 10`",
            "rcsls",
            "original",
            {"step": 10.0},
        ),
        System(
            "rcsls-25",
            peers.FASTTEXT,
            "fasttext",
            programs.rcsls(25),
            "`--lr 25 --niter 10`",
            "rcsls",
            "original",
            {"step": 25.0},
        ),
        System("geomm", peers.GEOMM, GEOMM, programs.geomm(150), "`--l2_reg 1e2`, 150 iterations", "geomm"),
        System("geomm-long", peers.GEOMM, GEOMM, programs.geomm(1000), "the same, 1000 iterations", "geomm"),
        System(
            "muse",
            peers.MUSE,
            "muse",
            programs.muse_sup,
            "`supervised.py`, the last of 5 refinements",
            "muse",
        ),
        System(
            "muse-unsup",
            peers.MUSE,
            "muse",
            programs.muse_unsup,
            f"`unsupervised.py --epoch_size {MUSE_EPOCH} --normalize_embeddings {NORMALIZE}`",
            "muse-unsup",
            "original",
            {"normalize": "unit,center,unit", "iterations": MUSE_EPOCH // 32},
            True,
        ),
        System(
            "aae",
            peers.AAE,
            "aae",
            programs.aae,
            f"README's, `--epoch_size {AAE_EPOCH}`",
            "aae",
            "original",
            {"iterations": AAE_EPOCH // 32, "ae_steps": 25 * -(-AAE_EPOCH // 128)},
            True,
        ),
        System(
            "bliss",
            peers.BLISS,
            "bliss",
            programs.bliss(BLISS_EPOCHS),
            f"`configs/config.yaml`, {BLISS_EPOCHS} epochs",
            "bliss",
            "original",
            {"epochs": BLISS_EPOCHS},
            True,
            whole="candidates",
        ),
        System("c1", peers.C1, "c1", programs.c1(), "`--train_size 1k` or `5k`", "contrastive", "c1-{size}"),
        System(
            "lnmap-linear",
            peers.LNMAP,
            "lnmap",
            programs.lnmap(linear=True),
            "README's, linear autoencoders",
            "lnmap",
            "release",
            {"autoencoder": "linear", **NOISY},
            True,
        ),
        System(
            "lnmap",
            peers.LNMAP,
            "lnmap",
            programs.lnmap(linear=False),
            "README's, non-linear autoencoders",
            "lnmap",
            "release",
            NOISY,
            True,
        ),
        System(
            "vecmap-semi-short",
            peers.VECMAP,
            VECMAP,
            programs.vecmap("semi_supervised", *SHORT_LOOP, verbose=True),
            f"`--semi_supervised {' '.join(SHORT_LOOP)}`",
            "vecmap-semi",
            "original",
            {"words": 4000, "patience": 10},
            True,
        ),
        System(
            "artetxe2018acl-short",
            peers.VECMAP,
            VECMAP,
            programs.vecmap("unsupervised", *SHORT_LOOP, with_seed=False, verbose=True),
            f"`--unsupervised {' '.join(SHORT_LOOP)}`",
            "artetxe2018acl",
            "original",
            {"words": 4000, "patience": 10},
            True,
        ),
        System(
            "bliss-short",
            peers.BLISS,
            "bliss",
            programs.bliss(epochs=3, width=256),
            "`configs/config.yaml`, 3 epochs, `hidden_dim` 256",
            "bliss",
            "original",
            {"epochs": 3, "dis_hidden": 256},
            True,
            whole="candidates",
        ),
        System(
            "c1-short",
            peers.C1,
            "c1",
            programs.c1(steps=4),
            "the options of `1k` with `--num_steps 4`",
            "contrastive",
            "c1-1k",
            {"steps": 5},
        ),
        System(
            "lnmap-linear-short",
            peers.LNMAP,
            "lnmap",
            programs.lnmap(linear=True, autoenc_epochs=3, mapper_epochs=10, iteration=3),
            "linear autoencoders, `--autoenc_epochs 3 --mapper_epochs 10 --iteration 3`",
            "lnmap",
            "release",
            {"autoencoder": "linear", "ae_epochs": 3, "epochs": 10, "iterations": 3, **NOISY},
            True,
        ),
        System(
            "lnmap-linear-longer",
            peers.LNMAP,
            "lnmap",
            programs.lnmap(linear=True, autoenc_epochs=10, mapper_epochs=30, iteration=5),
            "linear autoencoders, `--autoenc_epochs 10 --mapper_epochs 30 --iteration 5`",
            "lnmap",
            "release",
            {"autoencoder": "linear", "ae_epochs": 10, "epochs": 30, "iterations": 5, **NOISY},
            True,
        ),
    )
}
