"""Lab: the folder, the small real data and the launcher that scenarios work with."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.helpers import contents
from tests.soak.launcher import Launcher

import lnmap
from lnmap.datasets import bundled_pair
from lnmap.embeddings import Embeddings
from lnmap.io import save_store, write_lexicon
from lnmap.io.atomic import TEMPORARY

__all__ = ["Lab", "contents", "leftovers", "model_bits", "open_lab"]


@dataclass
class Lab:
    """A folder, data and a launcher.

    :param size: words per language and numbers per word.
    """

    folder: Path
    size: tuple[int, int] = (300, 40)
    counter: int = 0

    @cached_property
    def launcher(self) -> Launcher:
        """What starts processes; it takes seconds to start itself."""
        return Launcher({"LNMAP_CACHE": f"{self.folder}/cache", "LNMAP_DATA": f"{self.folder}/catalogue"})

    def warm_up(self) -> None:
        """Make what attempts share, so that its time is not theirs."""
        _ = self.launcher, self.model, self.older, self.align_seconds

    def fresh(self) -> Path:
        """Return a path where nothing is, and remove the folder of the last but one."""
        shutil.rmtree(self.folder / f"try-{self.counter - 1}", ignore_errors=True)
        self.counter += 1
        place = self.folder / f"try-{self.counter}"
        place.mkdir()
        return place / "out"

    @cached_property
    def data(self) -> Path:
        """The most frequent words of the bundled pair, as a user's own files: en, fr, en-fr.train.txt, ..."""
        pair, folder, (words, dim) = bundled_pair(), self.folder / "data", self.size
        for name, side in (("en", pair.source), ("fr", pair.target)):
            save_store(Embeddings.from_arrays(side.words[:words], side.vectors[:words, :dim]), folder / name)
        for part, pairs in (("train", pair.train), ("test", pair.test)):
            write_lexicon(folder / f"en-fr.{part}.txt", pairs)
            write_lexicon(folder / f"fr-en.{part}.txt", pairs.reversed())
        return folder

    @cached_property
    def model(self) -> Path:
        """A small model of the bundled pair."""
        return self._align("model", seed=0)

    @cached_property
    def older(self) -> Path:
        """Another one."""
        return self._align("older", seed=1)

    @cached_property
    def align_seconds(self) -> float:
        """How long a small run of align takes."""
        return self.launcher.run(self.align_argv("procrustes", "--out", self.fresh())).seconds

    def copy_of_model(self, name: str) -> Path:
        """Return a new copy of the model, in a folder of its own that is named `model`."""
        folder = self.folder / name / "model"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.model, folder)
        return folder

    def align_argv(self, method: str, *more: object) -> list[object]:
        """Return an align command; --out is missing."""
        files = [self.data / "en", self.data / "fr", "--pairs", self.data / "en-fr.train.txt"]
        return ["align", *files, "--method", method, "--device", "cpu", *more]

    def _align(self, name: str, seed: int) -> Path:
        out, pairs = self.folder / name, self.data / "en-fr.train.txt"
        sides = self.data / "en", self.data / "fr"
        lnmap.align(*sides, pairs, method="procrustes", seed=seed, device="cpu", out=out)
        return out


@contextmanager
def open_lab(**more: Any) -> Iterator[Lab]:
    """Open a lab in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="lnmap-soak-") as place:
        lab = Lab(Path(place), **more)
        try:
            yield lab
        finally:
            if "launcher" in vars(lab):
                lab.launcher.close()


def model_bits(folder: Path) -> str | None:
    """Identify what a folder's model has learnt, None where there is no model; a broken one raises."""
    if not (folder / "model.json").exists():
        return None
    lnmap.load(folder)
    files = json.loads((folder / "model.json").read_text())["files"]
    return repr([files[role]["name"] for role in ("alignment", "source", "target", "pairs")])


def leftovers(folder: Path) -> int:
    """Count the temporary files that killed processes have left."""
    return len(list(folder.rglob(TEMPORARY + "*")))
