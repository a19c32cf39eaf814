"""The command line: `lnmap`. Each command is in the module of its name, or of its group."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

import typer
from typer.main import get_command

from lnmap.cli import (
    about,
    align,
    ask,
    check,
    data,
    demo,
    evaluate,
    export,
    hub,
    induce,
    isometry,
    pivot,
    reproduce,
    serve,
    translate,
    vectors,
)
from lnmap.cli.flags import as_flag
from lnmap.cli.options import Debug, Quiet, flag, with_common_flags
from lnmap.cli.terminal import console
from lnmap.cli.waiting import considerate
from lnmap.errors import LnmapError
from lnmap.version import __version__

# typer's error for wrong usage: it comes from click, or from typer's own copy of click, depending on its version
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]

_CONTINUED = {"align", "align-many", "vectors", "reproduce", "data get"}  # commands that keep what they have done
_INTERRUPTED, _PIPE_CLOSED, _NO_MEMORY, _UNEXPECTED = 130, 141, 4, 70

app = typer.Typer(name="lnmap", add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
for command in (
    demo.demo,
    vectors.vectors,
    check.check,
    align.align,
    translate.translate,
    ask.ask,
    evaluate.evaluate,
    induce.induce,
    export.export,
    isometry.isometry,
    pivot.align_many,
    pivot.compose,
    hub.push,
    hub.pull,
    reproduce.reproduce,
    reproduce.report,
    serve.serve,
    about.methods,
    about.info,
):
    app.command()(with_common_flags(command))
app.add_typer(data.app, name="data")


def _print_version(value: bool) -> None:
    if value:
        console.result(f"lnmap {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[
        bool, flag("--version", "Print the version and stop.", callback=_print_version, is_eager=True)
    ] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Translate words between two languages from their word vectors and a small dictionary.

    Try it on the words that come with it: lnmap demo

    Then align your own: lnmap align en.vec fr.vec --pairs en-fr.txt --out en-fr

    and translate: lnmap translate en-fr dog
    """
    if context.invoked_subcommand is None:
        console.result(context.get_help())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code, as listed in docs/command-line.md."""
    console.reset()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with considerate(arguments):
            code = _run(arguments)
            sys.stdout.flush()
            return code
    except BaseException as error:
        return _explain(error, arguments)
    finally:
        console.close()


def _run(arguments: list[str]) -> int:
    command = get_command(app)
    try:
        with command.make_context("lnmap", arguments) as context:
            return int(command.invoke(context) or 0)
    except typer.Exit as stop:
        return stop.exit_code


def _explain(error: BaseException, arguments: Sequence[str]) -> int:
    """Turn an exception into one line and an exit code."""
    if isinstance(error, LnmapError):
        return console.fail(error.explain(as_flag), error.exit_code)
    if isinstance(error, _UsageError):
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "lnmap"
        return console.fail(f"{error.format_message()} See: {path} --help", 2)  # type: ignore[attr-defined]
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        words = [word for word in arguments if not word.startswith("-")]
        kept = {" ".join(words[:1]), " ".join(words[:2])} & _CONTINUED
        return console.fail("interrupted" + ("; run the same command again to continue" if kept else ""), _INTERRUPTED)
    if isinstance(error, BrokenPipeError):  # the reader of the output has gone
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    if _is_out_of_memory(error):
        return console.fail("memory ran out; read fewer words with --limit, or lower --memory", _NO_MEMORY)
    if not isinstance(error, Exception):
        raise error
    hint = "" if console.debug else " (--debug shows where)"
    return console.fail(f"this is a bug in lnmap, please report it: {type(error).__name__}: {error}{hint}", _UNEXPECTED)


def _is_out_of_memory(error: BaseException) -> bool:
    # torch raises an error of its own on the GPU, and a plain RuntimeError on the CPU
    name = type(error).__name__
    return isinstance(error, MemoryError) or name == "OutOfMemoryError" or "can't allocate memory" in str(error)
