"""LoadedModel: a model in memory, with what requests need at hand and its work in the background."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lnmap.direction import Direction, Side
from lnmap.errors import LnmapError, ModelError, OutputError
from lnmap.io.atomic import write_json
from lnmap.io.cache import cache_folder
from lnmap.isometry import LEAST, measure_isometry
from lnmap.lexicon import Lexicon
from lnmap.model.model import Model, load
from lnmap.progress import Progress
from lnmap.retrieve import BestTable
from lnmap.serve.about import describe, score
from lnmap.serve.background import Job
from lnmap.serve.languages import guess_languages
from lnmap.serve.tables import fill_table, keep_table, restore_table
from lnmap.serve.words import WordIndex

MANIFEST = "model.json"
_MEMORY = 32 << 20  # bytes of scores that one request may hold at a time
_NORM_BLOCK = 8192
_TRIES = 5


class LoadedModel:
    """A model as its folder holds it now.

    Everything that a request would have to compute for a whole vocabulary is there before the first one, so that
    requests in several threads only read it.

    :param test: a dictionary to score the model on.
    """

    def __init__(self, folder: Path, test: Lexicon | None, progress: Progress) -> None:
        self._key, self.model = _load(folder)
        self.model.memory = _MEMORY
        self.words: dict[Side, WordIndex] = {}
        self.lengths: dict[Side, NDArray[np.float32]] = {}
        with progress.task("preparing the words", len(Side) + len(Direction)) as task:
            for side in Side:
                self.words[side] = WordIndex(self.model.side(side).words)
                self.lengths[side] = _lengths(self.model.side(side).vectors)
                self.model.open_subwords(side)
                task.advance()
            for direction in Direction:
                _ = self.model.space(direction).means
                task.advance()
        self._tables = list({id(table): table for table in self._all_tables()}.values())
        self.languages = guess_languages(self.model, folder.resolve().name)
        self.about = describe(self.model, self.languages)
        self._test = test
        self._lexicon = Job(self._fill_lexicon)
        self.scores = Job(self._score)
        self.isometry = Job(self._measure_isometry)

    def find(self, word: str, side: Side) -> int | None:
        """Row of a word: as typed, in lower case, without blanks around it, or spelt with composed letters."""
        bare = word.strip()
        forms = (word, bare, *(unicodedata.normalize(form, bare) for form in ("NFC", "NFKC", "NFD")))
        rows = (self.model.side(side).find(form) for form in forms)
        return next((row for row in rows if row is not None), None)

    def best(self, direction: Direction) -> BestTable:
        """Return the best translations of one direction, as far as they have been found."""
        return self.model.space(direction).best

    def start(self) -> None:
        """Start the work that needs no request."""
        self._lexicon.start()
        if self._cache("isometry.json").is_file():
            self.isometry.start()

    def stop(self) -> None:
        """Stop all work."""
        for job in (self._lexicon, self.scores, self.isometry):
            job.stop()

    def _all_tables(self) -> Iterator[BestTable]:
        for direction in Direction:
            space = self.model.space(direction)
            yield from (space.best, space.swapped().best)

    def _fill_lexicon(self, job: Job) -> None:
        """Find the best translation of every word in both directions, and keep them for the next server."""
        if self._test is not None:
            self.scores.start()
        for number, table in enumerate(self._tables):
            path = self._cache(f"best{number}.safetensors")
            if not restore_table(table, path):
                for _ in fill_table(table):
                    job.check()
                keep_table(table, path)

    def _score(self, job: Job) -> dict[str, Any]:
        test = self._test or Lexicon([])
        return {direction.value: score(self.model, test, direction) for direction in Direction}

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
            model = load(folder)
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
    blocks = [vectors[i : i + _NORM_BLOCK] for i in range(0, len(vectors), _NORM_BLOCK)]
    lengths = np.concatenate([np.sqrt(np.einsum("ij,ij->i", block, block)) for block in blocks])
    return np.where(lengths > 0, lengths, 1).astype(np.float32)
