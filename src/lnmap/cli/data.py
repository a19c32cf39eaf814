"""lnmap data list, get and where: benchmark data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lnmap.cli.options import argument, flag, value, with_common_flags
from lnmap.cli.terminal import console
from lnmap.errors import OptionError

if TYPE_CHECKING:
    from lnmap.datasets import PairFiles

app = typer.Typer(name="data", rich_markup_mode="rich")

Name = Annotated[str | None, argument("[muse|vecmap|open]", "One benchmark.")]
Pairs = Annotated[str | None, value("en-fr,fr-en", "Pairs, separated by commas; a pair is source-target.")]


@app.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """List, fetch and find the benchmarks: muse and vecmap as in the paper, open with nothing but pip."""
    if context.invoked_subcommand is None:
        console.result(context.get_help())


@app.command("list")
@with_common_flags
def list_data(name: Name = None) -> None:
    """List the benchmarks, or the pairs of one, and which of them are on this machine.

    Example: lnmap data list open
    """
    from lnmap.datasets import BENCHMARKS

    rows = [_describe(benchmark) for benchmark in ([name] if name else BENCHMARKS)]
    if console.as_json:
        console.json(rows[0] if name else rows)
    elif name is None:
        columns = ("name", "what", "pairs", "here", "licence")
        console.table(columns, [(r["name"], r["title"], len(r["pairs"]), len(r["here"]), r["licence"]) for r in rows])
        console.result("'lnmap data list NAME' lists the pairs of one, 'lnmap data get NAME --pairs en-fr' fetches.")
    else:
        console.table(("pair", "here"), [(pair, pair in rows[0]["here"]) for pair in rows[0]["pairs"]])
        console.result(f"{rows[0]['title']}. Licence: {rows[0]['licence']}.")


@app.command()
@with_common_flags
def get(
    name: Annotated[str, argument("muse|vecmap|open", "The benchmark.")],
    pairs: Pairs = None,
    accept_changed: Annotated[
        bool, flag("--accept-changed", "Take files that differ from those first downloaded.")
    ] = False,
) -> None:
    """Fetch the vectors and dictionaries of some pairs, or of all.

    Example: lnmap data get open --pairs en-fr

    Files that are here are not fetched again; an interrupted download is continued.
    """
    from lnmap import datasets

    wanted = _chosen(name, pairs)
    datasets.get(name, wanted, console, accept_changed=accept_changed)
    found = {pair: datasets.files(name, pair) for pair in wanted}
    console.answer(
        {pair: _files(files) for pair, files in found.items()},
        *(f"{pair}: {files.train}" for pair, files in found.items()),
    )
    first = found[wanted[0]]
    console.say(f"try: lnmap align {first.source} {first.target} --pairs {first.train} --out {wanted[0]}")


@app.command()
@with_common_flags
def where(name: Name = None, pairs: Pairs = None) -> None:
    """Print the data folder; for a benchmark, the address and the path of each file.

    Example: lnmap data where muse --pairs en-fi

    On a machine without a network, put the listed files at their paths.
    """
    from lnmap.datasets import data_folder, origins

    if name is None:
        if pairs is not None:
            raise OptionError("--pairs needs a benchmark: lnmap data where open --pairs en-fr")
        folder = str(data_folder())
        console.answer({"folder": folder}, folder)
        return
    found = [(one.address, str(one.path), one.path.exists()) for one in origins(name, _chosen(name, pairs))]
    console.answer(
        [{"address": address, "path": path, "here": here} for address, path, here in found],
        *(f"{address}\t{path}\t{'here' if here else 'missing'}" for address, path, here in found),
    )


def _describe(name: str) -> dict[str, Any]:
    from lnmap.datasets import benchmark_named, is_here

    found = benchmark_named(name)
    here = [pair for pair in found.pairs if is_here(name, pair)]
    return {"name": name, "title": found.title, "licence": found.licence, "pairs": found.pairs, "here": here}


def _chosen(name: str, pairs: str | None) -> list[str]:
    """Read the value of --pairs; the default is all pairs."""
    from lnmap import datasets

    every = datasets.pairs(name)
    if pairs is None or pairs == "all":
        return every
    chosen = list(dict.fromkeys(pair.strip() for pair in pairs.split(",") if pair.strip()))
    if not chosen:
        raise OptionError(f"--pairs names no pair; {name} has: {', '.join(every)}")
    return chosen


def _files(files: PairFiles) -> dict[str, Any]:
    return {part: value if part in ("limit", "policy") else str(value) for part, value in asdict(files).items()}
