"""Train a model again with its marks, from what its folder holds, and score it before and after."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import torch

from lnmap.errors import InputError, ModelError
from lnmap.lexicon import Lexicon
from lnmap.methods import make_method
from lnmap.methods.base import Method
from lnmap.model.marks import LatestMarks, uncorrected
from lnmap.model.model import Model
from lnmap.pipeline.align import align
from lnmap.progress import Progress, Silent

_LEAST, _SHARE = 10, 5  # the fewest words that a score is taken on; else every fifth of the new ones
NEEDED = 3 * _LEAST  # new marked words, for a score


@dataclass(frozen=True)
class Retrained:
    """A model that was trained again.

    :param new: how many marked words the old model has not learnt from.
    :param held_out: how many of them were kept out of a first training to score it; 0 if there were too few.
    :param before: to how many of those the old model's first answer was right.
    :param after: to how many the one of the first training was. The model itself was trained with all marks.
    """

    model: Model
    new: int
    held_out: int = 0
    before: int | None = None
    after: int | None = None


def retrain(
    model: Model, marks: LatestMarks, device: str | torch.device = "auto", progress: Progress | None = None
) -> Retrained:
    """Train a model again as it was trained, with its seed as the marks correct it."""
    progress = progress or Silent()
    method = _method(model)
    if not marks:
        raise InputError("nobody has marked anything yet, so there is nothing new to learn from")
    new = _new_words(model, marks)
    held = _hold_out(new)
    if not held:
        return Retrained(_train(model, method, marks, device, progress), len(new))
    gold = Lexicon([pair for word in held for pair in new[word]])
    kept = {pair: mark for pair, mark in marks.items() if pair not in set(gold)}
    before = _count_right(model, gold)
    with progress.task("training without the held-out words", None):
        first = _train(model, method, kept, device, progress, calibrate=False)
    after = _count_right(first, gold)
    with progress.task("training with all marks", None):
        made = _train(model, method, marks, device, progress)
    return Retrained(made, len(new), len(held), before, after)


def seed_of(model: Model) -> Lexicon | None:
    """Return the seed of a model without what marks changed, with the pairs outside its vocabularies; None if empty."""
    seed = uncorrected(model.pairs)
    every = [*seed, *model.outside]
    return Lexicon(every, seed.origin) if every else None


def back_seed_of(model: Model) -> Lexicon | None:
    """Return the seed that the way back has of its own, without what marks changed."""
    return None if model.back is None else uncorrected(model.back)


def _train(
    model: Model,
    method: Method,
    marks: LatestMarks,
    device: str | torch.device,
    progress: Progress,
    calibrate: bool = True,
) -> Model:
    info, seed = model.info, seed_of(model)
    return align(
        model.source,
        model.target,
        seed,
        method=method,
        profile=info.get("profile"),
        take=None if seed is None else seed.origin.get("take"),
        back_pairs=back_seed_of(model),
        seed=int(info.get("seed") or 0),
        device=device,
        one_way=bool(info.get("one_way")),
        calibrate=calibrate and model.confidence is not None,
        marks=marks,
        progress=progress,
    )


def _method(model: Model) -> Method:
    """Return the method that a model was trained with; say what is missing if there is none."""
    info = model.info
    if info.get("through"):
        raise ModelError("this model was joined from two models through a pivot; train those again, and join them")
    if not info.get("method"):
        raise ModelError("this model does not say how it was trained; align the two languages again")
    usual = make_method(str(info["method"]), info.get("profile"))
    known = {name: value for name, value in (info.get("options") or {}).items() if hasattr(usual.options, name)}
    return make_method(usual.name, info.get("profile"), known)  # without options that older versions had


def _new_words(model: Model, marks: LatestMarks) -> dict[str, list[tuple[str, str]]]:
    """Return the marked pairs, by their source words, of words that the model has not learnt from."""
    known = {source for source, _ in model.pairs}
    found: dict[str, list[tuple[str, str]]] = {}
    for pair, mark in marks.items():
        rows = model.source.find(pair[0]), model.target.find(pair[1])
        if mark.mark != "wrong" and rows[0] is not None and rows[1] is not None:
            word = model.source.words[rows[0]]
            if word not in known:
                found.setdefault(word, []).append(pair)
    return found


def _hold_out(words: dict[str, list[tuple[str, str]]]) -> list[str]:
    """Choose words to score by, always the same of the same words; none if there are too few."""
    if len(words) < NEEDED:
        return []
    mixed = sorted(words, key=lambda word: hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest())
    return mixed[: max(_LEAST, len(words) // _SHARE)]


def _count_right(model: Model, gold: Lexicon) -> int:
    return sum(row.rank == 0 for row in model.evaluate(gold).rows)
