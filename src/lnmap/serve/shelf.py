"""Shelf: the models that are served, each under a name of its own; no request ever names a folder."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lnmap.errors import LnmapError, ModelError, OutputError
from lnmap.io.atomic import write_json
from lnmap.io.cache import cache_folder
from lnmap.isometry import LEAST, measure_isometry
from lnmap.lexicon import Lexicon
from lnmap.model import load
from lnmap.progress import Progress, Silent
from lnmap.serve.background import Job
from lnmap.serve.card import describe, score
from lnmap.serve.explorer import Explorer
from lnmap.serve.marks import Marks

MANIFEST = "model.json"
_WATCH_S = 1.0  # seconds between two looks at a model's folder
_TRIES = 5


class Served:
    """One model as it stands in its folder now: what it answers, and the work that goes on behind it."""

    def __init__(self, folder: Path, test: Lexicon | None, progress: Progress) -> None:
        self.key, model = _load(folder)
        model.progress = progress
        self.explorer = Explorer(model, progress, folder.resolve().name)
        model.progress = Silent()
        self.test = test
        self.card = describe(self.explorer)
        self.lexicon = Job(self._fill)
        self.scores = Job(self._score)
        self.isometry = Job(self._measure)

    def start(self) -> None:
        """Begin the work that nobody has to ask for."""
        self.lexicon.start()
        if self._cache("isometry.json").is_file():
            self.isometry.start()

    def stop(self) -> None:
        """End all work."""
        for job in (self.lexicon, self.scores, self.isometry):
            job.stop()

    def _fill(self, job: Job) -> None:
        """Find the best translation of every word, both ways, and keep them for the next time."""
        if self.test is not None:
            self.scores.start()
        tables = {id(t): t for way in self.explorer.ways.values() for t in (way.best, way.back)}
        for number, table in enumerate(tables.values()):
            path = self._cache(f"best{number}.safetensors")
            if table.load(path):
                continue
            for _ in table.steps():
                job.check()
            table.keep(path)

    def _score(self, job: Job) -> dict[str, Any]:
        test = self.test or Lexicon([])
        return {name: score(self.explorer.model, test, name == "backward") for name in ("forward", "backward")}

    def _measure(self, job: Job) -> dict[str, Any]:
        """Measure how alike the two spaces are; what is known from an earlier time is not measured again."""
        path, model = self._cache("isometry.json"), self.explorer.model
        with suppress(OSError, ValueError):
            known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return known
        pairs = model.pairs if len(model.pairs) >= LEAST else None
        found = measure_isometry(model.source, model.target, pairs, progress=job).to_dict()
        with suppress(OutputError):
            write_json(path, found)
        return found

    def _cache(self, name: str) -> Path:
        return cache_folder() / "serve" / f"{self.key}-{name}"


class Slot:
    """A place on the shelf: a folder, its marks, and the model in it, which is loaded again when it was replaced."""

    def __init__(self, id: str, folder: Path, test: Lexicon | None = None, progress: Progress | None = None) -> None:
        self.id, self.folder, self.test = id, Path(folder), test
        self.name = self.folder.resolve().name or str(folder)
        self.marks = Marks(self.folder)
        self._seen = self._signature()
        self.served = Served(self.folder, test, progress or Silent())
        self.revision = 1
        self._looked = time.monotonic()
        self._lock = threading.Lock()
        self._loading: Job | None = None

    def start(self) -> None:
        """Begin the model's work in the background."""
        self.served.start()

    def stop(self) -> None:
        """End all work."""
        if self._loading is not None:
            self._loading.stop()
        self.served.stop()

    def watch(self) -> None:
        """Look from time to time whether the folder holds a newer model, and load it behind the page's back."""
        with self._lock:
            now = time.monotonic()
            busy = self._loading is not None and self._loading.state == "running"
            if busy or now - self._looked < _WATCH_S:
                return
            self._looked, signature = now, self._signature()
            if signature is not None and signature != self._seen:
                self._seen = signature
                self._loading = Job(self._replace)
                self._loading.start()

    def _replace(self, job: Job) -> None:
        """Take the newer model; one that cannot be loaded leaves the old one where it is."""
        served = Served(self.folder, self.test, job)
        old, self.served = self.served, served
        self.revision += 1
        old.stop()
        served.start()

    def _signature(self) -> tuple[int, int, int] | None:
        try:
            status = (self.folder / MANIFEST).stat()
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns


class Shelf:
    """All models, by id."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        self.slots = {slot.id: slot for slot in slots}

    @classmethod
    def open(cls, folders: Sequence[Path], test: Lexicon | None = None, progress: Progress | None = None) -> Shelf:
        """Load models; the first one that cannot be loaded is an error."""
        return cls([Slot(name, folder, test, progress) for name, folder in zip(ids(folders), folders, strict=True)])

    def start(self) -> None:
        """Begin all work in the background."""
        for slot in self.slots.values():
            slot.start()

    def stop(self) -> None:
        """End all work."""
        for slot in self.slots.values():
            slot.stop()


def ids(folders: Sequence[Path]) -> list[str]:
    """Make an address of each folder's name: letters, digits, dots and dashes, no two alike."""
    taken: list[str] = []
    for folder in folders:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(folder).resolve().name).strip("-.") or "model"
        number, name = 1, plain
        while name in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.append(name)
    return taken


def _load(folder: Path) -> tuple[str, Any]:
    """Load a model and a hash of its manifest that belongs to it, whoever replaces the model meanwhile."""
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
