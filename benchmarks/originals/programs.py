"""How each original program is called."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inputs import Inputs

# Budgets that both programs get where the published one is out of reach: the original through its own command line.
MUSE_EPOCH = 200_000  # --epoch_size, published 1 000 000; 32 words per map step
AAE_EPOCH = 100_000  # --epoch_size, published 1 000 000; also 128 words per step of an autoencoder
BLISS_EPOCHS = 100  # epochs, published 200
VECMAP, GEOMM = "map_embeddings.py", "geomm.py"
NORMALIZE = "renorm,center,renorm"


@dataclass(frozen=True)
class Call:
    """One run of an original: its files, its random seed, the folder it may write to, and whether it has a GPU."""

    inputs: Inputs
    pair: str
    take: str
    seed: int
    copy: Path  # a copy of its repository
    folder: Path
    cuda: bool
    trial: bool  # a few steps only, to see that it runs

    @property
    def languages(self) -> list[str]:
        return self.pair.split("-")

    @property
    def vectors(self) -> list[str]:
        return [str(self.inputs.vectors(name)) for name in self.languages]

    def dictionary(self, part: str) -> str:
        return str(self.inputs.dictionary(part, self.pair, self.take))

    def words(self) -> int:
        """The smaller vocabulary."""
        return min(int(Path(path).open(encoding="utf-8").readline().split()[0]) for path in self.vectors)


Arguments = Callable[[Call], list[str]]


def vecmap(preset: str, *more: str, with_seed: bool = True, verbose: bool = False) -> Arguments:
    def arguments(call: Call) -> list[str]:
        outputs = [str(call.folder / f"{name}.vec") for name in ("src", "trg")]
        chosen = [f"--{preset}", *([call.dictionary("seed")] if with_seed else [])]
        shown = ["--seed", str(call.seed), "-v"] if verbose else []
        return [*call.vectors, *outputs, *chosen, *more, *shown, *(["--cuda"] if call.cuda else [])]

    return arguments


def geomm(iterations: int) -> Arguments:
    def arguments(call: Call) -> list[str]:
        files = ["-dtrain", call.dictionary("seed"), "-dtest", call.dictionary("test")]
        values = named(normalize="unit", geomm_embeddings_path=call.folder, max_opt_iter=iterations)
        values.insert(2, "center")
        return [*call.vectors, *files, *values, "--normalize_eval"]

    return arguments


def rcsls(step: int) -> Arguments:
    def arguments(call: Call) -> list[str]:
        source, target = call.vectors
        files = ["--dico_train", call.dictionary("seed"), "--dico_test", call.dictionary("test")]
        return ["--src_emb", source, "--tgt_emb", target, *files, "--lr", str(step), "--niter", "10"]

    return arguments


def named(**values: Any) -> list[str]:
    return [part for name, value in values.items() for part in (f"--{name}", str(value))]


def like_muse(call: Call) -> list[str]:
    source, target = call.vectors
    lang = dict(zip(("src_lang", "tgt_lang"), call.languages, strict=True))
    return named(**lang, src_emb=source, tgt_emb=target, seed=call.seed, exp_path=call.folder / "dumped")


def muse_sup(call: Call) -> list[str]:
    files = named(dico_train=call.dictionary("seed"), dico_eval=call.dictionary("test"), cuda=call.cuda)
    return ["supervised.py", *like_muse(call), *files]


def muse_unsup(call: Call) -> list[str]:
    size = 320 if call.trial else MUSE_EPOCH
    files = named(dico_eval=call.dictionary("test"), cuda=call.cuda, normalize_embeddings=NORMALIZE)
    return ["unsupervised.py", *like_muse(call), *files, *named(dis_most_frequent=0, epoch_size=size)]


def aae(call: Call) -> list[str]:
    size = 320 if call.trial else AAE_EPOCH
    rounds = named(n_epochs=1, n_procrustes=1, n_symmetric_reweighting=1) if call.trial else []
    values = named(dico_eval=call.dictionary("test"), cuda=call.cuda, normalize_embeddings=NORMALIZE)
    values += named(emb_dim_autoenc=350, dis_most_frequent_AB=0, dis_most_frequent_BA=0, epoch_size=size)
    return [*like_muse(call), *values, *rounds]


def lnmap(linear: bool, **budget: int) -> Arguments:
    def arguments(call: Call) -> list[str]:
        folder = f"{Path(call.dictionary('seed')).parent}/"
        size = {"1k-unique": 1000, "5k-unique": 5000}[call.take]
        (call.folder / "dumped").mkdir()
        values = named(dico_train_path=folder, dico_eval_path=folder, sup_dict_size=size, nonlinear_mapper=True)
        values += named(emb_dim_autoenc_A=350, emb_dim_autoenc_B=350, nonlinear_autoenc="" if linear else True)
        values += [] if call.cuda else named(cuda="")
        return [*like_muse(call), *values, *named(**(LNMAP_TRIAL if call.trial else budget))]

    return arguments


LNMAP_TRIAL = {"autoenc_epochs": 1, "autoenc_epoch_size": 1280, "mapper_epochs": 2, "iteration": 2}


def bliss(epochs: int, width: int = 2048) -> Arguments:
    def arguments(call: Call) -> list[str]:
        path = bliss_config(call, epochs, width)
        return ["--config_file", str(path), *named(gpu=call.cuda, seed=call.seed + 1)]  # a seed of 0 would not be used

    return arguments


def bliss_config(call: Call, epochs: int, width: int) -> Path:
    """Write the published configuration, changed for these files and this budget."""
    import yaml

    dictionaries = call.folder / "crosslingual" / "dictionaries"  # caches are written beside what lies here
    dictionaries.mkdir(parents=True)
    for part in ("seed", "test"):
        shutil.copy(call.dictionary(part), dictionaries)
    for path in call.vectors:
        (call.folder / Path(path).name).symlink_to(path)
    config = yaml.safe_load((call.copy / "configs" / "config.yaml").read_text(encoding="utf-8"))
    source, target = call.languages
    config["data_params"] |= {
        "data_dir": str(call.folder),
        "languages": [{"filename": f"{name}.vec", "name": name} for name in call.languages],
        "output_dir": str(call.folder / "output"),
        "supervised": {"fname": Path(call.dictionary("seed")).name, "max_freq": -1},
    }
    config["gan_params"] = {"src": source, "tgt": target}
    config["train_params"] |= {"num_nbrs": call.words(), "epochs": 2 if call.trial else epochs}
    config["discriminator_params"]["hidden_dim"] = width
    if call.trial:
        config["train_params"]["iters_per_epoch"] = 320
    path = call.folder / "config.yaml"
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def c1(steps: int = 0) -> Arguments:
    """Return the published setting of the seed's size, or that of 1 000 pairs with fewer steps."""

    def arguments(call: Call) -> list[str]:
        source, target = call.vectors
        short = 1 if call.trial else steps
        size = "short" if short else call.take.partition("-")[0]
        (call.folder / f"{size}C1").mkdir()
        pairs, seed = Path(call.dictionary("seed")).read_text(encoding="utf-8"), call.folder / "seed.tsv"
        seed.write_text(pairs.replace(" ", "\t"), encoding="utf-8")
        l1, l2 = call.languages
        values = named(l1=l1, l2=l2, train_size=size, emb_src_dir=source, emb_tgt_dir=target, train_dict_dir=seed)
        values += named(test_dict_dir=call.dictionary("test"), save_dir=f"{call.folder}/")
        values += named(**C1_1K, num_steps=short) if short else []
        return [*values, *([] if call.cuda else ["--cpu"])]

    return arguments


C1_1K = {"num_sample": 60, "lr": 2.0, "num_sl": 3, "num_aug": 6000, "dico_max_rank": 20000, "gamma": 1.0}
