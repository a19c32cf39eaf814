"""Several languages in one space: each is aligned with a pivot language and mapped into its space."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, OptionError
from lnmap.io import read
from lnmap.methods import METHODS, make_method
from lnmap.methods.base import LinearAlignment, Method
from lnmap.model.model import Model
from lnmap.pipeline.align import Pairs, align
from lnmap.progress import Progress, Silent

DEFAULT_METHOD = "procrustes"


def align_many(
    pivot: Any,
    languages: Mapping[str, Any],
    pairs: Mapping[str, Pairs],
    *,
    method: str | Method = DEFAULT_METHOD,
    profile: str | None = None,
    options: dict[str, Any] | None = None,
    policy: str = "muse",
    limit: int | None = None,
    out: Mapping[str, Path] | None = None,
    progress: Progress | None = None,
    **others: Any,
) -> dict[str, Model]:
    """Align several languages with one pivot, one model per language, from the language to the pivot.

    All map into the pivot's own space (`model.aligned("source")`), and `compose` makes a model between any two.

    :param pivot: vectors of the pivot language, as for `align`.
    :param languages: vectors of the others, by name.
    :param pairs: seed dictionary of each, the language's own words first; those of one language are for that one alone.
    :param method: one that leaves the target's space as it is: see `keeping_methods`.
    :param out: model folder of each language. A model there that was made in the same way from the same inputs is
        kept, so an interrupted run continues where it was, and a changed language is the only one to be trained again.
    :param others: further options of `align`.
    """
    progress = progress or Silent()
    system = method if isinstance(method, Method) else make_method(method, profile, options)
    require_keeps_target(system)
    missing = [name for name in languages if name not in pairs and system.supervision != "none"]
    if missing:
        raise InputError(f"there are no seed pairs for {', '.join(missing)}; each language needs its own")
    target = pivot if isinstance(pivot, Embeddings) else read(pivot, policy=policy, limit=limit, progress=progress)
    models = {}
    with progress.task("aligning languages", len(languages)) as task:
        for name, source in languages.items():
            models[name] = align(
                source,
                target,
                pairs.get(name),
                method=system,
                profile=profile,
                policy=policy,
                limit=limit,
                out=None if out is None else out[name],
                keep=True,
                progress=progress,
                **others,
            )
            task.advance()
    return models


def compose(first: Model, second: Model) -> Model:
    """Make a model from the source language of one model to that of another, both aligned with the same pivot.

    It knows no seed pairs and no confidence of its own.
    """
    if first.target.fingerprint != second.target.fingerprint:
        raise InputError(
            "the two models have no pivot in common: their target vocabularies differ; align both with the same "
            "target vectors, limit and policy"
        )
    maps = [_into_pivot(model) for model in (first, second)]
    if maps[0].norms[1].recipe != maps[1].norms[1].recipe:
        raise InputError("the two models normalise the pivot differently; use one method and recipe for both")
    norms = (maps[0].norms[0], maps[1].norms[0])
    info = {
        "method": f"{first.info.get('method')} through a pivot",
        "profile": None,
        "seed": first.info.get("seed"),
        "versions": first.info.get("versions", {}),
        "pivot": {"words": len(first.target), "fingerprint": first.target.fingerprint},
        "created": max(str(model.info.get("created")) for model in (first, second)),
        "device": str(first.device),
        "seconds": round(sum(float(model.info.get("seconds") or 0) for model in (first, second)), 2),
        "through": [dict(model.info) for model in (first, second)],
    }
    alignment = LinearAlignment(norms, maps[0].source, maps[1].source)
    return Model(first.source, second.source, alignment, info=info, device=first.device, memory=first.memory)


def keeping_methods() -> list[str]:
    """Names of the methods that leave the target's space as it is."""
    return [name for name, method in METHODS.items() if method.keeps_target]


def require_keeps_target(method: Method) -> None:
    """Refuse a method that learns a new space for each pair of languages."""
    if not method.keeps_target:
        raise OptionError(
            f"{method.name} learns a new space for every pair of languages, so several do not end up in one; "
            f"use {', '.join(keeping_methods())}"
        )


def _into_pivot(model: Model) -> LinearAlignment:
    """Return the alignment; refuse one that does not map into the pivot's own space."""
    found = model.alignment
    if isinstance(found, LinearAlignment) and found.target.shape[0] == found.target.shape[1]:
        same = torch.eye(len(found.target), dtype=found.target.dtype, device=found.target.device)
        if torch.equal(found.target, same):
            return found
    raise InputError(
        f"a model of the method {model.info.get('method')} changes the space of its target language and cannot be "
        f"joined with another; align with {', '.join(keeping_methods())}"
    )
