"""lnmap align-many and compose: more than two languages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lnmap.cli import options
from lnmap.cli.export import RECORD, check_vectors, file_of, write_vectors
from lnmap.cli.reading import load_model, read_language
from lnmap.cli.terminal import console
from lnmap.direction import Side
from lnmap.errors import OptionError

if TYPE_CHECKING:
    from lnmap.model import Model


def align_many(
    languages: Annotated[
        list[str], options.argument("NAME=VECTORS", "Word vectors of each language; the first is the pivot.")
    ],
    out: Annotated[Path, options.value("FOLDER", "Folder for the models and the vectors.")],
    pairs: Annotated[
        list[str] | None,
        options.value(
            "NAME=FILE",
            "Seed dictionary of a language, its words first and the pivot's second; repeatable. "
            "'identical' or 'numerals' do without a file, and without NAME= for all languages.",
        ),
    ] = None,
    swap: Annotated[bool, options.flag("--swap", "The dictionaries have the pivot's words first.")] = False,
    method: Annotated[
        str | None,
        options.value("NAME", "The method, one that leaves the pivot's vectors as they are; procrustes by default."),
    ] = None,
    profile: options.Profile = None,
    settings: options.Settings = None,
    take: options.Take = None,
    limit: options.Limit = None,
    policy: options.Policy = "muse",
    format: options.Format = "vec",
    seed: options.Seed = 0,
    device: options.Device = "auto",
    calibrate: Annotated[bool, options.flag("--calibrate", "Learn how far answers can be trusted.")] = False,
) -> None:
    """Bring several languages into the space of one, the pivot.

    Example: lnmap align-many en=en.vec fr=fr.vec fi=fi.vec --pairs fr=fr-en.txt --pairs fi=fi-en.txt --out world

    FOLDER gets one model per language (fr-en, fi-en) and the vectors of all of
    them in one space (vectors/en.vec ...). 'lnmap compose' makes a model between
    two of them. The same command again continues an interrupted run, and trains
    only languages whose files or settings have changed.
    """
    from lnmap.methods import make_method
    from lnmap.model.device import pick_device
    from lnmap.pipeline import pivot as many

    system = make_method(method or many.DEFAULT_METHOD, profile, options.parse_settings(settings))
    many.require_keeps_target(system)
    place, (center, *others) = pick_device(device), (files := _named("VECTORS", languages))
    if not others:
        raise OptionError("there is only the pivot; give the other languages after it as NAME=VECTORS")
    options.check_folder(out)
    check_vectors(out / "vectors", format, replace=_record(out / "vectors") is not None)
    seeds = _seeds(pairs or [], others, swap)
    read = {name: read_language(name, Path(path), policy, limit) for name, path in files.items()}
    folders = {name: out / f"{name}-{center}" for name in others}
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
        out=folders,
        progress=console,
    )
    written = _write_once(out / "vectors", format, center, models)
    saved = {name: str(folder) for name, folder in folders.items()}
    console.answer(
        {"pivot": center, "models": saved, "vectors": written},
        *(f"{saved[name]}: {len(m.source):,} words, {len(m.pairs):,} seed pairs" for name, m in models.items()),
        f"vectors of {', '.join([center, *others])} in {out / 'vectors'}",
    )


def compose(
    first: Annotated[Path, options.argument("DIR1", "Model folder from one language to the pivot.")],
    second: Annotated[Path, options.argument("DIR2", "Model folder from another language to the pivot.")],
    out: options.OutFolder,
) -> None:
    """Make a model between two languages that were aligned with the same pivot.

    Example: lnmap compose world/fr-en world/fi-en --out fr-fi

    The result is a model like any other: translate, evaluate and induce take it.
    """
    from lnmap.pipeline.pivot import compose as join

    options.check_folder(out)
    model = join(load_model(first), load_model(second))
    model.progress = console
    model.save(out)
    sizes = f"{len(model.source):,} words to {len(model.target):,} words"
    console.answer({"model": str(out), **model.info}, f"model saved in {out}: {sizes}")


def _write_once(out: Path, format: str, pivot: str, models: Mapping[str, Model]) -> dict[str, str]:
    """Write the vectors of all languages, unless the same are there; return the files."""
    from lnmap.io.atomic import remove_folder

    spaces = {pivot: (next(iter(models.values())), Side.TARGET)}
    spaces |= {name: (model, Side.SOURCE) for name, model in models.items()}
    files = {name: out / file_of(name, format) for name in spaces}
    record = {"pivot": pivot, "made_from": {name: model.info["made_from"] for name, model in models.items()}}
    found = _record(out)
    if found == record and all(file.exists() for file in files.values()):
        console.note(f"{out} holds these vectors already")
    else:
        if found is not None:
            remove_folder(out)
        write_vectors(out, format, spaces, record=record)
    return {name: str(file) for name, file in files.items()}


def _record(out: Path) -> dict[str, Any] | None:
    """Return what an earlier run wrote about its vectors; None if there are none of its own."""
    try:
        return dict(json.loads((out / RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


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
    from lnmap.lexicon import SEEDS_WITHOUT_DICTIONARY

    everyone = [text for text in given if text in SEEDS_WITHOUT_DICTIONARY]
    found: dict[str, Any] = dict.fromkeys(names, everyone[0]) if everyone else {}
    for name, path in _named("FILE", (text for text in given if text not in SEEDS_WITHOUT_DICTIONARY)).items():
        if name not in names:
            raise OptionError(f"--pairs {name}={path} is for no language; the languages are {', '.join(names)}")
        if path in SEEDS_WITHOUT_DICTIONARY:
            found[name] = path
        else:
            found[name] = read_lexicon(path).reversed() if swap else read_lexicon(path)
    return found
