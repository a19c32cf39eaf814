"""lnmap align: learn to translate between two languages."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lnmap.cli import options
from lnmap.cli.check import warn_before_training
from lnmap.cli.reading import read_language, skipped
from lnmap.cli.terminal import console

if TYPE_CHECKING:
    from lnmap.lexicon import Lexicon
    from lnmap.model import Model

_LONG_S = 10.0  # seconds of work that are announced
JOURNAL = "training.jsonl"  # the log of a run under way; the finished model has its own


def align(
    source: options.SourceVectors,
    target: options.TargetVectors,
    out: options.OutFolder,
    pairs: Annotated[
        str | None, options.value("FILE", "Seed dictionary; 'identical' or 'numerals' do without a file.")
    ] = None,
    back_pairs: Annotated[
        str | None, options.value("FILE", "Another seed for the way back, target words first; for the method lnmap.")
    ] = None,
    languages: options.Languages = None,
    method: options.Method = None,
    profile: options.Profile = None,
    settings: options.Settings = None,
    take: options.Take = None,
    limit: options.Limit = None,
    policy: options.Policy = "muse",
    seed: options.Seed = 0,
    device: options.Device = "auto",
    one_way: Annotated[bool, options.flag("--one-way", "Train only source to target.")] = False,
    calibrate: Annotated[
        bool,
        options.flag(
            "--calibrate/--no-calibrate",
            "Learn how far answers can be trusted, by training again without a fifth of the pairs. "
            "The default method learns it anyway.",
        ),
    ] = False,
    marks: Annotated[
        Path | None,
        options.value(
            "DIR",
            "Model folder whose marks correct the seed: pairs marked wrong leave it, right and added ones join it. "
            "Without --pairs, the seed of that model.",
        ),
    ] = None,
    resume: options.Resume = None,
    memory: options.Memory = 512,
    no_cache: options.NoCache = False,
) -> None:
    """Learn to translate between two languages, and save the model.

    Example: lnmap align en.vec fr.vec --pairs en-fr.txt --out en-fr

    SRC and TGT are text files (.vec or .txt, also as .gz, .bz2, .xz or .zip),
    word2vec or fastText .bin files, numpy .npz files or store folders. FILE has
    one word pair per line, or is a dictionary of another program: CSV, JSON
    lines, hunalign, StarDict, Yomitan, LIFT, Apertium, Moses, TMX, FreeDict's
    TEI, Wiktextract. The same command continues an interrupted run.

    To learn from what was marked on the page of 'lnmap serve':
    lnmap align en.vec fr.vec --pairs en-fr.txt --marks en-fr --out en-fr
    """
    from lnmap import pipeline
    from lnmap.io import read_lexicon
    from lnmap.lexicon import SEEDS_WITHOUT_DICTIONARY, Lexicon, parse_rule
    from lnmap.methods import DEFAULT_METHOD, make_method
    from lnmap.model.device import pick_device
    from lnmap.model.marks import read_marks

    started = time.monotonic()
    system = make_method(method or DEFAULT_METHOD, profile, options.parse_settings(settings))
    parse_rule(take)
    place, room = pick_device(device), options.in_bytes(memory)
    options.check_folder(out)
    said = None if marks is None else read_marks(marks, required=True)
    seed_pairs: Lexicon | str | None = pairs
    seed_back: Lexicon | str | None = back_pairs
    if pairs is not None and pairs not in SEEDS_WITHOUT_DICTIONARY:
        seed_pairs = read_lexicon(pairs, languages)
    elif pairs is None and marks is not None:
        seed_pairs, kept = _seeds_of(marks)
        seed_back = back_pairs or (kept if system.two_seeds else None)

    def report_start(chosen: Lexicon) -> None:
        console.say(_describe_seed(chosen))
        cost = system.cost(profile, {}) if place.type == "cpu" else None
        ways = 2 if system.two_seeds and not one_way else 1  # costs are those of one direction
        seconds = ways * cost.seconds(len(x), len(y)) if cost is not None else 0.0
        about = f", about {_duration(seconds)} of one core" if seconds >= _LONG_S else ""
        console.say(f"training {system.name} on {place}{about}")

    x = read_language("source", source, policy, limit, not no_cache)
    y = read_language("target", target, policy, limit, not no_cache)
    if isinstance(seed_pairs, Lexicon) and pairs is not None:
        warn_before_training(x, y, seed_pairs, (source, target), pairs)
    with _journal(out, {"method": system.name, "profile": profile, "seed": seed}):
        model = pipeline.align(
            x,
            y,
            seed_pairs,
            method=system,
            profile=profile,
            take=take,
            back_pairs=seed_back,
            seed=seed,
            device=place,
            one_way=one_way,
            calibrate=calibrate,
            marks=said,
            out=out,
            resume=resume,
            memory=room,
            progress=console,
            on_seed=report_start,
        )
    if console.as_json:
        console.json({"model": str(out), **model.info, "pairs": dict(model.pairs.origin)})
    else:
        _suggest_next(model, out, time.monotonic() - started)


def _duration(seconds: float) -> str:
    """Format a rough time: '40 s', '6 minutes'."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def _describe_seed(pairs: Lexicon) -> str:
    """Describe how many pairs were found, and how many are trained on."""
    origin = pairs.origin
    if not origin:
        return "seed:   none"
    lines = origin.get("skipped")
    why = (
        f"; {skipped(origin.get('skipped_in_all', len(lines)), lines[0], origin.get('unit', 'line'))}" if lines else ""
    )
    name = origin.get("path") or origin.get("seed")
    known = f" of {origin['read']:,}" if origin.get("read", 0) >= len(pairs) else ""
    marked = ", ".join(f"{number:,} {mark}" for mark, number in origin.get("marks", {}).items())
    told = f"; marks: {marked}" if marked else ""
    return f"seed:   {len(pairs):,}{known} pairs{f' from {name}' if name else ''} ({origin.get('take')}){told}{why}"


def _seeds_of(folder: Path) -> tuple[Lexicon | None, Lexicon | None]:
    """Return the seed of the model in a folder, and that of its way back; None if there is none."""
    from lnmap.model import load
    from lnmap.pipeline.retrain import back_seed_of, seed_of

    if not (folder / "model.json").is_file():
        return None, None
    model = load(folder)
    return seed_of(model), back_seed_of(model)


@contextmanager
def _journal(out: Path, run: Mapping[str, Any]) -> Iterator[None]:
    """Append each row of the training log to a file at once, so that a killed run leaves it behind."""
    path = out / JOURNAL
    head: list[Mapping[str, Any]] = [{"started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **run}]

    def write(row: Mapping[str, Any]) -> None:
        rows = [*head, row]
        head.clear()
        try:
            with path.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(dict(row)) + "\n" for row in rows)
        except OSError as error:
            console.listeners.remove(write)
            console.note(f"the log {path} cannot be written ({error.strerror}); training goes on without it")

    console.listeners.append(write)
    yield
    with suppress(OSError):  # the next run removes it
        path.unlink(missing_ok=True)  # the model's own log holds every row now


def _suggest_next(model: Model, out: Path, seconds: float) -> None:
    from lnmap.embeddings import is_word

    word = next((source for source, _ in model.pairs if len(source) > 3 and is_word(source)), "WORD")
    folder, word = shlex.quote(str(out)), shlex.quote(word)
    console.result(f"model saved in {out} ({seconds:.1f} s)")
    console.say(f"next: lnmap translate {folder} {word}")
    console.say(f"      lnmap evaluate {folder} --pairs TEST-PAIRS")
