"""Flags that several commands share, and checks that need no data."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from lnmap.cli.terminal import console
from lnmap.direction import Direction
from lnmap.errors import OptionError, OutputError


def argument(metavar: str, help: str) -> Any:
    """Declare an argument."""
    return typer.Argument(metavar=metavar, help=help)


def value(metavar: str, help: str, *names: str) -> Any:
    """Declare an option with a value; its name is the parameter's if none is given."""
    return typer.Option(*names, metavar=metavar, help=help)


def flag(name: str, help: str, **more: Any) -> Any:
    """Declare an option without a value: '--on', '--on/--off', or '--on -o'."""
    return typer.Option(*name.split(), metavar="", help=help, **more)


def _switch(name: str) -> Callable[[bool], bool]:
    """Return the callback of a flag that switches the terminal to `name` for the rest of the command."""

    def switch(value: bool) -> bool:
        setattr(console, name, getattr(console, name) or value)
        return value

    return switch


Quiet = Annotated[bool, flag("--quiet -q", "Print nothing but results and errors.", callback=_switch("quiet"))]
Verbose = Annotated[bool, flag("--verbose -v", "Show each step of long work by itself.", callback=_switch("verbose"))]
Debug = Annotated[bool, flag("--debug", "Show where an error was raised.", callback=_switch("debug"))]
Json = Annotated[bool, flag("--json", "Print the result as JSON.", callback=_switch("as_json"))]
ModelFolder = Annotated[Path, argument("DIR", "Model folder written by 'lnmap align'.")]
SourceVectors = Annotated[Path, argument("SRC", "Word vectors of the source language.")]
TargetVectors = Annotated[Path, argument("TGT", "Word vectors of the target language.")]
OutFolder = Annotated[Path, value("DIR", "Folder for the model.")]
Reverse = Annotated[bool, flag("--reverse", "From the target language to the source language.")]
Criterion = Annotated[str, value("csls|cosine|isf", "How candidates are scored; csls usually works best.")]
MinConfidence = Annotated[float | None, value("P", "Leave out translations with a confidence below P (0 to 1).")]
Given = Annotated[
    bool, flag("--given/--no-given", "Put the pairs that were given as the seed first, or leave them out.")
]
Marks = Annotated[
    Path | None,
    value("DIR", "Folder whose marks of right, wrong and added pairs count; by default the model's own."),
]
NoMarks = Annotated[bool, flag("--no-marks", "Leave the marks out.")]
Languages = Annotated[
    str | None, value("SRC,TGT", "Codes of the two languages (en,fr), for a dictionary that holds more of them.")
]
Method = Annotated[str | None, value("NAME", "The method; 'lnmap methods' lists them and names the default.")]
Profile = Annotated[str | None, value("NAME", "A named set of the method's options.")]
Settings = Annotated[list[str] | None, value("NAME=VALUE", "Change an option of the method; repeatable.", "--set")]
Take = Annotated[str | None, value("RULE", "Which pairs to use: 1k-unique, 5k-all, 300-unique ...; all by default.")]
Limit = Annotated[int | None, value("N", "Read only the N most frequent words of each language.")]
Policy = Annotated[str, value("muse|vecmap", "muse lower-cases the words, vecmap leaves them as they are.")]
NoCache = Annotated[bool, flag("--no-cache", "Keep no parsed copy of text files.")]
Format = Annotated[str, value("vec|bin|store|npz", "File format of the vectors.")]
Seed = Annotated[int, value("N", "Random seed; the same seed gives the same model.")]
Device = Annotated[str, value("auto|cpu|cuda|mps", "Where to compute.")]
Resume = Annotated[
    bool | None, flag("--resume/--fresh", "Insist on continuing an interrupted run, or on starting over.")
]
Memory = Annotated[int, value("MB", "Megabytes that one block of scores may take.")]


def with_common_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json, --quiet, --verbose and --debug, which every command takes; the terminal remembers them."""

    def common(as_json: Json = False, quiet: Quiet = False, verbose: Verbose = False, debug: Debug = False) -> None: ...

    own, added = (inspect.signature(one, eval_str=True).parameters for one in (command, common))

    @functools.wraps(command)
    def run(**given: Any) -> Any:
        return command(**{name: given[name] for name in own})

    parameters = [*own.values(), *added.values()]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def choose(name: str, value: str, allowed: Iterable[str]) -> Any:
    """Return the value of --`name`, one of those allowed."""
    allowed = tuple(allowed)
    if value not in allowed:
        raise OptionError(f"--{name} cannot be {value!r}; choose from {', '.join(allowed)}")
    return value


def require_positive(name: str, number: int | None) -> None:
    """Refuse a value of --`name` below 1."""
    if number is not None and number < 1:
        raise OptionError(f"--{name} {number} leaves nothing; give 1 or more")


def choose_marks(marks: Path | None, no_marks: bool) -> Path | bool:
    """Return which marks --marks and --no-marks ask for, as `lnmap.load` takes it."""
    if marks is not None and no_marks:
        raise OptionError("--marks and --no-marks contradict each other; give one of them")
    return not no_marks if marks is None else marks


def direction_of(reverse: bool) -> Direction:
    """Return the direction that --reverse asks for."""
    return Direction.BACKWARD if reverse else Direction.FORWARD


def in_bytes(megabytes: int) -> int:
    """Return the value of --memory in bytes."""
    if megabytes < 1:
        raise OptionError(f"--memory {megabytes} leaves no room to compute in; give 1 megabyte or more")
    there = _megabytes_there()
    if there is not None and megabytes > there:
        raise OptionError(f"--memory {megabytes} is more than the {there} megabytes of this machine; give fewer")
    return megabytes << 20


def _megabytes_there() -> int | None:
    """Return how much memory this machine has, where the system says so."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    except (AttributeError, ValueError, OSError):
        return None


def parse_settings(settings: Iterable[str] | None) -> dict[str, str]:
    """Split the values of --set."""
    values = {}
    for setting in settings or ():
        name, sign, value = setting.partition("=")
        if not sign or not name.strip():
            raise OptionError(f"--set expects name=value, got {setting!r}; 'lnmap methods NAME' lists the names")
        values[name.strip().replace("-", "_")] = value.strip()
    return values


def check_folder(path: Path) -> None:
    """Refuse an output folder that cannot be made, before any work is done for it."""
    existing = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not existing.is_dir():
        what = "is a file" if existing == path else f"cannot be made, because {existing} is a file"
        raise OutputError(f"the output folder {path} {what}; choose another --out")
