"""Served: the models that are asked under load, a small one of one map and a large one of the default method."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.big_files import enlarged
from tests.soak.keeping import commit
from tests.soak.lab import Lab
from tests.soak.launcher import ROOT

import lnmap
from lnmap.datasets import bundled_pair
from lnmap.io import save_store, write_lexicon
from lnmap.model.marks import JOURNAL

LARGE = 200_000  # words per language
_ASKED = 5000  # words that requests are about, the most frequent ones


def vocabulary(words: int) -> list[str]:
    """Return the words that a model of this size is asked for."""
    return list(bundled_pair().source.words[: min(words, _ASKED)])


def small_model(lab: Lab, words: int) -> Path:
    """Make a model of so many words by `procrustes`."""
    pair, folder = bundled_pair(), lab.folder / f"served-{words}" / "model"
    if not folder.exists():
        sides = [enlarged(side, words, seed) for seed, side in enumerate((pair.source, pair.target))]
        lnmap.align(*sides, pair.train, method="procrustes", device="cpu", out=folder)
    return folder


def large_model(place: Path = ROOT / "build" / "soak-model", words: int = LARGE) -> Path:
    """Make a model by the default method, or return the one that was made at this commit, without its marks.

    It takes minutes. A process of its own takes the memory, and continues from its checkpoint if it was interrupted.
    """
    folder = place / commit().replace(" ", "-") / "model"
    if not (folder / "model.json").exists():
        for other in set(place.glob("*")) - {folder.parent}:
            shutil.rmtree(other)
        pair, data = bundled_pair(), folder.parent / "data"
        shutil.rmtree(data, ignore_errors=True)
        for seed, (name, side) in enumerate((("en", pair.source), ("fr", pair.target))):
            save_store(enlarged(side, words, seed), data / name)
        write_lexicon(data / "train.txt", pair.train)
        command = [sys.executable, "-m", "lnmap", "--quiet", "align", data / "en", data / "fr"]
        command += ["--pairs", data / "train.txt", "--device", "cpu", "--out", folder]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})
        shutil.rmtree(data)
    (folder / JOURNAL).unlink(missing_ok=True)
    return folder
