"""lnmap serve: look words up and correct translations in a browser."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from lnmap.cli import options
from lnmap.cli.terminal import console, count
from lnmap.errors import MissingExtraError, OptionError


def serve(
    folders: Annotated[list[Path], options.argument("DIR", "Model folders written by 'lnmap align'.")],
    host: Annotated[
        str, options.value("ADDRESS", "Address to listen on; 0.0.0.0 for the whole network.")
    ] = "127.0.0.1",
    port: Annotated[int, options.value("N", "Port to listen on; 0 for any free one.")] = 8000,
    names: Annotated[
        list[str] | None, options.value("HOST", "Another host name of the server; repeatable.", "--name")
    ] = None,
    test: Annotated[Path | None, options.value("FILE", "Test dictionary, to show each model's scores.")] = None,
    back_test: Annotated[
        Path | None,
        options.value("FILE", "Test dictionary for the way back, target words first."),
    ] = None,
) -> None:
    """Serve a page to look words up and correct translations, and an API for programs.

    Example: lnmap serve en-fr

    Marks of right and wrong pairs, and answers to the questions of the page, are
    kept in DIR/marks.jsonl. They count at once, on the page, in 'lnmap translate'
    and in 'lnmap induce'; the page has a button that trains the model again with
    them, as 'lnmap align SRC TGT --marks DIR --out DIR' does. Ctrl-C stops the
    server.
    """
    from lnmap.io import read_lexicon

    try:
        from lnmap.serve import run
        from lnmap.serve.models import Models
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "fastapi", "serve", "lnmap serve") from error
    if not 0 <= port <= 65_535:
        raise OptionError(f"--port cannot be {port}; give a number from 0 to 65535")
    if back_test is not None and test is None:
        raise OptionError("--back-test needs --test, the dictionary of the other direction")
    gold, back = (None if path is None else read_lexicon(path) for path in (test, back_test))
    with run.listen(host, port) as sock:
        if not run.is_loopback(host):
            console.note(f"everybody who can reach {host} can see these models, change their marks and train them")
        models = Models.load(folders, gold, console, back)
        url = run.address(sock, host)

        def ready() -> None:
            if console.as_json:
                console.json({"url": url, "models": list(models)})
            else:
                console.result(f"{count(len(models), 'model')} at {url}")
                console.say("Ctrl-C stops the server")
            sys.stdout.flush()  # a program may wait for it at the other end of a pipe

        with suppress(KeyboardInterrupt):  # the usual way to stop a server
            run.serve(models, sock, host, names or (), ready)
        console.say("stopped")
