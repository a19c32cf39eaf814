"""Retrain: the command that trains a model again with its marks."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lnmap.embeddings import Embeddings
from lnmap.errors import LnmapError
from lnmap.methods import make_method
from lnmap.model.model import Model


def retrain_command(model: Model, folder: Path, local: bool) -> str:
    """Return the command that made a model, with its marks; it replaces the model in its folder.

    :param local: whether everybody who can ask is on this machine; others see the names of files alone.
    """
    words = ["lnmap", "align", *(_place(side, local) for side in (model.source, model.target))]
    return shlex.join([*words, *_flags(model, str(folder.resolve()) if local else folder.resolve().name, local)])


def _flags(model: Model, folder: str, local: bool) -> Iterator[str]:
    info, seed, read = model.info, model.pairs.origin, model.source.origin
    values: dict[str, Any] = {
        "pairs": seed.get("seed") or _seed_file(str(seed.get("path") or ""), local),
        "back-pairs": None if model.back is None else _seed_file(str(model.back.origin.get("path") or ""), local),
        "marks": folder,
        "out": folder,
        "method": info.get("method"),
        "profile": info.get("profile"),
        "take": None if seed.get("take") == "all" else seed.get("take"),
        "policy": None if read.get("policy") == "muse" else read.get("policy"),
        "limit": read.get("limit"),
        "seed": info.get("seed") or None,
    }
    switches = {"one-way": info.get("one_way"), "calibrate": model.confidence is not None}
    settings = [("set", f"{name}={value}") for name, value in _changed(info).items()]
    for name, value in [*values.items(), *settings]:
        if value is not None:
            yield from (f"--{name}", str(value))
    yield from (f"--{name}" for name, wanted in switches.items() if wanted)


def _seed_file(path: str, local: bool) -> str | None:
    """Return the seed dictionary; None if it is not there: the folder of the marks has the seed, too."""
    return _shown(path, local) if path and Path(path).exists() else None


def _changed(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are not those of the method's profile."""
    try:
        usual = asdict(make_method(str(info.get("method")), info.get("profile")).options)
    except LnmapError:  # a method of a package that is not installed here
        return {}
    return {name: value for name, value in dict(info.get("options") or {}).items() if usual.get(name, value) != value}


def _place(side: Embeddings, local: bool) -> str:
    path = side.origin.get("path")
    return _shown(str(path), local) if path else "VECTORS"


def _shown(path: str, local: bool) -> str:
    if not local:
        return Path(path).name
    return str(Path(path).resolve()) if Path(path).exists() else path
