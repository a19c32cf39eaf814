"""The one place that joins the stages: read, choose the seed, train, and return a model."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lnmap.direction import Side
from lnmap.embeddings import Embeddings
from lnmap.errors import InputError, LexiconError, ModelError, OptionError, OutputError, TrainingError
from lnmap.io import read, read_lexicon
from lnmap.io.atomic import locked
from lnmap.lexicon import SEEDS_WITHOUT_DICTIONARY, Lexicon
from lnmap.methods import DEFAULT_METHOD, make_method
from lnmap.methods.base import Alignment, Checkpoint, Method, Run, require_finite
from lnmap.model.device import as_tensor, pick_device
from lnmap.model.marks import LatestMarks, corrected, keep_marks, read_marks
from lnmap.model.model import Model, load
from lnmap.model.subwords import is_subword_source
from lnmap.pipeline.calibrate import calibrate as hold_out_and_fit
from lnmap.pipeline.checkpoint import FolderCheckpoint
from lnmap.progress import Progress, Silent
from lnmap.retrieve import MEMORY, keep_trying
from lnmap.version import __version__

_SMALLEST, _LARGEST = 1e-15, 1e15
_LEAST_MEMORY = 32 << 20  # bytes per block: a device that has no room for these has none for the vectors
Pairs = Lexicon | str | Path | Iterable[tuple[str, str]] | None


def align(
    source: Any,
    target: Any,
    pairs: Pairs = None,
    *,
    method: str | Method = DEFAULT_METHOD,
    profile: str | None = None,
    options: dict[str, Any] | None = None,
    take: str | None = None,
    back_pairs: Pairs = None,
    policy: str = "muse",
    limit: int | None = None,
    seed: int = 0,
    device: str | torch.device = "auto",
    one_way: bool = False,
    calibrate: bool = False,
    marks: str | Path | LatestMarks | None = None,
    out: str | Path | None = None,
    checkpoint: str | Path | None = None,
    resume: bool | None = None,
    keep: bool = False,
    memory: int = MEMORY,
    progress: Progress | None = None,
    on_seed: Callable[[Lexicon], None] | None = None,
) -> Model:
    """Learn to translate between two languages.

    :param source: vectors of the source language: a path, `Embeddings`, gensim KeyedVectors or (words, array).
    :param target: vectors of the target language, likewise.
    :param pairs: seed dictionary: a path, a `Lexicon` or word pairs; 'identical' or 'numerals' need no dictionary.
    :param method: name of a system (`lnmap.METHODS`) or a built one; `profile` and `options` change its settings.
    :param take: seed rule such as '1k-unique'; everything by default.
    :param back_pairs: another seed dictionary for the way back, target words first, for a system that trains each
        direction for itself; `take` chooses from it too. By default `pairs` turned around.
    :param policy: how vector files are read, 'muse' or 'vecmap'; `Embeddings` are taken as they are.
    :param limit: keep this many of the most frequent words.
    :param one_way: train only source to target where a system trains each direction for itself.
    :param calibrate: train a second time without a fifth of the seed's words, to learn how far answers can be trusted
        (`model.confidence`).
    :param marks: judgements to learn from, or the model folder that holds them (`marks.jsonl`): pairs marked wrong
        leave the seed, those marked right or added join it, whatever `take` chooses. They count in the answers of the
        model, and `out` gets them if it has none.
    :param out: folder for the model; an interrupted run left there is continued when it is the same run.
    :param checkpoint: instead of `out`: folder for the state of the run alone, from which an interrupted one is
        continued; no model is saved, and the caller removes the folder when it has what it wanted.
    :param resume: True insists on continuing, False starts over, None continues if there is something to continue.
    :param keep: return the model that `out` holds if it was made in the same way from the same inputs.
    :param on_seed: called with the seed pairs that the rule has chosen, before training starts.
    """
    progress = progress or Silent()
    started = time.perf_counter()
    system = method if isinstance(method, Method) else make_method(method, profile, options)
    given_sides = {Side.SOURCE: source, Side.TARGET: target}
    source, target = (_vectors(side, policy, limit, progress) for side in given_sides.values())
    said = read_marks(marks, required=True) if isinstance(marks, str | Path) else marks
    given = _given_pairs(Lexicon([]) if pairs is None and said else pairs, source, target, system)
    lexicon = given if pairs is None else given.take(take, source, target)
    outside = given.outside(source, target) if given.is_given else Lexicon([])
    if said:
        given, lexicon = (_marked(one, said, source, target) for one in (given, lexicon))
    back = _given_back(back_pairs, source, target, system, take, said)
    if on_seed is not None:
        on_seed(lexicon)
    run = Run(seed, pick_device(device), one_way, memory, progress, words=(source.words, target.words))
    key = _key(system, source, target, (lexicon, back), run)
    made_from = _hash(key, list(given), take, calibrate, profile)
    with ExitStack() as stack:
        folder = checkpoint if out is None else out
        if folder is not None:
            stack.enter_context(locked(Path(folder)))
            if keep and out is not None and (kept := _kept(Path(out), made_from, run)):
                return _with_subwords(kept, given_sides)
            run.checkpoint = _checkpoint(Path(folder), key, resume, progress)
        elif resume:
            raise OptionError("resuming needs the output folder of the interrupted run", advice="give it as {out}")
        rows = torch.as_tensor(lexicon.rows(source, target), device=run.device)
        x, y = as_tensor(source.vectors, run.device), as_tensor(target.vectors, run.device)
        run.back = None if back is None else torch.as_tensor(back.rows(target, source), device=run.device)
        run.known = torch.as_tensor(given.rows(source, target), device=run.device)
        with _computable(system):
            alignment = _fit(system, x, y, rows, run)
            require_finite(system.name, **alignment.state()[1])
            if calibrate and run.confidence is None and run.judges is None:
                run.confidence = hold_out_and_fit(system, x, y, rows, run, run.known)
        info = _info(system, profile, source, target, run, time.perf_counter() - started)
        info["made_from"] = made_from
        model = Model(
            source,
            target,
            alignment,
            lexicon,
            info,
            run.log,
            marks=said or {},
            confidence=run.confidence,
            judges=run.judges,
            outside=outside,
            back=back,
            device=run.device,
            memory=run.memory,
            progress=progress,
        )
        _with_subwords(model, given_sides)
        if out is not None:
            keep_marks(Path(out), said or {})
            model.write(Path(out))
            if isinstance(run.checkpoint, FolderCheckpoint):
                with suppress(OutputError):  # the next run finishes or removes it
                    run.checkpoint.clear()
    return model


def _kept(out: Path, made_from: str, run: Run) -> Model | None:
    """Return the model in a folder if it was made from the same."""
    try:
        model = load(out, run.device, marks=False)
    except ModelError:  # there is none, or it is broken
        return None
    if model.info.get("made_from") != made_from:
        return None
    model.memory, model.progress = run.memory, run.progress
    run.progress.note(f"{out} holds this model already")
    return model


def _with_subwords(model: Model, sides: Mapping[Side, Any]) -> Model:
    for side, vectors in sides.items():
        if is_subword_source(vectors):
            model.use_subwords(side, vectors)
    return model


def _fit(system: Method, x: Tensor, y: Tensor, pairs: Tensor, run: Run) -> Alignment:
    """Fit a system; where the device runs out of memory, begin again with smaller blocks, or go on where it saved."""

    def attempt(memory: int) -> Alignment:
        run.memory = memory
        run.log.clear()  # what an attempt that failed had logged; a checkpoint puts back its own
        return system.fit(x, y, pairs, run)

    return keep_trying(attempt, run.memory, run.progress, _LEAST_MEMORY)


@contextmanager
def _computable(method: Method) -> Iterator[None]:
    """Explain a decomposition that did not converge, whichever method asked for it."""
    try:
        yield
    except torch.linalg.LinAlgError as error:  # type: ignore[attr-defined]
        reason = " ".join(str(error).split())
        raise TrainingError(
            f"{method.name} cannot compute with these vectors ({reason})",
            advice="look for vectors that are zero or all alike, or try {options:normalize=unit}",
        ) from error


def _vectors(source: Any, policy: str, limit: int | None, progress: Progress) -> Embeddings:
    if isinstance(source, Embeddings):
        found = source.head(limit)
    else:
        found = read(source, policy=policy, limit=limit, progress=progress)
    _check_scale(found)
    return found


def _check_scale(found: Embeddings) -> None:
    """Refuse values whose squares float32 cannot hold: lengths and products would be zero or infinite."""
    largest = max(float(found.vectors.max()), -float(found.vectors.min()))
    if not _SMALLEST <= largest <= _LARGEST:
        wrong = f"the largest value is {largest:.3g}" if largest else "all values are zero"
        where = found.origin.get("path") or f"the vocabulary of {found.words[0]!r}"
        raise InputError(
            f"{where} cannot be aligned: {wrong}, expected is one from {_SMALLEST:g} to {_LARGEST:g}; scale the vectors"
        )


def _given_pairs(pairs: Pairs, source: Embeddings, target: Embeddings, method: Method) -> Lexicon:
    """Return the pairs that were given, before any rule chooses among them."""
    if pairs is None:
        if method.supervision == "none" or not method.needs_pairs:
            return Lexicon([])
        raise InputError(
            f"{method.name} learns from seed pairs and got none",
            advice="give a dictionary with {pairs}, or {pairs:identical} to start from words spelt alike",
        )
    if isinstance(pairs, str) and pairs in SEEDS_WITHOUT_DICTIONARY:
        return SEEDS_WITHOUT_DICTIONARY[pairs](source, target)
    if isinstance(pairs, str | Path):
        pairs = read_lexicon(pairs)
    found = pairs if isinstance(pairs, Lexicon) else Lexicon.from_pairs(pairs)
    if wrong := found.exchanged(source, target):
        raise LexiconError(wrong)
    return found


def _marked(lexicon: Lexicon, marks: LatestMarks, source: Embeddings, target: Embeddings) -> Lexicon:
    """Return the seed as the marks correct it, most frequent words first."""
    spelt = {(_spelt(s, source), _spelt(t, target)): mark for (s, t), mark in marks.items()}
    pairs = corrected(lexicon, spelt)
    known = Lexicon(pairs.pairs).take(None, source, target) if len(pairs) else pairs
    return Lexicon(known.pairs, {**pairs.origin, "taken": len(known)})


def _spelt(word: str, vocabulary: Embeddings) -> str:
    row = vocabulary.find(word)
    return word if row is None else vocabulary.words[row]


def _given_back(
    pairs: Pairs, source: Embeddings, target: Embeddings, method: Method, take: str | None, marks: LatestMarks | None
) -> Lexicon | None:
    """Return the seed of the way back as the marks correct it, if there is one of its own."""
    if pairs is None:
        return None
    if not method.two_seeds:
        raise OptionError(f"{method.name} learns both directions from one seed", advice="leave out {back_pairs}")
    chosen = _given_pairs(pairs, target, source, method).take(take, target, source)
    return _marked(chosen, {(t, s): mark for (s, t), mark in marks.items()}, target, source) if marks else chosen


def _checkpoint(out: Path, key: str, resume: bool | None, progress: Progress) -> Checkpoint:
    """Open the run's checkpoint; report what becomes of one that is there already."""
    checkpoint = FolderCheckpoint(out, key)
    owner = checkpoint.owner()
    if resume and owner != key:
        found = "belongs to other data, pairs, options or seed" if owner else "is missing or cannot be read"
        problem = f"cannot resume in {out}: the checkpoint there {found}"
        raise InputError(problem, advice="run without {resume} to start over")
    if resume is False or (owner and owner != key):
        if owner and owner != key:
            progress.note(f"the unfinished run in {out} belongs to other data or options; starting over")
        checkpoint.clear()
    elif owner:
        checkpoint.resumed = True
        progress.note(f"continuing the unfinished run in {out}")
    return checkpoint


def _key(
    method: Method, source: Embeddings, target: Embeddings, seeds: tuple[Lexicon, Lexicon | None], run: Run
) -> str:
    """Hash everything that determines a run's result."""
    return _hash(
        __version__,
        method.name,
        sorted(asdict(method.options).items()),
        source.fingerprint,
        target.fingerprint,
        *(list(pairs) for pairs in seeds if pairs is not None),
        run.seed,
        run.one_way,
        run.device.type,
    )


def _hash(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _info(
    method: Method, profile: str | None, source: Embeddings, target: Embeddings, run: Run, seconds: float
) -> dict[str, Any]:
    sides = {"source": source, "target": target}
    return {
        "method": method.name,
        "profile": profile,
        "options": asdict(method.options),
        "seed": run.seed,
        "one_way": run.one_way,
        "resumed": run.checkpoint.resumed,
        "device": str(run.device),
        "seconds": round(seconds, 2),
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "versions": {
            "lnmap": __version__,
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "numpy": np.__version__,
        },
        "data": {
            name: {"words": len(e), "dim": e.dim, "fingerprint": e.fingerprint, "origin": dict(e.origin)}
            for name, e in sides.items()
        },
    }
