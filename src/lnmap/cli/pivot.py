"""Commands for more than two languages: align-many, compose."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lnmap.cli.options import (
    Debug,
    Device,
    Json,
    Limit,
    Policy,
    Profile,
    Quiet,
    Settings,
    check_folder,
    choose,
    parse_settings,
)
from lnmap.cli.reading import read_language
from lnmap.cli.terminal import console
from lnmap.cli.using import load_model
from lnmap.errors import OptionError

if TYPE_CHECKING:
    from lnmap.lexicon import Lexicon
    from lnmap.model.model import Model

_SEEDS = ("identical", "numerals")


def align_many(
    languages: Annotated[
        list[str],
        typer.Argument(metavar="NAME=VECTORS...", help="Vectors of each language; the first is the pivot."),
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the models and the vectors.")],
    pairs: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="Seed dictionary of a language: its words first, the pivot's second. "
            "'identical' or 'numerals' instead of a file; without NAME= for all.",
        ),
    ] = None,
    swap: Annotated[bool, typer.Option("--swap", help="The dictionaries have the pivot's words first.")] = False,
    method: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="One that leaves the pivot's space as it is; procrustes by default."),
    ] = None,
    profile: Profile = None,
    settings: Settings = None,
    take: Annotated[
        str | None, typer.Option(metavar="RULE", help="Which pairs to use, such as 1k-unique; all by default.")
    ] = None,
    limit: Limit = None,
    policy: Policy = "muse",
    format: Annotated[str, typer.Option(metavar="vec|bin|store|npz", help="Format of the vectors.")] = "vec",
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
    device: Device = "auto",
    calibrate: Annotated[bool, typer.Option("--calibrate", help="Learn how far answers can be trusted.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Bring several languages into the space of one, the pivot.

    Example: lnmap align-many en=en.vec fr=fr.vec fi=fi.vec --pairs fr=fr-en.txt --pairs fi=fi-en.txt --out world

    FOLDER gets a model for each language (fr-en, fi-en) and the vectors of all
    in one space (vectors/en.vec ...). 'lnmap compose' makes a model between two.
    """
    from lnmap.io import FORMATS
    from lnmap.io.atomic import writing
    from lnmap.io.store import refuse_existing
    from lnmap.methods import make_method
    from lnmap.model.device import pick_device
    from lnmap.pipeline import pivot as many

    system = make_method(method or many.DEFAULT_METHOD, profile, parse_settings(settings or ()))
    many.require_keeps_target(system)
    place, (center, *others) = pick_device(device), (files := _named("VECTORS", languages))
    if not others:
        raise OptionError("there is only the pivot; give the other languages after it as NAME=VECTORS")
    check_folder(out)
    choose("format", format, FORMATS)
    with writing("the vectors", out / "vectors"):
        refuse_existing(out / "vectors")
    seeds = _seeds(pairs or [], others, swap)
    read = {name: read_language(name, Path(path), policy, limit, True) for name, path in files.items()}
    models = many.align_many(
        read.pop(center),
        read,
        seeds,
        method=system,
        profile=profile,
        take=take,
        seed=seed,
        device=place,
        calibrate=calibrate,
        out={name: out / f"{name}-{center}" for name in others},
        progress=console,
    )
    written = _write_vectors(models, center, out / "vectors", format)
    if as_json:
        folders = {name: str(out / f"{name}-{center}") for name in others}
        console.json({"pivot": center, "models": folders, "vectors": written})
        return
    for name, model in models.items():
        console.result(f"{out / f'{name}-{center}'}: {len(model.source):,} words, {len(model.pairs):,} seed pairs")
    console.result(f"vectors of {', '.join([center, *others])} in {out / 'vectors'}")


def compose(
    first: Annotated[Path, typer.Argument(metavar="DIR1", help="Model folder from one language to the pivot.")],
    second: Annotated[Path, typer.Argument(metavar="DIR2", help="Model folder from another language to the pivot.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the model between the two.")],
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Make a model between two languages that were aligned with the same pivot.

    Example: lnmap compose world/fr-en world/fi-en --out fr-fi

    The result is a model like any other: translate, evaluate, induce.
    """
    from lnmap.pipeline.pivot import compose as join

    check_folder(out)
    model = join(load_model(first), load_model(second))
    model.progress = console
    model.save(out)
    if as_json:
        console.json({"model": str(out), **model.info})
    else:
        console.result(f"model saved in {out}: {len(model.source):,} words to {len(model.target):,} words")


def _named(what: str, given: Iterable[str]) -> dict[str, str]:
    """Split NAME=FILE arguments."""
    found: dict[str, str] = {}
    for text in given:
        name, sign, path = text.partition("=")
        if not sign or not path or not name or set(name) & set("/\\.: "):
            raise OptionError(f"expected NAME={what} such as fr=fr.vec, got {text!r}")
        if name in found:
            raise OptionError(f"the language {name!r} is given twice")
        found[name] = path
    return found


def _seeds(given: list[str], names: list[str], swap: bool) -> dict[str, Any]:
    """Read the seed dictionary of each language."""
    from lnmap.io import read_lexicon

    everyone = [text for text in given if text in _SEEDS]
    found: dict[str, Any] = {name: everyone[0] for name in names} if everyone else {}
    for name, path in _named("FILE", (text for text in given if text not in _SEEDS)).items():
        if name not in names:
            raise OptionError(f"--pairs {name}={path} is for no language; the languages are {', '.join(names)}")
        found[name] = path if path in _SEEDS else _turned(read_lexicon(path), swap)
    return found


def _turned(lexicon: Lexicon, swap: bool) -> Lexicon:
    return lexicon.reversed() if swap else lexicon


def _write_vectors(models: dict[str, Model], center: str, folder: Path, format: str) -> dict[str, str]:
    """Write every language in the pivot's space; the folder appears whole or not at all."""
    from lnmap.io import FORMATS, write
    from lnmap.io.atomic import atomic_folder

    first = next(iter(models.values()))
    written = {}
    with atomic_folder(folder) as work, console.task("writing vectors", len(models) + 1) as task:
        for name in (center, *models):
            file = name if format == "store" else f"{name}.{format}"
            aligned = first.aligned("target") if name == center else models[name].aligned("source")
            write(aligned, work / file, choose("format", format, FORMATS))
            written[name] = str(folder / file)
            task.advance()
    return written
