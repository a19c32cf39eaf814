"""LoadedModel: a model in memory, with what requests need at hand and its work in the background."""

from __future__ import annotations

import hashlib
import json
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors import torch as tensors
from torch import Tensor

from lnmap.direction import Direction, Side
from lnmap.embeddings import is_word
from lnmap.errors import LnmapError, ModelError, OutputError
from lnmap.io.atomic import atomic_file, write_json
from lnmap.io.cache import cache_folder
from lnmap.isometry import LEAST, measure_isometry
from lnmap.lexicon import Lexicon
from lnmap.model.marks import LatestMarks, changes
from lnmap.model.model import Model, load
from lnmap.progress import Progress
from lnmap.retrieve import BestTable, BilingualSpace
from lnmap.serve.about import describe, score
from lnmap.serve.background import Job
from lnmap.serve.said import NextBest, Said
from lnmap.serve.words import WordIndex

MANIFEST = "model.json"
_MEMORY = 32 << 20  # bytes of scores that one request may hold at a time
_WORK = 16 << 20  # bytes of scores of one step in the background: a fraction of a second
_MOST_ROWS = 256
_TRIES = 5


class LoadedModel:
    """A model as its folder holds it now.

    What a request would have to compute for a whole vocabulary is there before the first one, or is found in the
    background, and requests make do without it until then. Requests in several threads only read it.

    :param test: a dictionary to score the model on; `back` one for the way back, target words first.
    """

    def __init__(self, folder: Path, test: Lexicon | None, progress: Progress, back: Lexicon | None = None) -> None:
        self._key, self.model = _load(folder)
        self.model.memory = _MEMORY
        self.words: dict[Side, WordIndex] = {}
        self.lengths: dict[Side, NDArray[np.float32]] = {}
        self.are_words: dict[Side, Tensor] = {}  # and not numbers, punctuation or markup, each (n,)
        with progress.task("preparing the words", len(Side)) as task:
            for side in Side:
                self.words[side] = WordIndex(self.model.side(side).words)
                self.lengths[side] = _lengths(self.model.side(side).vectors)
                self.are_words[side] = torch.tensor([is_word(token) for token in self.model.side(side).words])
                self.model.open_subwords(side)
                task.advance()
        spaces = [self.model.space(direction) for direction in Direction]
        for direction, space in zip(Direction, spaces, strict=True):
            _take_means(space.unjudged, self._cache(f"{direction}.safetensors"))
        tables = (table for space in spaces for table in (space.best, space.swapped().best))
        self._tables = list({id(table): table for table in tables}.values())
        self.certainty: dict[Direction, Tensor] = {}  # what the lexicon is sorted by, once all of it is known
        self._next_best: NextBest = {}
        self._said, self._saying = Said(self.model, {}, self._next_best), threading.Lock()
        self.about = describe(self.model, folder.resolve().name)
        self._test, self._back = test, back
        self._lexicon = Job(self._fill_lexicon)
        self.scores = Job(self._score)
        self.isometry = Job(self._measure_isometry)

    def find(self, word: str, side: Side) -> int | None:
        """Row of a word: as typed, in lower case, without blanks around it, or spelt with composed letters."""
        bare = word.strip()
        forms = (word, bare, *(unicodedata.normalize(form, bare) for form in ("NFC", "NFKC", "NFD")))
        rows = (self.model.side(side).find(form) for form in forms)
        return next((row for row in rows if row is not None), None)

    @property
    def has_means(self) -> bool:
        """Whether the neighbourhood means of all words are known; lists of many words wait for them."""
        return all(self.model.space(direction).unjudged.known_means for direction in Direction)

    def best(self, direction: Direction) -> BestTable:
        """Return the best translations of one direction, as far as they have been found."""
        return self.model.space(direction).best

    def said(self, marks: LatestMarks) -> Said:
        """Return the model with these marks, or with newer ones of the same journal."""
        with self._saying:  # a mark is worked out once, not by every request that waits for it
            said = self._said
            is_old = said.marks is not marks and changes(marks, said.marks) is None
            if is_old and (said.marks or marks):
                said = self._said = Said(self.model, marks, self._next_best, said)
            return said

    def start(self) -> None:
        """Start the work that needs no request."""
        self._lexicon.start()
        if self._cache("isometry.json").is_file():
            self.isometry.start()

    def stop(self) -> None:
        """Stop all work."""
        for job in (self._lexicon, self.scores, self.isometry):
            job.stop()

    def _fill_lexicon(self, job: Job) -> None:
        """Find the best translation of every word in both directions, and keep them for the next server."""
        for direction in Direction:
            space = self.model.space(direction).unjudged
            if space.known_means is None:
                _find_means(space, self._cache(f"{direction}.safetensors"), job)
        if self._test is not None:
            self.scores.start()
        for number, table in enumerate(self._tables):
            path = self._cache(f"best{number}.safetensors")
            if not _restore(table, path):
                for _ in _fill(table):
                    job.check()
                _keep(table, path)

    def _score(self, job: Job) -> dict[str, Any]:
        test = self._test or Lexicon([])
        return {direction.value: score(self.model, test, direction, self._back) for direction in Direction}

    def _measure_isometry(self, job: Job) -> dict[str, Any]:
        """Measure how alike the two spaces are, or read what an earlier server measured."""
        path, model = self._cache("isometry.json"), self.model
        with suppress(OSError, ValueError):
            known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return known
        pairs = model.pairs if len(model.pairs) >= LEAST else None
        found = measure_isometry(model.source, model.target, pairs, progress=job).to_dict()
        with suppress(OutputError):
            write_json(path, found)
        return found

    def _cache(self, name: str) -> Path:
        return cache_folder() / "serve" / f"{self._key}-{name}"


def _load(folder: Path) -> tuple[str, Model]:
    """Load a model and the hash of its manifest, even while another process replaces the model."""
    for _ in range(_TRIES):
        before = _digest(folder)
        try:
            model = load(folder, marks=False)
        except LnmapError:
            if before == _digest(folder):
                raise
            continue
        if before == _digest(folder):
            return before, model
    raise ModelError(f"the model in {folder} is being replaced again and again; try later")


def _digest(folder: Path) -> str:
    try:
        return hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()[:32]
    except OSError:
        return ""


def _lengths(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the length of each vector; one for a zero vector."""
    lengths: NDArray[np.float32] = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    lengths[lengths == 0] = 1
    return lengths


def _fill(table: BestTable) -> Iterator[None]:
    """Search everything that is missing, most frequent words first; yield after each step."""
    step = max(1, min(_MOST_ROWS, _WORK // (4 * table.among)))
    for start in range(0, len(table), step):
        table.look_up(torch.arange(start, min(start + step, len(table))))
        yield


def _take_means(space: BilingualSpace, path: Path) -> None:
    """Take the neighbourhood means that an earlier server kept, if the model has none."""
    if space.known_means is not None:
        return
    with suppress(OSError, SafetensorError, KeyError):
        kept = tensors.load(path.read_bytes())
        source, target = kept["source"], kept["target"]
        if len(source) == len(space.source) and len(target) == len(space.target):
            space.keep_means((source, target))


def _find_means(space: BilingualSpace, path: Path, job: Job) -> None:
    """Compute the neighbourhood means of all words, and keep them for the next server."""
    source, target = space.find_means(job)
    with suppress(OutputError, OSError), atomic_file(path) as file:
        file.write(tensors.save({"source": source, "target": target}))


def _restore(table: BestTable, path: Path) -> bool:
    """Take what an earlier server kept; return whether there was anything that fits."""
    with suppress(OSError, SafetensorError, KeyError, ValueError):
        kept = tensors.load(path.read_bytes())
        rows, scores = kept["rows"], kept["scores"]
        fits = rows.shape == table.rows.shape and scores.shape == table.scores.shape
        if fits and rows.min() >= 0 and rows.max() < table.among:
            table.scores.copy_(scores)
            table.rows.copy_(rows)  # last: another thread that sees a row relies on its scores
            return True
    return False


def _keep(table: BestTable, path: Path) -> None:
    """Write a complete table; a failure costs the next server time and nothing else."""
    with suppress(OutputError, OSError), atomic_file(path) as file:
        file.write(tensors.save({"rows": table.rows, "scores": table.scores}))
