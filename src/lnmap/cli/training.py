"""Commands that learn: align, demo."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lnmap.cli.options import (
    Debug,
    Device,
    Json,
    Limit,
    Memory,
    Policy,
    Profile,
    Quiet,
    Settings,
    check_folder,
    in_bytes,
    parse_settings,
)
from lnmap.cli.reading import read_language, report_seed
from lnmap.cli.show import show_scores, show_translations, translation_dict
from lnmap.cli.terminal import console
from lnmap.direction import Direction

if TYPE_CHECKING:
    from lnmap.model.model import Model

JOURNAL = "training.jsonl"  # the log of a run under way; the finished model keeps it among its own files
DEMO_WORDS = ("time", "family", "government", "system", "three", "see", "free", "between", "business", "life")

Method = Annotated[str | None, typer.Option(metavar="NAME", help="The system; 'lnmap methods' lists them.")]


def align(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="Word vectors of the source language.")],
    target: Annotated[Path, typer.Argument(metavar="TGT", help="Word vectors of the target language.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the model.")],
    pairs: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Seed dictionary, or 'identical' or 'numerals' to do without one."),
    ] = None,
    method: Method = None,
    profile: Profile = None,
    settings: Settings = None,
    take: Annotated[
        str | None, typer.Option(metavar="RULE", help="Which pairs to use: 1k-unique, 5k-all, 300-unique ... [all]")
    ] = None,
    limit: Limit = None,
    policy: Policy = "muse",
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed; the same seed gives the same model.")] = 0,
    device: Device = "auto",
    one_way: Annotated[bool, typer.Option("--one-way", help="Train only source to target.")] = False,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate/--no-calibrate",
            help="Learn how far answers can be trusted; trains a second time, without a fifth of the pairs.",
        ),
    ] = False,
    resume: Annotated[
        bool | None,
        typer.Option("--resume/--fresh", help="Insist on continuing an interrupted run, or on starting over."),
    ] = None,
    memory: Memory = 512,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep no parsed copy of text files.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn to translate between two languages, and save what was learnt.

    Example: lnmap align en.vec fr.vec --pairs en-fr.txt --out en-fr

    SRC and TGT: text (.vec .txt, also packed: .gz .bz2 .xz .zip), word2vec or
    fastText .bin, numpy .npz, or a store folder. FILE: two words a line.
    An interrupted run is continued by the same command.
    """
    from lnmap import pipeline
    from lnmap.io import read_lexicon
    from lnmap.lexicon import SEEDS_WITHOUT_DICTIONARY, parse_rule
    from lnmap.methods import DEFAULT_METHOD, make_method
    from lnmap.model.device import pick_device

    system = make_method(method or DEFAULT_METHOD, profile, parse_settings(settings or ()))
    parse_rule(take)
    place = pick_device(device)
    check_folder(out)
    seeds: Any = pairs if pairs is None or pairs in SEEDS_WITHOUT_DICTIONARY else read_lexicon(pairs)
    languages = [
        read_language(side, path, policy, limit, not no_cache)
        for side, path in (("source", source), ("target", target))
    ]
    report_seed(pipeline.seed_pairs(seeds, take, languages[0], languages[1], system))
    console.say(f"training {system.name} on {place}")
    with _journal(out, {"method": system.name, "profile": profile, "seed": seed}):
        model = pipeline.align(
            languages[0],
            languages[1],
            seeds,
            method=system,
            profile=profile,
            take=take,
            seed=seed,
            device=place,
            one_way=one_way,
            calibrate=calibrate,
            out=out,
            resume=resume,
            memory=in_bytes(memory),
            progress=console,
        )
    if as_json:
        console.json({"model": str(out), **model.info, "pairs": dict(model.pairs.origin)})
    else:
        _say_next(model, out)


def demo(method: Method = None, as_json: Json = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """Align the English and French words that come with lnmap, score the result, and translate ten words.

    Example: lnmap demo --method procrustes
    """
    from lnmap import pipeline
    from lnmap.datasets import bundled_pair

    started = time.perf_counter()
    pair = bundled_pair()
    system = method or "lnmap"  # auto takes minutes
    console.say(
        f"English and French, {len(pair.source):,} words each; {system} learns from {len(pair.train):,} word pairs"
    )
    model = pipeline.align(pair.source, pair.target, pair.train, method=system, one_way=True, progress=console)
    scores = {
        "English to French": model.evaluate(pair.test),
        "French to English": model.evaluate(pair.test.reversed(), Direction.BACKWARD),
    }
    answers = model.translate(DEMO_WORDS)
    seconds = round(time.perf_counter() - started, 1)
    if as_json:
        results = {name: score.to_dict() for name, score in scores.items()}
        words = [translation_dict(answer) for answer in answers]
        console.json({"method": system, "seconds": seconds, "scores": results, "translations": words})
        return
    console.result(f"Test words that were not learnt from ({system}, {seconds} s in all):")
    show_scores(scores)
    show_translations(answers)


@contextmanager
def _journal(out: Path, run: Mapping[str, Any]) -> Iterator[None]:
    """Append each row of the training log to a file at once; a run that is killed leaves it behind."""
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
    path.unlink(missing_ok=True)  # the model's own log holds every row now


def _say_next(model: Model, out: Path) -> None:
    """Say what there is now and what can be done with it."""
    word = next((source for source, _ in model.pairs if len(source) > 3), "WORD")
    folder, word = shlex.quote(str(out)), shlex.quote(word)
    console.result(f"model saved in {out} ({model.info['seconds']:.1f} s)")
    console.say(f"next: lnmap translate {folder} {word}")
    console.say(f"      lnmap evaluate {folder} --pairs TEST-PAIRS")
