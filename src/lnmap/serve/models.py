"""Models: what a server serves, each under an id of its own; no request ever names a folder."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from lnmap.errors import ModelError
from lnmap.lexicon import Lexicon
from lnmap.model.marks import Marks
from lnmap.progress import Progress, Silent
from lnmap.serve.background import Job
from lnmap.serve.loaded import MANIFEST, LoadedModel
from lnmap.serve.training import Training

_WATCH_S = 1.0  # seconds between two looks at a model's folder


class ServedModel:
    """A model folder, its marks, and the model in it, which is loaded again when the folder gets a newer one.

    A request takes `loaded` once, because it may be replaced at any time.
    """

    def __init__(
        self,
        id: str,
        folder: Path,
        test: Lexicon | None = None,
        progress: Progress | None = None,
        back: Lexicon | None = None,
    ) -> None:
        self.id, self.folder = id, Path(folder)
        self.name = self.folder.resolve().name or str(folder)
        self.marks = Marks(self.folder)
        self.revision = 1
        self._test, self._back, self._signature = test, back, self._read_signature()
        self.loaded = LoadedModel(self.folder, test, progress or Silent(), back)
        self._looked, self._lock = time.monotonic(), threading.Lock()
        self._loading: Job | None = None
        self.training = Training(self.folder, self._take_newer)
        self.writing = threading.Lock()  # held while a whole dictionary is made

    def stop(self) -> None:
        """Stop all work."""
        self.training.stop()
        if self._loading is not None:
            self._loading.stop()
        self.loaded.stop()

    def watch(self, pause: float = _WATCH_S) -> None:
        """Load the folder's model in the background if it is newer; look again after a pause only."""
        with self._lock:
            now = time.monotonic()
            busy = self._loading is not None and self._loading.state == "running"
            if busy or now - self._looked < pause:
                return
            self._looked, signature = now, self._read_signature()
            if signature is not None and signature != self._signature:
                self._signature = signature
                self._loading = Job(self._replace)
                self._loading.start()

    def _take_newer(self) -> None:
        """Load the folder's model if it is newer, and wait for it."""
        for _ in range(2):  # what is being loaded may be older than the newest
            self.watch(pause=0)
            if self._loading is not None:
                self._loading.wait()
        if self._loading is not None and self._loading.state == "failed":
            raise ModelError(self._loading.message)

    def _replace(self, job: Job) -> None:
        """Put the newer model in place; one that cannot be loaded leaves the old one there."""
        newer = LoadedModel(self.folder, self._test, job, self._back)
        old, self.loaded = self.loaded, newer
        self.revision += 1
        old.stop()
        newer.start()

    def _read_signature(self) -> tuple[int, int, int] | None:
        try:
            status = (self.folder / MANIFEST).stat()
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns


class Models(dict[str, ServedModel]):
    """All served models by id."""

    @classmethod
    def load(
        cls,
        folders: Sequence[Path],
        test: Lexicon | None = None,
        progress: Progress | None = None,
        back: Lexicon | None = None,
    ) -> Models:
        """Load models; the first one that cannot be loaded is an error.

        :param test: a dictionary to score them on; `back` one for the way back, target words first.
        """
        names = zip(make_ids(folders), folders, strict=True)
        return cls((name, ServedModel(name, folder, test, progress, back)) for name, folder in names)

    def start(self) -> None:
        """Start the background work of all models."""
        for model in self.values():
            model.loaded.start()

    def stop(self) -> None:
        """Stop all background work."""
        for model in self.values():
            model.stop()


def make_ids(folders: Sequence[Path]) -> list[str]:
    """Turn each folder's name into an id for addresses: letters, digits, dots and dashes, all different."""
    taken: list[str] = []
    for folder in folders:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(folder).resolve().name).strip("-.") or "model"
        number, name = 1, plain
        while name in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.append(name)
    return taken
