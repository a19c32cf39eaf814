"""Run an original program in this process and save the vectors it ends with.

    python capture.py PROGRAM OUT.npz cpu|cuda ARGUMENTS...

PROGRAM is a key of `PROGRAMS`; the working directory is the copy of its repository. Nothing of lnmap is imported here:
one of the originals is called lnmap too. What today's Python, numpy and torch lack is supplied by `modernise`.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import runpy
import sys
import types
from pathlib import Path

import numpy as np
import torch


class Captured(BaseException):
    """The forward direction is done; the rest of the program is not needed."""


def main() -> None:
    program, out, device, *arguments = sys.argv[1:]
    modernise(device)
    sys.path.insert(0, os.getcwd())
    words, vectors = PROGRAMS[program](arguments)
    arrays = {f"words{i}": np.array(side) for i, side in enumerate(words)}
    np.savez(out, **arrays, **{f"vectors{i}": np.asarray(side) for i, side in enumerate(vectors)})


def modernise(device: str) -> None:
    """Supply what newer Python, numpy and torch no longer have, and packages that the programs hardly use."""
    os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"  # their checkpoints hold numpy arrays
    inspect.getargspec = inspect.getfullargspec  # gone in Python 3.11
    json.JSONEncoder.default = lambda self, value: float(value)  # numpy 2 keeps float32, which json refuses
    if not hasattr(torch.nn.utils, "clip_grad_norm"):
        torch.nn.utils.clip_grad_norm = torch.nn.utils.clip_grad_norm_
    plain = torch.Tensor.__getitem__

    def item(self, index):
        elsewhere = isinstance(index, torch.Tensor) and index.device != self.device
        return plain(self, index.to(self.device) if elsewhere else index)

    torch.Tensor.__getitem__ = item  # a tensor on the CPU with indices on a GPU
    if device == "cpu":  # calls of .cuda() without asking
        torch.Tensor.cuda = torch.nn.Module.cuda = lambda self, *_, **__: self
    try:
        import yaml

        yaml.load = lambda stream, Loader=yaml.SafeLoader: _yaml_load(yaml, stream, Loader)  # PyYAML 6 wants a loader
    except ImportError:
        stub("yaml", load=json.load, dump=lambda data, stream, **_: json.dump(data, stream))
    stand_in("jsbeautifier", default_options=lambda: None, beautify=lambda text, _: text)
    stand_in("tqdm", tqdm=lambda items: items)
    stand_in("matplotlib", use=lambda _: None)
    stand_in("matplotlib.pyplot")


def _yaml_load(yaml, stream, loader):
    reader = loader(stream)
    try:
        return reader.get_single_data()
    finally:
        reader.dispose()


def stub(name: str, **members) -> None:
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


def stand_in(name: str, **members) -> None:
    """Put an empty module in the place of one that is not installed."""
    try:
        importlib.import_module(name)
    except ImportError:
        stub(name, **members)


class ExactIndex:
    """The part of faiss that BLISS uses: exact inner products."""

    def __init__(self, *arguments) -> None:
        self.device = "cuda" if len(arguments) > 1 else "cpu"

    def add(self, vectors) -> None:
        self.vectors = torch.as_tensor(vectors).to(self.device)

    def search(self, queries, k: int):
        parts = [(part @ self.vectors.T).topk(k) for part in torch.as_tensor(queries).to(self.device).split(2048)]
        return tuple(torch.cat([part[i] for part in parts]).cpu().numpy() for i in (0, 1))


def run(path: str, arguments: list[str], module: bool = False) -> dict:
    """Run a script as `python path arguments` would; return its global names."""
    sys.argv = [path, *arguments]
    sys.path.insert(0, str(Path(path).resolve().parent))
    return (runpy.run_module if module else runpy.run_path)(path, run_name="__main__")


def fasttext(arguments):
    names = run("alignment/align.py", arguments)
    return (names["words_src"], names["words_tgt"]), (names["x_src"] @ names["R"].T, names["x_tgt"])


def muse(arguments):
    """Return the last iteration of supervised.py, which chooses by test words, or unsupervised.py's own choice."""
    script, *arguments = arguments
    evaluator = importlib.import_module("src.evaluation").Evaluator
    if script == "supervised.py":  # its scores only choose what is exported
        evaluator.all_eval = lambda self, log: log.update({"precision_at_1-csls_knn_10": 0.0})
    else:
        evaluator.word_translation = lambda self, log: None
    trainer = run(script, [*arguments, "--export", ""])["trainer"]
    if script == "unsupervised.py":
        trainer.reload_best()
    source = trainer.mapping(trainer.src_emb.weight).data
    return [in_order(side) for side in (trainer.src_dico, trainer.tgt_dico)], (
        source.cpu(),
        trainer.tgt_emb.weight.data.cpu(),
    )


def in_order(dictionary) -> list[str]:
    return [dictionary[i] for i in range(len(dictionary))]


def aae(arguments):
    return first_scored("unsupervised.py", arguments, lambda _, ids1, x, __, ids2, y, **___: ((ids1, ids2), (x, y)))


def lnmap(arguments):
    def sides(params, x, y, src2tgt):
        return (params.src_dico.word2id, params.tgt_dico.word2id), (x, y)

    return first_scored("lnmap.py", arguments, sides)


def first_scored(script: str, arguments: list[str], sides):
    """Return what the program hands to its own scorer first: the source-to-target direction."""
    found = []

    def scorer(*args, **kwargs):
        found.extend(sides(*args, **kwargs))
        raise Captured

    importlib.import_module("src.evaluation.word_translation").get_word_translation_accuracy = scorer
    importlib.import_module("src.evaluation").get_word_translation_accuracy = scorer
    with contextlib.suppress(Captured):
        run(script, arguments)
    words, vectors = found
    return [list(ids) for ids in words], [side.detach().cpu() for side in vectors]


def bliss(arguments):
    stub(
        "faiss",
        IndexFlatIP=ExactIndex,
        GpuIndexFlatIP=ExactIndex,
        StandardGpuResources=lambda: None,
        GpuIndexFlatConfig=types.SimpleNamespace,
    )
    gan = run("bliss.main", arguments, module=True)["gan"]
    gan.gen.load_state_dict(gan.best_model_state)
    source, target = (gan.batcher[name] for name in (gan.src, gan.tgt))
    mapped = gan.gen(source.embeddings).detach().cpu()
    return [list(side.ix2word) for side in (source, target)], (mapped, target.embeddings.cpu())


def c1(arguments):
    names = run("C1/src/main.py", arguments)
    with torch.no_grad():
        maps = names["model"].s2m_mapping, names["model"].t2m_mapping
        data = names["train_data_l1"], names["train_data_l2"]
        vectors = [m(side.to(m.weight.device)).cpu() for m, side in zip(maps, data, strict=True)]
    return (list(names["voc_l1"]), list(names["voc_l2"])), vectors


PROGRAMS = {"fasttext": fasttext, "muse": muse, "aae": aae, "lnmap": lnmap, "bliss": bliss, "c1": c1}

if __name__ == "__main__":
    main()
