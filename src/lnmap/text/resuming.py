"""Resuming: training is saved after a pass, beside the result, and an interrupted run goes on from there."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from lnmap.errors import InputError, OutputError
from lnmap.progress import Progress
from lnmap.text.corpus import Corpus
from lnmap.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from lnmap.text.training import TrainingOptions

CHECKPOINT = ".checkpoint.safetensors"
SAVE_EVERY = 60.0
_QUICK = 3.0  # seconds that saving may take; a state that takes longer is saved less often
_OTHER = {
    "text": "another text",
    "settings": "other settings",
    "versions": "other versions of lnmap, gensim, numpy or scipy",
}


class Saved:
    """The passes of a run, over all its models: those that an earlier run has done, and those done here.

    :param every: seconds between two saves; 0 saves after every pass.
    """

    def __init__(self, path: Path, run: Mapping[str, str], every: float, progress: Progress) -> None:
        from lnmap.io.unfinished import StateFile  # which imports torch

        self.file, self.run = StateFile(path, json.dumps(run)), run
        self.every, self.progress = every, progress
        self.passes = self.earlier = 0
        self._arrays: dict[str, Any] = {}
        self._told = False
        self._took, self._last = 0.0, time.monotonic()

    def open(self, resume: bool | None, passes: int) -> None:
        """Load the state of an interrupted run, or report what becomes of it.

        :param resume: True insists on continuing, False starts over, None continues if there is something to continue.
        :param passes: of the whole run.
        """
        if resume is False:
            self.file.clear()
            return
        wrong = self._load()
        if not wrong:
            self.progress.note(f"continuing after pass {self.earlier} of {passes}")
        elif resume:
            problem = f"cannot resume: the unfinished run {self.file.path} {wrong}"
            raise InputError(problem, advice="run without {resume} to start over")
        elif self.file.path.exists():
            self.progress.note(f"the unfinished run {self.file.path} {wrong}; starting over")
            self.file.clear()

    def _load(self) -> str:
        """Load the state; return why there is none to continue, if so."""
        owner = self.file.owner()
        if owner is not None and owner != self.file.key:
            theirs = _parts(owner)
            return "belongs to " + " and ".join(_OTHER[part] for part in _OTHER if theirs.get(part) != self.run[part])
        values, tensors = self.file.load() or ({}, {})
        arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
        if not arrays or values.get("sum") != _sum(values.get("passes"), arrays):
            return "is missing or cannot be read"
        self.earlier, self._arrays = values["passes"], arrays
        return ""

    @property
    def ahead(self) -> bool:
        """Tell whether an earlier run has done the next pass."""
        return self.passes < self.earlier

    def restore(self, number: int, model: Any) -> None:
        """Put a model back to where its last saved pass left it."""
        for name, array in _arrays(number, model):
            if name in self._arrays:
                array[...] = self._arrays.pop(name)
        if f"{number}.random" in self._arrays:
            *key, position = self._arrays.pop(f"{number}.random").tolist()
            model.random.set_state(("MT19937", np.array(key, dtype=np.uint32), position))

    def count(self, models: Sequence[Any]) -> None:
        """Count a pass of the last model, and save them all if it is time."""
        done_before = self.ahead
        self.passes += 1
        started = time.monotonic()
        if done_before or started - self._last < self.every * max(1.0, self._took / _QUICK):
            return
        try:
            self._save(models)
        except OutputError as error:
            if not self._told:
                self.progress.note(f"the state of the training is not saved, and training goes on: {error}")
            self._told = True
        self._last = time.monotonic()
        self._took = self._last - started

    def _save(self, models: Sequence[Any]) -> None:
        from torch import from_numpy

        arrays = dict(pair for number, model in enumerate(models) for pair in _arrays(number, model))
        _, key, position, *_ = models[-1].random.get_state()
        arrays[f"{len(models) - 1}.random"] = np.append(key, position).astype(np.int64)
        values = {"passes": self.passes, "sum": _sum(self.passes, arrays)}
        self.file.save(values, {name: from_numpy(array) for name, array in arrays.items()})


def _arrays(number: int, model: Any) -> Iterator[tuple[str, Any]]:
    """Yield what training changes in a model: the rows of words, of n-grams, and of words as neighbours."""
    yield f"{number}.words", model.wv.vectors_vocab
    yield f"{number}.ngrams", model.wv.vectors_ngrams
    yield f"{number}.neighbours", model.syn1neg


def _sum(passes: Any, arrays: Mapping[str, Any]) -> int:
    """Return a checksum: numbers that a disk has changed would train into other vectors, and nobody would notice."""
    total = 0
    for name in sorted(arrays):
        total = crc32(arrays[name], crc32(f"{passes} {name} {arrays[name].shape}".encode(), total))
    return total


def _parts(key: str) -> dict[str, Any]:
    """Return the parts of a key; none if it is not one of ours."""
    try:
        return dict(json.loads(key))
    except (ValueError, TypeError):
        return {}


def identify(corpus: Corpus, options: TrainingOptions) -> dict[str, str]:
    """Return everything that determines the result of a run."""
    versions = {name: version(name) for name in ("gensim", "numpy", "scipy")}
    return {"text": corpus.digest(), "settings": repr(options), "versions": repr({"lnmap": __version__, **versions})}
