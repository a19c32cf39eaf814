"""Models: a small model folder, and what must hold when parts of it hold any bytes."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import lnmap


@cache
def small_model() -> Path:
    """A model of thirty words, made once a process."""
    rng = np.random.default_rng(0)
    words = [f"w{row}" for row in range(30)]
    source = rng.normal(size=(30, 6))
    target = source @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
    folder = Path(tempfile.mkdtemp(prefix="lnmap-fuzz-model-"))
    lnmap.align((words, source), (words, target), "identical", method="procrustes", device="cpu", out=folder)
    return folder


def check_alignment(path: Path) -> None:
    """Load a model whose alignment file holds these bytes and whose manifest vouches for them."""
    folder = _model_beside(path)
    manifest = json.loads((small_model() / "model.json").read_text())
    data = path.read_bytes()
    manifest["files"]["alignment"]["sha256"] = hashlib.sha256(data).hexdigest()
    (folder / manifest["files"]["alignment"]["name"]).write_bytes(data)
    (folder / "model.json").write_text(json.dumps(manifest))
    check_model(folder)


def check_manifest(path: Path) -> None:
    """Load a model whose manifest holds these bytes."""
    folder = _model_beside(path)
    shutil.copyfile(path, folder / "model.json")
    check_model(folder)


def _model_beside(path: Path) -> Path:
    """Give a copy of the small model that is made once; whoever asks writes all the files that differ."""
    folder = path.parent / "model"
    if not folder.exists():
        shutil.copytree(small_model(), folder)
    return folder


def check_model(folder: Path) -> None:
    """Load and use a model."""
    model = lnmap.load(folder)
    for answer in model.translate([model.source.words[0]]):
        if not all(np.isfinite([c.score, c.cosine]).all() for c in answer.candidates):
            raise AssertionError("a loaded model gives scores that are not finite")
