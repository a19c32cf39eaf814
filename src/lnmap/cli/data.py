"""The commands about benchmark data: data list, data get, data where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from lnmap.cli.options import Debug, Json, Quiet
from lnmap.cli.terminal import console
from lnmap.errors import OptionError

app = typer.Typer(name="data", rich_markup_mode="rich")

Name = Annotated[str | None, typer.Argument(metavar="[muse|vecmap|open]", help="One benchmark.")]
Pairs = Annotated[
    str | None, typer.Option(metavar="en-fr,fr-en", help="Pairs, divided by commas; a pair is source-target.")
]


@app.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """List, fetch and find the benchmarks: muse and vecmap as in the paper, open with nothing but pip."""
    if context.invoked_subcommand is None:
        console.result(context.get_help())


@app.command("list")
def list_data(name: Name = None, as_json: Json = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """List the benchmarks, or the pairs of one, and what of them is on this machine.

    Example: lnmap data list open
    """
    from lnmap.datasets import BENCHMARKS, benchmark_named, is_here, pairs

    rows = [_describe(benchmark) for benchmark in ([name] if name else BENCHMARKS)]
    if as_json:
        console.json(rows if name is None else rows[0])
    elif name is None:
        columns = ("name", "what", "pairs", "here", "licence")
        console.table(columns, [(r["name"], r["title"], len(r["pairs"]), len(r["here"]), r["licence"]) for r in rows])
        console.result("'lnmap data list NAME' lists the pairs of one, 'lnmap data get NAME --pairs en-fr' fetches.")
    else:
        console.table(("pair", "here"), [(pair, is_here(name, pair)) for pair in pairs(name)])
        console.result(f"{benchmark_named(name).title}. Licence: {benchmark_named(name).licence}.")


@app.command()
def get(
    name: Annotated[str, typer.Argument(metavar="muse|vecmap|open", help="The benchmark.")],
    pairs: Pairs = None,
    accept_changed: Annotated[
        bool, typer.Option("--accept-changed", help="Take files that differ from those first downloaded.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fetch the vectors and dictionaries of some pairs, or of all.

    Example: lnmap data get open --pairs en-fr

    What is here is not fetched again; a download that was interrupted is continued.
    """
    from lnmap import datasets

    wanted = _chosen(name, pairs)
    datasets.get(name, wanted, console, accept_changed=accept_changed)
    found = {pair: datasets.files(name, pair) for pair in wanted}
    if as_json:
        console.json({pair: _files(files) for pair, files in found.items()})
        return
    for pair, files in found.items():
        console.result(f"{pair}: {files.train}")
    first = found[wanted[0]]
    console.say(f"try: lnmap align {first.source} {first.target} --pairs {first.train} --out {wanted[0]}")


@app.command()
def where(
    name: Name = None, pairs: Pairs = None, as_json: Json = False, quiet: Quiet = False, debug: Debug = False
) -> None:
    """Print the data folder; for a benchmark, also what is fetched from where and where it goes.

    Example: lnmap data where muse --pairs en-fi

    On a machine without a network, put the files of this list into their places.
    """
    from lnmap.datasets import data_folder, origins

    if name is None:
        if pairs is not None:
            raise OptionError("--pairs needs a benchmark: lnmap data where open --pairs en-fr")
        folder = str(data_folder())
        console.json({"folder": folder}) if as_json else console.result(folder)
        return
    rows = [(o.address, str(o.path), o.path.exists()) for o in origins(name, _chosen(name, pairs))]
    if as_json:
        console.json([{"address": address, "path": path, "here": here} for address, path, here in rows])
        return
    for address, path, here in rows:
        console.result(f"{address}\t{path}\t{'here' if here else 'missing'}")


def _describe(name: str) -> dict[str, Any]:
    from lnmap.datasets import benchmark_named, is_here, pairs

    found = benchmark_named(name)
    all_pairs = pairs(name)
    here = [pair for pair in all_pairs if is_here(name, pair)]
    return {"name": name, "title": found.title, "licence": found.licence, "pairs": all_pairs, "here": here}


def _chosen(name: str, pairs: str | None) -> Sequence[str]:
    """Read the value of --pairs; by default all pairs."""
    from lnmap import datasets

    every = datasets.pairs(name)
    if pairs is None or pairs == "all":
        return every
    chosen = list(dict.fromkeys(pair.strip() for pair in pairs.split(",") if pair.strip()))
    if not chosen:
        raise OptionError(f"--pairs names no pair; {name} has: {', '.join(every)}")
    return chosen


def _files(files: Any) -> dict[str, Any]:
    parts = {part: str(getattr(files, part)) for part in ("source", "target", "train", "test")}
    return {**parts, "limit": files.limit, "policy": files.policy}
