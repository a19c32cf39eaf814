"""Options that several commands share, and the checks that need no data."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from lnmap.cli.terminal import console
from lnmap.direction import Direction
from lnmap.errors import OptionError, OutputError


def _set_quiet(value: bool) -> bool:
    console.quiet = console.quiet or value
    return value


def _set_debug(value: bool) -> bool:
    console.debug = console.debug or value
    return value


Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", callback=_set_quiet, help="Print nothing but results and errors.")
]
Debug = Annotated[bool, typer.Option("--debug", callback=_set_debug, help="Show where an error was raised.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
ModelFolder = Annotated[Path, typer.Argument(metavar="DIR", help="Model folder written by 'lnmap align'.")]
Reverse = Annotated[bool, typer.Option("--reverse", help="From the target language to the source language.")]
Criterion = Annotated[
    str, typer.Option(metavar="csls|cosine|isf", help="How candidates are scored; csls is the best known.")
]
MinConfidence = Annotated[
    float | None,
    typer.Option(
        metavar="P", help="Leave out translations less probable than P (0 to 1); the model must be calibrated."
    ),
]
Device = Annotated[str, typer.Option(metavar="auto|cpu|cuda|mps", help="Where to compute.")]
Memory = Annotated[int, typer.Option(metavar="MB", help="Megabytes that one block of scores may take.")]


def choose(name: str, value: str, allowed: Iterable[str]) -> Any:
    """Give back one of the allowed values."""
    allowed = tuple(allowed)
    if value not in allowed:
        raise OptionError(f"--{name} cannot be {value!r}; choose from {', '.join(allowed)}")
    return value


def direction_of(reverse: bool) -> Direction:
    """Read the flag --reverse."""
    return Direction.BACKWARD if reverse else Direction.FORWARD


def in_bytes(megabytes: int) -> int:
    """Read the value of --memory."""
    if megabytes < 1:
        raise OptionError(f"--memory {megabytes} leaves no room to compute in; give 1 megabyte or more")
    return megabytes << 20


def parse_settings(settings: Iterable[str]) -> dict[str, str]:
    """Split the values of --set."""
    values = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign or not name.strip():
            raise OptionError(f"--set expects name=value, got {setting!r}; 'lnmap methods NAME' lists the names")
        values[name.strip().replace("-", "_")] = value.strip()
    return values


def check_folder(path: Path) -> None:
    """Refuse an output folder that cannot be made, before any work is done for it."""
    existing = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not existing.is_dir():
        what = "is a file" if existing == path else f"cannot be made, for {existing} is a file"
        raise OutputError(f"the output folder {path} {what}; choose another --out")


Profile = Annotated[str | None, typer.Option(metavar="NAME", help="A set of options of the method.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change an option of the method; repeatable.")
]
Limit = Annotated[int | None, typer.Option(metavar="N", help="Read only the N most frequent words.")]
Policy = Annotated[
    str, typer.Option(metavar="muse|vecmap", help="muse lower-cases the words, vecmap leaves them as they are.")
]
