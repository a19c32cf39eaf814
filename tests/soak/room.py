"""Room: the place a scenario works in, with small real data and a launcher."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.soak.launcher import Launcher

import lnmap
from lnmap.datasets import bundled_pair
from lnmap.embeddings import Embeddings
from lnmap.io import save_store, write_lexicon
from lnmap.io.atomic import TEMPORARY

WORDS, DIM = 300, 40


@dataclass
class Room:
    """A folder, data and a launcher."""

    folder: Path
    launcher: Launcher
    counter: int = 0

    def fresh(self) -> Path:
        """Give a path where nothing is; what the last but one held is removed."""
        shutil.rmtree(self.folder / f"try-{self.counter - 1}", ignore_errors=True)
        self.counter += 1
        place = self.folder / f"try-{self.counter}"
        place.mkdir()
        return place / "out"

    @cached_property
    def data(self) -> Path:
        """The most frequent words of the bundled pair, as a user's own files: en, fr, en-fr.train.txt, ..."""
        pair, folder = bundled_pair(), self.folder / "data"
        for name, side in (("en", pair.source), ("fr", pair.target)):
            save_store(Embeddings.from_arrays(side.words[:WORDS], side.vectors[:WORDS, :DIM]), folder / name)
        for part, pairs in (("train", pair.train), ("test", pair.test)):
            write_lexicon(folder / f"en-fr.{part}.txt", pairs)
            write_lexicon(folder / f"fr-en.{part}.txt", pairs.reversed())
        return folder

    @cached_property
    def model(self) -> Path:
        """A small model of the bundled pair."""
        return self.align("model", seed=0)

    def align(self, name: str, seed: int) -> Path:
        """Make a model with Procrustes."""
        out, data = self.folder / name, self.data
        pairs = data / "en-fr.train.txt"
        lnmap.align(data / "en", data / "fr", pairs, method="procrustes", seed=seed, device="cpu", out=out)
        return out


@contextmanager
def room(folder: Path | None = None) -> Iterator[Room]:
    """Open a room; it is empty again afterwards."""
    with tempfile.TemporaryDirectory(prefix="lnmap-soak-", dir=folder) as place:
        cache = {"LNMAP_CACHE": f"{place}/cache", "LNMAP_DATA": f"{place}/catalogue"}
        with Launcher(cache) as launcher:
            yield Room(Path(place), launcher)


def digest(path: Path) -> str:
    """Hash a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def contents(folder: Path) -> dict[str, str]:
    """Hash all files of a folder, but for locks and what a killed process may leave until the next one."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    own = {str(path.relative_to(folder)): path for path in files}
    return {name: digest(path) for name, path in own.items() if not name.endswith(".lock") and TEMPORARY not in name}


def model_bits(folder: Path) -> str | None:
    """Identify what a model folder's model has learnt, None where there is none; a broken one raises."""
    if not (folder / "model.json").exists():
        return None
    lnmap.load(folder)
    files = json.loads((folder / "model.json").read_text())["files"]
    return repr([files[role]["name"] for role in ("alignment", "source", "target", "pairs")])


def leftovers(folder: Path) -> int:
    """Count what killed processes have left; the name says that it is not whole."""
    return len(list(folder.rglob(TEMPORARY + "*")))
